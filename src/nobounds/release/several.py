"""Several releases in one file: that of each column, and what they cost together."""

import json
import operator
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.kinds.kind import NUMBER
from nobounds.release.files import csv_text, write_parquet, write_text
from nobounds.release.frames import arrow, text_array
from nobounds.release.release import Release

_VALUES = ("value", "low", "high")


def total(releases: Sequence[Release]) -> PrivacyLoss:
    """What releases cost together."""
    return reduce(operator.add, (release.loss for release in releases))


def together(releases: Sequence[Release]) -> dict[str, Any]:
    """Releases and their total loss for JSON."""
    return {"releases": [release.to_dict() for release in releases], "loss": total(releases).to_dict()}


def write_all(releases: Sequence[Release], path: Path) -> None:
    """Releases of one statistic in a file, of the type that its name ends in: .csv, .parquet or .json."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(f"{json.dumps(together(releases), allow_nan=False)}\n", path)
    elif suffix == ".csv":
        write_text(csv_text(_cells(releases)), path)
    else:
        write_parquet(_table(releases), path)


def _cells(releases: Sequence[Release]) -> dict[str, list[Any]]:
    """The columns of all releases, one below the other."""
    every = [release.cells() for release in releases]
    return {name: [cell for cells in every for cell in cells[name]] for name in every[0]}


def _table(releases: Sequence[Release]) -> Any:
    """The tables of all releases, one below the other; values of several types become texts, as in JSON."""
    tables = [release.to_arrow() for release in releases]
    kinds = {str(release.parameters.get("type", "number")) for release in releases}
    if len(kinds) == 1:
        return arrow().concat_tables(tables, promote_options="permissive")
    cells = _cells(releases)
    texts = {
        name: text_array([None if cell is None else str(NUMBER.to_json(cell)) for cell in cells[name]])
        for name in _VALUES
    }
    return arrow().table(cells | texts | {"reason": text_array(cells["reason"])})
