"""The command line: `nobounds quantile people.parquet --column income --q 0.5 --epsilon 1`."""

INTERRUPTED, PIPE_CLOSED = 130, 141  # as the shell has them for SIGINT and SIGPIPE
