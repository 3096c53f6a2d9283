"""Commands for researchers: the paper again, and the benchmark that others can join."""
