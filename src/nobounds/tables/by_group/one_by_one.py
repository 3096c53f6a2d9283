"""Statistics of each group by the program of one column or table, run for one group after the other.

A row is in one group, so all groups cost as much as one. A key without rows goes through the same program, on columns
without records.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.spending import Spending
from nobounds.ask import Ask
from nobounds.engines.column import Column
from nobounds.engines.grouped import GroupedRecords
from nobounds.engines.source import Bounding, Keyed, TableSource
from nobounds.groups import GroupPrograms
from nobounds.groups.key_selection import KeepKeys, KeySelection
from nobounds.kinds.kind import NUMBER, Kind
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Bits
from nobounds.programs.program import Program
from nobounds.ranks.problem import check_rank
from nobounds.release.description import Description
from nobounds.release.frames import answer_array
from nobounds.release.grouped import GroupedRelease, masked, ordered
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.shares import RANKS, STATISTICS
from nobounds.statistics.typed import type_of
from nobounds.tables.by_group.answers import listed, taken
from nobounds.values import dataclass

R = TypeVar("R")
Columns = dict[str, Column]  # of one group

_NAMES = {"min": "minimum", "max": "maximum"}


@dataclass(frozen=True, slots=True)
class GroupedColumns:
    """Columns of a table by groups, not read yet."""

    source: TableSource
    keyed: Keyed
    facts: dict[str, Facts]
    unit: Unit
    groups_per_unit: int
    selection: KeySelection | None

    def public(self, sized: bool) -> dict[str, Facts]:
        """The public facts of each column; groups are for add-remove alone."""
        return self.facts

    def records(self) -> Program[GroupedRecords]:
        """The records of the groups to show, in the order to show them; this reads the table."""
        bounding = None
        if self.unit != Unit():
            bounding = Bounding(self.unit.name, self.unit.rows, self.groups_per_unit, (yield Bits(62)))
        records = self.source.records(list(self.facts), self.keyed, bounding)
        if self.selection is None:
            return records
        # They come in the order of the data, which is sensitive.
        order = ordered(records.keys)
        mask = yield KeepKeys(self.selection, records.units[order], lambda: listed(taken(records.keys, order)))
        kept = order[mask]
        return records.only(kept, taken(records.keys, kept))

    def each(self, program: Callable[[Columns], Program[R]], cost: Callable[[], Cost]) -> Program[tuple[Any, list[R]]]:
        """The keys, and the result of a program for each group."""
        records = yield from self.records()
        programs = tuple(_on_group(program, records, k, self.facts) for k in range(len(records.units)))
        results: list[R] = yield GroupPrograms(programs, cost)
        return records.keys, results


def _on_group(
    program: Callable[[Columns], Program[R]], records: GroupedRecords, k: int, facts: dict[str, Facts]
) -> Callable[[], Program[R]]:
    return lambda: program(records.group(k, facts))


def without_records(facts: Mapping[str, Facts]) -> Columns:
    """The columns of a group without rows: whatever is wrong with a request shows on them."""
    return {name: Column(known, lambda: (), rows=lambda: 0) for name, known in facts.items()}


def cost_of(spending: Spending, unit: Unit) -> Cost:
    """What a row may cost, for all rows of a unit together to cost the spending."""
    amount = spending.each(unit.rows).amount
    return gaussian(amount) if spending.zcdp else pure(amount)


@dataclass(frozen=True, slots=True)
class Shown:
    """What all releases of one request share: the columns of the keys, the keys, the loss and public parameters."""

    by: tuple[str, ...]
    keys: tuple[Any, ...]
    loss: PrivacyLoss
    parameters: Mapping[str, Any]

    def release(
        self,
        statistic: str,
        kind: Kind,
        numbers: Sequence[tuple[Any, Any, str | None]],
        parameters: Mapping[str, Any],
        counts: Any = None,
    ) -> GroupedRelease:
        """The release of one number of each group: its value, its interval if it has one, and why it is None."""
        values = [value for value, _, _ in numbers]
        ends = kind.value(-math.inf), kind.value(math.inf)
        if not kind.typed:
            ends = -math.inf, math.inf
        bars = None
        if any(bar is not None for _, bar, _ in numbers):
            known = [ends if bar is None or value is None else bar for value, bar, _ in numbers]
            bars = np.empty((len(known), 2), dtype=object if kind.typed else np.float64)
            bars[:] = known
        reasons = tuple(why if value is None else None for value, _, why in numbers)
        return GroupedRelease(
            statistic,
            self.by,
            self.keys,
            masked(values, kind),
            self.loss,
            dict(parameters) | dict(self.parameters),
            bars,
            counts,
            reasons if any(reasons) else None,
        )

    def of_numbers(self, releases: Sequence[Release], asks: Sequence[Ask]) -> dict[str, GroupedRelease]:
        """A release by group for each number of the releases of the groups, by its name."""
        common, named = _common(releases), dict[str, GroupedRelease]()
        if needed := [release.parameters["needed"]["rows"] for release in releases if "needed" in release.parameters]:
            common["needed"] = {"rows": max(needed)}
        own = type_in(common)
        for k, ask in enumerate(asks):
            numbers = [(*release.numbers[k][1:], release.reason) for release in releases]
            rank = {"q": str(check_rank(ask.q[0]))} if ask.q else {}
            named[ask.name] = self.release(ask.statistic, own.of_answer(ask.statistic), numbers, common | rank)
        return named

    def of_bins(
        self, statistic: str, inner: tuple[str, ...], kind: Kind, binned: Sequence[GroupedRelease]
    ) -> GroupedRelease:
        """The bins of all groups below each other: the keys of a group stand beside each of its bins.

        Their edges are of one type, which those of one group alone need not have.
        """
        each = np.repeat(np.arange(len(binned)), [len(release) for release in binned])
        edges = [[edge for release in binned for edge in release.arrays[k].to_pylist()] for k in range(len(inner))]
        numbers = [value for release in binned for value in release.values.tolist()]
        bars = np.concatenate([np.zeros((0, 2)), *(release.intervals for release in binned)])
        reasons = [why for release in binned for why in release.reasons or (None,) * len(release)]
        return GroupedRelease(
            statistic,
            (*self.by, *inner),
            (*taken(self.keys, each), *(answer_array(ends, kind) for ends in edges)),
            masked(numbers, NUMBER),
            self.loss,
            _common(binned) | dict(self.parameters),
            bars,
            None,
            tuple(reasons) if any(reasons) else None,
        )

    def of_descriptions(
        self, described: Sequence[Description], facts: Mapping[str, Facts]
    ) -> dict[str, GroupedRelease]:
        """A release by group for each statistic of each column."""
        releases = {}
        for column, known in facts.items():
            counts = np.array([each[column].values["count"] for each in described], dtype=np.int64)
            for name in STATISTICS:
                statistic = "quantile" if name in RANKS else _NAMES.get(name, name)
                kind = known.kind.of_answer(name)
                numbers = [
                    (each[column].values[name], each[column].intervals.get(name), each[column].reasons.get(name))
                    for each in described
                ]
                parameters = known.origin() | type_of(name, known.kind)
                parameters |= {"q": str(RANKS[name])} if name in RANKS else {}
                label = f"{name}({column})"
                releases[label] = self.release(
                    statistic, kind, numbers, parameters, counts if name != "count" else None
                )
        return releases


def _common(releases: Sequence[Release] | Sequence[GroupedRelease]) -> dict[str, Any]:
    """The parameters that are the same for all groups; those of one group alone are left out."""
    if not releases:
        return {}
    first, *others = (release.parameters for release in releases)
    left_out = {"split", "spending", "rows_per_unit"}
    return {
        name: value
        for name, value in first.items()
        if name not in left_out and all(each.get(name) == value for each in others)
    }
