"""SQL statements on one table, read from their text: which rows, which columns, and what is asked of them."""
