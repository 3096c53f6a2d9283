"""Passes over a table of PostgreSQL that run in the server, and return only small results."""
