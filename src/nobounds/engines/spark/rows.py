"""The rows of one column by group on a cluster: each pass over them is a job that returns only its small result."""

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.group_totals import StepsMap, Totals, fitting, group_totals
from nobounds.engines.memory.arrow import to_floats
from nobounds.engines.rows.key_codes import KeyCodes, together
from nobounds.engines.spark import expressions
from nobounds.engines.spark.jobs import KeptRows, Passes, merged_results, result_row
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class SparkRows:
    """The rows of one column by group (see `source.GroupRows`); each pass over them is a job."""

    keys: tuple[Any, ...]
    units: Ints
    kept: KeptRows = field(repr=False)
    known: Callable[[tuple[Any, ...]], Any] = field(repr=False)  # keys as a small DataFrame

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "SparkRows":
        """The rows of the groups `kept`, with their keys."""
        names = [f"k{k}" for k in range(len(keys))]
        rows = KeptRows(self.kept.frame().join(self.known(keys), names, "left_semi"))
        return SparkRows(keys, self.units[kept], rows, self.known)

    def records(self) -> Passes:
        """The records of all groups."""
        return Passes(self.kept, "v0")

    def totals(self, *maps: StepsMap) -> Totals:
        """The number of records of each group, and the sum of each map over them."""
        keys = [f"k{k}" for k in range(len(self.keys))]
        steps = [expressions.steps_of(each) for each in maps]
        if self.kept.in_sql("v0") and None not in steps:
            return self._in_sql(keys, [each for each in steps if each is not None])
        names = [*keys, "v0"]
        parts = merged_results(self.kept.frame().select(*names), SumsKernel(self.keys, maps), added_totals)
        return parts[0] if parts else group_totals((), len(self.units), maps)

    def _in_sql(self, names: list[str], steps: list[str]) -> Totals:
        read = self.kept.sums("v0", steps, names, len(self.units))
        codes = KeyCodes(self.keys).codes([read.column(name).combine_chunks() for name in names])
        inside, (counts, *halves) = (
            codes >= 0,
            (read.column(k).to_pylist() for k in range(len(names), read.num_columns)),
        )
        both = zip(halves[::2], halves[1::2], strict=True)
        sums = [[expressions.whole(upper, lower) for upper, lower in zip(*each, strict=True)] for each in both]
        totals = [np.full(len(self.units), 0, dtype=object) for _ in (counts, *sums)]
        for total, each in zip(totals, (counts, *sums), strict=True):
            np.add.at(total, codes[inside], np.array(each, dtype=object)[inside])
        return totals[0].astype(np.int64), [fitting(total) for total in totals[1:]]

    def __repr__(self) -> str:
        return "SparkRows(hidden)"


@dataclass(frozen=True, slots=True)
class SumsKernel:
    """The totals of the groups in one part of the rows (see `group_totals`); batches have the keys, then the value."""

    known: tuple[Any, ...]
    maps: tuple[StepsMap, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        keys, codes = len(self.known), KeyCodes(self.known)

        def chunks() -> Iterator[tuple[Ints, Floats]]:
            for rows in together(batches):
                groups, records = codes.codes([rows.column(k) for k in range(keys)]), to_floats(rows.column(keys))
                yield np.where(np.isnan(records), -1, groups), records

        yield result_row(group_totals(chunks(), len(self.known[0]), self.maps))


def added_totals(one: Totals, other: Totals) -> Totals:
    """The totals of two parts; sums of many parts may need Python's whole numbers."""
    sums = [a.astype(object) + b for a, b in zip(one[1], other[1], strict=True)]
    return one[0] + other[0], [fitting(each) for each in sums]
