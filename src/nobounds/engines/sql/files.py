"""Files in a query: DuckDB expands their names, fetches addresses, and guesses types, so a query may not name them.

The command line makes views of the files in its folder, with the reader of `engines.csv` for CSV files. The syntax tree
of a query contains its files and functions, and its plan those behind views and macros.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from nobounds.engines.sql.text import literal

_FIX = "name the file in quotes, as in select * from 'people.csv', and declare its types with --type"
_GUESSING = re.compile(r"(read_csv|sniff_csv|read_json|read_ndjson|read_xlsx)\w*|query|query_table", re.IGNORECASE)
_READING = re.compile(r"read_\w+|parquet_\w+|\w+_scan|glob|st_read\w*|iceberg_\w+|delta_\w+", re.IGNORECASE)
_CSV = re.compile(r".*\.[ct]sv(\.gz|\.bz2|\.zst)?", re.IGNORECASE | re.DOTALL)
_GUESSED = re.compile(r".*\.([ct]sv|json|jsonl|ndjson|xlsx)\b.*", re.IGNORECASE | re.DOTALL)
_PARQUET = re.compile(r".*\.parquet", re.IGNORECASE | re.DOTALL)
FILE = re.compile(r"[./\\:*?\[]")  # in names of files, and in those of few tables
_TABLES = """
    select lower(database_name), lower(schema_name) from duckdb_tables() where lower(table_name) = {0}
    union all select lower(database_name), lower(schema_name) from duckdb_views() where lower(view_name) = {0}
"""
_VIEW = "name tables; of a file, make a view in the database"
_IN_PLAN = re.compile(r"READ_(CSV|JSON|NDJSON|XLSX)|SNIFF_CSV", re.IGNORECASE)


def files_named(connection: Any, query: str) -> list[str]:
    """The CSV and Parquet files that a query names as tables; ValueError if it names others, or functions of files.

    `connection` is a connection of DuckDB; it only parses the query and lists tables, and runs nothing of the query.
    """
    tree = json.loads(connection.cursor().execute("select json_serialize_sql(?)", [query]).fetchall()[0][0])
    if tree.get("error"):
        raise ValueError("the query cannot be checked; write it as one plain select")
    names: dict[str, None] = {}
    for node in _nodes(tree):
        function = node.get("function", {}).get("function_name", "") if node.get("type") == "TABLE_FUNCTION" else ""
        if _GUESSING.fullmatch(function):
            raise ValueError(f"{function} guesses types from records; {_FIX}")
        if _READING.fullmatch(function):
            raise ValueError(f"{function} reads a file; {_VIEW}")
        if node.get("type") != "BASE_TABLE":
            continue
        parts = [node.get(part, "") for part in ("catalog_name", "schema_name", "table_name")]
        name = ".".join(filter(None, parts))
        if not FILE.search(name) or _is_listed(connection, parts):
            continue
        if _CSV.fullmatch(name) and not any(parts[:2]):
            names[name] = None
        elif _GUESSED.fullmatch(name):
            raise ValueError(f"DuckDB would guess the types of {name} from its records; {_FIX}, or use Parquet")
        elif _PARQUET.fullmatch(name) and not any(parts[:2]):
            names[name] = None
        else:
            raise ValueError(f"there is no table {name!r}; {_VIEW}")
    return list(names)


def _is_listed(connection: Any, parts: list[str]) -> bool:
    """Whether a database has a table or view of this name, so that DuckDB takes it for no file."""
    catalog, schema, own = (part.lower() for part in parts)
    listing = connection.sql(_TABLES.format(literal(own))).fetchall()
    if catalog:
        return (catalog, schema) in listing
    return any(schema in ("", *row) for row in listing)


def refuse_guesses(relation: Any) -> None:
    """ValueError if a DuckDB relation reads files with guessed types, even behind a view or a macro."""
    # By a query: in a notebook `relation.explain()` shows the plan, which estimates the sensitive number of rows.
    plan = relation.query("relation", "explain select * from relation").fetchall()
    if _IN_PLAN.search("".join(text for _, text in plan)):
        raise ValueError(f"the query reads a file whose types DuckDB guesses from its records; {_FIX}, or use Parquet")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects of a syntax tree."""
    if isinstance(tree, dict):
        yield tree
        for part in tree.values():
            yield from _nodes(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _nodes(part)
