"""What is computed for the groups of a table: the programs from a plan and the groups to noisy answers by key.

The keys of the groups are public, or those that enough units have are chosen privately (see `key_selection`). One pass
makes the tally; all groups are answered together (see `groups`). A quantile is answered for each group as if it were
alone. Sums and means share one clip, chosen among the records of all groups: small groups have too few records for
their own clip, and the bias from clipping is then weighed against the noise of all groups.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Unit
from nobounds.accounting.spending import Spending
from nobounds.arrays import Floats, Ints
from nobounds.engines.source import Bounding, GroupRows, Keyed, TableSource, Tallied
from nobounds.groups import GroupIntervals, GroupQuantiles, Groups, NoisyGroups
from nobounds.groups.driver import array_of
from nobounds.groups.key_counts import CountKeys, KeyCounts
from nobounds.groups.key_selection import KeepKeys
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Bits
from nobounds.noise.additive import Additive, reach
from nobounds.programs.program import Program
from nobounds.ranks.answerable import answers, needed_rows
from nobounds.ranks.intervals.edges import edge
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import Interval, IntervalPlan
from nobounds.ranks.question import Question
from nobounds.release.answer import may_wait
from nobounds.release.grouped import ordered
from nobounds.release.words import NONE_SEEN, TOO_FEW
from nobounds.statistics.searched import described
from nobounds.tables.by_group.key_choice import KeyChoice
from nobounds.values import dataclass

Read = TypeVar("Read", Tallied, GroupRows)

CAREFUL = 2  # scales of their noise that counts are lowered by, where another statistic has bought them


@may_wait("intervals")
@dataclass(frozen=True, slots=True)
class GroupAnswers:
    """Noisy answers by key, and what their release says about them."""

    keys: tuple[Any, ...]
    values: NDArray[Any]
    parameters: dict[str, Any]
    intervals: Floats | None = None  # low and high ends, in two columns
    counts: Ints | None = None
    reasons: tuple[str | None, ...] | None = None
    parts: dict[str, Cost] | None = None  # of the cost, where they depend on the number of groups


@dataclass(frozen=True, slots=True)
class Learned:
    """Noisy numbers of records of groups that are paid for already, and the scale of their noise."""

    counts: NDArray[Any]
    scale: float
    gaussian: bool = False

    @property
    def seen(self) -> NDArray[np.bool_]:
        """In which groups rows are seen: noise alone hardly makes such a number."""
        return np.asarray(self.counts > reach(self.scale, self.gaussian), dtype=bool)

    @property
    def careful(self) -> NDArray[Any]:
        """The numbers without what may well be noise in them."""
        return np.where(self.seen, np.maximum(self.counts - math.ceil(CAREFUL * self.scale), 0), 0)


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column of a table by groups, not read yet; without a name each row counts as a record."""

    source: TableSource
    keyed: Keyed
    column: str | None
    facts: Facts
    groups_per_unit: int
    selection: KeyChoice | None

    def public(self, sized: bool) -> Facts:
        """The public facts; groups are for add-remove alone."""
        return self.facts

    def tallied(self, ladder: Ladder) -> Program[Tallied]:
        """The tally of the groups to show and their keys, in the order to show them; this reads the table."""
        read = yield from self._tally(ladder)
        return (yield from self._kept(read))

    def rows(self) -> Program[GroupRows]:
        """The rows of the groups to show, likewise."""
        read = yield from self._rows()
        return (yield from self._kept(read))

    def counted(self, noise: Additive) -> Program[tuple[tuple[Any, ...], NDArray[Any]]]:
        """The keys of the groups to show, and their noisy numbers of records."""
        if not isinstance(self.selection, KeyCounts):
            rows = yield from self.rows()
            return rows.keys, (yield NoisyGroups(rows.totals()[0], noise, noise.cost))
        rows = yield from self._rows()
        order = in_order(rows)
        keys = taken(rows.keys, order)
        mask, noisy = yield CountKeys(self.selection, rows.totals()[0][order], lambda: listed(keys))
        return taken(keys, np.flatnonzero(mask)), noisy

    def _kept(self, read: Read) -> Program[Read]:
        """Those of the groups that are shown."""
        if self.selection is None:
            return read
        assert not isinstance(self.selection, KeyCounts), "keys that counts choose come with their counts"
        order = in_order(read)
        mask = yield KeepKeys(self.selection, read.units[order], lambda: listed(taken(read.keys, order)))
        kept = order[mask]
        return read.only(kept, taken(read.keys, kept))

    def _tally(self, ladder: Ladder) -> Program[Tallied]:
        """The tally of all groups."""
        return self.source.tally(self.column, ladder, self.keyed, (yield from self._bounding()))

    def _rows(self) -> Program[GroupRows]:
        """The rows of all groups."""
        return self.source.rows(self.column, self.keyed, (yield from self._bounding()))

    def _bounding(self) -> Program[Bounding | None]:
        """How rows of a unit are chosen, if there are units."""
        unit = self.facts.unit
        if unit == Unit():
            return None
        return Bounding(unit.name, unit.rows, self.groups_per_unit, (yield Bits(62)))


def in_order(read: Tallied | GroupRows) -> Ints:
    """The places of the keys in their order: they come in that of the data, which is sensitive.

    Sorted, a seed gives the same answers, too.
    """
    return ordered(tuple(array[: len(read.units)] for array in read.keys))


def quantiles_by_group(
    plan: Question, ladder: Ladder, data: GroupedColumn, marks: bool, learned: Learned | None = None
) -> Program[GroupAnswers]:
    """The quantile of a question for each group; records are tallied on a fine ladder.

    The noisy count of each group comes first, unless it is learned already. It decides its plan, and with `marks`
    whether it is answered.
    """
    tallied = yield from data.tallied(ladder)
    tally = tallied.tally
    groups = Groups(ladder, tally.starts(len(tallied.units)), tally.rungs, tally.counts)
    parts = {"answer": plan.parts()["answer"]}
    if learned is None:
        noise = Additive(plan.size.epsilon)
        learned, parts = (
            Learned((yield NoisyGroups(groups.totals, noise, noise.cost)), noise.scale(1)),
            {"counts": noise.cost()} | parts,
        )
        counts = learned.counts
    else:
        counts = learned.careful
    values = (yield GroupQuantiles(plan, groups, counts))[0]
    parameters: dict[str, Any] = plan.ladder.describe() | {"count_scale": learned.scale}
    shown = fitting(np.maximum(learned.counts, 0))
    if not marks:
        return GroupAnswers(tallied.keys, values, parameters, counts=shown, parts=parts)
    reasons = tuple(
        _reason(plan, int(count), seen) for count, seen in zip(counts.tolist(), learned.seen.tolist(), strict=True)
    )
    unseen = np.array([reason is not None for reason in reasons], dtype=bool)
    if unseen.any():
        parameters["needed"] = {"rows": needed_rows(plan)}
        values = np.ma.array(np.where(unseen, 0, values).astype(values.dtype), mask=unseen)
    return GroupAnswers(tallied.keys, values, parameters, counts=shown, reasons=reasons, parts=parts)


def intervals_by_group(
    plan: IntervalPlan | ExtremesPlan, ladder: Ladder, data: GroupedColumn, marks: bool
) -> Program[GroupAnswers]:
    """Like `quantiles_by_group`, with an interval for each group.

    A record counts as its rung of the fine ladder, so ends are moved outward to the edges of such rungs.
    """
    tallied = yield from data.tallied(ladder)
    tally = tallied.tally
    groups = Groups(ladder, tally.starts(len(tallied.units)), tally.rungs, tally.counts)
    size = plan.size if isinstance(plan, IntervalPlan) else plan.question.size
    noise = Additive(size.epsilon)
    counts = yield NoisyGroups(groups.totals, noise, noise.cost)
    answered = yield GroupIntervals(plan, groups, counts, marks)
    scale = noise.scale(1)
    unseen = (marks & ~Learned(counts, scale).seen).tolist()
    reasons = tuple(
        NONE_SEEN if none else TOO_FEW if value is None else None
        for none, (value, _) in zip(unseen, answered, strict=True)
    )
    values = masked(array_of([0 if value is None else value for value, _ in answered], plan.ladder.integral), reasons)
    ends = np.array([_outward(plan.ladder, ladder, bar) for _, bar in answered], dtype=np.float64).reshape(-1, 2)
    ends[np.ma.getmaskarray(values)] = -math.inf, math.inf
    wanted = plan.wanted if isinstance(plan, IntervalPlan) else replace(plan.wanted, guarantee=True)
    parameters: dict[str, Any] = plan.ladder.describe() | {"count_scale": scale} | described(wanted)
    if any(reasons):
        parameters["needed"] = {"rows": plan.needed(0, Spending(Fraction(1), False))["rows"]}
    parts = {"counts": noise.cost(), "answer": plan.parts()["answer"]}
    shown = fitting(np.maximum(counts, 0))
    return GroupAnswers(tallied.keys, values, parameters, ends, shown, reasons if marks else None, parts)


def _outward(own: Ladder, fine: Ladder, ends: Interval) -> Interval:
    """An interval with its ends at the edges of the rungs that they lie on."""
    low, high = (
        edge(own, fine, int(fine.rungs(np.array([end]))[0]), side) if math.isfinite(end) else end
        for side, end in enumerate(ends)
    )
    return low, high


def _reason(plan: Question, count: int, seen: bool) -> str | None:
    """Why a group with this noisy count is not answered, if it is not."""
    if not seen:
        return NONE_SEEN
    return None if all(answers(plan, count)) else TOO_FEW


def masked(values: NDArray[Any], reasons: tuple[str | None, ...]) -> NDArray[Any]:
    """The values, masked where there is a reason."""
    missing = np.array([reason is not None for reason in reasons], dtype=bool)
    return np.ma.array(np.where(missing, 0, values).astype(values.dtype), mask=missing) if missing.any() else values


def around(values: NDArray[Any], below: Floats | float, above: Floats | float) -> Floats:
    """Intervals that reach so far below and above each value."""
    middle = values.astype(np.float64)
    with np.errstate(over="ignore"):  # an end beyond the floats is infinite
        return np.column_stack([middle - below, middle + above])


def fitting(released: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 64 bits if all of them fit: this depends on the released numbers alone, not on the addition."""
    most = max(map(abs, (int(released.min(initial=0)), int(released.max(initial=0)))))
    return released.astype(np.int64) if most < 1 << 63 else released.astype(object)


def taken(keys: tuple[Any, ...], places: Ints) -> tuple[Any, ...]:
    """The keys in these places."""
    import pyarrow as pa

    return tuple(array.take(pa.array(places)) for array in keys)


def listed(keys: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The keys as plain values."""
    return list(zip(*(array.to_pylist() for array in keys), strict=True))
