"""What is computed for the groups of a table: the programs from a plan and the groups to noisy answers by key.

The keys of the groups are public, or those that enough units have are chosen privately (see `key_selection`). One pass
makes the tally; all groups are answered together (see `groups`). A quantile is answered for each group as if it were
alone. Sums and means share one clip, chosen among the records of all groups: small groups have too few records for
their own clip, and the bias from clipping is then weighed against the noise of all groups.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Unit
from nobounds.arrays import Floats, Ints
from nobounds.clipping.clip import Clip
from nobounds.clipping.excess import CountNoise
from nobounds.clipping.interval import CHANCE, mean_range, summed_range
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.sharing import ASSUMES, reaches
from nobounds.clipping.tail import Side
from nobounds.clipping.tailing import Tailed
from nobounds.counting.lattice import Lattice
from nobounds.counting.tally import SUMMED
from nobounds.engines.source import Bounding, Keyed, TableSource, Tallied
from nobounds.exact import MAX, finite_float
from nobounds.groups import GroupIntervals, GroupQuantiles, Groups, NoisyGroups
from nobounds.groups.decisions import LARGEST
from nobounds.groups.driver import array_of
from nobounds.groups.key_counts import CountKeys, KeyCounts
from nobounds.groups.key_selection import KeepKeys
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Bits, Together
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.answerable import answers, needed_rows
from nobounds.ranks.intervals.edges import edge
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import Interval, IntervalPlan
from nobounds.ranks.question import Question
from nobounds.release.grouped import ordered
from nobounds.release.words import NONE_SEEN, TOO_FEW
from nobounds.statistics.quantiles import described
from nobounds.tables.by_group.key_choice import KeyChoice

CAREFUL = 2  # scales of their noise that counts are lowered by, where another statistic has bought them
SEEN = 3  # scales of its noise that a count must pass for rows to be seen at all


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

    @property
    def careful(self) -> NDArray[Any]:
        """The numbers without what may well be noise in them."""
        return np.asarray(np.maximum(self.counts - math.ceil(CAREFUL * self.scale), 0))


USELESS = 0.5  # of the width of the clip: a mean whose half interval is wider may lie anywhere in it


class Summed(NamedTuple):
    """Noisy sums or means, and noisy numbers of rows.

    `bar` is the 95% half interval of the noise of a sum, and `over` what sums are divided by. A group with at most
    `seen` rows may have none; `useless` marks those whose noise says nothing.
    """

    values: NDArray[Any]
    bar: Fraction
    over: Floats
    counts: NDArray[Any]
    seen: float
    useless: NDArray[np.bool_]
    parameters: dict[str, Any]


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

    def tallied(self, ladder: Ladder, sums: bool = False) -> Program[Tallied]:
        """The tally of the groups to show and their keys, in the order to show them; this reads the table."""
        tallied = yield from self._read(ladder, sums)
        if self.selection is None:
            return tallied
        assert not isinstance(self.selection, KeyCounts), "keys that counts choose come with their counts"
        order = in_order(tallied)
        mask = yield KeepKeys(self.selection, tallied.units[order], lambda: listed(taken(tallied.keys, order)))
        kept = order[mask]
        return Tallied(taken(tallied.keys, kept), tallied.units[kept], tallied.tally.only(kept))

    def counted(self, noise: Additive) -> Program[tuple[tuple[Any, ...], NDArray[Any]]]:
        """The keys of the groups to show, and their noisy numbers of records."""
        ladder = Ladder.float_bits(0)
        if not isinstance(self.selection, KeyCounts):
            tallied = yield from self.tallied(ladder)
            return tallied.keys, (yield NoisyGroups(_sizes(tallied), noise, noise.cost))
        tallied = yield from self._read(ladder, False)
        order = in_order(tallied)
        keys = taken(tallied.keys, order)
        mask, noisy = yield CountKeys(self.selection, _sizes(tallied)[order], lambda: listed(keys))
        return taken(keys, np.flatnonzero(mask)), noisy

    def _read(self, ladder: Ladder, sums: bool) -> Program[Tallied]:
        """The tally of all groups."""
        unit, bounding = self.facts.unit, None
        if unit != Unit():
            bounding = Bounding(unit.name, unit.rows, self.groups_per_unit, (yield Bits(62)))
        return self.source.tally(self.column, ladder, sums, self.keyed, bounding)


def in_order(tallied: Tallied) -> Ints:
    """The places of the keys in their order: they come in that of the data, which is sensitive.

    Sorted, a seed gives the same answers, too.
    """
    return ordered(tuple(array[: len(tallied.units)] for array in tallied.keys))


def _sizes(tallied: Tallied) -> Ints:
    """How many records each group has (sensitive)."""
    counts = tallied.tally.counts
    return np.asarray(np.diff(np.append(0, np.cumsum(counts))[tallied.tally.starts(len(tallied.units))]))


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
        _reason(plan, int(count), 0.0 if counts is not learned.counts else learned.scale) for count in counts.tolist()
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
    unseen = [marks and count <= SEEN * scale for count in counts.tolist()]
    reasons = tuple(
        NONE_SEEN if none else TOO_FEW if value is None else None
        for none, (value, _) in zip(unseen, answered, strict=True)
    )
    values = _masked(array_of([0 if value is None else value for value, _ in answered], plan.ladder.integral), reasons)
    ends = np.array([_outward(plan.ladder, ladder, bar) for _, bar in answered], dtype=np.float64).reshape(-1, 2)
    ends[np.ma.getmaskarray(values)] = -math.inf, math.inf
    wanted = plan.wanted if isinstance(plan, IntervalPlan) else replace(plan.wanted, guarantee=True)
    parameters: dict[str, Any] = plan.ladder.describe() | {"count_scale": scale} | described(wanted)
    if any(reasons):
        parameters["needed"] = {"rows": plan.needed(1, Fraction(1))["rows"]}
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


def _reason(plan: Question, count: int, scale: float) -> str | None:
    """Why a group with this noisy count is not answered, if it is not."""
    if count <= SEEN * scale:
        return NONE_SEEN
    return None if all(answers(plan, count)) else TOO_FEW


def sums_by_group(
    ladder: Ladder, plan: Callable[[int], SumPlan], marks: bool, data: GroupedColumn
) -> Program[GroupAnswers]:
    """The sum of each group, or its mean (see `average`), by the plan for that many groups.

    Intervals include what the common clip cut off in each group (see `clipping.sharing`).
    """
    tallied = yield from data.tallied(SUMMED.limited(ladder.lower, ladder.upper), sums=True)
    # The number of groups is public or already noised; the cost is the same for every number.
    clipped = yield from plan(max(len(tallied.units), 1)).program(tallied.tally.chunks)
    settled, clip, tailed = clipped.plan, clipped.clip, clipped.tailed
    summed = yield from (_means if settled.centered else _sums)(settled, clip, tallied)
    ends = [(int if settled.integral else finite_float)(end) for end in (clip.low, clip.high)]
    parameters = {"clip": ends, "noise": settled.additive.name} | summed.parameters | ladder.describe()
    parameters["interval"] = {"level": 1 - CHANCE, "of": "sample"} | ({"assumes": ASSUMES} if tailed.sides else {})
    around = yield from _with_excess(settled, tailed, tallied, summed)
    low, high = (mean_range if settled.centered else summed_range)(ladder.lower, ladder.upper)
    unknown = np.isinf(around).all(axis=1, keepdims=True)
    intervals = np.where(unknown, around, np.clip(around, low, high))
    summed = summed._replace(values=_in_range(summed.values, low, high))
    counts = fitting(np.maximum(summed.counts, 0))
    if not marks:
        return GroupAnswers(tallied.keys, summed.values, parameters, intervals, counts, parts=settled.parts())
    reasons = _reasons(summed, clip.trusted)
    if not clip.trusted:
        parameters["needed"] = clipped.needed()
    values = _masked(summed.values, reasons)
    intervals[np.ma.getmaskarray(values)] = -math.inf, math.inf
    return GroupAnswers(tallied.keys, values, parameters, intervals, counts, reasons, settled.parts())


def _with_excess(plan: SumPlan, tailed: Tailed, tallied: Tallied, summed: Summed) -> Program[Floats]:
    """The intervals of sums or means, for their noise and for what the clip cut off."""
    if not tailed.clip.trusted or tailed.sides is None:
        return around(summed.values, math.inf, math.inf)
    near: dict[int, NDArray[Any]] = {}
    if tailed.sides:
        beyond = [_near(tailed.clip, side, tallied) for side in tailed.sides]
        noisy = yield NoisyGroups(np.concatenate(beyond), plan.for_near, plan.for_near.cost)
        near = dict(zip((side.sign for side in tailed.sides), np.split(noisy, len(beyond)), strict=True))
    noise = CountNoise(plan.for_near.scale(1) if plan.eps_near else 0.0, plan.zcdp)
    unit = finite_float(summed.bar) or 1.0
    with np.errstate(over="ignore"):
        totals = summed.values.astype(np.float64) * summed.over / unit
    below, above = reaches(tailed, near, noise, summed.bar, totals)
    with np.errstate(over="ignore"):
        return around(summed.values, below * unit / summed.over, above * unit / summed.over)


def _near(clip: Clip, side: Side, tallied: Tallied) -> Ints:
    """How many records of each group lie beyond half the width of a side (sensitive)."""
    tally, number = tallied.tally, len(tallied.units)
    with np.errstate(over="ignore"):
        away = side.sign * (tally.ladder.map.floats(tally.rungs) - finite_float(clip.center))
    counts = np.where(away > finite_float(side.width) / 2, tally.counts, 0)
    return np.asarray(np.diff(np.append(0, np.cumsum(counts))[tally.starts(number)]))


def _reasons(summed: "Summed", trusted: bool) -> tuple[str | None, ...]:
    """Why groups are not answered, by their noisy numbers of rows alone."""
    few = np.ones(len(summed.values), dtype=bool) if not trusted else summed.useless
    why = np.where(summed.counts <= summed.seen, NONE_SEEN, np.where(few, TOO_FEW, ""))
    return tuple(each or None for each in why.tolist())


def _masked(values: NDArray[Any], reasons: tuple[str | None, ...]) -> NDArray[Any]:
    """The values, masked where there is a reason."""
    missing = np.array([reason is not None for reason in reasons], dtype=bool)
    return np.ma.array(np.where(missing, 0, values).astype(values.dtype), mask=missing) if missing.any() else values


def _sums(plan: SumPlan, clip: Clip, tallied: Tallied) -> Program["Summed"]:
    """Noisy sums, and a noisy number of rows beside each; one of no use may be noise all of it."""
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    counts, sums = _totals(tallied, lattice, lattice.largest)
    noisy = yield NoisyGroups(sums + lattice.low * counts, plan.additive, plan.additive.cost, lattice.largest)
    rows = yield NoisyGroups(counts, plan.for_counts, plan.for_counts.cost)
    scale = plan.additive.scale(lattice.largest)
    steps = plan.additive.half_steps(scale, 0.0, CHANCE)
    bar = _worth(steps, lattice)
    values = _scaled(noisy, lattice.exponent, plan.integral)
    parameters = {"noise_scale": _worth(scale, lattice), "half_interval": bar if clip.trusted else None}
    numbers = rows.astype(np.float64)
    seen = plan.for_counts.half_interval(plan.for_counts.scale(1), 0.0, 2 * CHANCE)
    useless = numbers * lattice.largest <= steps
    return Summed(values, Fraction(steps) * lattice.step, np.ones(len(values)), rows, seen, useless, parameters)


def _means(plan: SumPlan, clip: Clip, tallied: Tallied) -> Program["Summed"]:
    """Noisy means, likewise: a record changes both sums by the width together, so they cost as much as one.

    Both sums together are the number of rows.
    """
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    width = lattice.width
    counts, sums = _totals(tallied, lattice, width)
    both = [NoisyGroups(part, plan.additive, plan.additive.cost, width) for part in (sums, width * counts - sums)]
    above, below = yield Together(tuple(both), plan.average.cost)
    part = above.astype(np.float64)
    whole = part + below.astype(np.float64)
    share = np.clip(np.divide(part, whole, out=np.full(len(whole), 0.5), where=whole > 0), 0.0, 1.0)
    low, high = finite_float(clip.low), finite_float(clip.high)
    values = np.clip(low * (1 - share) + high * share, low, high)  # high - low may be beyond the floats
    # The noise of the two sums counts with weights that add up to 1: at most as much as that of one of them.
    scale = plan.additive.scale(width)
    steps = plan.additive.half_steps(scale, 0.0, CHANCE)
    bar = steps / np.maximum(whole, 1.0)
    each = plan.additive.scale(1)
    seen = plan.additive.half_interval(each, each, 2 * CHANCE)
    rows = np.rint(whole / width).astype(np.int64)
    parameters = {"noise_scale": _worth(scale, lattice)}
    over = np.maximum(whole / width, 1.0)
    return Summed(values, Fraction(steps) * lattice.step, over, rows, seen, bar >= USELESS, parameters)


def _totals(tallied: Tallied, lattice: Lattice, most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The number of records and the sum of steps of each group; Python's numbers if `most` steps each are too many."""
    counts, sums = tallied.tally.totals(lattice, len(tallied.units))
    if int(counts.max(initial=0)) * most >= LARGEST:
        return counts.astype(object), sums.astype(object)
    return counts, sums


def _in_range(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Sums in a public range, of which 0 is the only end; means lie in their clip."""
    if low == 0:
        values = np.maximum(values, 0)
    return np.minimum(values, 0) if high == 0 else values


def around(values: NDArray[Any], below: Floats | float, above: Floats | float) -> Floats:
    """Intervals that reach so far below and above each value."""
    middle = values.astype(np.float64)
    with np.errstate(over="ignore"):  # an end beyond the floats is infinite
        return np.column_stack([middle - below, middle + above])


def fitting(released: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 64 bits if all of them fit: this depends on the released numbers alone, not on the addition."""
    most = max(map(abs, (int(released.min(initial=0)), int(released.max(initial=0)))))
    return released.astype(np.int64) if most < 1 << 63 else released.astype(object)


def _scaled(whole: NDArray[Any], exponent: int, integral: bool) -> NDArray[Any]:
    """Numbers of steps in the units of the data: whole numbers if all answers are."""
    if not integral:
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(whole.astype(np.float64), exponent), -MAX, MAX) + 0.0
    return fitting(whole.astype(object) * (1 << exponent) if exponent else whole)


def _worth(steps: float, lattice: Lattice) -> float:
    """A number of steps in the units of the data."""
    return finite_float(Fraction(steps) * lattice.step)


def taken(keys: tuple[Any, ...], places: Ints) -> tuple[Any, ...]:
    """The keys in these places."""
    import pyarrow as pa

    return tuple(array.take(pa.array(places)) for array in keys)


def listed(keys: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The keys as plain values."""
    return list(zip(*(array.to_pylist() for array in keys), strict=True))
