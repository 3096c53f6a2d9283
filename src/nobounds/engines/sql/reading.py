"""A transaction on the user's own connection, so that all queries of a release see the same rows.

It begins with the first read of a release and ends with the release. Other releases on the same connection wait until
then, because its threads share one transaction; and so do those on other connections that share its lock (`turns`).
Where the user has begun a transaction, that one is read in, and stays open. Nothing of it writes, so it ends with a
commit, which keeps what the user may have written in another thread.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from nobounds.engines.moment import ensure, held
from nobounds.engines.sql.text import hiding_driver_errors
from nobounds.engines.streams.stream import TableStream

_IDLE = 0  # of libpq
_LEVEL = "isolation level repeatable read"

Ends = tuple[Callable[[], Any], Callable[[], Any]]
"""What begins a transaction, and what ends it, or does nothing if there is none."""


def _reading(turns: Any, ends: Callable[[], Ends | None]) -> Generator[None]:
    """A transaction, and the lock of its connection; without `ends` it is the user's, and stays open."""
    with turns:
        own = ends()
        if own is None:
            yield
            return
        begin, end = own
        try:
            begin()
            yield
        finally:
            try:
                end()
            except BaseException:  # an interrupt, perhaps before the end
                end()
                raise


def reading(stream: TableStream, ends: Callable[[], Ends | None]) -> TableStream:
    """The stream, whose first read in a release begins a transaction for all of them."""
    begin = partial(_reading, stream.turns, ends)

    def begun() -> None:
        with hiding_driver_errors():
            ensure(begin)

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


def of_postgres(connection: Any) -> Ends | None:
    """A transaction of psycopg, 3 or 2; None in one of the user."""
    if connection.info.transaction_status != _IDLE:
        return None
    begin = f"begin {_LEVEL}" if connection.autocommit else f"set transaction {_LEVEL}"
    return partial(_run, connection, begin), partial(_commit, connection)


def of_sqlite(connection: Any) -> Ends | None:
    """A transaction of sqlite3; None in one of the user."""
    if connection.in_transaction:
        return None
    return partial(_run, connection, "begin"), partial(leave, connection, connection.total_changes)


def of_duckdb(run: Callable[[str], Any]) -> Ends | None:
    """A transaction of DuckDB on the connection that runs these statements; None in one of the user."""
    # A begin that fails would end the user's transaction. Outside of one, each query has a number of its own.
    before, now = (run("select txid_current()").fetchall() for _ in range(2))

    def end() -> None:
        for statement in ("commit", "rollback"):  # after an error only this one is possible
            with suppress(Exception):
                run(statement)
                return

    return None if before == now else (partial(run, "begin transaction"), end)


def leave(connection: Any, changes: int) -> None:
    """End a transaction of ours in SQLite, unless the user has written in it and is to commit it."""
    with suppress(Exception):
        own = connection.total_changes == changes or connection.isolation_level is None
        if connection.in_transaction and (own or getattr(connection, "autocommit", None) is True):
            connection.execute("commit")


def _commit(connection: Any) -> None:
    with suppress(Exception):  # the server may be gone
        if connection.autocommit:
            _run(connection, "commit")
        else:
            connection.commit()


def _run(connection: Any, statement: str) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement)
