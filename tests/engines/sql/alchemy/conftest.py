"""An engine of SQLite for each test."""

from support.alchemy import sqlite

__all__ = ["sqlite"]
