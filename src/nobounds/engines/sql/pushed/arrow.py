"""The rows of a snapshot by ADBC, which hands over Arrow batches: a connection that joins the transaction's snapshot.

The transaction exports its snapshot, and that of this connection imports it, so both see the same rows. The expressions
are those of psycopg, so values, types and what is missing are the same. There is no such connection where ADBC's driver
is not installed, on a standby server, where the server has no room for another connection, and where the texts of the
database are in another encoding than UTF-8, which ADBC takes them for. Then psycopg reads the rows.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.sql.postgres import Field, is_3
from nobounds.engines.sql.text import around

_PARTS = (
    "set transaction isolation level repeatable read read only",
    "set transaction snapshot '{snapshot}'",
    "set local search_path = pg_catalog",
    "set local client_encoding = 'UTF8'",
    "set local idle_in_transaction_session_timeout = 0",
    'set local role "{role}"',
)


def joined(connection: Any, role: str) -> Any | None:
    """A connection of ADBC with the snapshot of a transaction of psycopg, or None."""
    with suppress(ImportError):
        from adbc_driver_postgresql.dbapi import connect

        with closing(connection.cursor()) as cursor:
            cursor.execute("select current_setting('server_encoding') = 'UTF8' and not pg_is_in_recovery()")
            if not cursor.fetchone()[0]:
                return None
        with suppress(Exception):  # no room on the server, or a way to log in that this driver does not have
            own = connect(_dsn(connection))
            try:
                # Outside of a savepoint, within which PostgreSQL exports no snapshot.
                with closing(connection.cursor()) as cursor:
                    cursor.execute("select pg_export_snapshot()")
                    names = {"snapshot": cursor.fetchone()[0], "role": role.replace('"', '""')}
                for part in _PARTS:
                    with closing(own.cursor()) as cursor:
                        cursor.execute(part.format(**names))
            except BaseException:
                own.close()
                raise
            return own
    return None


def batches(connection: Any, query: str, fields: dict[str, Field], keys: list[str], values: list[str]) -> Iterator[Any]:
    """The batches of a query, like those of `from_postgres`."""
    pa = import_pyarrow()
    wanted = [fields[name].in_arrow for name in keys]
    wanted += [f"coalesce({fields[name].number}, 'NaN')" for name in values]
    selection = ", ".join(f"{each} as c{place}" for place, each in enumerate(wanted)) or "1"
    with closing(connection.cursor()) as cursor:
        cursor.execute(around(query, selection))
        for batch in cursor.fetch_record_batch():
            arrays = [plain(fields[name].from_arrow(column)) for name, column in zip(keys, batch, strict=False)]
            yield pa.record_batch(arrays + batch.columns[len(keys) : len(wanted)], names=[*keys, *values])


def _dsn(connection: Any) -> str:
    """How to connect as a connection of psycopg has."""
    info = connection.info
    secret = {"password": info.password} if info.password else {}
    if is_3(connection):
        from psycopg.conninfo import make_conninfo

        return make_conninfo(**info.get_parameters() | secret)
    from psycopg2.extensions import make_dsn

    return str(make_dsn(**info.dsn_parameters | secret))
