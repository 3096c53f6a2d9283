"""SQL on tables: private statistics by one statement, and the rows of a query as a table."""
