"""The public statistics of one column or table."""
