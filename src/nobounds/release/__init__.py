"""Releases: of one statistic, by group, and descriptions of tables, with the shares of their statistics."""
