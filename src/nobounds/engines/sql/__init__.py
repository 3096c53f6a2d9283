"""Queries of DuckDB, PostgreSQL and other databases."""
