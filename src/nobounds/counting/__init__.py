"""One pass over the records to small, exact, sensitive tables."""
