"""A budget in PostgreSQL, which several analysts share: its ledger, and the functions that the server runs."""
