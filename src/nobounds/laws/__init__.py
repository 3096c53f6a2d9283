"""Exact laws: the probability of every output of a mechanism."""
