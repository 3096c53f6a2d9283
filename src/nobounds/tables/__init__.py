"""Tables in memory, in files or on a server, and their groups."""
