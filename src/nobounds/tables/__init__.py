"""Tables, wherever they lie, and their groups."""
