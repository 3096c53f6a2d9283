"""One moment for each release: whatever others write between its reads, its answers are those of the first state."""

import random
import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from threading import Thread

import duckdb
import numpy as np
import psycopg
import psycopg2
import pytest
from support.alchemy import sqlite

import nobounds as nb
from nobounds.ask import proportion
from nobounds.engines.moment import Moment, held

__all__ = ["sqlite"]

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


@pytest.mark.medium
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_postgres(postgres, release, driver):
    """In a transaction on a connection of our own, which is closed afterwards."""
    moving, resting = answers(release, partial(in_postgres, postgres, driver))
    assert moving == resting


@pytest.mark.medium
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_where_there_is_no_room_for_another_connection(postgres, release):
    """Then in a transaction on the user's connection, which ends with the release."""
    with psycopg.connect(postgres, autocommit=True) as writer:
        if not writer.execute("select 1 from pg_roles where rolname = 'single'").fetchone():
            writer.execute("create role single login connection limit 1")
    moving, resting = answers(release, partial(in_postgres, postgres, user="single"))
    assert moving == resting


@pytest.mark.medium
@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_a_query(postgres, release, driver, autocommit):
    """Whose rows are those of its result, read by the user's connection."""
    opened = partial(in_postgres, postgres, driver, autocommit=autocommit)
    moving, resting = answers(release, opened, rows_of="result")
    assert moving == resting


@pytest.mark.medium
@pytest.mark.parametrize("release", [agg, swapped, by_group, statement])
def test_without_a_moment_the_answers_would_be_of_several_states(postgres, release, monkeypatch):
    """So these releases do read several times, and the writes between their reads matter."""
    monkeypatch.setattr(Moment, "__enter__", lambda self: self)
    moving, resting = answers(release, partial(in_postgres, postgres))
    assert moving != resting


@contextmanager
def in_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        yield connection, written(connection.cursor().execute)
        connection.begin()  # fails if a transaction is left open
        connection.rollback()


@pytest.mark.medium
@pytest.mark.parametrize("rows_of", ["source", "result"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_duckdb(tmp_path, release, rows_of):
    """To which another cursor writes."""
    moving, resting = answers(release, partial(in_duckdb, tmp_path / "moving.db"), rows_of=rows_of)
    assert moving == resting


def test_a_release_sees_one_state_of_a_relation(tmp_path):
    """Whose connection only the relation knows."""
    told_of = []
    for moving in (True, False):
        with in_duckdb(tmp_path / "moving.db") as (connection, write):
            table = nb.Table(
                connection.table("moving"), neighbors="swap", budget=RestlessBudget(write) if moving else None
            )
            rng = Restless(3, write) if moving else random.Random(3)
            told_of.append(told(table.where("age > 30").agg("count()", "mean(fare)", epsilon=2, rng=rng)))
    assert told_of[0] == told_of[1]


def test_a_transaction_of_the_user_in_duckdb_stays_open(tmp_path):
    """With what was written in it, which the release sees."""
    with duckdb.connect(str(tmp_path / "own.db")) as connection:
        connection.execute("create table own as select range as x from range(100)")
        connection.begin()
        connection.execute("insert into own select range from range(900)")
        assert nb.sql("select private_count() from own", connection, epsilon=50)["count()"].value == pytest.approx(
            1000, abs=3
        )
        connection.rollback()
        assert connection.table("own").count("*").fetchall() == [(100,)]


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


@pytest.mark.medium
@pytest.mark.parametrize("given", [{}, {"isolation_level": None}])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_sqlite(tmp_path, release, given):
    """By a connection of Python's own driver."""
    moving, resting = answers(release, partial(in_sqlite3, tmp_path / "moving.db", **given))
    assert moving == resting


@contextmanager
def in_engine(engine):
    def execute(text):
        with engine.begin() as connection:
            connection.exec_driver_sql(text)

    write, out = written(execute), engine.pool.checkedout()
    yield engine, write
    assert engine.pool.checkedout() == out
    execute("drop table moving")  # waits for transactions that have read it


@pytest.mark.medium
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_through_sqlalchemy(sqlite, release):
    """Of SQLite."""
    with sqlite.begin() as connection:
        connection.exec_driver_sql("pragma journal_mode = wal")
    moving, resting = answers(release, partial(in_engine, sqlite))
    assert moving == resting


@pytest.mark.medium
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_mariadb(mariadb, release):
    """Through SQLAlchemy."""
    moving, resting = answers(release, partial(in_engine, mariadb))
    assert moving == resting


def interrupted(*given):
    """A user's Ctrl-C, between two reads."""
    raise KeyboardInterrupt


@pytest.mark.medium
@pytest.mark.parametrize("rows_of", ["source", "result"])
def test_a_kept_interrupt_leaves_no_transaction(postgres, rows_of):
    """A notebook keeps the last error with all its frames; the transaction ends all the same."""
    with in_postgres(postgres) as (connection, _):
        with pytest.raises(KeyboardInterrupt) as kept:
            agg(connection, None, Restless(7, interrupted), rows_of=rows_of)
        assert kept.tb is not None


@pytest.mark.medium
@pytest.mark.parametrize("rows_of", ["source", "result"])
def test_nothing_is_read_before_the_charge(postgres, rows_of):
    """A charge that is refused leaves a table that nobody has read."""
    with in_postgres(postgres) as (connection, _):
        connection.autocommit = True  # a read of the names would keep a lock on the table

        def read(loss=None, what=None):
            with psycopg.connect(postgres, autocommit=True) as writer:
                writer.execute("set lock_timeout = '1s'; alter table public.moving alter age set default 2")
            raise nb.BudgetExceeded("refused")

        budget = RestlessBudget(read)
        budget.charge = read
        with pytest.raises(nb.BudgetExceeded, match="refused"):
            agg(connection, budget, random.Random(7), rows_of=rows_of)


def test_threads_with_one_connection_take_turns(tmp_path):
    """A release does not end the transaction in which another one reads."""
    with in_duckdb(tmp_path / "moving.db") as (connection, _):
        table = asked_table(connection, None)
        resting, others, waiting = table.count(epsilon=1, rng=random.Random(7)), [], []

        def other():
            thread = Thread(target=lambda: others.append(table.count(epsilon=1, rng=random.Random(7))))
            thread.start()
            waiting.append(thread)

        first = table.agg("count()", "mean(fare)", "median(age)", epsilon=3, rng=Restless(7, other))
        for thread in waiting:
            thread.join()
        assert others == [resting] * len(waiting) and len(waiting) > 3
        assert told(first) == told(table.agg("count()", "mean(fare)", "median(age)", epsilon=3, rng=random.Random(7)))


class Ended:
    """A transaction that says when it ends."""

    def __init__(self, ends):
        self.ends = ends

    def close(self):
        """Say so."""
        self.ends.append(self)


def test_a_moment_inside_another_one_shares_it():
    """And the outer one ends what both have begun, in an error too; outside, each call begins another."""
    ends = []
    begin = partial(Ended, ends)
    with pytest.raises(ZeroDivisionError), Moment():
        first = held(begin)
        with Moment():
            assert held(begin) is first
        assert not ends
        1 / 0  # noqa: B018
    assert ends == [first]
    assert held(begin) is not held(begin)
