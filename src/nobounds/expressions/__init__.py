"""Conditions and formulas on the rows of a table: one tree, its types, its text, and one evaluator for all engines."""
