"""Releases: of one statistic, by group, and descriptions of tables."""
