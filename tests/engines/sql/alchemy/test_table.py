"""Stored tables of SQLite and MariaDB through SQLAlchemy: types of the schema, exact values, one snapshot."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.counting.scan import gathered
from nobounds.engines.sql.catalogue import Listed, listed
from nobounds.engines.sql.database import from_table
from nobounds.engines.streams.local import Local
from nobounds.expressions.statements.relation import Named
from nobounds.kinds.kind import DATE, DATETIME, Kind
from nobounds.ladders.facts import Facts

sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
NAN, INF, MAX = float("nan"), float("inf"), 1.7976931348623157e308
EXAMPLE = "say so by rows_of='result'"


def opened(source, name):
    """A stored table by its name."""
    table = listed(source, Named((name,), (False,)), False)
    assert isinstance(table, Listed) and not table.result
    return from_table(source, table.sql, table.parts)


def values(stream, name):
    """A column as numbers."""
    return gathered(Local(stream).columns([name], None)[name].chunks())


def keys(stream, name):
    """A column as keys, of the type that the stream declares."""
    batches = list(stream.batches([name], []))
    assert all(batch.schema.types == [stream.kinds[name]] for batch in batches)
    return [key for batch in batches for key in batch.column(0).to_pylist()]


def write(source, *statements):
    """Run statements and commit."""
    with source.begin() as connection:
        for each in statements:
            connection.exec_driver_sql(each)


@pytest.fixture
def sqlite(tmp_path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/tables.db")
    yield engine
    engine.dispose()


# --- SQLite


DYNAMIC = ["1", "2.5", "NULL", "'three'", "'3'", "x'34'", "9223372036854775807", "-9e999", "'0x1'", "'nan'"]


def test_any_value_in_a_column_of_numbers_follows_one_rule(sqlite):
    """A text in a REAL or INTEGER column is missing unless it is a number; facts come from the schema alone."""
    write(sqlite, "create table odd (r real, i integer, n numeric(10, 2), t text)")
    empty = opened(sqlite, "odd")
    write(sqlite, *(f"insert into odd values ({x}, {x}, {x}, {x})" for x in DYNAMIC))
    full = opened(sqlite, "odd")
    number, whole = Facts(False, True), Facts(True, True)
    assert empty.facts == full.facts == {"r": number, "i": whole, "n": number}
    assert empty.others == full.others == {"t": "text"}
    assert empty.kinds == full.kinds
    floats = [1, 2.5, NAN, NAN, 3, NAN, 2.0**63, -INF, NAN, NAN]
    for name in "rin":
        assert np.array_equal(values(full, name), floats, equal_nan=True), name
    assert keys(full, "r") == [1, 2.5, None, None, 3, None, 2.0**63, -INF, None, None]
    assert keys(full, "i") == [1, None, None, None, 3, None, 2**63 - 1, None, None, None]
    assert keys(full, "t")[:4] == ["1", "2.5", None, "three"]


def test_bytes_that_are_no_text_fail_nothing(sqlite):
    """SQLite takes any bytes for text."""
    write(sqlite, "create table raw (t text, r real)")
    write(sqlite, "insert into raw values (cast(x'ff41' as text), cast(x'ff' as text))")
    stream = opened(sqlite, "raw")
    assert keys(stream, "t") == ["\xffA"]
    assert np.isnan(values(stream, "r")).tolist() == [True]


def test_no_converter_of_a_type_is_called(tmp_path):
    """With detect_types, sqlite3 would call one for the type of a column, and that would fail on some rows alone."""
    given = {"detect_types": sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES}
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/parsed.db", connect_args=given)
    write(engine, 'create table parsed (m timestamp, "x [date]" real)', "insert into parsed values ('never', 3)")
    stream = opened(engine, "parsed")
    assert keys(stream, "m") == ["never"] and values(stream, "x [date]").tolist() == [3]
    engine.dispose()


@pytest.mark.medium
def test_names_are_quoted(sqlite, mariadb):
    """Any name that a column can have may be asked for."""
    for engine, quote in ((sqlite, '"'), (mariadb, "`")):
        names = ["a b", "select", f"q{quote}q", "É%s", "50%", ":y"]
        columns = ", ".join(f"{quote}{name.replace(quote, 2 * quote)}{quote} int" for name in names)
        with closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute(f"create table named ({columns})")
            cursor.execute(f"insert into named values ({', '.join(map(str, range(len(names))))})")
            connection.commit()
        stream = opened(engine, "named")
        assert [values(stream, name).tolist() for name in names] == [[k] for k in range(len(names))]


def test_a_column_without_a_type_has_none(sqlite):
    """Then every column may be of numbers, as by a connection of sqlite3."""
    write(sqlite, "create table bare (x, g text)", "insert into bare values (1, 'a'), ('2', 'b')")
    stream = opened(sqlite, "bare")
    assert not stream.typed
    assert values(stream, "x").tolist() == [1, 2]


def test_a_release_sees_one_snapshot_of_sqlite(sqlite):
    """Counts and passes are of the same rows, whatever is written between them; the next release sees the new ones."""
    write(sqlite, "pragma journal_mode = wal", "create table kept (x real)", "insert into kept values (1), (2)")
    stream = opened(sqlite, "kept")
    there = stream.elsewhere()
    assert there.rows() == 2
    write(sqlite, "insert into kept values (3)")
    assert gathered(there.columns(["x"])["x"].fetched()).tolist() == [1, 2]
    assert (there.rows(), stream.elsewhere().rows()) == (2, 3)
    del there
    write(sqlite, "drop table kept")  # no transaction is left open


# --- MariaDB


@pytest.mark.medium
def test_doubles_of_mariadb_arrive_to_the_last_bit(mariadb):
    """Of random bits, subnormal ones and the largest; floats of 32 bits are not the number that their text shows."""
    bits = np.random.default_rng(8).integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    numbers = [*bits[np.isfinite(bits)].tolist(), 0.0, 5e-324, -5e-324, MAX, -MAX, 0.1, 1 / 3, 2.0**53 + 2, 1e22, 1e23]
    listing = ", ".join(f"({k}, {x!r}, 0.1)" for k, x in enumerate(numbers))
    write(mariadb, "drop table if exists bits", "create table bits (k int primary key, x double, f float)")
    write(mariadb, f"insert into bits values {listing}")
    stream = opened(mariadb, "bits")
    assert values(stream, "x").tobytes() == np.array(numbers).tobytes()
    assert set(values(stream, "f")) == {float(np.float32(0.1))}
    assert keys(stream, "x") == [x + 0.0 for x in numbers]


TYPES = """
    flag bool, tiny tinyint unsigned, whole bigint, large bigint unsigned, price decimal(10,2), amount decimal(60,30),
    day date, moment datetime(6), instant timestamp(6) null, word varchar(20) character set latin1,
    mood enum('sad', 'glad'),    clock time, raw blob, born year
"""
FIRST = """(true, 255, -9223372036854775808, 18446744073709551615, 1.50, 0.1, '2024-02-29',
    '2024-02-29 12:00:00.000001', '2024-02-29 12:00:00.000001', 'é ', 'glad', '-838:59:59', x'ff', 1999)"""
ODD = "(7, 0, 0, 0, -0.5, 1e29, '0000-00-00', '2024-00-00 00:00:00', '0000-00-00 00:00:00', '', '', 0, '', 0)"
NULLS = f"({', '.join(['null'] * 14)})"


@pytest.mark.medium
def test_types_of_mariadb_are_those_of_the_schema(mariadb):
    """Dates that no calendar has are missing, decimals are decimals, and no time zone has a say."""
    write(mariadb, "drop table if exists typed", f"create table typed ({TYPES})")
    empty = opened(mariadb, "typed")
    write(
        mariadb,
        "set sql_mode = '', time_zone = '+00:00'",
        *(f"insert into typed values {row}" for row in (FIRST, ODD, NULLS)),
    )
    stream = opened(mariadb, "typed")
    assert (empty.facts, empty.others, empty.kinds) == (stream.facts, stream.others, stream.kinds)
    leap = 1709208000.000001
    numbers = {"flag": [1, 7], "tiny": [255, 0], "whole": [-(2.0**63), 0], "large": [2.0**64, 0], "price": [1.5, -0.5]}
    numbers |= {"amount": [0.1, 1e29], "day": [19782, NAN], "moment": [leap, NAN], "instant": [leap, NAN]}
    numbers["born"] = [1999, 0]
    assert list(stream.facts) == list(numbers)
    for name, expected in numbers.items():
        assert np.array_equal(values(stream, name), [*expected, NAN], equal_nan=True), name
    at = datetime(2024, 2, 29, 12, 0, 0, 1)
    shown = {"tiny": [255, 0], "large": [2**64 - 1, 0], "price": [Decimal("1.50"), Decimal("-0.50")]}
    shown |= {"day": [date(2024, 2, 29), None], "moment": [at, None], "instant": [at.replace(tzinfo=UTC), None]}
    shown |= {"word": ["é ", ""], "mood": ["glad", ""]}
    for name, expected in shown.items():
        assert keys(stream, name) == [*expected, None], name
    assert stream.facts["day"] == Facts.of(DATE) and stream.facts["moment"] == Facts.of(DATETIME)
    assert stream.facts["price"] == Facts.of(Kind.parse("decimal(10,2)")) and stream.facts["tiny"].lower == 0
    assert stream.others == {
        "word": "text",
        "mood": "text",
        "clock": "MariaDB type time",
        "raw": "MariaDB type blob",
    }
    assert "raw" not in stream.kinds and stream.kinds["amount"] == pa.large_string()


@pytest.mark.medium
def test_a_release_sees_one_snapshot_of_mariadb(mariadb):
    """The transaction reads only, and its rows are those of its beginning."""
    write(mariadb, "drop table if exists kept", "create table kept (x double)", "insert into kept values (1), (2)")
    stream = opened(mariadb, "kept")
    there = stream.elsewhere()
    write(mariadb, "insert into kept values (3)")
    assert there.rows() == 2
    write(mariadb, "delete from kept where x = 1")
    assert gathered(there.columns(["x"])["x"].fetched()).tolist() == [1, 2]
    assert stream.elsewhere().rows() == 2
    del there
    write(mariadb, "drop table kept")  # waits for transactions that have read it


@pytest.mark.medium
def test_a_connection_goes_back_as_it_was(mariadb):
    """No transaction of ours is left on it, not even with an engine that commits by itself."""
    write(mariadb, "drop table if exists given", "create table given (x double)", "insert into given values (1)")
    for level in ("AUTOCOMMIT", "READ COMMITTED"):
        engine = mariadb.execution_options(isolation_level=level)
        there = opened(engine, "given").elsewhere()
        assert there.rows() == 1
        del there
        with engine.connect() as connection:
            assert connection.exec_driver_sql("select @@in_transaction").scalar() == 0
            connection.exec_driver_sql("update given set x = x + 1")
            connection.commit()


def test_views_and_tables_without_snapshots_are_declared(mariadb):
    """A view, and a table of an engine without transactions; the name of a table may be in another case."""
    write(mariadb, "drop table if exists Base, still", "drop view if exists seen")
    write(mariadb, "create table Base (x double)", "create table still (x double) engine=MyISAM")
    write(mariadb, "create view seen as select distinct x from Base")
    for name, what in (("seen", "a view"), ("still", "a table of MyISAM, which has no snapshots")):
        with pytest.raises(ValueError, match=f"^{name} is {what}; .*{EXAMPLE}"):
            nb.sql(f"select private_mean(x) from {name}", mariadb, epsilon=1)
        assert listed(mariadb, Named((name,), (False,)), True).result
    assert listed(mariadb, Named(("base",), (False,)), False).parts == ("tests", "Base")
    for name in ("none", "a.b.c", "it's"):
        with pytest.raises(ValueError, match="there is no table"):
            listed(mariadb, Named(tuple(name.split(".")), (False,) * len(name.split("."))), False)


# --- both, and PostgreSQL


def test_a_transaction_that_the_user_has_begun_is_read_in(sqlite):
    """What is not committed is seen by its own connection alone, which stays as it was."""
    write(sqlite, "create table mine (x real)", "insert into mine values (1)")
    with sqlite.connect() as connection:
        connection.exec_driver_sql("insert into mine values (2)")
        assert values(opened(connection, "mine"), "x").tolist() == [1, 2]
        assert connection.in_transaction()
        connection.rollback()
        assert values(opened(connection, "mine"), "x").tolist() == [1]


@pytest.mark.medium
def test_passes_run_in_postgres_through_sqlalchemy(postgres):
    """Its connections are psycopg's."""
    folder = postgres.split()[0].removeprefix("host=")
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://nobounds@/postgres?host={folder}")
    write(engine, "drop table if exists public.through", "create table public.through (x float8)")
    write(engine, "insert into public.through select generate_series(1, 100)")
    table = nb.Table.sql(engine, "select * from public.through")
    assert table.count(epsilon=50).value == pytest.approx(100, abs=3)
    stream = from_table(engine, "public.through")
    assert stream.elsewhere().rows() == 100
    del stream, table
    engine.dispose()


def test_a_driver_without_streams_is_refused():
    """By its name, before it connects."""

    class Dialect:
        name, driver = "mysql", "mysqlconnector"

    engine = sqlalchemy.create_engine("sqlite://")
    engine.dialect = Dialect()
    with pytest.raises(TypeError, match=r"^MariaDB is read by PyMySQL or mysqlclient, got mysqlconnector"):
        nb.sql("select private_count() from t", engine, epsilon=1)
