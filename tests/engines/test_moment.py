"""One moment for each release: whatever others write between its reads, its answers are those of the first state."""

import dis
import random
import sys
from functools import cache, partial
from itertools import count, pairwise
from threading import Thread

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
    asked_table,
    by_group,
    in_duckdb,
    in_engine,
    in_postgres,
    in_sqlite3,
    statement,
    swapped,
)

import nobounds as nb
from nobounds.engines import moment
from nobounds.engines.moment import at_one_moment, held
from nobounds.engines.sql import reading
from nobounds.engines.streams.turns import turns
from nobounds.statistics import door

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
    monkeypatch.setattr(door, "at_one_moment", lambda release: release())
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
    ends, firsts = [], []
    begin = partial(Ended, ends)

    def outer():
        firsts.append(held(begin))
        assert at_one_moment(partial(held, begin)) is firsts[0]
        assert not ends
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        at_one_moment(outer)
    assert ends == firsts
    assert held(begin) is not held(begin)


PLACES = {moment.__file__, reading.__file__}


@cache
def after_calls(code):
    """The places of a function where an interrupt may be raised: behind calls, and at its start.

    Python raises it within the call; so a place does not count that another handler guards.
    """
    known = dis.Bytecode(code)

    def guards(offset):
        return [each.target for each in known.exception_entries if each.start <= offset < each.end]

    return {
        after.offset
        for before, after in pairwise(known)
        if before.opname in ("CALL", "CALL_FUNCTION_EX", "RESUME") and guards(before.offset) == guards(after.offset)
    }


def interrupting(place, run):
    """Run something, with an interrupt at the place of this number; the number of places that it has passed."""
    passed = 0

    def traced(frame, event, _):
        nonlocal passed
        if event == "opcode" and frame.f_lasti in after_calls(frame.f_code):
            passed += 1
            if passed == place:
                raise KeyboardInterrupt
        return traced

    def called(frame, *_):
        frame.f_trace_opcodes = True
        return traced if frame.f_code.co_filename in PLACES else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        run()
    finally:
        sys.settrace(before)
    return passed


def is_free(lock):
    """Whether another thread can take a lock."""
    taken = []
    thread = Thread(target=lambda: taken.append(lock.acquire(blocking=False) and lock.release() is None))
    thread.start()
    thread.join()
    return taken == [True]


@pytest.mark.medium
@pytest.mark.parametrize("opened", [in_duckdb, partial(in_sqlite3, check_same_thread=False)], ids=["duckdb", "sqlite3"])
def test_an_interrupt_anywhere_leaves_no_transaction_and_no_lock(tmp_path, opened):
    """Wherever Python may raise it, and although the error is kept with all its frames."""
    for place in count(1):
        with opened(tmp_path / f"{place}.db") as (connection, _):  # says whether a transaction is left

            def release(connection=connection):
                table = asked_table(connection, None, rows_of="result")
                at_one_moment(partial(table.mean, "fare", epsilon=1, rng=random.Random(7)))

            try:
                assert interrupting(place, release) < place
                break
            except KeyboardInterrupt as error:
                kept = error
            assert is_free(turns()), kept
            assert held(object) is not held(object)  # no moment is left either
    assert place > 40
