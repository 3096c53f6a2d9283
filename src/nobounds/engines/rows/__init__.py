"""Rows by group and by unit: codes of keys, and the rows of a unit that count."""
