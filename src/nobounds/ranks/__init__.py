"""How a quantile is found: the plan from public facts, and the answer."""
