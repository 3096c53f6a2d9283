"""The records of each group of a table: columns of equal length, group after group, with the keys of the groups.

They are kept in memory, eight bytes for a record and for the group of a row, while the groups are answered one by one.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.engines.column import Column, windows
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRecords:
    """The rows `starts[k]` to `starts[k + 1]` of each column are those of group k. Sensitive: its repr hides them.

    keys: one array for each column of keys; units: as in `source.Tallied`.
    """

    keys: tuple[Any, ...]
    units: Ints
    starts: Ints
    columns: dict[str, Floats]

    @classmethod
    def of(
        cls, keys: tuple[Any, ...], units: Ints, rows: Iterable[tuple[Ints, dict[str, Floats]]], names: list[str]
    ) -> "GroupedRecords":
        """The records of batches: the group of each row, -1 for none, and the values."""
        groups, values = [_NONE], {name: [np.zeros(0)] for name in names}
        for codes, batch in rows:
            inside = codes >= 0
            groups.append(codes[inside])
            for name in names:
                values[name].append(batch[name][inside])
        group = np.concatenate(groups)
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(keys[0]) + 1))
        return cls(keys, units, starts, {name: np.concatenate(values[name])[order] for name in names})

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "GroupedRecords":
        """The groups `kept`, in that order, with their keys."""
        first, sizes = self.starts[kept], np.diff(self.starts)[kept]
        starts = np.concatenate([_NONE[:0], [0], np.cumsum(sizes)])
        rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
        columns = {name: column[rows] for name, column in self.columns.items()}
        return GroupedRecords(keys, self.units[kept], starts, columns)

    def group(self, k: int, facts: dict[str, Facts]) -> dict[str, Column]:
        """The columns of one group; one without rows has columns without records."""
        some = slice(int(self.starts[k]), int(self.starts[k + 1]))
        return {name: _column(self.columns[name][some], facts[name]) for name in self.columns}

    def __repr__(self) -> str:
        return "GroupedRecords(hidden)"


_NONE = np.zeros(0, dtype=np.int64)


def _column(values: Floats, facts: Facts) -> Column:
    def chunks() -> Iterable[Floats]:
        return (values[window].copy() for window in windows(len(values)))

    return Column(facts, chunks, rows=lambda: len(values))
