"""Connections to the server of the tests, by each driver."""

from support.drivers import connection, psycopgs

__all__ = ["connection", "psycopgs"]
