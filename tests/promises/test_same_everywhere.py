"""The same rows in every engine, fetched and where they are: the same tally, and with a seed the same answers."""

import random
from contextlib import ExitStack, closing

import duckdb
import numpy as np
import psycopg
import psycopg2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.pushed import store

import nobounds as nb
from nobounds.counting.histogram import Counted
from nobounds.counting.lattice import Outside
from nobounds.counting.scan import scan
from nobounds.engines.open import open_stream
from nobounds.engines.source import Keyed
from nobounds.engines.sql.pushed.snapshot import Session
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder
from nobounds.tables.sql.query import query_stream

RNG = np.random.default_rng(6)
FARES = RNG.lognormal(3, 1, 3000).round(2)
EDGES = [0.0, 5e-324, -5e-324, 1e300, -1e300, 1.7976931348623157e308, 2.0**53 + 2, 0.1, 7.0, 6.999999999999999]
FARES[: len(EDGES)] = EDGES
ROWS = [("abc"[k % 3], None if k % 50 == 49 else fare, k % 90) for k, fare in enumerate(FARES.tolist())]
TABLE = pa.table({"g": [g for g, _, _ in ROWS], "fare": pa.array([x for _, x, _ in ROWS], pa.float64())})
TABLE = TABLE.append_column("age", pa.array([age for _, _, age in ROWS], pa.int64()))


def fetching(connection):
    """The table of PostgreSQL as its rows are fetched from a snapshot."""
    there = Local(query_stream(connection, "select * from same", "source"))._elsewhere()
    return there.snapshot.fetched


def in_arrow(stack, fixture):
    return TABLE


def in_numpy(stack, fixture):
    fares = np.array([np.nan if x is None else x for _, x, _ in ROWS])
    return {"g": np.array([g for g, _, _ in ROWS]), "fare": fares, "age": np.array([age for _, _, age in ROWS])}


def in_parquet(stack, fixture):
    path = fixture("tmp_path_factory").mktemp("same") / "same.parquet"
    pq.write_table(TABLE, path, row_group_size=700)
    return path


def in_duckdb(stack, fixture):
    connection = stack.enter_context(closing(duckdb.connect()))
    connection.register("given", TABLE)
    connection.execute("create table same as select * from given")
    return query_stream(connection, "select * from same", "source")


def in_postgres(driver, pushed=True, adbc=True):
    def opened(stack, fixture):
        server = fixture("postgres")
        with psycopg.connect(server, autocommit=True) as writer:
            store(writer, "same", "g text, fare float8, age bigint", ROWS)
        connection = stack.enter_context(closing(driver.connect(server)))
        if not adbc:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(Session, "_joined", lambda self: None)
        return query_stream(connection, "select * from same", "source") if pushed else fetching(connection)

    return opened


def of_query(stack, fixture):
    in_postgres(psycopg)(stack, fixture)
    connection = stack.enter_context(closing(psycopg.connect(fixture("postgres"))))
    return query_stream(connection, "select * from public.same", "result")


def in_alchemy(url):
    def opened(stack, fixture):
        sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
        path = fixture("tmp_path_factory").mktemp("same") / "same.db"
        engine = fixture("mariadb") if url is None else sqlalchemy.create_engine(url.format(path))
        kinds = "g varchar(9), fare double, age bigint"
        with engine.begin() as connection:
            connection.exec_driver_sql("drop table if exists same")
            connection.exec_driver_sql(f"create table same ({kinds})")
            connection.execute(
                sqlalchemy.text("insert into same values (:g, :fare, :age)"),
                [dict(zip(("g", "fare", "age"), row, strict=True)) for row in ROWS],
            )
        if url is not None:
            stack.callback(engine.dispose)
        return query_stream(engine, "select * from same", "source")

    return opened


ENGINES = {
    "numpy": in_numpy,
    "Parquet": in_parquet,
    "DuckDB": in_duckdb,
    "PostgreSQL, passes in it": in_postgres(psycopg),
    "PostgreSQL, passes in it, psycopg2": in_postgres(psycopg2),
    "PostgreSQL, fetched by ADBC": in_postgres(psycopg, pushed=False),
    "PostgreSQL, fetched by psycopg": in_postgres(psycopg, pushed=False, adbc=False),
    "PostgreSQL, fetched by psycopg2": in_postgres(psycopg2, pushed=False, adbc=False),
    "PostgreSQL, a query": of_query,
    "SQLite": in_alchemy("sqlite:///{}"),
    "MariaDB": in_alchemy(None),
}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    """The rows in an engine."""
    with ExitStack() as stack:
        yield ENGINES[request.param](stack, request.getfixturevalue)


def seeded():
    return random.Random(9)


ASKED = {
    "quantile": lambda t: t.quantile("fare", 0.9, epsilon=1, rng=seeded()),
    "quantile of whole numbers": lambda t: t.median("age", epsilon=1, rng=seeded()),
    "maximum": lambda t: t.maximum("age", epsilon=1, rng=seeded()),
    "sum": lambda t: t.sum("fare", epsilon=1, rng=seeded()),
    "mean": lambda t: t.mean("fare", epsilon=1, rng=seeded()),
    "count": lambda t: t.count("fare", epsilon=1, rng=seeded()),
    "correlation": lambda t: t.correlation("fare", "age", epsilon=3, rng=seeded()),
    "describe": lambda t: t.describe(["fare", "age"], epsilon=4, rng=seeded()),
    "group sum": lambda t: t.group_by("g", keys=["a", "b", "c"]).sum("fare", epsilon=1, rng=seeded()),
    "group quantile": lambda t: t.group_by("g", delta=1e-6).quantile("fare", 0.3, epsilon=3, rng=seeded()),
    "group count": lambda t: t.group_by("g", delta=1e-6).count(epsilon=1, rng=seeded()),
}


def told(release):
    """All that a release says, but for what it says about queries."""
    text = release.to_json() if hasattr(release, "to_json") else str(release)
    return text.replace(', "rows_of": "query result"', "")


@pytest.fixture(scope="module")
def expected():
    """What the rows answer in memory."""
    return {name: told(ask(nb.Table(TABLE))) for name, ask in ASKED.items()}


@pytest.mark.medium
@pytest.mark.parametrize("name", ASKED)
def test_a_seed_gives_the_same_answer(name, engine, expected):
    """To the last digit, with the interval and all that the release says about itself."""
    assert told(ASKED[name](nb.Table(engine))) == expected[name]


@pytest.mark.medium
def test_the_tally_is_the_same(engine):
    """Counts on ladders of every kind, counts of groups and sums of groups, record by record."""
    own, memory = Local(open_stream(engine)), Local(open_stream(TABLE))
    for ladder in (Ladder.float_bits(9), Ladder.float_bits(40), Ladder.grid(1), Ladder.uniform(-3, 80, 11)):
        one, other = (
            scan(each.columns(["fare"], None)["fare"].chunks(), Counted(ladder), None) for each in (own, memory)
        )
        assert np.array_equal(one.rungs, other.rungs) and np.array_equal(one.counts, other.counts)
        assert entries(own.tally("fare", ladder, Keyed(("g",)), None)) == entries(
            memory.tally("fare", ladder, Keyed(("g",)), None)
        )
    one, other = (each.rows("fare", Keyed(("g",)), None) for each in (own, memory))
    assert sums(one) == sums(other)
    assert [each.columns(["age"], None)["age"].rows() for each in (own, memory)] == [len(ROWS)] * 2


def entries(tallied):
    """The rungs and counts of each key, and its number of rows."""
    keys, tally = tallied.keys[0].to_pylist(), tallied.tally
    return sorted(
        (keys[group], int(tallied.units[group]), int(rung), int(count))
        for group, rung, count in zip(tally.groups, tally.rungs, tally.counts, strict=True)
    )


def sums(rows):
    """The count of each key, and how many of its records are at least 3."""
    counts, (above,) = rows.totals(Outside(3.0, upwards=True))
    return sorted(zip(rows.keys[0].to_pylist(), counts.tolist(), map(int, above), strict=True))
