"""Costs, losses, conversions, composition, spending, the budget and its ledger."""
