"""What the shell completes: the names that options take, and the columns of Parquet files.

The first line of a CSV file may be somebody's record, so nothing of it is shown; that of a Parquet file is its schema.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def words(*known: str) -> Callable[[str], list[str]]:
    """A completion of one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete


def columns(ctx: Any, incomplete: str) -> list[str]:
    """The names of the columns of the first file, if that is a Parquet file."""
    given = ctx.params.get("files") or []
    files = [given] if isinstance(given, str) else list(given)
    try:
        path = Path(files[0])
        if path.suffix != ".parquet" or not path.is_file():
            return []
        from pyarrow.parquet import read_schema

        names: list[str] = read_schema(path).names
    except Exception:  # a completion has nowhere to say what went wrong
        return []
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]
