"""Error chains as a side channel: nothing that a library said of a record hangs on the error that replaces it.

Loggers and error trackers follow `__context__` also where `raise ... from None` hides it from a traceback.
"""

import ast
import sqlite3
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import psycopg
import psycopg2
import pyarrow as pa
import pytest
import typer
from support.observed import chain
from support.purse import Purse

import nobounds as nb
from nobounds.cli.errors import plain_errors
from nobounds.engines.spark import jobs as spark_jobs
from nobounds.studio.desk import Charged, Desk
from nobounds.studio.results.shelf import Inquiry
from nobounds.studio.sources import Source

SECRET = "86421"
SOURCE = Path(nb.__file__).parent
BROKEN = "(case when i = 2500 then 'x86421' else cast(i as varchar) end)"


def relation():
    rows = f"select {BROKEN}::double as pay, i % 500 as who, 'k' || i % 3 as k from range(3000) t(i)"
    return duckdb.connect().sql(rows)


def lazy():
    texts = [f"x{SECRET}" if i == 2500 else str(i) for i in range(3000)]
    columns = {"pay": texts, "who": [i % 500 for i in range(3000)], "k": [f"k{i % 3}" for i in range(3000)]}
    return pl.LazyFrame(columns).with_columns(pl.col("pay").cast(pl.Float64))


def lazy_of_other_types():
    """A query that gives text where it declared numbers."""
    columns = {"pay": [1.0, 2.0], "who": [1, 2], "k": ["a", "b"]}
    return pl.LazyFrame(columns).map_batches(
        lambda frame: frame.with_columns(pl.lit(SECRET).alias("pay"), pl.lit(SECRET).alias("who")),
        schema={"pay": pl.Float64, "who": pl.Int64, "k": pl.String},
        validate_output_schema=False,
    )


SCHEMA = pa.schema({"pay": pa.float64(), "who": pa.int64(), "k": pa.string()})


def batches():
    yield pa.record_batch({"pay": [1.0], "who": [1], "k": ["k0"]}, schema=SCHEMA)
    raise RuntimeError(f"the value is {SECRET}")


def reader():
    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def reader_of_other_types():
    """A reader that gives text where it declared numbers."""
    other = pa.record_batch({"pay": [SECRET], "who": [SECRET], "k": ["k0"]})
    return pa.RecordBatchReader.from_batches(SCHEMA, iter([other]))


class Stream:
    """Arrow's C stream interface, which fails on a record."""

    def __arrow_c_stream__(self, requested_schema=None):
        return reader().__arrow_c_stream__(requested_schema)


class Cursor:
    """A cursor of a driver that quotes records."""

    description = (("pay",), ("who",), ("k",))

    def execute(self, query):
        pass

    def fetchmany(self, size):
        raise OSError(f"lost the connection at {SECRET}") from KeyError(SECRET)

    def fetchone(self):
        raise OSError(f"lost the connection at {SECRET}")

    def close(self):
        raise OSError(f"cannot close at {SECRET}")


class Driver:
    """Its first cursor, which tells the columns, can be closed."""

    def __init__(self):
        self.cursors = 0

    def cursor(self):
        self.cursors += 1
        found = Cursor()
        if self.cursors == 1:
            found.close = lambda: None
        return found


def of_a_driver():
    return nb.Table.sql(Driver(), "select * from people", budget=Purse(), rows_of="result")


def of_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.create_function("checked", 1, lambda i: [][i] if i == 2 else i)
    rows = "with recursive t(i) as (select 0 union all select i + 1 from t where i < 9)"
    query = f"{rows} select checked(i) as pay, i as who, 'k' as k from t"
    return nb.Table.sql(connection, query, budget=Purse(), rows_of="result")


OPENED = {
    "DuckDB": lambda: nb.Table(relation(), budget=Purse()),
    "LazyFrame": lambda: nb.Table(lazy(), budget=Purse()),
    "LazyFrame of other types": lambda: nb.Table(lazy_of_other_types(), budget=Purse()),
    "stream": lambda: nb.Table(Stream(), budget=Purse()),
    "reader": lambda: nb.Table(reader(), budget=Purse()),
    "reader of other types": lambda: nb.Table(reader_of_other_types(), budget=Purse()),
    "driver": of_a_driver,
    "SQLite": of_sqlite,
}
ASKED = {
    "mean": lambda table: table.mean("pay", epsilon=1),
    "groups": lambda table: table.group_by("k", keys=["k0"]).sum("pay", epsilon=1),
}


def failed(call, *kinds):
    """The error of a call, after a check that it stands alone and says nothing of the record."""
    with pytest.raises(kinds or ValueError) as caught:
        call()
    found = list(chain(caught.value))
    assert len(found) == 1, found
    assert SECRET not in str(found)
    return caught.value


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("kind", OPENED)
def test_a_query_that_fails_on_a_record_leaves_nothing_on_its_error(kind, ask):
    """The error has no context, cause or note, after the charge."""
    table = OPENED[kind]()
    failed(lambda: ASKED[ask](table))
    assert len(table._opened.budget.charged) == 1


@pytest.mark.parametrize("kind", ["DuckDB", "LazyFrame", "LazyFrame of other types", "stream", "reader of other types"])
def test_neither_do_units(kind):
    """The rows of each unit are chosen by DuckDB, which is given what the query gives."""
    data = {"DuckDB": relation, "LazyFrame": lazy, "LazyFrame of other types": lazy_of_other_types, "stream": Stream}
    table = nb.Table(data.get(kind, reader_of_other_types)(), unit="who", rows_per_unit=1)
    failed(lambda: table.sum("pay", epsilon=1))
    failed(lambda: nb.Table(Stream(), neighbors="swap").count(epsilon=1))  # which counts the rows alone


@pytest.mark.medium
@pytest.mark.parametrize("connect", [psycopg.connect, psycopg2.connect], ids=["psycopg", "psycopg2"])
def test_neither_does_a_server(connect, postgres):
    """PostgreSQL quotes the text that it could not read."""
    query = f"select {BROKEN}::float8 as pay, i % 500 as who, 'k' || i % 3 as k from generate_series(1, 3000) t(i)"
    connection = connect(postgres)
    try:
        for ask in ASKED.values():
            failed(lambda ask=ask: ask(nb.Table.sql(connection, query, rows_of="result")))
            connection.rollback()
    finally:
        connection.close()


def test_neither_does_a_column_or_a_matrix():
    """Data that are read before anything is charged, because their library can give them only once."""

    class Column:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError(f"the value is {SECRET}")

    class Matrix:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, f"x{SECRET}"]], dtype=object).astype(float)

    failed(lambda: nb.mean(Column(), epsilon=1))
    failed(lambda: nb.describe({"pay": Column()}, epsilon=1))
    failed(lambda: nb.vector_sum(Matrix(), rho=1), TypeError)


def test_neither_does_a_cluster():
    """What Spark says is replaced by the outcome of a job without data."""

    class Frame:
        class sparkSession:
            @staticmethod
            def range(*_):
                raise RuntimeError(SECRET)

    def job():
        raise RuntimeError(f"the value is {SECRET}")

    assert "the Spark job failed" in str(failed(lambda: spark_jobs.run(Frame, job)))


def test_neither_do_the_studio_and_the_shell(tmp_path):
    """Errors that nobody planned are named by their type, or not at all."""

    class Broken(Source):
        @contextmanager
        def opened(self, **options):
            yield nb.Table(Stream(), budget=options["budget"])

    budget, desk = tmp_path / "people.budget", Desk()
    nb.Budget(epsilon=1, path=budget)
    inquiry = Inquiry(Broken("database", tmp_path / "x.db", "t"), {"pay": "number"}, {}, {"ask": ["mean:pay"]})
    failed(lambda: desk.answer(desk.key(), inquiry, budget), Charged)

    def command(error):
        with plain_errors():
            raise error

    for error in (KeyError(SECRET), ValueError("a plain one"), BrokenPipeError(SECRET)):
        failed(lambda error=error: command(error), typer.Exit)


# The modules that see records, or errors about them. Damaged files have tests of their own.
CHECKED = sorted((SOURCE / "engines").rglob("*.py"))
CHECKED += [
    SOURCE / name
    for name in ("sklearn.py", "tables/opened.py", "tables/table.py", "statistics/vectors.py", "studio/desk.py")
]


def raised_in_handlers(source):
    """The lines on which a new error is raised while another one is handled, unless that is a missing package."""
    for handler in ast.walk(ast.parse(source)):
        if not isinstance(handler, ast.ExceptHandler) or ast.unparse(handler.type) == "ImportError":
            continue
        for node in ast.walk(handler):
            if isinstance(node, ast.Raise) and node.exc is not None:
                yield node.lineno


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_new_error_is_raised_in_a_handler(path):
    """`raise_alone` and `replacing_errors` are the ways to replace an error."""
    assert list(raised_in_handlers(path.read_text())) == []


def test_an_error_that_is_raised_in_a_handler_is_found():
    """The check finds one that hides its context, and takes a bare raise for what it is."""
    found = "try:\n    f()\nexcept Exception as e:\n    if g(e):\n        raise ValueError('no') from None\n    raise\n"
    assert list(raised_in_handlers(found)) == [5]
