"""Several releases in one file: that of each column, and what they cost together."""

import json
import operator
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.kinds.kind import NUMBER
from nobounds.release.files import csv_text, write_parquet, write_text
from nobounds.release.frames import arrow, text_array
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release

_VALUES = ("value", "low", "high")
Each = Release | GroupedRelease


def total(releases: Sequence[Each]) -> PrivacyLoss:
    """What releases cost together."""
    return reduce(operator.add, (release.loss for release in releases))


def together(releases: Sequence[Each]) -> dict[str, Any]:
    """Releases and their total loss for JSON."""
    return {"releases": [json.loads(release.to_json()) for release in releases], "loss": total(releases).to_dict()}


def write_all(releases: Sequence[Each], path: Path) -> None:
    """Releases of one statistic in a file, of the type that its name ends in: .csv, .parquet or .json."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(f"{json.dumps(together(releases), allow_nan=False)}\n", path)
    elif suffix == ".csv":
        write_text(csv_text(cells(releases)), path)
    else:
        write_parquet(_table(releases), path)


def column_of(release: Each) -> str:
    """The column that a release is about: where values are counted, their key."""
    return str(release.by[-1] if _counts_values(release) else release.parameters["column"])  # type: ignore[union-attr]


def _counts_values(release: Each) -> bool:
    return isinstance(release, GroupedRelease) and release.statistic in ("value_counts", "top_k")


def cells(releases: Sequence[Each]) -> dict[str, list[Any]]:
    """The columns of all releases, one below the other; those with groups start with the name of their column."""
    every = [_named(release) for release in releases]
    names = dict.fromkeys(name for cells in every for name in cells)
    many = [len(next(iter(cells.values()))) for cells in every]
    missing = ([None] * rows for rows in many)
    filled = [{name: cells.get(name, empty) for name in names} for cells, empty in zip(every, missing, strict=True)]
    return {name: [cell for cells in filled for cell in cells[name]] for name in names}


def _named(release: Each) -> dict[str, list[Any]]:
    """The columns of one release; counted values are called `value`, since columns of all names share a table."""
    if isinstance(release, Release):
        return release.cells()
    by = list(release.by)
    groups = by[:-1] if _counts_values(release) else by
    names = [_free("column_key", groups) if name == "column" else name for name in groups]
    if len(names) < len(by):
        names.append(_free("value", names))
    # Our own columns make way for these names, and not for those that were replaced.
    return {"column": [column_of(release)] * len(release)} | replace(release, by=tuple(names)).cells()


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, with a word in front of it if it is taken."""
    while name in taken:
        name = f"private_{name}"
    return name


def _table(releases: Sequence[Each]) -> Any:
    """The tables of all releases, one below the other; values of several types become texts, as in JSON."""
    plain = [release for release in releases if isinstance(release, Release)]
    if not plain:
        return arrow().table({name: _array(column) for name, column in cells(releases).items()})
    tables = [release.to_arrow() for release in plain]
    kinds = {str(release.parameters.get("type", "number")) for release in plain}
    if len(kinds) == 1:
        return arrow().concat_tables(tables, promote_options="permissive")
    every = cells(plain)
    texts = {
        name: text_array([None if cell is None else str(NUMBER.to_json(cell)) for cell in every[name]])
        for name in _VALUES
    }
    return arrow().table(every | texts | {"reason": text_array(every["reason"])})


def _array(column: list[Any]) -> Any:
    """A column of cells; of several types it becomes texts."""
    try:
        return arrow().array(column)
    except (arrow().ArrowInvalid, arrow().ArrowTypeError):
        return text_array([None if cell is None else str(cell) for cell in column])
