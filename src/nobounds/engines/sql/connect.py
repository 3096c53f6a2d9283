"""Read-only connections to databases: a PostgreSQL or MariaDB URL, or a DuckDB or SQLite file.

Connections are closed, and temporary files removed, when the stack that they are opened on closes. Messages never hold
a URL, which may have a password in it.
"""

import sqlite3
import tempfile
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path
from typing import Any

from nobounds.engines.refusals import raise_alone
from nobounds.engines.sql.alchemy.session import is_alchemy

POSTGRES, MARIADB = "PostgreSQL", "MariaDB"
_SERVERS = {"postgresql": POSTGRES, "postgres": POSTGRES, "mariadb": MARIADB, "mysql": MARIADB}
_TABLES = "select table_name from information_schema.tables where table_schema = current_schema() order by table_name"
_SQLITE = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%' order by name"


def connect(database: str, stack: ExitStack) -> tuple[Any, str]:
    """A read-only connection, and the name of the database."""
    server = server_of(database)
    if server == MARIADB:
        return _mariadb(database, stack)
    if server == POSTGRES:
        connection = _postgres(f"postgresql://{database.partition('://')[2]}", stack)
        return connection, str(connection.info.dbname)
    known = "the database must be a postgresql:// or mariadb:// URL or a DuckDB or SQLite file"
    path = Path(database)
    if "://" in database:
        raise ValueError(f"{known}, and this URL is of another kind")
    if not path.is_file():
        raise ValueError(f"{known}, and {path} is no file")
    if is_sqlite(path):
        # DuckDB may fetch batches from a thread of its own, one after the other.
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        return stack.enter_context(closing(connection)), path.name
    if _start(path)[8:12] == b"DUCK":
        return duckdb_connection(str(path), stack), path.name
    raise ValueError(f"the database must be a DuckDB or SQLite file, and {path.name} is neither")


def server_of(database: str) -> str | None:
    """The kind of server that a URL names, with or without a driver as in SQLAlchemy; None if it names none."""
    scheme, mark, _ = database.partition("://")
    return _SERVERS.get(scheme.partition("+")[0]) if mark else None


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database of SQLite, by its first bytes; an empty one is."""
    start = _start(path)
    return start == b"SQLite format 3\0" or not start


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def duckdb_connection(path: str, stack: ExitStack) -> Any:
    """A connection to a DuckDB file, which is only read, or to ":memory:"."""
    duckdb = _driver("duckdb", "all")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    # Variables of this process are not tables, and large queries spill to the usual place for temporary files.
    settings = {"python_enable_replacements": False, "temp_directory": folder}
    try:
        return stack.enter_context(duckdb.connect(path, read_only=path != ":memory:", config=settings))
    except duckdb.Error:
        raise_alone(ValueError(f"DuckDB cannot open {Path(path).name} to read it; is another process writing to it?"))


def table_names(connection: Any) -> list[str]:
    """The names of the tables of a database, from its catalogue; no table is read."""
    if is_alchemy(connection):
        inspector = _driver("sqlalchemy", "sqlalchemy").inspect(connection)
        return sorted([*inspector.get_table_names(), *inspector.get_view_names()])
    with closing(connection.cursor()) as cursor:
        cursor.execute(_SQLITE if isinstance(connection, sqlite3.Connection) else _TABLES)
        return [str(row[0]) for row in cursor.fetchall()]


def whole_table(name: str) -> str:
    """The query for all rows of a table, in the SQL of `Table.sql`, which quotes names as the database does."""
    return 'select * from "{}"'.format(name.replace('"', '""'))


def _postgres(url: str, stack: ExitStack) -> Any:
    psycopg = _driver("psycopg", "postgres")
    try:
        connection = stack.enter_context(closing(psycopg.connect(url)))
    except psycopg.Error as error:  # no query was run; the message does not contain the URL, which may have a password
        raise_alone(ValueError(f"the database cannot be reached: {str(error).splitlines()[0]}"))
    connection.read_only = True
    return connection


def _mariadb(url: str, stack: ExitStack) -> tuple[Any, str]:
    """An engine of SQLAlchemy; every release reads in a read-only transaction of its own."""
    sqlalchemy = _driver("sqlalchemy", "sqlalchemy")
    _driver("pymysql", "sqlalchemy")
    try:
        parsed = sqlalchemy.make_url(url).set(drivername="mariadb+pymysql")
        reading = {"init_command": "set session transaction read only"}
        engine = sqlalchemy.create_engine(parsed, isolation_level="REPEATABLE READ", connect_args=reading)
        stack.callback(engine.dispose)
        with engine.connect():
            return engine, str(parsed.database or "mariadb")
    except Exception:  # whatever the message is made of, the URL may be in it
        raise_alone(ValueError("the database cannot be reached; check its host, its name, the user and the password"))


def _driver(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"this database needs {module}: pip install 'nobounds[{extra}]'") from None
