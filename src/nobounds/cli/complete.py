"""Shell completion: the values of options, and the columns of files.

The first line of a CSV file may be a record, so its names are completed after `--header yes` only, or from `--type`.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any


def columns(ctx: Any, incomplete: str) -> list[str]:
    """The columns of the first file on the command line, and the declared columns."""
    # While the value of an option is being typed, arguments may not have been parsed yet.
    given = [*(ctx.params.get("files") or []), *ctx.args]
    declared = [text.rpartition("=")[0] for text in ctx.params.get("type") or []]
    try:
        path = next(path for path in map(Path, given) if path.is_file())
        names = _public_names(path, ctx.params)
    except Exception:  # a completion cannot report errors
        names = []
    both = dict.fromkeys([*declared, *names])
    return [name for name in both if name and name.startswith(incomplete) and name.isprintable()]


def _public_names(path: Path, given: dict[str, Any]) -> list[str]:
    from nobounds.cli.options.text import Text
    from nobounds.engines.files.columns import column_names
    from nobounds.engines.files.formats import format_of

    if format_of(path) in ("parquet", "arrow"):
        return column_names(path)
    stated = {each.name: given[each.name] for each in fields(Text) if given.get(each.name) is not None}
    text = Text(**stated)
    return column_names(path, text.csv, text.stated)
