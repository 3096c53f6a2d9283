"""Connections to the server of the tests: one that writes, and one that a user reads by."""

import psycopg
import pytest


@pytest.fixture(scope="module")
def writer(postgres):
    """A connection that writes and commits."""
    with psycopg.connect(postgres, autocommit=True) as own:
        yield own


@pytest.fixture(scope="module")
def reader(postgres):
    """A connection that a user reads by."""
    with psycopg.connect(postgres) as own:
        yield own
