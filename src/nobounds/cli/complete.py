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
    """The names of the columns of the first Parquet file that was named."""
    # While the value of an option is being typed, arguments may not have been told apart yet.
    given = [*(ctx.params.get("files") or []), *ctx.args]
    try:
        path = next(path for path in map(Path, given) if path.suffix == ".parquet" and path.is_file())
        from pyarrow.parquet import read_schema

        names: list[str] = read_schema(path).names
    except Exception:  # a completion has nowhere to say what went wrong
        return []
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]
