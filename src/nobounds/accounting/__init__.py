"""Costs, losses, conversions, composition, what may be spent, the budget and its ledger."""
