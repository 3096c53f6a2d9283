"""A snapshot of a stored table of PostgreSQL: one transaction, on a connection of our own, in which all passes run.

The transaction is REPEATABLE READ and READ ONLY, so every pass of a release sees the same rows, whatever is written
in the meantime. It is on a connection of our own, so that it neither joins nor ends a transaction of the user. Names in
our queries are those of `pg_catalog`, whatever the search path of the user.

The texts of queries may be logged, so they hold names, public numbers and noisy numbers alone. The intervals of a
second look are sensitive. They go into a temporary table by COPY, whose data are in no text.
"""

import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from itertools import count
from typing import Any

from nobounds.counting.spans import Spans
from nobounds.engines.sql.postgres import Field, fetched, fields_of, from_postgres, is_3, rows_of
from nobounds.engines.sql.pushed import arrow
from nobounds.engines.sql.text import around, counted, hiding_driver_errors
from nobounds.engines.streams.selected import selected
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.turns import turns
from nobounds.values import dataclass

_IN_TRANSACTION = 2  # of libpq
_SPANS = "pg_temp.nobounds_spans"
_WHO = """
    select session_user::text, current_user::text, c.oid::bigint, c.relpersistence::text,
        current_setting('transaction_isolation'), txid_current_if_assigned() is null
    from pg_catalog.pg_class c where c.oid = pg_catalog.to_regclass({table})::oid
"""


class Session:
    """A connection of our own and its transaction, which end with this object."""

    def __init__(self, connection: Any, role: str) -> None:
        self.connection, self.turns, self._looks = connection, threading.RLock(), count()
        self._role, self._arrow = role, list[Any]()
        weakref.finalize(self, _close, connection)
        self._run("set local search_path = pg_catalog")
        self._run("set local standard_conforming_strings = on")
        self._run("set local idle_in_transaction_session_timeout = 0")
        self._run('set local role "{}"'.format(role.replace('"', '""')))
        self._run("savepoint nobounds")
        self.has_spans = True
        try:  # a standby has no temporary tables, and not every role may make them
            self._run(
                f"create temporary table {_SPANS.split('.')[1]} (look int, low float8, high float8) on commit drop"
            )
        except Exception:
            self._run("rollback to savepoint nobounds")
            self.has_spans = False
        self._run("release savepoint nobounds")
        self._run("set transaction read only")

    def rows(self, query: str) -> list[Any]:
        """The rows of a query with a small result."""
        with self._closing_on_errors(), hiding_driver_errors(), self.turns:
            return [row for rows in rows_of(self.connection, query) for row in rows]

    def batches(
        self, stream: TableStream, query: str, fields: dict[str, Field], keys: list[str], values: list[str]
    ) -> Iterator[Any]:
        """The batches of a query, by ADBC if it serves here, and as `stream` reads them if not."""
        with self._closing_on_errors(), hiding_driver_errors(), self.turns:
            own = self._joined()
            yield from stream.batches(keys, values) if own is None else arrow.batches(own, query, fields, keys, values)

    def inside(self, spans: Spans) -> str:
        """The condition that x lies in one of some intervals."""
        look, edges = next(self._looks), spans.edges.tolist()
        lines = "".join(f"{look}\t{low!r}\t{high!r}\n" for low, high in zip(edges[::2], edges[1::2], strict=True))
        with self._closing_on_errors(), hiding_driver_errors(), self.turns:
            _copy(self.connection, f"copy {_SPANS} from stdin", lines)
        return f"exists (select from {_SPANS} s where s.look = {look} and x between s.low and s.high)"

    @contextmanager
    def _closing_on_errors(self) -> Iterator[None]:
        """An error ends the transaction; a traceback that is kept must not keep the connections too."""
        try:
            yield
        except GeneratorExit:  # the rest of the rows is not wanted
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the transaction, and close the connections."""
        for each in (*self._arrow, self.connection):
            _close(each)

    def _joined(self) -> Any | None:
        """The connection of ADBC with this snapshot, opened when it is first needed; None if there can be none."""
        if not self._arrow:
            self._arrow.append(arrow.joined(self.connection, self._role))
            weakref.finalize(self, _close, self._arrow[0])
        return self._arrow[0]

    def _run(self, statement: str) -> None:
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(statement)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The rows of a table at one moment. Sensitive."""

    session: Session = field(repr=False)
    query: str = field(repr=False)
    fields: dict[str, Field] = field(repr=False)
    fetched: TableStream = field(repr=False)  # the same rows

    def rows(self) -> int:
        """The number of rows."""
        return int(self.session.rows(counted(self.query))[0][0])

    def around(self, selection: str) -> str:
        """A selection from the table."""
        return around(self.query, selection)

    def selected(self, columns: dict[str, str]) -> "Snapshot":
        """The same with these columns: new names, each with the old one."""
        fields = {new: self.fields[old] for new, old in columns.items()}
        return replace(self, fields=fields, fetched=selected(self.fetched, columns))


def opened(connection: Any, table: str) -> Snapshot | None:
    """A snapshot of a stored table, by a connection like this one.

    None where another connection would not see the same rows: those of a temporary table, in a transaction that has
    written or has a snapshot of its own, or as another user. None also if the server has no other connection for us.
    """
    with turns(connection):
        who = _who(connection, table)
    if who is None:
        return None
    *same, kind, isolation, unwritten = who
    reading = connection.info.transaction_status != _IN_TRANSACTION or isolation == "read committed"
    if kind == "t" or not (unwritten and reading):
        return None
    query = f"select * from {table}"
    with suppress(Exception):
        session = Session(_another(connection), str(same[1]))
        own = _who(session.connection, table)
        if own is not None and list(own[: len(same)]) == same:
            fields = {each.name: each for each in fields_of(session.connection, query)}
            stream = from_postgres(session.connection, query)
            batches = partial(session.batches, stream, query, fields)
            return Snapshot(session, query, fields, replace(stream, batches=batches, turns=session.turns))
    return None


def _who(connection: Any, table: str) -> tuple[Any, ...] | None:
    """Who asks, which table the name stands for, and how the transaction sees it; None if there is no such table."""
    rows = fetched(connection, _WHO.format(table="'" + table.replace("'", "''") + "'"))
    return tuple(rows[0]) if rows else None


def _another(connection: Any) -> Any:
    """Another connection, in a transaction that begins with its first statement."""
    info = connection.info
    secret = {"password": info.password} if info.password else {}
    if is_3(connection):
        from psycopg import IsolationLevel, connect

        own = connect(**info.get_parameters() | secret)
        own.isolation_level = IsolationLevel.REPEATABLE_READ
        return own
    from psycopg2 import connect as connect_2

    own = connect_2(**info.dsn_parameters | secret)
    own.set_session(isolation_level="REPEATABLE READ")
    return own


def _copy(connection: Any, statement: str, lines: str) -> None:
    with closing(connection.cursor()) as cursor:
        if is_3(connection):
            with cursor.copy(statement) as copy:
                copy.write(lines)
            return
        from io import StringIO

        cursor.copy_expert(statement, StringIO(lines))


def _close(connection: Any) -> None:
    with suppress(Exception):  # the server may be gone
        connection.close()
