"""Kinds of columns: what a type states, and how its values become numbers and numbers its values."""
