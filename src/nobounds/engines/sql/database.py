"""A query to a database as a TableStream: by a connection of DuckDB, ADBC or SQLAlchemy, or of any DB-API 2 driver.

Names and types come from the query without rows. The query itself runs each time the table is read, in batches. When
it fails, the driver's message is discarded, since it can contain values.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.scan import gathered
from nobounds.engines.column import CHUNK
from nobounds.engines.key_columns import key_array
from nobounds.engines.keys import plain
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.memory.sequences import from_sequence
from nobounds.engines.moment import held
from nobounds.engines.numbers import parse_number
from nobounds.engines.sql.alchemy.session import driver_of, is_alchemy, is_typed, sqlite_rows
from nobounds.engines.sql.alchemy.table import from_stored
from nobounds.engines.sql.duck import from_relation, quoted, schema_facts
from nobounds.engines.sql.files import files_named, refuse_guesses
from nobounds.engines.sql.postgres import from_postgres
from nobounds.engines.sql.pushed.table import Pushed, opened_table
from nobounds.engines.sql.reading import of_postgres, of_sqlite, reading
from nobounds.engines.sql.text import around, bare, counted, hiding_driver_errors, no_rows, refuse_repeated
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.turns import turns
from nobounds.ladders.facts import Facts


def from_table(connection: Any, table: str, parts: tuple[str, str] | None = None) -> TableStream:
    """The TableStream of a table that a database stores, by its name in SQL; passes run in PostgreSQL.

    parts: its schema and its name, in a database that SQLAlchemy reads the types of.
    """
    if is_alchemy(connection):
        stream = from_stored(connection, table, *parts) if parts is not None and is_typed(connection) else None
        return _through(connection, lambda own: from_table(own, table)) if stream is None else stream
    stream = from_query(connection, f"select * from {table}")
    if not _is_psycopg(connection):
        return stream
    return _in_snapshot(stream, partial(opened_table, connection, table))


def _in_snapshot(stream: TableStream, opened: Callable[[], Pushed | None]) -> TableStream:
    """A table from a snapshot of it, which ADBC may fetch, or by the user's own connection."""

    def elsewhere() -> Pushed | None:
        return held(opened)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        there = elsewhere()
        yield from stream.batches(keys, values) if there is None else there.snapshot.fetched.batches(keys, values)

    def rows() -> int:
        there = elsewhere()
        return stream.rows() if there is None else there.rows()

    return replace(stream, batches=batches, rows=rows, elsewhere=elsewhere)


def _through(source: Any, open_with: Callable[[Any], TableStream]) -> TableStream:
    """The stream of a driver's connection that SQLAlchemy has opened, and that goes back to it with the stream."""
    own, kept = driver_of(source)
    stream = open_with(own)
    return replace(stream, batches=partial(_keeping, kept, stream.batches))


def _keeping(kept: Any, batches: Callable[..., Iterator[Any]], keys: list[str], values: list[str]) -> Iterator[Any]:
    return batches(keys, values)


def from_query(connection: Any, query: str, views: Collection[str] = ()) -> TableStream:
    """The TableStream of a query, which must be one `select`; `views` are its files."""
    if not isinstance(query, str):
        raise TypeError(f"query must be a text, got {type(query).__name__}")
    if is_alchemy(connection):
        return _through(connection, lambda own: from_query(own, query, views))
    turn = turn_of(connection)
    with turn:
        stream = replace(_opened(connection, query, views), query=True, connected=True, turns=turn)
    begin = of_postgres if _is_psycopg(connection) else of_sqlite if _is_sqlite(connection) else None
    return stream if begin is None else reading(stream, partial(begin, connection))


def turn_of(connection: Any) -> Any:
    """The lock of a connection, for every query on it; DuckDB relations, which do not name theirs, share one."""
    return turns(None if is_instance(connection, "duckdb", "DuckDBPyConnection") else connection)


def _opened(connection: Any, query: str, views: Collection[str]) -> TableStream:
    if is_instance(connection, "duckdb", "DuckDBPyConnection"):
        with hiding_driver_errors():
            kinds = [str(statement.type) for statement in connection.extract_statements(query)]
        if kinds != ["StatementType.SELECT"]:
            raise ValueError("query must be one select")
        for name in files_named(connection, query):
            if name not in views:
                raise ValueError(
                    f"{name} is no table of the database, and DuckDB would expand its name, and guess the types of a "
                    "CSV file from its records; give nb.Table the file itself, or make a view of it in the database"
                )
        with hiding_driver_errors():
            relation = connection.sql(query)
        refuse_guesses(relation)
        return from_relation(relation, connection.sql)
    if is_instance(connection, "adbc_driver_manager.dbapi", "Connection"):
        return _from_adbc(connection, query)
    if _is_psycopg(connection):
        return from_postgres(connection, query)
    if not callable(getattr(connection, "cursor", None)) or is_instance(connection, "psycopg", "AsyncConnection"):
        raise TypeError(
            "connection must be one of DuckDB, of SQLAlchemy, of ADBC or of a DB-API 2 driver, "
            f"got {type(connection).__name__}; for example sqlite3.connect('sales.db')"
        )
    return _from_cursors(connection, query)


def _is_psycopg(connection: Any) -> bool:
    return is_instance(connection, "psycopg", "Connection") or is_instance(
        connection, "psycopg2.extensions", "connection"
    )


def _is_sqlite(connection: Any) -> bool:
    return is_instance(connection, "sqlite3", "Connection")


def is_instance(connection: Any, module: str, name: str) -> bool:
    """Whether a connection is an instance of a library's class; False if the library is not loaded."""
    kind = getattr(loaded(module), name, None)
    return isinstance(kind, type) and isinstance(connection, kind)


def _from_adbc(connection: Any, query: str) -> TableStream:
    pa = import_pyarrow()
    with hiding_driver_errors():
        vendor = connection.adbc_get_info().get("vendor_name")
    if vendor == "SQLite":
        raise TypeError(
            "connection must tell the types of columns before it reads them, and that of ADBC to SQLite does not; "
            "use Python's own, for example sqlite3.connect('sales.db')"
        )
    with hiding_driver_errors(), closing(connection.cursor()) as cursor:
        cursor.execute(no_rows(query))
        schema = cursor.fetch_record_batch().schema
    numerics = [field.name for field in schema if getattr(field.type, "type_name", None) == "numeric"]
    seen = [field.with_type(pa.float64()) if field.name in numerics else field for field in schema]
    facts, others, kinds = schema_facts(pa.schema(seen))
    kinds |= dict.fromkeys(numerics, pa.large_string())

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        with hiding_driver_errors(), closing(connection.cursor()) as cursor:
            cursor.execute(around(query, ", ".join(map(quoted, dict.fromkeys([*keys, *values]))) or "1"))
            for batch in cursor.fetch_record_batch():
                arrays = [plain(batch.column(name)) for name in keys]
                for name in values:
                    column = batch.column(name)
                    arrays.append(pa.array(_decimals(column) if name in numerics else to_floats(column)))
                yield pa.record_batch(arrays, names=[*keys, *values])

    return TableStream(facts, others, kinds, batches, lambda: _count(connection, query))


def _from_cursors(connection: Any, query: str) -> TableStream:
    """A driver with unknown types: every column may hold numbers, and keys are read as text."""
    pa = import_pyarrow()
    with hiding_driver_errors(), closing(connection.cursor()) as cursor:
        cursor.execute(no_rows(query))
        names = [str(column[0]) for column in cursor.description]
    refuse_repeated(names)
    sqlite = _is_sqlite(connection)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        at = {name: names.index(name) for name in [*keys, *values]}
        with hiding_driver_errors(), closing(connection.cursor()) as cursor:
            cursor.execute(_unconverted(query, len(names)) if sqlite else query)
            while rows := sqlite_rows(connection, cursor, CHUNK) if sqlite else list(cursor.fetchmany(CHUNK)):
                columns = {name: [row[place] for row in rows] for name, place in at.items()}
                arrays = [key_array(columns[name]) for name in keys]
                arrays += [pa.array(gathered(from_sequence(columns[name]).chunks())) for name in values]
                yield pa.record_batch(arrays, names=[*keys, *values])

    facts = {name: Facts(integral=False, nullable=True, declared=False, texts=True) for name in names}
    kinds = dict.fromkeys(names, pa.large_string())
    return TableStream(facts, {}, kinds, batches, lambda: _count(connection, query), typed=False)


def _unconverted(query: str, columns: int) -> str:
    """A query to SQLite for the same rows, whose columns have neither types nor names that call a converter."""
    names = [f"c{place}" for place in range(columns)]
    selected = ", ".join(f"{bare(name)} as {name}" for name in names)
    text = query.strip().rstrip(";")
    return f"with nobounds_query({', '.join(names)}) as (\n{text}\n) select {selected} from nobounds_query"


def _decimals(column: Any) -> Floats:
    """Decimals that the driver returns as text."""
    texts = column.cast("string").to_pylist()
    return np.array([np.nan if text is None else parse_number(text) for text in texts], dtype=np.float64)


def _count(connection: Any, query: str) -> int:
    with hiding_driver_errors(), closing(connection.cursor()) as cursor:
        cursor.execute(counted(query))
        return int(next(iter(cursor.fetchone())))
