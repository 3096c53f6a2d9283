"""Queries as streams: names and types before any data, values exactly, in batches, and no word of a driver."""

import sqlite3
from collections import namedtuple
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal

import adbc_driver_sqlite.dbapi
import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest

from nobounds.counting.scan import gathered
from nobounds.engines.sql import database
from nobounds.engines.sql import postgres as engine
from nobounds.engines.sql.database import from_query
from nobounds.engines.streams.local import Local
from nobounds.kinds.kind import BOOLEAN, DATE, DATETIME, Kind
from nobounds.ladders.facts import Facts

NAN, INF = float("nan"), float("inf")


def values(stream, name):
    """A column as numbers."""
    return np.concatenate([np.zeros(0), *(batch.column(0).to_numpy() for batch in stream.batches([], [name]))])


def keys(stream, name):
    """A column as keys."""
    return [key for batch in stream.batches([name], []) for key in batch.column(0).to_pylist()]


def execute(connection, statement):
    """Run a statement, and keep what it did."""
    cursor = connection.cursor()
    cursor.execute(statement)
    cursor.close()
    if not getattr(connection, "autocommit", False):
        connection.commit()


ROWS = """
values (true, 7::int2, -3::int4, 9007199254740993::int8, 0.1::float4, 0.1::float8, 1.50::numeric(10,2), 0.1::numeric,
        'a'::text, 'b'::varchar(9), 'c'::char(3), '2024-02-29'::date, '2024-02-29 12:00:00.000001'::timestamp,
        '2024-02-29 12:00:00.000001+00'::timestamptz, '00000000-0000-0000-0000-00000000000a'::uuid),
       (null, null, null, null, null, null, null::numeric(10,2), null, null, null, null, null, null, null, null)
"""
NAMES = "flag, small, medium, large, single, double, price, amount, word, name, code, day, moment, instant, id"
TYPED = f"select * from ({ROWS}) as t ({NAMES});  "


@pytest.mark.medium
def test_types_are_public_facts_and_families(psycopgs):
    """The types of PostgreSQL say what is numeric, whole, bounded, and the Arrow type of each column as a key."""
    stream = from_query(psycopgs, TYPED)
    whole, number = Facts(True, True), Facts(False, True)
    numeric = {"flag": Facts.of(BOOLEAN), "small": whole, "medium": whole, "large": whole}
    moments = {"day": Facts.of(DATE), "moment": Facts.of(DATETIME), "instant": stream.facts["instant"]}
    typed = {"price": Facts.of(Kind.parse("decimal(10,2)"))} | moments
    assert stream.facts == numeric | dict.fromkeys(["single", "double", "amount"], number) | typed
    assert stream.facts["instant"].kind.name == "datetime" and stream.facts["instant"].kind.zone is not None
    assert list(stream.facts) == [*NAMES.split(", ")[:8], *moments]
    assert stream.others == {
        "word": "text",
        "name": "text",
        "code": "text",
        "id": "PostgreSQL type uuid",
    }
    assert list(map(str, stream.kinds.values())) == [
        *["bool", "int64", "int64", "int64", "double", "double", "decimal128(10, 2)", "large_string"],
        *["large_string", "large_string", "large_string", "date32[day]", "timestamp[us]", "timestamp[us, tz=UTC]"],
        "large_string",
    ]
    assert stream.typed
    assert stream.rows() == 2


def test_every_value_is_its_nearest_float(connection):
    """Also that of a float4, which is not the number that its text shows."""
    stream = from_query(connection, TYPED)
    leap = 1709208000.000001  # 2024-02-29 12:00:00.000001
    expected = [1, 7, -3, 2.0**53, float(np.float32(0.1)), 0.1, 1.5, 0.1, 19782, leap, leap]
    for name, value in zip(stream.facts, expected, strict=True):
        found = values(stream, name)
        assert found.dtype == np.float64
        assert np.array_equal(found, [value, NAN], equal_nan=True), name


def test_keys_have_their_types(psycopgs):
    """Dates are dates, decimals are decimals, and what Arrow does not have is text."""
    stream = from_query(psycopgs, TYPED)
    moment = datetime(2024, 2, 29, 12, 0, 0, 1)
    expected = [True, 7, -3, 2**53 + 1, float(np.float32(0.1)), 0.1, Decimal("1.50"), "0.1", "a", "b", "c"]
    expected += [date(2024, 2, 29), moment, moment.replace(tzinfo=UTC), "00000000-0000-0000-0000-00000000000a"]
    for name, key in zip(stream.kinds, expected, strict=True):
        (batch,) = stream.batches([name], [])
        assert batch.schema.types == [stream.kinds[name]]
        assert batch.column(0).to_pylist() == [key, None], name


def test_floats_do_not_depend_on_how_the_session_writes_them(psycopgs):
    """Few digits in text are no fewer bits here."""
    execute(psycopgs, "set extra_float_digits = -10")
    execute(psycopgs, "set datestyle = 'SQL, DMY'")
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, float(np.float32(16777217 / 3))]
    query = " union all ".join(f"select '{x!r}'::float8 as x, '2024-03-01'::date as d" for x in numbers)
    stream = from_query(psycopgs, query)
    assert sorted(values(stream, "x").tolist()) == sorted(numbers)
    assert set(keys(stream, "d")) == {date(2024, 3, 1)}


@pytest.mark.medium
def test_a_float4_is_the_float32(psycopgs):
    """Every float4 is read as the float32 that it is, at edges and at random."""
    bits = np.random.default_rng(4).integers(0, 2**32, 3000, dtype=np.uint32)
    edges = np.float32([0.1, 3.4028235e38, 1e-45, -0.0, 16777216, 1 / 3])
    singles = np.append(bits.view(np.float32), edges)
    singles = singles[np.isfinite(singles)]
    listed = ", ".join(f"({k}, '{x!r}'::float4)" for k, x in enumerate(map(float, singles)))
    found = values(from_query(psycopgs, f"select x from (values {listed}) as t (k, x) order by k"), "x")
    assert np.array_equal(found.view(np.int64), singles.astype(np.float64).view(np.int64))
    shown = values(from_query(psycopgs, f"select x::text::float8 as x from (values {listed}) as t (k, x)"), "x")
    assert not np.array_equal(found, shown)  # what text would have made of them


def test_odd_numbers_are_read_as_everywhere(connection):
    """NaN is missing, infinities are infinite, and decimals beyond the floats are infinite or 0."""
    for kind in ["float4", "float8", "numeric"]:
        query = f"select x::{kind} from (values (1, 'NaN'), (2, 'Infinity'), (3, '-Infinity')) as t (k, x) order by k"
        assert np.array_equal(values(from_query(connection, query), "x"), [NAN, INF, -INF], equal_nan=True)
    query = (
        "select x from (values (1, 1e400), (2, -1e400), (3, 1e-400), (4, 9007199254740993.0)) as t (k, x) order by k"
    )
    assert values(from_query(connection, query), "x").tolist() == [INF, -INF, 0, 2.0**53]


def test_decimals_are_rounded_once(psycopgs):
    """A decimal of more digits than a float has is the float nearest to it."""
    rng = np.random.default_rng(5)
    decimals = [Decimal(int(rng.integers(10**18))).scaleb(-int(rng.integers(25))) for _ in range(1000)]
    listed = ", ".join(f"({k}, {x:f}::numeric)" for k, x in enumerate(decimals))
    found = values(from_query(psycopgs, f"select x from (values {listed}) as t (k, x) order by k"), "x")
    assert found.tolist() == list(map(float, decimals))


def test_equal_decimals_are_one_key(psycopgs):
    """A numeric without digits keeps those it was written with, which are no part of its value."""
    stream = from_query(psycopgs, "select x from (values (1.0), (1.00), (1), (100), (0.50)) as t (x)")
    assert keys(stream, "x") == ["1", "1", "1", "100", "0.5"]


def test_keys_that_are_no_number_are_missing(psycopgs):
    """A NaN is in no group, and -0.0 is 0.0, as in all engines."""
    for kind in ["float4", "float8", "numeric", "numeric(4, 1)"]:
        stream = from_query(psycopgs, f"select x::{kind} as x from (values ('NaN'), ('-0.0')) as t (x)")
        nan, zero = keys(stream, "x")
        assert nan is None
        assert str(zero) == ("0.0" if kind != "numeric" else "0")


def test_dates_that_python_has_not_are_missing(connection):
    """Infinite dates and those before Christ fail nothing: such a key is none."""
    for kind in ["date", "timestamp", "timestamptz"]:
        listed = ", ".join(f"('{x}'::{kind})" for x in ["infinity", "-infinity", "0044-03-15 BC", "12024-01-01"])
        assert keys(from_query(connection, f"select d from (values {listed}) as t (d)"), "d") == [None] * 4
        ends = ["0001-01-03", "9999-12-29", "1969-12-31"]
        listed = ", ".join(f"('{x}'::{kind})" for x in ends)
        found = keys(from_query(connection, f"select d from (values {listed}) as t (d)"), "d")
        assert [(day.year, day.month) for day in found] == [(1, 1), (9999, 12), (1969, 12)]


def test_infinite_dates_of_duckdb_are_missing():
    """As in PostgreSQL."""
    with duckdb.connect() as connection:
        for kind in ["date", "timestamp", "timestamptz"]:
            query = f"select unnest(['infinity', '-infinity', '2024-02-29'])::{kind} as d"
            assert [key is None for key in keys(from_query(connection, query), "d")] == [True, True, False]


def test_types_of_ones_own_are_text(psycopgs):
    """A domain is what it is made of, and an enum, an array or a document is text as a key."""
    execute(psycopgs, "drop type if exists mood; create type mood as enum ('sad', 'glad')")
    execute(psycopgs, "drop domain if exists age; create domain age as int4")
    stream = from_query(psycopgs, "select 'sad'::mood as m, 41::age as a, array[1, 2] as l, '{}'::jsonb as j")
    assert stream.others == {
        "m": "PostgreSQL type mood",
        "l": "PostgreSQL type integer[]",
        "j": "PostgreSQL type jsonb",
    }
    assert stream.facts == {"a": Facts(True, True)}
    assert [keys(stream, name) for name in "majl"] == [["sad"], [41], ["{}"], ["{1,2}"]]


def test_a_text_that_a_function_of_somebody_makes_is_no_key(psycopgs):
    """A cast may fail on a record, or do something; no query asks for it."""
    execute(psycopgs, "drop type if exists odd cascade; create type odd as (a int, b int)")
    execute(
        psycopgs,
        "create function odd_text(odd) returns text language sql as 'select (1 / ($1).a)::text';"
        "create cast (odd as text) with function odd_text(odd)",
    )
    stream = from_query(psycopgs, "select row(0, 1)::odd as o, 1 as x")
    assert stream.others == {"o": "PostgreSQL type odd"} and list(stream.kinds) == ["x"]
    with pytest.raises(TypeError, match="column 'o' must be of text, numbers or dates to be a unit or a key"):
        Local(stream).check_keys(("o",))
    execute(psycopgs, "drop type odd cascade")


def test_names_are_quoted(psycopgs):
    """Any name that a column can have may be asked for."""
    stream = from_query(psycopgs, 'select 1 as "a b", 2 as "select", 3 as "q""q", 4 as "É%s"')
    assert [values(stream, name).tolist() for name in stream.facts] == [[1], [2], [3], [4]]


def test_a_table_is_opened_again_after_its_columns_have_changed(psycopgs, postgres):
    """However often the same query has run before, which psycopg 3 prepares after five times."""
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("drop table if exists changed; create table changed (x int)")
        for _ in range(7):
            assert from_query(psycopgs, "select * from changed").facts == {"x": Facts(True, True)}
        owner.execute("alter table changed alter x type float8, add y bool")
        assert from_query(psycopgs, "select * from changed").facts == {"x": Facts(False, True), "y": Facts.of(BOOLEAN)}
        owner.execute("drop table changed")


def test_rows_come_in_batches_from_a_cursor_on_the_server(psycopgs, monkeypatch):
    """No more rows than CHUNK are here at a time, and an abandoned reading leaves nothing open."""
    monkeypatch.setattr(engine, "CHUNK", 1000)
    stream = from_query(psycopgs, "select x, (x % 7)::text as g from generate_series(1, 2500) as t (x)")
    batches = list(stream.batches(["g"], ["x", "x"]))
    assert [len(batch) for batch in batches] == [1000, 1000, 500]
    assert np.concatenate([batch.column(1) for batch in batches]).tolist() == list(range(1, 2501))
    reading = stream.batches(["g"], ["x"])
    assert len(next(reading)) == 1000
    cursor = psycopgs.cursor()
    cursor.execute("select count(*) as n from pg_cursors where name like 'nobounds%'")
    (count,) = (row["n"] if isinstance(row, dict) else row[0] for row in cursor.fetchall())
    assert count == 1
    reading.close()
    assert stream.rows() == 2500
    cursor.execute("select count(*) as n from pg_cursors where name like 'nobounds%'")
    (count,) = (row["n"] if isinstance(row, dict) else row[0] for row in cursor.fetchall())
    assert count == 0


def test_a_connection_is_left_as_it_was(psycopgs):
    """Without a transaction there is none afterwards, and an open one stays open, with what was done in it."""
    query = "select x from generate_series(1, 3) as t (x)"
    stream = from_query(psycopgs, query)
    assert values(stream, "x").tolist() == [1, 2, 3]
    assert stream.rows() == 3
    assert psycopgs.info.transaction_status == 0
    cursor = psycopgs.cursor()
    if psycopgs.autocommit:
        cursor.execute("begin")
    cursor.execute("create table mine as select 86421 as x")
    assert values(from_query(psycopgs, "select x from mine"), "x").tolist() == [86421]
    assert psycopgs.info.transaction_status == 2
    cursor.execute("rollback")
    psycopgs.rollback()
    with pytest.raises(ValueError, match="the query failed"):
        from_query(psycopgs, "select x from mine")
    assert psycopgs.info.transaction_status == 0


@pytest.mark.medium
def test_a_large_result_is_not_waited_for(postgres):
    """The first batch of a query of a million million rows comes at once: they are made as they are fetched."""
    with psycopg.connect(postgres) as connection:
        connection.execute("set statement_timeout = '5s'; set temp_file_limit = '10MB'")
        stream = from_query(connection, "select generate_series(1, 1000000000000) as x")
        reading = stream.batches([], ["x"])
        assert len(next(reading)) == database.CHUNK
        reading.close()
        assert values(from_query(connection, "select 1 as x"), "x").tolist() == [1]


# --- drivers without types


@pytest.fixture
def sqlite():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table t (x, g)")
        yield connection
    connection.close()


ELEMENTS = [1, 2.5, None, "3", b"4", 2**62 + 1, -INF, "NaN", 0.1]
FLOATS = [1, 2.5, NAN, 3, NAN, 2.0**62, -INF, NAN, 0.1]
TEXTS = ["1", "2.5", None, "3", "b'4'", str(2**62 + 1), "-inf", "NaN", "0.1"]


def test_sqlite_has_no_types(sqlite):
    """Each element is taken on its own, as in a list: a number, the text of one, or missing; as a key it is text."""
    sqlite.executemany("insert into t values (?, ?)", [(x, x) for x in ELEMENTS])
    stream = from_query(sqlite, "select x, g from t -- all")
    assert stream.facts == dict.fromkeys(["x", "g"], Facts(integral=False, nullable=True, declared=False, texts=True))
    assert (stream.others, stream.typed) == ({}, False)
    assert set(stream.kinds.values()) == {pa.large_string()}
    assert np.array_equal(values(stream, "x"), FLOATS, equal_nan=True)
    assert keys(stream, "g") == TEXTS
    assert stream.rows() == len(ELEMENTS)


def test_bytes_that_are_no_text_fail_nothing(sqlite):
    """SQLite takes any bytes for text; the connection's own way with text is left to it."""
    sqlite.text_factory = bytes
    sqlite.execute("insert into t values (1, cast(x'ff41' as text)), (cast(x'ff' as text), 'b')")
    stream = from_query(sqlite, "select * from t")
    assert keys(stream, "g") == ["\xffA", "b"]
    assert np.array_equal(values(stream, "x"), [1, NAN], equal_nan=True)
    assert sqlite.text_factory is bytes


def test_no_converter_of_a_type_is_called():
    """With detect_types, sqlite3 would call one for the type of a column, and that would fail on some rows alone."""
    parsing = sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES
    with closing(sqlite3.connect(":memory:", detect_types=parsing)) as connection:
        connection.execute('create table t (d date, m timestamp, "x [date]" real)')
        connection.execute("insert into t values (cast(x'6e6f' as text), 'never', 3)")
        stream = from_query(connection, "select * from t")
        assert [keys(stream, name) for name in stream.facts] == [["no"], ["never"], ["3.0"]]
        with pytest.raises(ValueError):
            connection.execute("select m from t").fetchall()


def test_rows_of_any_shape_are_read(sqlite):
    """A row factory of the user's own does not matter."""
    sqlite.execute("insert into t values (1, 'a')")
    for factory in [sqlite3.Row, lambda cursor, row: {"x": row[0]}, lambda cursor, row: None]:
        sqlite.row_factory = factory
        stream = from_query(sqlite, "select * from t")
        assert (values(stream, "x").tolist(), keys(stream, "g")) == ([1], ["a"])


def test_sqlite_is_read_in_batches(sqlite, monkeypatch):
    """Also when the query is read again."""
    monkeypatch.setattr(database, "CHUNK", 10)
    sqlite.executemany("insert into t values (?, ?)", [(k, k % 3) for k in range(25)])
    stream = from_query(sqlite, "select * from t;")
    for _ in range(2):
        assert [len(batch) for batch in stream.batches(["g"], ["x"])] == [10, 10, 5]
    assert values(stream, "x").tolist() == list(range(25))


Description = namedtuple("Description", "name type_code")


class Driver:
    """A DB-API driver that nobody has heard of: it knows two statements, and keeps what it was asked."""

    def __init__(self, rows):
        self.rows, self.asked, self.closed = rows, [], 0

    def cursor(self):
        return Cursor(self)


class Cursor:
    def __init__(self, driver):
        self.driver = driver

    def execute(self, query):
        self.driver.asked.append(query)
        self.description = [Description("x", "NUMBER"), Description("g", "STRING")]
        self.left = [] if "1 = 0" in query else list(self.driver.rows)

    def fetchmany(self, size):
        found, self.left = self.left[:size], self.left[size:]
        return found

    def close(self):
        self.driver.closed += 1


def test_any_driver_will_do():
    """The query runs only when it is read, as it was given, and each cursor is closed."""
    driver = Driver([(Decimal("0.1"), "a"), (np.float32(0.1), "b"), (np.int64(3), None), (True, "é")])
    stream = from_query(driver, "select x, g from t")
    assert len(driver.asked) == driver.closed == 1
    assert "1 = 0" in driver.asked[0]
    assert values(stream, "x").tolist() == [0.1, float(np.float32(0.1)), 3, 1]
    assert keys(stream, "g") == ["a", "b", None, "é"]
    assert driver.asked[1:] == ["select x, g from t"] * 2
    assert driver.closed == 3


# --- what is refused, and what is not told


def test_duckdb_connections_are_relations():
    """A query on DuckDB has DuckDB's types, and its decimals are rounded once."""
    with duckdb.connect() as connection:
        stream = from_query(connection, "select 0.29::decimal(10, 2) as d, 1::utinyint as n, 'a' as g")
        assert stream.facts == {"d": Facts.of(Kind.parse("decimal(10,2)")), "n": Facts(True, True, lower=0)}
        assert (values(stream, "d").tolist(), keys(stream, "g"), stream.rows()) == ([0.29], ["a"], 1)
        decimals = [Decimal(k * 7919 + 1).scaleb(-2) for k in range(20000)]
        listed = pa.table({"x": pa.array(decimals, pa.decimal128(18, 2))})
        connection.register("listed", listed)
        assert values(from_query(connection, "select x from listed"), "x").tolist() == list(map(float, decimals))


@pytest.mark.parametrize("connect", [duckdb.connect, lambda: sqlite3.connect(":memory:")])
def test_a_query_that_fails_here_tells_nothing(connect):
    """A query that fails says so, in the same words whenever and why ever."""
    connection = connect()
    for query in ["select 86421 +", "select x from t86421", "select json('{86421}') as x"]:
        with pytest.raises(ValueError, match=r"^the query failed; run it on its own to see why$") as refusal:
            values(from_query(connection, query), "x")
        assert refusal.value.__suppress_context__
    connection.close()


@pytest.mark.medium
def test_a_query_that_fails_on_the_server_tells_nothing(connection):
    """In its text, in the probe, at the first row or at a later one."""
    late = "select 1 / (86421 - x) as x from generate_series(1, 100000) as t (x)"
    for query in ["select 86421 +", "select 1 / 0 as x", "select '86421x'::int as x", late]:
        with pytest.raises(ValueError, match=r"^the query failed; run it on its own to see why$") as refusal:
            values(from_query(connection, query), "x")
        assert refusal.value.__suppress_context__
        connection.rollback()
    stream = from_query(connection, late)
    with pytest.raises(ValueError, match="the query failed"):
        gathered(Local(stream).columns(["x"], None)["x"].chunks())
    connection.rollback()


def test_columns_of_one_name_are_refused(connection):
    """A name says which column is meant."""
    with pytest.raises(ValueError, match=r"^column 'x' appears more than once; give each column"):
        from_query(connection, "select 1 as x, 2 as y, 3 as x")


def test_columns_of_one_name_get_others_in_sqlite(sqlite):
    """SQLite itself tells them apart."""
    stream = from_query(sqlite, "select 1 as x, 2 as y, 3 as x")
    assert [values(stream, name).tolist() for name in stream.facts] == [[1], [2], [3]]


def test_what_is_no_connection_is_refused(sqlite):
    """By its type alone, and so is ADBC's connection to SQLite, whose types come from the data."""
    with pytest.raises(TypeError, match=r"^connection must be one of DuckDB, .*, got str; for example sqlite3"):
        from_query("postgresql://localhost", "select 1")
    with pytest.raises(TypeError, match=r"^query must be a text, got int$"):
        from_query(sqlite, 5)
    with (
        adbc_driver_sqlite.dbapi.connect() as connection,
        pytest.raises(TypeError, match="that of ADBC to SQLite does not"),
    ):
        from_query(connection, "select 1 as x")
