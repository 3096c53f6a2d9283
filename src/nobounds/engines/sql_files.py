"""Files that a query names: DuckDB guesses the types of CSV and JSON files from their records, so it may not read them.

CSV files can be read by the reader of `engines.csv` instead, with declared types.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_GUESSING = re.compile(r"(read_csv|sniff_csv|read_json|read_ndjson|read_xlsx)\w*", re.IGNORECASE)
_CSV = re.compile(r".*\.[ct]sv(\.gz|\.bz2|\.zst)?", re.IGNORECASE | re.DOTALL)
_FIX = "name the file itself, as in select * from 'people.csv', and declare its types with --type"
_OTHER = re.compile(r".*\.(json|jsonl|ndjson|xlsx)(\.gz|\.zst)?", re.IGNORECASE | re.DOTALL)


def csv_files(connection: Any, query: str) -> list[str]:
    """The CSV files that a query names as tables; ValueError if it reads files whose types DuckDB would guess.

    `connection` is one of DuckDB, which is asked for the syntax tree of the query and runs nothing.
    """
    tree = json.loads(connection.cursor().execute("select json_serialize_sql(?)", [query]).fetchall()[0][0])
    names: dict[str, None] = {}
    for node in _nodes(tree):
        function = node.get("function", {}).get("function_name", "") if node.get("type") == "TABLE_FUNCTION" else ""
        if _GUESSING.fullmatch(function):
            raise ValueError(f"{function} guesses types from records; {_FIX}")
        table = node.get("table_name", "") if node.get("type") == "BASE_TABLE" else ""
        if _OTHER.fullmatch(table):
            raise ValueError(f"the types of {table!r} would be guessed from its records; convert it to Parquet first")
        if _CSV.fullmatch(table):
            names[table] = None
    return list(names)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects of a syntax tree."""
    if isinstance(tree, dict):
        yield tree
        for part in tree.values():
            yield from _nodes(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _nodes(part)
