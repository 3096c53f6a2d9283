"""The catalogue of a database: whether a name is a table or a view, and which select a view stands for.

These are public facts: the names, kinds and definitions of tables, and no record of them.
"""

import re
from contextlib import closing
from typing import Any

from nobounds.engines.files.formats import file_hint, is_name
from nobounds.engines.sql.alchemy.session import Session, driver_of, is_alchemy, is_typed
from nobounds.engines.sql.database import is_instance, turn_of
from nobounds.engines.sql.duck import quoted
from nobounds.engines.sql.files import FILE
from nobounds.engines.sql.postgres import fetched
from nobounds.engines.sql.text import backticked, hiding_driver_errors, literal
from nobounds.expressions.statements.relation import Definition, Named
from nobounds.expressions.statements.syntax import LONGEST
from nobounds.values import dataclass

_KINDS = {
    "r": "",
    "p": "",
    "v": "a view",
    "m": "a materialized view, whose rows were computed before",
    "f": "a foreign table, whose rows another server computes",
}
_IN_POSTGRES = """
    with recursive parts as (
        select pg_catalog.to_regclass({name})::oid as oid
        union select i.inhrelid from pg_catalog.pg_inherits i join parts p on i.inhparent = p.oid
    )
    select c.relkind::text, quote_ident(n.nspname) || '.' || quote_ident(c.relname), row_security_active(c.oid),
        case when c.relkind = 'v' then pg_get_viewdef(c.oid) end,
        exists (select from pg_catalog.pg_class f join parts p on f.oid = p.oid where f.relkind = 'f'),
        exists (select from pg_catalog.pg_attribute a join parts p on a.attrelid = p.oid where a.attgenerated = 'v'),
        n.nspname in ('pg_catalog', 'information_schema', 'pg_toast')
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.oid = pg_catalog.to_regclass({name})::oid
"""
_IN_DUCKDB = """
    select database_name, schema_name, table_name, sql, false, type
    from duckdb_tables() join (select database_name, type from duckdb_databases()) using (database_name)
    where not internal and lower(table_name) = {name}
    union all
    select database_name, schema_name, view_name, sql, true, 'duckdb'
    from duckdb_views() where not internal and lower(view_name) = {name}
"""
_IN_SQLITE = (
    "select type, name, sql from {schema}.sqlite_master where lower(name) = {name} and type in ('table', 'view')"
)
_IN_MARIADB = """
    select table_schema, table_name, table_type, coalesce(engine, ''), exists (
        select 1 from information_schema.columns c
        where c.table_schema = t.table_schema and c.table_name = t.table_name and c.extra like '%VIRTUAL%'
    ) from information_schema.tables t
    where cast(table_schema as binary) = cast({schema} as binary) and lower(table_name) = lower({name})
"""
_REGISTERED = re.compile(
    r"create temp view .* as select \* from (pandas|python_arrow|arrow)_scan\w*\([\d, ]*\)( as \w+)?;?", re.S | re.I
)
_CREATED = re.compile(r"\s*create\s+(temp\w*\s+)?view\s+(if\s+not\s+exists\s+)?[^()]*?\sas\s", re.I)
_COMPUTED = "has a column that the database computes when it is read, and that may fail on a row"
_SYSTEM = "a table of the database system, whose rows it makes from those of other tables"
_IN_SYSTEMS = ("mysql", "information_schema", "performance_schema", "sys")  # of MariaDB and MySQL
DECLARE = "if one row of it is what is to be protected, say so by rows_of='result'"


@dataclass(frozen=True, slots=True)
class Listed:
    """A table in a database: its name in SQL, and whether its rows are those of a query's result.

    parts: its schema and its name, where SQLAlchemy can read the types of its columns.
    """

    sql: str
    result: bool = False
    parts: tuple[str, str] | None = None


def listed(connection: Any, name: Named, declared: bool) -> Listed | Definition:
    """What a name stands for in a database.

    declared: the user says that one row of whatever it is, is to be protected.
    """
    if is_alchemy(connection):
        return _through(connection, name, declared)
    with turn_of(connection):  # another thread may be reading
        return _in_turn(connection, name, declared)


def _in_turn(connection: Any, name: Named, declared: bool) -> Listed | Definition:
    if is_instance(connection, "duckdb", "DuckDBPyConnection"):
        return _in_duckdb(connection, name, declared)
    if is_instance(connection, "sqlite3", "Connection"):
        return _in_sqlite(connection, name, declared)
    if is_instance(connection, "psycopg", "Connection") or is_instance(connection, "psycopg2.extensions", "connection"):
        return _in_postgres(lambda query: fetched(connection, query), name, declared)
    if is_instance(connection, "adbc_driver_manager.dbapi", "Connection"):
        with hiding_driver_errors():
            vendor = connection.adbc_get_info().get("vendor_name")
        if vendor == "PostgreSQL":
            return _in_postgres(lambda query: _rows(connection, query), name, declared)
    if not callable(getattr(connection, "cursor", None)):
        raise TypeError(
            "data must be a dict of tables by name, or a connection of DuckDB, of SQLAlchemy, of ADBC or of a DB-API 2 "
            "driver, "
            f"got {type(connection).__name__}; for example {{'taxis': frame}}"
        )
    if not declared:
        raise ValueError(f"the catalogue of this database cannot tell whether {name} is a table or a view; {DECLARE}")
    if is_name(str(name)) or any(map(FILE.search, name.parts)):  # which DuckDB behind another driver would open
        raise _unknown(name)
    return Listed(".".join(map(quoted, name.parts)), result=True)


def _through(source: Any, name: Named, declared: bool) -> Listed | Definition:
    """A table of a database that SQLAlchemy connects to."""
    if not is_typed(source):
        own, _kept = driver_of(source)
        return listed(own, name, declared)
    with Session.at_once(source) as session:
        return (_in_sqlite if session.family == "sqlite" else _in_mariadb)(session, name, declared)


def _in_mariadb(session: Session, name: Named, declared: bool) -> Listed:
    if len(name.parts) > 2:
        raise _unknown(name)
    schema = _text(name.parts[0], name) if len(name.parts) == 2 else "database()"
    with hiding_driver_errors():
        listing = session.rows(_IN_MARIADB.format(schema=schema, name=_text(name.parts[-1], name)))
    listing = [row for row in listing if row[1] == name.parts[-1]] or listing
    if len(listing) != 1:
        raise _unknown(name)
    owner, own, kind, engine, computed = map(str, listing[0])
    sql = ".".join(map(backticked, (owner, own)))
    system = owner.lower() in _IN_SYSTEMS
    stored = kind == "BASE TABLE" and engine == "InnoDB" and computed == "0" and not system
    if declared or stored:
        return Listed(sql, result=not stored, parts=(owner, own))
    if system:
        raise ValueError(f"{name} is {_SYSTEM}; {DECLARE}")
    if kind == "BASE TABLE" and computed != "0":
        raise ValueError(f"{name} {_COMPUTED}; {DECLARE}")
    what = "a view" if kind == "VIEW" else f"a table of {engine}, which has no snapshots"
    raise ValueError(f"{name} is {what}; {DECLARE}")


def _in_postgres(rows: Any, name: Named, declared: bool) -> Listed | Definition:
    parts = (part if exact else part.lower() for part, exact in zip(name.parts, name.quoted, strict=True))
    listing = rows(_IN_POSTGRES.format(name=_text(".".join(map(quoted, parts)), name)))
    if len(listing) != 1 or listing[0][0] not in _KINDS:
        raise _unknown(name)
    kind, sql, secured, definition, foreign, computed, system = listing[0]
    if declared:
        return Listed(sql, result=_KINDS[kind] != "" or any((secured, foreign, computed, system)))
    if system:
        raise ValueError(f"{name} is {_SYSTEM}; {DECLARE}")
    if secured:
        raise ValueError(f"{name} has row security, which may look at several rows to show one; {DECLARE}")
    if kind == "v":
        return Definition(str(definition), "postgres")
    if _KINDS[kind]:
        raise ValueError(f"{name} is {_KINDS[kind]}; {DECLARE}")
    if foreign:
        raise ValueError(f"{name} has a part that is {_KINDS['f']}; {DECLARE}")
    if computed:
        raise ValueError(f"{name} {_COMPUTED}; {DECLARE}")
    return Listed(sql)


def _in_duckdb(connection: Any, name: Named, declared: bool) -> Listed | Definition:
    with hiding_driver_errors():
        listing = connection.sql(_IN_DUCKDB.format(name=_text(name.parts[-1].lower(), name))).fetchall()
    owners = [part.lower() for part in name.parts[:-1]]
    listing = [row for row in listing if all(own in (row[0].lower(), row[1].lower()) for own in owners)]
    if not listing:
        raise _unknown(name)
    if len(listing) > 1:
        raise ValueError(f"several tables are called {name}; write the schema before it")
    *parts, text, view, server = listing[0]
    sql, computed = ".".join(map(quoted, parts)), not view and " generated always as" in str(text).lower()
    if (not view and server == "duckdb" and not computed) or (view and _REGISTERED.fullmatch(text.strip())):
        return Listed(sql)
    if declared:
        return Listed(sql, result=True)
    if computed:
        raise ValueError(f"{name} {_COMPUTED}; {DECLARE}")
    if not view:
        raise ValueError(f"{name} is a table of {server}, whose rows DuckDB converts; {DECLARE}")
    return _created(text, "duckdb", name)


def _in_sqlite(connection: Any, name: Named, declared: bool) -> Listed | Definition:
    if len(name.parts) > 2 or (len(name.parts) == 2 and name.parts[0].lower() not in ("main", "temp")):
        raise _unknown(name)
    schemas = [name.parts[0].lower()] if len(name.parts) == 2 else ["temp", "main"]
    text = _text(name.parts[-1].lower(), name)
    for schema in schemas:
        listing = _rows(connection, _IN_SQLITE.format(schema=schema, name=text))
        if not listing:
            continue
        kind, own, sql = listing[0]
        full = f"{schema}.{quoted(own)}"
        computed = any(row[-1] == 2 for row in _rows(connection, f"pragma {schema}.table_xinfo({quoted(own)})"))
        system = own.lower().startswith("sqlite_")  # reserved: numbers of rows (stat1), largest keys (sequence)
        if kind == "table" and not computed and not system and not str(sql).lower().startswith("create virtual"):
            return Listed(full, parts=(schema, own))
        if declared:
            return Listed(full, result=True)
        if system:
            raise ValueError(f"{name} is {_SYSTEM}; {DECLARE}")
        if kind == "table" and computed:
            raise ValueError(f"{name} {_COMPUTED}; {DECLARE}")
        if kind == "table":
            raise ValueError(f"{name} is a virtual table, whose rows are computed; {DECLARE}")
        return _created(str(sql), "sqlite", name)
    raise _unknown(name)


def _created(sql: str, dialect: str, name: Named) -> Definition:
    """The select in the text that has created a view."""
    start = _CREATED.match(sql)
    if start is None or len(sql) > LONGEST:
        raise ValueError(f"the definition of the view {name} cannot be read; {DECLARE}")
    return Definition(sql[start.end() :], dialect)


def _rows(connection: Any, query: str) -> list[Any]:
    if isinstance(connection, Session):
        connection = connection.driver
    with hiding_driver_errors(), closing(connection.cursor()) as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def _text(text: str, name: Named) -> str:
    """A text in SQL, the same whatever a server makes of backslashes."""
    if "\\" in text or "\0" in text:
        raise _unknown(name)
    return literal(text)


def _unknown(name: Named) -> ValueError:
    return ValueError(f"there is no table {str(name)!r}{file_hint(str(name))}")
