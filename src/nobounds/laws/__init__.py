"""Exact output distributions."""
