"""The experiments of the paper, one per module."""
