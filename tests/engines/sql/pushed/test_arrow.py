"""Rows of a snapshot by ADBC: the same values, types and rows as by psycopg, and psycopg where it does not serve."""

import sys
from contextlib import closing

import psycopg
import psycopg2
import pytest
from support.pushed import HOSTILE, store

from nobounds.counting.scan import gathered
from nobounds.engines.sql.database import from_table
from nobounds.engines.sql.postgres import from_postgres
from nobounds.engines.streams.local import Local

COLUMNS = {
    "f": ("float8", [repr(x) if x is not None else None for x in HOSTILE]),
    "s": ("float4", ["0.1", "NaN", "-Infinity", "1e-45", "-0", None]),
    "b": ("bool", ["t", "f", None]),
    "i": ("int2", ["-32768", "32767", None]),
    "l": ("int8", ["9007199254740993", "-9223372036854775808", None]),
    "n": ("numeric", ["1e400", "-1e400", "1e-400", "1.50", "1.5", "NaN", "Infinity", "0.1", None]),
    "p": ("numeric(30,4)", ["12345678901234567890.1234", "NaN", "-0.5", None]),
    "d": ("date", ["infinity", "-infinity", "0044-03-15 BC", "2024-02-29", "5874897-12-31", None]),
    "m": ("timestamp", ["infinity", "0001-01-01 00:00:00.000001", "2024-02-29 12:00:00.000001", "294276-12-31", None]),
    "z": ("timestamptz", ["-infinity", "2024-02-29 12:00:00.000001+05:30", None]),
    "c": ("time", ["24:00:00", "00:00:00.000001", None]),
    "v": ("interval", ["178000000 years", "-3 mons 2 days 00:00:00.5", "1 day", None]),
    "t": ("text", ["", "a ", "é", "\U0001f600", "x" * 9000, None]),
    "k": ("char(3)", ["a", "abc", None]),
    "u": ("uuid", ["00000000-0000-0000-0000-00000000000a", None]),
    "y": ("bytea", ["\\xff00", None]),
    "j": ("jsonb", ['{"a": 1}', None]),
}


@pytest.fixture
def wide(writer):
    """A table with a column of each type, and values that drivers are known to stumble over."""
    rows = [[each[k % len(each)] for _, each in COLUMNS.values()] for k in range(len(HOSTILE))]
    store(writer, "wide", ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items()), rows)


def snapshot_of(connection, table):
    there = Local(from_table(connection, f"public.{table}"))._elsewhere()
    assert there is not None
    return there.snapshot


@pytest.mark.medium
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_every_type_arrives_as_by_psycopg(postgres, wide, driver):
    """Keys in their types and records to the last bit, beyond the calendar and beyond the range of floats too."""
    with closing(driver.connect(postgres)) as connection:
        snapshot = snapshot_of(connection, "wide")
        by_arrow, by_rows = snapshot.fetched, from_postgres(connection, "select * from public.wide")
        assert snapshot.session._joined() is not None
        assert (by_arrow.facts, by_arrow.others, by_arrow.kinds) == (by_rows.facts, by_rows.others, by_rows.kinds)
        for name in by_rows.kinds:
            one, other = (next(each.batches([name], [])) for each in (by_arrow, by_rows))
            assert one.schema == other.schema
            assert one.column(0).equals(other.column(0)), name
        for name in by_rows.facts:
            one, other = (gathered(Local(each).columns([name], None)[name].chunks()) for each in (by_arrow, by_rows))
            assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_both_connections_see_one_snapshot(postgres, writer, driver):
    """Rows that others write after the transaction has begun are not among those that ADBC fetches later."""
    store(writer, "later", "x float8, g text", [(1.0, "a"), (2.0, "b")])
    with closing(driver.connect(postgres)) as connection:
        snapshot = snapshot_of(connection, "later")
        writer.execute("insert into later values (3, 'c'); delete from later where x = 1")
        (batch,) = snapshot.fetched.batches(["g"], ["x"])
        assert snapshot.session._joined() is not None
        assert (batch.column(0).to_pylist(), batch.column(1).to_pylist()) == (["a", "b"], [1.0, 2.0])
        assert snapshot.rows() == 2
        own = snapshot.session._joined().cursor()
        own.execute("select current_setting('transaction_isolation'), current_setting('transaction_read_only')")
        assert own.fetchall() == [("repeatable read", "on")]
        own.close()


def test_an_abandoned_reading_closes_nothing_and_an_error_closes_all(postgres, writer):
    """Rows that are not wanted end no transaction; a failed query ends both, though its traceback be kept."""
    store(writer, "left", "x float8", [(float(k),) for k in range(10)])
    with psycopg.connect(postgres) as connection:
        snapshot = snapshot_of(connection, "left")
        reading = snapshot.fetched.batches([], ["x"])
        next(reading)
        reading.close()
        assert snapshot.rows() == 10
        writer.execute("select pg_terminate_backend(pid) from pg_stat_activity where query like 'COPY%'")
        with pytest.raises(ValueError, match=r"^the query failed") as kept:
            list(snapshot.fetched.batches([], ["x"]))
        assert kept.value is not None and snapshot.session.connection.closed
        writer.execute("drop table public.left")  # no transaction of ours holds it


def test_the_role_of_the_user_reads(postgres, writer):
    """The second connection takes the role that was set, and may read no more than it."""
    store(writer, "shown", "x float8", [(1.0,)])
    writer.execute("drop role if exists looking; create role looking; grant select on shown to looking")
    with psycopg.connect(postgres) as connection:
        connection.execute("set role looking")
        connection.commit()
        session = snapshot_of(connection, "shown").session
        with closing(session._joined().cursor()) as cursor:
            cursor.execute("select current_user::text, current_setting('search_path')")
            assert cursor.fetchall() == [("looking", "pg_catalog")]


@pytest.mark.parametrize("missing", ["driver", "UTF-8", "room"])
def test_where_adbc_does_not_serve_psycopg_reads(postgres, writer, missing, monkeypatch):
    """Without its driver, in another encoding than it takes texts for, and without room for one more connection."""
    store(writer, "read", "x float8, g text", [(1.0, "é")])
    server = postgres
    if missing == "driver":
        monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    if missing == "UTF-8":
        writer.execute("drop database if exists latin")
        writer.execute("create database latin encoding 'LATIN1' locale 'C' template template0")
        server = postgres.replace("dbname=postgres", "dbname=latin")
        with psycopg.connect(server, autocommit=True) as own:
            store(own, "read", "x float8, g text", [(1.0, "é")])
    if missing == "room":
        writer.execute("drop role if exists two; create role two login connection limit 2; grant select on read to two")
        server = postgres.replace("user=nobounds", "user=two")
    with psycopg.connect(server) as connection:
        snapshot = snapshot_of(connection, "read")
        (batch,) = snapshot.fetched.batches(["g"], ["x"])
        assert snapshot.session._joined() is None
        assert (batch.column(0).to_pylist(), batch.column(1).to_pylist()) == (["é"], [1.0])
