"""Tables that others write to between the reads of a release, and releases that read several times."""

import random
import sqlite3
from contextlib import closing, contextmanager

import duckdb
import numpy as np
import psycopg

import nobounds as nb
from nobounds.ask import proportion

RNG = np.random.default_rng(26)
ROWS = [
    ("abc"[k % 3], float(x), int(age), int(k % 5 == 0))
    for k, (x, age) in enumerate(zip(RNG.lognormal(3, 1, 900).round(2), RNG.integers(18, 80, 900), strict=True))
]
CHANGES = ("delete from moving where fare < 20", "insert into moving select g, fare * 9, age + 40, 0 from moving")


class Restless(random.Random):
    """A seeded generator, in whose 1st, 2nd, 4th, 8th... draw somebody else writes."""

    def __init__(self, seed, write):
        super().__init__(seed)
        self.write, self.draws = write, 0

    def getrandbits(self, k):
        """The same bits as without writes."""
        self.draws += 1
        if self.draws & (self.draws - 1) == 0 and self.draws < 200:
            self.write()
        return super().getrandbits(k)


class RestlessBudget:
    """A budget in whose charge somebody else writes."""

    def __init__(self, write):
        self.charge = lambda loss, what: write()


def asked_table(connection, budget, **options):
    return nb.Table.sql(connection, "select * from moving", budget=budget, **options)


def agg(connection, budget, rng, **options):
    """Counts, a statistic of each of two columns, of both together, and of a condition."""
    asks = ("count()", "median(age)", "mean(fare)", "correlation(age, fare)", proportion("fare > 25"))
    return asked_table(connection, budget, **options).agg(*asks, epsilon=8, rng=rng)


def swapped(connection, budget, rng, **options):
    """Under swap the number of rows is read before the charge, and the rows after it."""
    table = asked_table(connection, budget, neighbors="swap", **options).where("age > 25")
    return table.with_columns(twice="fare * 2").mean("twice", epsilon=4, rng=rng)


def by_group(connection, budget, rng, **options):
    """The keys are chosen, and then each statistic reads."""
    groups = asked_table(connection, budget, **options).where("age > 20").group_by("g", delta=1e-6)
    return groups.agg("count()", "median(age)", "mean(fare)", "std(fare)", epsilon=30, rng=rng)


def described(connection, budget, rng, **options):
    """Two columns."""
    return asked_table(connection, budget, **options).describe(["age", "fare"], epsilon=4, rng=rng)


def alone(connection, budget, rng, **options):
    """Passes of one statistic, each after noise."""
    return asked_table(connection, budget, **options).mean("fare", epsilon=2, rng=rng)


def statement(connection, budget, rng, **options):
    """Statistics of a statement, by groups."""
    text = """select g, private_count(), private_sum(fare) as total, private_quantile(age, 0.9)
        from moving where late = 1 or fare > 9 group by g"""
    return nb.sql(text, connection, keys=["a", "b"], epsilon=6, budget=budget, rng=rng, **options)


RELEASES = [agg, swapped, by_group, described, alone, statement]


def told(release):
    """All that a release says."""
    return release.to_json() if hasattr(release, "to_json") else str(release)


def answers(release, opened, **options):
    """What a release answers while others write, and what it answers while nobody does."""
    with opened() as (connection, write):
        budget = RestlessBudget(write) if release is swapped else None  # others read nothing before the charge
        moving = told(release(connection, budget, Restless(7, write), **options))
    with opened() as (connection, _):
        resting = told(release(connection, None, random.Random(7), **options))
    return moving, resting


def written(execute, float_type="double"):
    """Store the rows, and return what changes them."""
    execute("drop table if exists moving")
    execute(f"create table moving (g varchar(9), fare {float_type}, age int, late int)")
    for start in range(0, len(ROWS), 100):
        execute(f"insert into moving values {', '.join(map(str, ROWS[start : start + 100]))}")
    return lambda: [execute(change) for change in CHANGES]


@contextmanager
def in_postgres(server, driver=psycopg, user="nobounds", autocommit=False):
    with psycopg.connect(server, autocommit=True) as writer:
        writer.execute("set search_path = public; set lock_timeout = '5s'")
        write = written(writer.execute, "float8")
        writer.execute("grant select on moving to public")
        with closing(driver.connect(server.replace("user=nobounds", f"user={user}"))) as connection:
            connection.autocommit = autocommit
            yield connection, write
            assert connection.info.transaction_status == 0  # no transaction of ours is left on it
        writer.execute("alter table moving alter age set default 1")  # waits for all that have read


@contextmanager
def in_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        yield connection, written(connection.cursor().execute)
        connection.begin()  # fails if a transaction is left open
        connection.rollback()


@contextmanager
def in_sqlite3(path, **given):
    with closing(sqlite3.connect(path)) as writer, closing(sqlite3.connect(path, **given)) as connection:
        writer.execute("pragma journal_mode = wal")

        def execute(text):
            with writer:
                writer.execute(text)

        yield connection, written(execute, "real")
        assert not connection.in_transaction
        execute("drop table moving")


@contextmanager
def in_engine(engine):
    def execute(text):
        with engine.begin() as connection:
            connection.exec_driver_sql(text)

    write, out = written(execute), engine.pool.checkedout()
    yield engine, write
    assert engine.pool.checkedout() == out
    execute("drop table moving")  # waits for transactions that have read it
