"""Queries of the command line: to files that they name, or to a database, which is opened read-only."""

import glob
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from nobounds.cli.options.common import Data
from nobounds.cli.options.text import Text
from nobounds.engines.csv.table import CsvFiles
from nobounds.engines.files.columns import column_names
from nobounds.engines.files.formats import format_of, is_parquet
from nobounds.engines.files.paths import file_identity, from_paths, named_in
from nobounds.engines.sql.connect import connect, duckdb_connection
from nobounds.engines.sql.duck import quoted
from nobounds.engines.sql.files import files_named
from nobounds.engines.sql.text import literal
from nobounds.engines.streams.stream import TableStream
from nobounds.exact import printable, shown
from nobounds.expressions.statements.reading import table_names
from nobounds.tables.sql.query import query_stream
from nobounds.tables.sql.shelf import is_declared

QUERY_TO = "a query to "


def queried(data: Data, stack: ExitStack, masked: bool) -> tuple[TableStream, str]:
    """The rows of the query of --sql, and its name."""
    query, text = data.sql or "", data.text
    if not is_declared(data.rows_of):
        with in_option("--sql"):
            names = table_names(query)
        tables, name = tables_of(data.database, data.folder, text, names, stack)
        with in_option("--sql"):
            return query_stream(tables, query, data.rows_of, masked=masked), name
    if data.database is not None:
        _without_options(data.folder, text)
        connection, name = _database(data.database, stack)
        _check_one(connection, query)
        return query_stream(connection, query, data.rows_of), name
    connection = duckdb_connection(":memory:", stack)
    _check_one(connection, query)
    views = _views(connection, data)
    return query_stream(connection, query, data.rows_of, views=views), "a query"


@contextmanager
def in_option(option: str) -> Iterator[None]:
    """A query that is refused is an error of its option."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def tables_of(
    database: str | None, folder: Path | None, text: Text, names: Iterable[str], stack: ExitStack
) -> tuple[Any, str]:
    """A connection to a database, or the files with these names, and what to call the query."""
    if database is not None:
        _without_options(folder, text)
        return _database(database, stack)
    files: dict[str, TableStream] = {}
    opened: dict[Any, TableStream] = {}
    unknown = {} if text.stated is None else dict(text.stated.columns)
    for name in dict.fromkeys(names):
        path = _file(folder, name)
        csv = text.csv if format_of(path) == "csv" else None
        declared = None if text.stated is None else text.declared(column_names(path, csv, text.stated))
        # Two names of the same file are one table, so that a join of it with itself is refused.
        same = file_identity(path)
        if same not in opened:
            opened[same] = from_paths([path], csv, declared)
        files[name] = opened[same]
        unknown = {column: kind for column, kind in unknown.items() if declared and column not in declared.columns}
    if unknown:
        raise ValueError(f"column {next(iter(unknown))!r} of the schema is in none of the files of the query")
    return files, "a query"


def _file(folder: Path | None, name: str) -> Path:
    """A file that a query names."""
    if folder is None:
        raise ValueError(
            f"the query names {shown(name)}: give its --database, or --folder, the folder of the files it may name"
        )
    return named_in(folder, name)


def _without_options(folder: Path | None, text: Text) -> None:
    if folder is not None or text.csv is not None or text.stated is not None:
        raise ValueError("the options for files go without --database")


def _database(database: str, stack: ExitStack) -> tuple[Any, str]:
    """A read-only connection to a database, and the name of a query to it."""
    with in_option("--database"):
        connection, name = connect(database, stack)
    return connection, f"{QUERY_TO}{printable(name)}"


def _views(connection: Any, data: Data) -> list[str]:
    """Make views of the files in a query, CSV files by our reader: they take precedence over files of their names."""
    files, text = files_named(connection, data.sql or ""), data.text
    if (text.csv is not None or text.stated is not None) and all(map(is_parquet, map(Path, files))):
        raise ValueError("the options for CSV files need a CSV file in the query")
    if len({file.casefold() for file in files}) < len(files):
        raise ValueError("--sql names two files whose names differ by upper and lower case alone; rename one")
    unknown = dict(text.stated.columns) if text.stated is not None else {}
    for file in files:
        paths = [_file(data.folder, file)]
        if is_parquet(paths[0]):
            # By its whole path, so that it is no address, and with the signs of a glob in brackets.
            exact = literal(glob.escape(str(paths[0].resolve())))
            connection.execute(f"create view {quoted(file)} as from read_parquet({exact}, hive_partitioning = false)")
            continue
        declared = text.declared(column_names(paths[0], text.csv, text.stated))
        connection.register(file, CsvFiles.of(paths, text.csv, declared).arrow())
        unknown = {name: kind for name, kind in unknown.items() if name not in declared.columns}
    if unknown:
        raise ValueError(f"column {next(iter(unknown))!r} of the schema is in none of the files of the query")
    return files


def _check_one(connection: Any, query: str) -> None:
    """ValueError if a query to DuckDB is not one select."""
    if not hasattr(connection, "extract_statements"):
        return
    duckdb = import_module("duckdb")
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:  # the parser has seen the query, but no data
        raise ValueError(f"--sql: {str(error).splitlines()[0]}") from None
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise ValueError("--sql must be one select")
