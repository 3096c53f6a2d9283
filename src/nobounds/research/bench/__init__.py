"""A benchmark that others can join: one method beside nobounds and its rivals, on data near 0 and far from it.

`nobounds bench accuracy` is its command; docs/bench.md says how to add a method.
"""
