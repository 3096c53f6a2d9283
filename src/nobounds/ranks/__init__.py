"""Quantiles: the plan from public facts, and the answer."""
