"""Spreads, shares and ranges of one column, and statistics of two: public functions."""
