"""Columns by the types of their schema: exact values, and one rule for values that do not fit the type."""

import sqlite3
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from support.alchemy import keys, opened, values, write

import nobounds as nb
from nobounds.kinds.kind import DATE, DATETIME, Kind
from nobounds.ladders.facts import Facts

sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
NAN, INF, MAX = float("nan"), float("inf"), 1.7976931348623157e308
DYNAMIC = ["1", "2.5", "NULL", "'three'", "'3'", "x'34'", "9223372036854775807", "-9e999", "'0x1'", "'nan'"]


def test_any_value_in_a_column_of_numbers_follows_one_rule(sqlite):
    """A text in a REAL or INTEGER column is missing unless it is a number; facts come from the schema alone."""
    write(sqlite, "create table odd (r real, i integer, n numeric(10, 2), t text)")
    empty = opened(sqlite, "odd")
    write(sqlite, *(f"insert into odd values ({x}, {x}, {x}, {x})" for x in DYNAMIC))
    full = opened(sqlite, "odd")
    number = Facts(False, True)
    assert empty.facts == full.facts == {"r": number, "i": Facts(True, True), "n": number}
    assert empty.others == full.others == {"t": "text"}
    assert empty.kinds == full.kinds
    floats = [1, 2.5, NAN, NAN, 3, NAN, 2.0**63, -INF, NAN, NAN]
    for name in "rn":
        assert np.array_equal(values(full, name), floats, equal_nan=True), name
    whole = [1, NAN, NAN, NAN, 3, NAN, 2.0**63, NAN, NAN, NAN]
    assert np.array_equal(values(full, "i"), whole, equal_nan=True)
    assert keys(full, "r") == [1, 2.5, None, None, 3, None, 2.0**63, -INF, None, None]
    assert keys(full, "n") == [1, 2.5, None, None, 3, None, None, -INF, None, None]
    assert keys(full, "i") == [1, None, None, None, 3, None, 2**63 - 1, None, None, None]
    assert keys(full, "t")[:4] == ["1", "2.5", None, "three"]


def test_fractions_in_a_column_of_integers_are_missing(sqlite):
    """As records and as keys: rounded records would have a mean that is none of the data."""
    stored = ["1", "2.0", "'3'", "' 4 '", "1.5", "'1.5'", "1e300", "9e18", "true"]
    expected = [1, 2, 3, 4, None, None, None, 9 * 10**18, 1]
    types = ("integer", "int", "bigint", "smallint", "boolean")
    write(sqlite, f"create table mixed ({', '.join(f'c{k} {each}' for k, each in enumerate(types))})")
    write(sqlite, *(f"insert into mixed values ({', '.join([x] * len(types))})" for x in stored))
    stream = opened(sqlite, "mixed")
    for k, kind in enumerate(types):
        assert keys(stream, f"c{k}") == expected, kind
        floats = [NAN if x is None else float(x) for x in expected]
        assert np.array_equal(values(stream, f"c{k}"), floats, equal_nan=True), kind


def test_large_integers_are_no_keys_of_floats(sqlite):
    """In a column of NUMERIC or of an unknown type, an integer without a float of its own is missing as a key."""
    edges = [2**53 - 1, 2**53, 2**53 + 1, 2**62, -(2**53), -(2**53) - 1, -(2**63)]
    write(sqlite, "create table wide (n numeric, d decimal(20, 0), u whatever, g text)")
    write(sqlite, *(f"insert into wide values ({x}, {x}, {x}, 'a')" for x in edges))
    stream = opened(sqlite, "wide")
    for name in "ndu":
        assert keys(stream, name) == [2**53 - 1, 2**53, None, None, -(2**53), None, None], name
        assert values(stream, name).tolist() == [float(x) for x in edges], name
        nb.sql(f"select {name}, private_count() from wide group by {name}", sqlite, keys=[1.0], epsilon=1)


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
