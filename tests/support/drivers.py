"""Connections to the PostgreSQL server of the tests, by each driver and each of its ways to return rows."""

import adbc_driver_postgresql.dbapi
import psycopg
import psycopg2
import psycopg2.extras
import pytest
from psycopg.rows import dict_row


def adbc(server):
    folder = server.split()[0].removeprefix("host=")
    return adbc_driver_postgresql.dbapi.connect(f"postgresql:///postgres?user=nobounds&host={folder}")


CONNECT = {
    "psycopg": psycopg.connect,
    "psycopg-autocommit": lambda server: psycopg.connect(server, autocommit=True),
    "psycopg-dicts": lambda server: psycopg.connect(server, row_factory=dict_row),
    "psycopg2": psycopg2.connect,
    "psycopg2-dicts": lambda server: psycopg2.connect(server, cursor_factory=psycopg2.extras.RealDictCursor),
    "psycopg2-autocommit": lambda server: psycopg2.connect(server),
    "adbc": adbc,
}


@pytest.fixture(params=CONNECT)
def connection(request, postgres):
    found = CONNECT[request.param](postgres)
    if request.param == "psycopg2-autocommit":
        found.autocommit = True
    yield found
    found.close()


@pytest.fixture(params=[name for name in CONNECT if name != "adbc"])
def psycopgs(request, postgres):
    found = CONNECT[request.param](postgres)
    if request.param == "psycopg2-autocommit":
        found.autocommit = True
    yield found
    found.close()
