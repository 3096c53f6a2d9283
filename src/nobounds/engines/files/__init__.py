"""Files by their names and formats."""
