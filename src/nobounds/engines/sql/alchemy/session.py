"""A connection of SQLAlchemy in a transaction of its own, so that all queries of a release see the same rows.

MariaDB: REPEATABLE READ, READ ONLY, with a snapshot from its start, for tables of InnoDB. SQLite: a transaction that
begins with its first read. A connection that the user has begun a transaction on is read as it is, and stays open. For
SQLite, SQLAlchemy may say so where the driver waits for the first write; then a transaction of ours is on it meanwhile.
"""

import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

from nobounds.engines.column import CHUNK
from nobounds.engines.keys import text_of
from nobounds.engines.loaded import loaded
from nobounds.engines.sql.reading import leave
from nobounds.engines.sql.text import hiding_driver_errors
from nobounds.engines.streams.turns import turns

_BEGINNINGS = {
    "sqlite": ("begin",),
    "mariadb": (
        "set transaction isolation level repeatable read",
        "start transaction with consistent snapshot, read only",
    ),
}
_STREAMING = {"pymysql": "pymysql.cursors", "mysqldb": "MySQLdb.cursors"}


def is_alchemy(connection: object) -> bool:
    """Whether something is an Engine or a Connection of SQLAlchemy."""
    kinds = (getattr(loaded("sqlalchemy"), name, None) for name in ("Engine", "Connection"))
    return any(isinstance(kind, type) and isinstance(connection, kind) for kind in kinds)


def family_of(source: Any) -> str:
    """The name of the database; MySQL is read like MariaDB."""
    name = str(source.dialect.name)
    return "mariadb" if name == "mysql" else name


def is_typed(source: Any) -> bool:
    """Whether the tables of a database are read with the types of their schema."""
    family, driver = family_of(source), str(source.dialect.driver)
    if family == "mariadb" and driver not in _STREAMING:
        raise TypeError(f"MariaDB is read by PyMySQL or mysqlclient, got {driver}; use mariadb+pymysql://")
    return family in _BEGINNINGS


def driver_of(source: Any) -> tuple[Any, Any]:
    """The connection of the driver, and what has to be kept as long as it is used."""
    kept = source.connection if hasattr(source, "in_transaction") else source.raw_connection()
    return kept.driver_connection, kept


def begun(source: Any) -> bool:
    """Whether the user's own transaction is to be read in."""
    return hasattr(source, "in_transaction") and bool(source.in_transaction())


def turn_of(source: Any) -> Any:
    """The lock to hold from before a session begins until it has ended; SQLite in memory may have one connection."""
    if family_of(source) == "sqlite":
        return turns()
    return turns(driver_of(source)[0]) if begun(source) else nullcontext()


class Session:
    """A connection in its transaction; both end with this object, unless they are the user's."""

    def __init__(self, source: Any) -> None:
        self.family = family_of(source)
        self.close: Callable[[], Any] = _nothing
        if begun(source):
            self.connection = source
            if self.family == "sqlite" and not self.driver.in_transaction:  # sqlite3 begins with the first write
                self.close = weakref.finalize(self, leave, self.driver, self.driver.total_changes)
                self.rows("begin")
            return
        self.connection = getattr(source, "engine", source).connect()
        own = not getattr(self.driver, "in_transaction", False)  # SQLite in memory has one connection for all
        self.close = weakref.finalize(self, _end, self.connection, self.driver if own else None)
        for statement in _BEGINNINGS[self.family] if own else ():
            self.rows(statement)

    @property
    def driver(self) -> Any:
        """The connection of the driver."""
        return self.connection.connection.driver_connection

    def rows(self, query: str) -> list[Any]:
        """The rows of a query with a small result, or of a statement."""
        with self.ending_on_errors(), closing(self.driver.cursor()) as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def chunks(self, query: str) -> Iterator[list[Any]]:
        """The rows of a query, CHUNK at a time; they are never all in memory."""
        driver, sqlite = self.driver, self.family == "sqlite"
        kinds = () if sqlite else (import_module(_STREAMING[self.connection.dialect.driver]).SSCursor,)
        with self.ending_on_errors(), closing(driver.cursor(*kinds)) as cursor:
            cursor.execute(query)
            while rows := sqlite_rows(driver, cursor, CHUNK) if sqlite else list(cursor.fetchmany(CHUNK)):
                yield rows

    @classmethod
    @contextmanager
    def at_once(cls, source: Any) -> "Iterator[Session]":
        """A session that ends here, in its turn."""
        with turn_of(source):
            with hiding_driver_errors():
                session = cls(source)
            try:
                yield session
            finally:
                session.close()

    @contextmanager
    def ending_on_errors(self) -> Iterator[None]:
        """An error ends the session; a traceback that is kept must not keep the transaction and the connection too."""
        try:
            yield
        except GeneratorExit:  # the rest of the rows is not wanted
            raise
        except BaseException:
            self.close()
            raise


def sqlite_rows(driver: Any, cursor: Any, size: int) -> list[Any]:
    """Rows of SQLite, which stores any bytes as text; sqlite3 would fail at the first invalid ones."""
    factory, cursor.row_factory = driver.text_factory, None
    driver.text_factory = text_of
    try:
        return list(cursor.fetchmany(size))
    finally:
        driver.text_factory = factory


def _nothing() -> None:
    """What is to be done at the end of a transaction of the user's."""


def _end(connection: Any, driver: Any | None) -> None:
    """End a transaction of ours, and give the connection back."""
    with suppress(Exception):  # the server may be gone
        if driver is not None:
            driver.rollback()
            if getattr(driver, "in_transaction", False):  # sqlite3 with autocommit=True ignores rollback()
                driver.execute("rollback")
    with suppress(Exception):
        connection.close()
