"""The audited claims, one kind of mechanism per module."""
