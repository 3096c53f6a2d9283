"""Programs: each mechanism is written once, as a generator of decisions, and driven in several ways."""
