"""Stored tables of SQLite and MariaDB through SQLAlchemy: typed by their schema, fetched, one snapshot each."""
