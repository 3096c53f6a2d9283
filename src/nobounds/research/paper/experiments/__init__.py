"""The experiments of the paper, one a module."""
