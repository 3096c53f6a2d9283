"""Statistics of each group of a table."""
