"""One pass over records to small exact tables."""
