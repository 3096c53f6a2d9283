"""Queries of the command line, to files and to databases."""
