"""One moment for each release: whatever others write between its reads, its answers are those of the first state."""

import random
from functools import partial

import psycopg
import psycopg2
import pytest
from support.alchemy import sqlite
from support.moving import (
    RELEASES,
    Restless,
    RestlessBudget,
    agg,
    answers,
    by_group,
    in_engine,
    in_postgres,
    statement,
    swapped,
)

import nobounds as nb
from nobounds.engines.moment import Moment, held

__all__ = ["sqlite"]


@pytest.mark.medium
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_sees_one_state_of_postgres(postgres, release, driver):
    """In a transaction on a connection of our own, which is closed afterwards."""
    moving, resting = answers(release, partial(in_postgres, postgres, driver))
    assert moving == resting


@pytest.mark.medium
@pytest.mark.parametrize("release", [agg, swapped, by_group, statement])
def test_without_a_moment_the_answers_would_be_of_several_states(postgres, release, monkeypatch):
    """So these releases do read several times, and the writes between their reads matter."""
    monkeypatch.setattr(Moment, "__enter__", lambda self: self)
    moving, resting = answers(release, partial(in_postgres, postgres))
    assert moving != resting


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
