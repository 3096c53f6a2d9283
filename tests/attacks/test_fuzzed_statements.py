"""Fuzzed expressions and statements: whether one fails, and in which words, does not depend on the rows."""

import logging
import random
import re
from datetime import date
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.engines.open import open_stream
from nobounds.engines.streams.viewed import stream_types, viewed
from nobounds.expressions.statements.request import request_of
from nobounds.expressions.view import View
from nobounds.tables.sql.query import query_stream
from nobounds.tables.sql.shelf import Shelf

NAN, INF = float("nan"), float("inf")
COLUMNS = {
    "f": (pa.float64(), [0.0, -0.0, 1.5, NAN, INF, -INF, 1.7976931348623157e308, 5e-324, None]),
    "h": (pa.float32(), [0.5, NAN, 3e38, None]),
    "i": (pa.int64(), [0, -1, 2**63 - 1, -(2**63), 7, None]),
    "w": (pa.uint64(), [0, 2**64 - 1, 2**63, None]),
    "b": (pa.bool_(), [True, False, None]),
    "s": (pa.string(), ["", "1", " 2 ", "x", "NaN", "1e999", "9" * 500, "2024-02-30", "2024-02-29", "\u0663", None]),
    "d": (pa.date32(), [date.min, date.max, date(2024, 2, 29), None]),
    "e": (pa.timestamp("ns"), [0, 2**63 - 1, -(2**63) + 1, None]),
    "m": (pa.timestamp("us"), [0, 2**62, -(2**62), None]),
    "z": (pa.timestamp("us", "UTC"), [0, 2**55, -(2**55), None]),
    "k": (pa.timestamp("s"), [0, 2**62, -(2**62), None]),
    "c": (pa.decimal128(38, 2), [Decimal("9" * 36 + ".99"), Decimal("-0.01"), None]),
    "t": (pa.time64("us"), [0, 86_399_999_999, None]),
    "n": (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal(-1), None]),
    "o": (pa.decimal128(38, 38), [Decimal("0." + "9" * 38), Decimal(0), None]),
    "p": (pa.decimal256(20, 3), [Decimal("9" * 17 + ".999"), None]),
    "q": (pa.decimal32(7, 7), [Decimal("0.9999999"), None]),
    "r": (pa.decimal64(18, 2), [Decimal("9" * 16 + ".99"), None]),
    "l": (pa.date64(), [date.min, date.max, None]),
    "u": (pa.time32("s"), [0, 86_399, None]),
    "v": (pa.duration("ns"), [0, 2**63 - 1, None]),
    "g": (pa.large_string(), ["", "1", "2024-02-29", None]),
}
CONSTANTS = ["0", "-1", "1.5", "1e308", "1e400", "1e-400", "9223372036854775807", "9223372036854775808", "9" * 40]
CONSTANTS += [
    "0." + "0" * 37 + "1",
    "1" * 38,
    "'1'",
    "'x'",
    "''",
    "'NaN'",
    "'2024-02-29'",
    "'9999-12-31'",
    "'0001-01-01'",
    "'1677-01-01'",
    "'12:00'",
]
CONSTANTS += ["date '9999-12-31'", "timestamp '0001-01-01'", "timestamptz '0001-01-01 00:00:00+14:00'", "null", "true"]
CONSTANTS += ["timestamptz '9999-12-31 23:59:59-12:00'", "time '23:59:59.999999'", "'\ud800'", "'a\0b'", "'\u0663'"]


def table(rows):
    """A table with a column of each type: no row, a row of each odd value, or only nulls."""
    return pa.table(
        {name: pa.array([each[k % len(each)] for k in rows], kind) for name, (kind, each) in COLUMNS.items()}
    )


def raw(kind, rng, rows):
    """An array of a type whose buffers hold any bytes, as those of a library that keeps no promise may."""
    valid = pa.py_buffer(rng.randbytes(rows))
    if kind in (pa.string(), pa.large_string()):
        width = 4 if kind == pa.string() else 8
        ends = b"".join((3 * k).to_bytes(width, "little") for k in range(rows + 1))
        return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(ends), pa.py_buffer(rng.randbytes(3 * rows))])
    return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(rng.randbytes(kind.bit_width * rows))])


def unkept(seed):
    """A table of the same types, with a decimal of too many digits, text that is not UTF-8, times beyond the day."""
    rng = random.Random(seed)
    return pa.table({name: raw(kind, rng, 60) for name, (kind, _) in COLUMNS.items()})


TABLES = [table([]), table(range(1)), table(range(120)), pa.table({n: pa.nulls(3, k) for n, (k, _) in COLUMNS.items()})]
TABLES += [unkept(seed) for seed in range(3)]


def drawn(rng, depth):
    """An expression."""
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(list(COLUMNS) if rng.random() < 0.6 else CONSTANTS)
    a, b = drawn(rng, depth - 1), drawn(rng, depth - 1)
    made = [
        f"({a} {rng.choice('+-*/%')} {b})",
        f"({a} {rng.choice(['=', '<>', '<', '>='])} {b})",
        f"coalesce({a}, {b})",
        f"case when {drawn(rng, depth - 1)} then {a} else {b} end",
    ]
    made += [f"cast({a} as {kind})" for kind in ("number", "integer", "text", "date")]
    made += [f"{function}({a})" for function in ("abs", "floor", "ceil")]
    made += [f"({a} in ({rng.choice(CONSTANTS)}, {rng.choice(CONSTANTS)}))", f"(not {a})", f"({a} is null)", f"(-{a})"]
    return rng.choice([*made, f"({a} {rng.choice(['and', 'or'])} {b})"])


def outcome(expression, filtered, rows):
    """How an expression ends on a table: an error before any row is read, one at a row, or none."""
    stream = open_stream(rows)
    try:
        view = View(stream_types(stream))
        view = view.where(expression) if filtered else view.with_columns({"new": expression})
        new = viewed(stream, view, False)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    for _ in new.batches(["s"] if filtered else ["new"], ["f"] if filtered or "new" not in new.facts else ["new"]):
        pass
    return None


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(4))
def test_an_expression_fails_before_rows_are_read_or_not_at_all(seed):
    """With the same words for no row, one row, hostile rows, nulls, and bytes that no value of their type has."""
    rng, answered = random.Random(seed), 0
    for _ in range(150):
        expression, filtered = drawn(rng, 3), rng.random() < 0.5
        first, *others = [outcome(expression, filtered, rows) for rows in TABLES]
        assert others == [first] * len(others), expression
        answered += first is None
    assert answered > 10  # not only errors


TINY = f"0.{'0' * 37}1"  # with 38 places, so that 39 digits beside it are more than the widest type has
CALLS = [
    lambda table: table.where(f"h > {TINY}").count(epsilon=1),
    lambda table: table.where("h > d").mean("x", epsilon=1),
    lambda table: table.proportion(f"h in ({TINY}, 1)", epsilon=1),
    lambda table: table.with_columns(y=f"case when h < {TINY} then 1 else x end").mean("y", epsilon=1),
]


@pytest.mark.parametrize("row", ["7", "1" + "0" * 38, f"{2**127 - 1}", f"-{2**127 - 1}"])
def test_no_integer_of_duckdb_makes_an_expression_fail(row):
    """DuckDB calls integers of 39 digits decimals of 38, and an expression has an answer whatever they are."""
    connection = duckdb.connect()
    connection.execute(
        "create table t as select i::hugeint as h, 0.5::decimal(38, 38) as d, i as x from range(999) r(i)"
    )
    connection.execute(f"insert into t values ({row}, 0.5, 1)")
    for call in CALLS:
        assert call(nb.Table.sql(connection, "select * from t")).value is not None
    for condition in ("h > d", f"h > {TINY}"):
        nb.sql(f"select private_count() from t where {condition}", connection, epsilon=1)
    is_null = nb.Table.sql(connection, "select * from t").where("h is null").count(epsilon=1e6)
    assert is_null.value == (len(row.lstrip("-")) > 38)  # what has no place in the type is missing


def test_half_a_surrogate_pair_is_refused_before_rows_are_read():
    """It is in no row, and a comparison with it would fail at the first one."""
    for rows in TABLES:
        with pytest.raises(ValueError, match=r"^a text in an expression must be Unicode, got '\\ud800'$"):
            nb.Table(rows).where("s = '\ud800'")


@pytest.mark.parametrize("options", ["format '99'", "default 0 on conversion error"])
def test_options_of_a_cast_are_refused(options):
    """They would be read and then ignored."""
    with pytest.raises(ValueError, match=r"a cast with (format|default) is not allowed"):
        nb.sql(f"select private_mean(cast(s as int {options})) from t", {"t": TABLES[2]}, epsilon=1)


_WORDS = """
    select from where group by having limit order distinct private_mean private_count x g s i t pub * ( ) ( ) ,
    . ; as in between and or not is null = <> < > + - / % || :: -> => := cast coalesce case when then else end
    exists any all union join left full cross natural lateral on using with recursive values unnest over
    partition window qualify tablesample pivot for update into table only final at time zone interval '1' "x"
    `x` [1] {x} $1 :a ? @v 1 1.5 0x1 date true -- /* */ /*+ filter within ignore nulls array struct top fetch
    first rows exclude replace columns collate like explain set insert delete drop create pragma copy begin call
"""
WORDS = _WORDS.split()
STATEMENTS = [
    "select private_mean(x) from t where x > 1",
    "select g, private_mean(x) from t join pub on t.g = pub.g where v > 1 group by g",
    "with u as (select x * 2 as y, g from t where i < 3) select g, private_quantile(y, 0.5) from u group by 1",
    "select private_mean(cast(s as int) + coalesce(x, 2)) as a from (select * from t) q",
]


@pytest.mark.medium
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_with_words_put_in_is_refused_in_words_or_read(statement):
    """By one of two built-in errors, whatever sqlglot makes of it."""
    tables = {"t": {"x": [1.0], "g": ["a"], "s": ["1"], "i": [1]}, "pub": {"g": ["a", "b"], "v": [1, 2]}}
    shelf, rng = Shelf(tables, ["pub"]), random.Random(statement)
    logging.disable(logging.WARNING)  # sqlglot warns of statements that it does not know
    try:
        for _ in range(400):
            words = re.findall(r"\w+|[^\w\s]|\s", statement)
            for _ in range(rng.randint(1, 4)):
                place = rng.randrange(len(words))
                words[place : place + rng.randint(0, 1)] = [f" {rng.choice(WORDS)} "]
            for read in (lambda text: request_of(text, shelf), lambda text: query_stream(tables, text, "source")):
                try:
                    read("".join(words))
                except Exception as error:
                    assert type(error) in (ValueError, TypeError), "".join(words)
    finally:
        logging.disable(logging.NOTSET)
