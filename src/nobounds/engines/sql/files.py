"""Files in a query: DuckDB guesses the types of CSV and JSON files from their records, so it may not read them.

The reader of `engines.csv` can read CSV files instead, with declared types. The syntax tree of a query contains its
files and functions, and its plan those behind views and macros.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_FIX = "name the file in quotes, as in select * from 'people.csv', and declare its types with --type"
_GUESSING = re.compile(r"(read_csv|sniff_csv|read_json|read_ndjson|read_xlsx)\w*|query|query_table", re.IGNORECASE)
_CSV = re.compile(r".*\.[ct]sv(\.gz|\.bz2|\.zst)?", re.IGNORECASE | re.DOTALL)
_GUESSED = re.compile(r".*\.([ct]sv|json|jsonl|ndjson|xlsx)\b.*", re.IGNORECASE | re.DOTALL)
_IN_PLAN = re.compile(r"READ_(CSV|JSON|NDJSON|XLSX)|SNIFF_CSV", re.IGNORECASE)


def csv_files(connection: Any, query: str) -> list[str]:
    """The CSV files that a query names as tables; ValueError if it reads files whose types DuckDB would guess.

    `connection` is a connection of DuckDB; it only parses the query, and runs nothing.
    """
    tree = json.loads(connection.cursor().execute("select json_serialize_sql(?)", [query]).fetchall()[0][0])
    if tree.get("error"):
        raise ValueError("the query cannot be checked; write it as one plain select")
    names: dict[str, None] = {}
    for node in _nodes(tree):
        function = node.get("function", {}).get("function_name", "") if node.get("type") == "TABLE_FUNCTION" else ""
        if _GUESSING.fullmatch(function):
            raise ValueError(f"{function} guesses types from records; {_FIX}")
        if node.get("type") != "BASE_TABLE":
            continue
        parts = [node.get(part, "") for part in ("catalog_name", "schema_name", "table_name")]
        name = ".".join(filter(None, parts))
        if _CSV.fullmatch(name) and not any(parts[:2]):
            names[name] = None
        elif _GUESSED.fullmatch(name):
            raise ValueError(f"DuckDB would guess the types of {name} from its records; {_FIX}, or use Parquet")
    return list(names)


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
