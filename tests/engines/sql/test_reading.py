"""A transaction on the user's own connection: all reads of a release see one state, and none of ours is left."""

import random
from functools import partial
from threading import Thread

import duckdb
import psycopg
import psycopg2
import pytest
from support.moving import (
    RELEASES,
    Restless,
    RestlessBudget,
    answers,
    asked_table,
    in_duckdb,
    in_postgres,
    in_sqlite3,
    told,
)

import nobounds as nb
from nobounds.engines.sql import duck
from nobounds.engines.streams import local


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


@pytest.mark.medium
@pytest.mark.parametrize("given", [{}, {"isolation_level": None}])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_sqlite(tmp_path, release, given):
    """By a connection of Python's own driver."""
    moving, resting = answers(release, partial(in_sqlite3, tmp_path / "moving.db", **given))
    assert moving == resting


@pytest.mark.parametrize("given", [{}, {"isolation_level": None}], ids=str)
@pytest.mark.parametrize("text", ["insert into moving (age) values (1)", "create table other (x)"])
def test_what_another_thread_writes_in_sqlite_is_not_lost(tmp_path, text, given):
    """During a release: it is committed, or it is left to the user, who has to commit it anyway."""
    with in_sqlite3(tmp_path / "moving.db", check_same_thread=False, **given) as (connection, _):
        before = connection.execute("select count(*) from moving, sqlite_master").fetchall()

        def write():
            if not waiting:
                waiting.append(Thread(target=connection.execute, args=(text,)))
                waiting[0].start()
                waiting[0].join()

        waiting = []
        asked_table(connection, None, rows_of="result").mean("fare", epsilon=1, rng=Restless(7, write))
        assert connection.in_transaction == (not given and "insert" in text)
        if connection.in_transaction:
            connection.commit()
        connection.rollback()
        assert connection.execute("select count(*) from moving, sqlite_master").fetchall() > before


def interrupted(*given):
    """A user's Ctrl-C, in the middle of a pass."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("place", [(duck, "to_floats"), (local, "_values")], ids=["inside", "outside"])
def test_an_interrupted_pass_leaves_no_transaction(place, monkeypatch):
    """Of DuckDB, although a notebook keeps the error with all its frames, and a frame the query."""
    with duckdb.connect() as connection:
        connection.execute("create table own as select range::double as x, range % 3 as g from range(300000)")
        table = nb.Table.sql(connection, "select * from own", rows_of="result")
        monkeypatch.setattr(*place, interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            table.group_by("g", keys=[0, 1]).mean("x", epsilon=1)
        assert kept.tb is not None
        connection.begin()  # fails if a transaction is left open
        connection.rollback()


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


@pytest.mark.parametrize(
    "opened",
    [
        lambda connection: nb.Table.sql(connection, "select fare from moving"),
        lambda connection: nb.Table.sql(connection, "select fare from moving", rows_of="result"),
        lambda connection: nb.Table(connection.table("moving")),
        lambda connection: nb.sql("select private_count(fare) from moving", connection, epsilon=1),
    ],
    ids=["table", "query", "relation", "statement"],
)
def test_a_table_is_opened_while_another_thread_reads_on_the_connection(tmp_path, opened):
    """Queries to the catalogue wait for the other thread, and do not end what it reads."""
    with in_duckdb(tmp_path / "moving.db") as (connection, _):
        others, threads = [], []

        def meanwhile(*_):
            if not threads:
                threads.append(Thread(target=lambda: others.append(opened(connection))))
                threads[0].start()
                threads[0].join(0.2)  # time enough to fail

        table = nb.Table.sql(connection, "select fare from moving", progress=meanwhile)
        first = table.mean("fare", epsilon=1, rng=random.Random(7))
        threads[0].join()
        assert len(others) == 1
        resting = nb.Table.sql(connection, "select fare from moving")
        assert first == resting.mean("fare", epsilon=1, rng=random.Random(7))
