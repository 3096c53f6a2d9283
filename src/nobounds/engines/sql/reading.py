"""A transaction on the user's own connection, so that all queries of a release see the same rows.

It begins with the first read of a release and ends with the release. Other releases on the same connection wait until
then, because its threads share one transaction; and so do those on other connections that share its lock (`turns`).
Where the user has begun a transaction, that one is read in, and stays open. Nothing of it writes, so it ends with a
commit, which keeps what the user may have written in another thread.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from nobounds.engines.moment import ensure, held
from nobounds.engines.sql.text import hiding_driver_errors
from nobounds.engines.streams.stream import TableStream

_IDLE = 0  # of libpq
_LEVEL = "isolation level repeatable read"

Begin = Callable[[], Callable[[], Any] | None]
"""Begins a transaction and returns the function that ends it, or None in a transaction of the user."""


class Reading:
    """A transaction, and the lock of its connection."""

    def __init__(self, turns: Any, begin: Begin) -> None:
        self._turns = turns
        turns.acquire()
        try:
            self._end = begin()
        except BaseException:
            turns.release()
            raise

    def close(self) -> None:
        """End the transaction, if it is ours; other threads may go on."""
        try:
            if self._end is not None:
                self._end()
        finally:
            self._turns.release()


def at_one_moment(stream: TableStream, begin: Begin) -> TableStream:
    """The stream, whose first read in a release begins a transaction for all of them."""
    reading = partial(Reading, stream.turns, begin)

    def begun() -> None:
        with hiding_driver_errors():
            ensure(reading)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        begun()
        read: Any = stream.batches(keys, values)
        # Drivers end no transaction during a query, and an error that is kept would keep the query too.
        rows: Iterator[Any] = held(lambda: read)
        return rows

    def rows() -> int:
        begun()
        return stream.rows()

    return replace(stream, batches=batches, rows=rows)


def of_postgres(connection: Any) -> Callable[[], Any] | None:
    """A transaction of psycopg, 3 or 2."""
    if connection.info.transaction_status != _IDLE:
        return None
    _run(connection, f"begin {_LEVEL}" if connection.autocommit else f"set transaction {_LEVEL}")
    return partial(_committed, connection)


def of_sqlite(connection: Any) -> Callable[[], Any] | None:
    """A transaction of sqlite3."""
    if connection.in_transaction:
        return None
    changes = connection.total_changes
    _run(connection, "begin")
    return partial(leave, connection, changes)


def of_duckdb(run: Callable[[str], Any]) -> Callable[[], Any] | None:
    """A transaction of DuckDB on the connection that runs these statements."""
    # A begin that fails would end the user's transaction. Outside of one, each query has a number of its own.
    before, now = (run("select txid_current()").fetchall() for _ in range(2))
    if before == now:
        return None
    run("begin transaction")

    def end() -> None:
        for statement in ("commit", "rollback"):  # after an error only this one is possible
            with suppress(Exception):
                run(statement)
                return

    return end


def leave(connection: Any, changes: int) -> None:
    """End a transaction of ours in SQLite, unless the user has written in it and is to commit it."""
    with suppress(Exception):
        own = connection.total_changes == changes or connection.isolation_level is None
        if connection.in_transaction and (own or getattr(connection, "autocommit", None) is True):
            connection.execute("commit")


def _committed(connection: Any) -> None:
    with suppress(Exception):  # the server may be gone
        if connection.autocommit:
            _run(connection, "commit")
        else:
            connection.commit()


def _run(connection: Any, statement: str) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement)
