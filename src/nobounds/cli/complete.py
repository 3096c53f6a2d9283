"""What the shell completes: the names that options take, and the columns of files.

The first line of a CSV file may be a record, so its names are shown after `--header yes` only, and those in `--type`.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any


def words(*known: str) -> Callable[[str], list[str]]:
    """A completion of one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete


def columns(ctx: Any, incomplete: str) -> list[str]:
    """The names of the columns of the first file that was named, and those that were declared."""
    # While the value of an option is being typed, arguments may not have been told apart yet.
    given = [*(ctx.params.get("files") or []), *ctx.args]
    declared = [text.rpartition("=")[0] for text in ctx.params.get("type") or []]
    try:
        path = next(path for path in map(Path, given) if path.is_file())
        names = _public_names(path, ctx.params)
    except Exception:  # a completion has nowhere to say what went wrong
        names = []
    both = dict.fromkeys([*declared, *names])
    return [name for name in both if name and name.startswith(incomplete) and name.isprintable()]


def _public_names(path: Path, given: dict[str, Any]) -> list[str]:
    from nobounds.cli.text import Text
    from nobounds.engines.files.columns import column_names
    from nobounds.engines.files.formats import is_parquet

    if is_parquet(path):
        return column_names(path)
    stated = {each.name: given[each.name] for each in fields(Text) if given.get(each.name) is not None}
    csv = Text(**stated).csv
    return column_names(path, csv) if csv is not None and csv.header else []
