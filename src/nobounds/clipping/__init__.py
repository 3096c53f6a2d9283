"""Clips: the search for an interval, and the sums and means of records clipped to it."""
