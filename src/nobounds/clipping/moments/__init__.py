"""Averages of more than the records themselves: squares, shares, and products of two columns."""
