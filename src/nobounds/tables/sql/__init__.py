"""SQL on tables: private statistics by one statement, and the rows of a query as a table."""

SOURCE, RESULT = "source", "result"  # what one row of a query is: one of the table underneath, or of the result
