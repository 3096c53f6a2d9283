"""Statistics of each group of a table, for one epsilon: a row is in one group, so all groups cost as much as one.

The keys of the groups are public, or those that enough units have are chosen privately (see `key_selection`), for a
part of epsilon and a delta. One pass makes the tally; all groups are answered together (see `groups`).

A quantile is answered for each group as if it were alone. Sums and means share one clip, chosen among the records of
all groups: small groups have too few records for their own clip, and the bias from clipping is then weighed against
the noise of all groups.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.spending import Chargeable, Spending
from nobounds.accounting.terms import Terms
from nobounds.arrays import Floats
from nobounds.clipping.clip import Clip
from nobounds.clipping.plan import CHANCE, SumPlan
from nobounds.counting.lattice import Lattice
from nobounds.counting.tally import BITS, SUMMED
from nobounds.engines.source import Bounding, Keyed, TableSource, Tallied
from nobounds.exact import MAX, Number, finite_float, rational, round_up
from nobounds.groups import Groups, answers, noise_many
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import Opaque
from nobounds.mechanisms.key_selection import KeySelection
from nobounds.noise.source import RandomSource, Rng
from nobounds.programs.program import Program
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_separately
from nobounds.ranks.question import Question
from nobounds.release.grouped import GroupedRelease, ordered
from nobounds.statistics.door import ColumnPlan, Request, admit
from nobounds.statistics.sums import CountPlan

KEY_SHARE = Fraction(1, 4)  # of epsilon, for the choice of keys
_LARGEST = 1 << 60  # steps that add up in 64 bits, with noise


@dataclass(frozen=True, slots=True)
class GroupAnswers:
    """Noisy answers by key, and what their release says about them."""

    keys: tuple[Any, ...]
    values: NDArray[Any]
    parameters: dict[str, Any]
    half_intervals: Floats | None = None
    parts: dict[str, Cost] | None = None  # of the cost, where they depend on the number of groups


Summed: TypeAlias = tuple[NDArray[Any], Floats, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The requested groups of a table, and whom privacy is for; all public."""

    source: TableSource
    keyed: Keyed
    delta: Fraction | None
    unit: Unit
    groups_per_unit: int
    budget: Chargeable | None

    def quantile(
        self, statistic: str, column: str, q: Fraction, spending: Spending, stated: Stated, rng: Rng
    ) -> GroupedRelease:
        """A quantile of each group."""
        options = Options(stated)

        def answer(plan: Question, data: GroupedColumn, source: RandomSource) -> GroupAnswers:
            ladder = stated.ladder(data.facts, BITS)
            keys, tallied = data.tallied(ladder, False, source)
            starts = tallied.tally.starts(len(tallied.units))
            groups = Groups(ladder, starts, tallied.tally.rungs, tallied.tally.counts)
            parameters = {"q": str(q)} if statistic == "quantile" else {}
            return GroupAnswers(keys, answers(plan, groups, source)[0], parameters | plan.ladder.describe())

        def plan(facts: Facts, terms: Terms) -> Question:
            return plan_separately(facts, terms, options, (q,))

        purpose = f"quantile {q}" if statistic == "quantile" else statistic
        return self._release(statistic, purpose, column, spending, plan, answer, rng)

    def count(self, column: str | None, spending: Spending, rng: Rng) -> GroupedRelease:
        """How many records each group has."""

        def answer(plan: CountPlan, data: GroupedColumn, source: RandomSource) -> GroupAnswers:
            keys, tallied = data.tallied(Ladder.float_bits(0), False, source)
            number, noise = len(tallied.units), plan.noise
            counts = np.diff(np.append(0, np.cumsum(tallied.tally.counts))[tallied.tally.starts(number)])
            noisy = _fitting(np.maximum(_added(counts, noise_many(noise, 1, number, source)), 0))
            scale = noise.scale(1)
            bar = noise.half_interval(scale, 0.0, CHANCE)
            parameters = {"noise": noise.name, "noise_scale": scale, "half_interval": bar}
            return GroupAnswers(keys, noisy, parameters, np.full(number, bar))

        return self._release("count", "count", column, spending, CountPlan.of, answer, rng)

    def sum(self, column: str, spending: Spending, stated: Stated, rng: Rng) -> GroupedRelease:
        """The sum of each group."""
        return self._summed("sum", column, spending, stated, _sums, rng)

    def mean(self, column: str, spending: Spending, stated: Stated, rng: Rng) -> GroupedRelease:
        """The mean of each group (see `average`)."""
        return self._summed("mean", column, spending, stated, _means, rng)

    def _summed(
        self,
        statistic: str,
        column: str,
        spending: Spending,
        stated: Stated,
        summed: Callable[[SumPlan, Clip, Tallied, RandomSource], Summed],
        rng: Rng,
    ) -> GroupedRelease:
        known = 1 if self.keyed.known is None else max(len(self.keyed.known[0]), 1)

        def plan(facts: Facts, terms: Terms, groups: int = known) -> SumPlan:
            return SumPlan.for_groups(facts, terms, stated, statistic == "mean", groups)

        def answer(first: SumPlan, data: GroupedColumn, source: RandomSource) -> GroupAnswers:
            ladder = first.search.ladder
            keys, tallied = data.tallied(SUMMED.limited(ladder.lower, ladder.upper), True, source)
            # The number of groups is public or already noised; the cost is the same for every number.
            settled = plan(data.facts, self._terms(spending), max(len(tallied.units), 1))
            clip = settled.clip(tallied.tally.chunks, source)
            values, bars, parameters = summed(settled, clip, tallied, source)
            ends = [(int if settled.integral else finite_float)(end) for end in (clip.low, clip.high)]
            parameters = {"clip": ends, "noise": settled.additive.name} | parameters | ladder.describe()
            return GroupAnswers(keys, values, parameters, bars if clip.trusted else None, settled.parts())

        return self._release(statistic, statistic, column, spending, plan, answer, rng)

    def _release(
        self,
        statistic: str,
        purpose: str,
        column: str | None,
        spending: Spending,
        plan: Callable[[Facts, Terms], Any],
        answer: Callable[[Any, "GroupedColumn", RandomSource], GroupAnswers],
        rng: Rng,
    ) -> GroupedRelease:
        """The release of a statistic of all groups, through the door."""
        terms, selection = self._terms(spending), self._selection(spending)

        def loss(plan: ColumnPlan, facts: Facts) -> PrivacyLoss:
            if selection is None:
                return self.unit.loss(plan.cost(), "add-remove")
            # Added up before it is rounded: then the charge is what the user gave.
            both = plan.cost().times(self.unit.rows).epsilon + selection.epsilon
            return PrivacyLoss.approximate(both, selection.delta, unit=self.unit.name)

        def released(plan: ColumnPlan, facts: Facts, data: GroupedColumn, loss: PrivacyLoss) -> Program[GroupedRelease]:
            noisy: GroupAnswers = yield Opaque(lambda source: answer(plan, data, source))
            parts = plan.parts() if noisy.parts is None else noisy.parts
            parameters = noisy.parameters | self._described(facts, spending, parts, selection)
            return GroupedRelease(
                statistic, self.keyed.names, noisy.keys, noisy.values, loss, parameters, noisy.half_intervals
            )

        of = f"{purpose} of {'rows' if column is None else column} by {', '.join(self.keyed.names)}"
        request = Request(terms.neighbors, lambda facts: plan(facts, terms), loss, lambda facts: of, released)
        return admit(request, GroupedColumn(self, column, selection), self.budget, rng)

    def facts(self, column: str | None) -> Facts:
        """The public facts of a column, or of the rows themselves."""
        if column is None:
            return Facts(True, False, unit=self.unit, name="rows", query=self.source.query, counted=True)
        return replace(self.source.facts[column], unit=self.unit, name=column, query=self.source.query)

    def _terms(self, spending: Spending) -> Terms:
        """What is left for the statistic after the choice of keys."""
        return Terms(spending if self.delta is None else replace(spending, amount=(1 - KEY_SHARE) * spending.amount))

    def _selection(self, spending: Spending) -> KeySelection | None:
        if self.delta is None:
            return None
        return KeySelection(KEY_SHARE * spending.amount, self.delta, self.groups_per_unit)

    def _described(
        self, facts: Facts, spending: Spending, parts: dict[str, Cost], selection: KeySelection | None
    ) -> dict[str, Any]:
        """For the parameters of a release: the column, the keys, and how the spending was split."""
        breakdown = spending.breakdown(parts, self.unit)
        if selection is not None:
            breakdown["split"] = {"keys": round_up(selection.epsilon), **breakdown["split"]}
        most = {} if self.unit == Unit() else {"groups_per_unit": self.groups_per_unit}
        return facts.origin() | {"keys": "public" if selection is None else "private"} | breakdown | most


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column of a table by groups, not read yet."""

    grouping: Grouping
    column: str | None
    selection: KeySelection | None

    @property
    def facts(self) -> Facts:
        """The public facts."""
        return self.grouping.facts(self.column)

    def public(self, sized: bool) -> Facts:
        """The public facts; groups are for add-remove alone."""
        return self.facts

    def tallied(self, ladder: Ladder, sums: bool, source: RandomSource) -> tuple[tuple[Any, ...], Tallied]:
        """The keys to show, in order, and the tally of their groups in that order; this reads the table."""
        grouping, unit, bounding = self.grouping, self.grouping.unit, None
        if unit != Unit():
            bounding = Bounding(unit.name, unit.rows, grouping.groups_per_unit, source(62))
        tallied = grouping.source.tally(self.column, ladder, sums, grouping.keyed, bounding)
        if self.selection is None:
            return tallied.keys, tallied
        # They come in the order of the data, which is sensitive; sorted, a seed gives the same answers, too.
        order = ordered(tuple(array[: len(tallied.units)] for array in tallied.keys))
        kept = order[self.selection.kept(tallied.units[order], source)]
        keys = tuple(array.take(_indices(kept)) for array in tallied.keys)
        return keys, replace(tallied, units=tallied.units[kept], tally=tallied.tally.only(kept))


def _sums(plan: SumPlan, clip: Clip, tallied: Tallied, source: RandomSource) -> Summed:
    """Noisy sums, their half intervals, and parameters of the release."""
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    number = len(tallied.units)
    counts, sums = tallied.tally.totals(lattice, number)
    if int(counts.max(initial=0)) * lattice.largest >= _LARGEST:
        counts, sums = counts.astype(object), sums.astype(object)
    noisy = _added(sums + lattice.low * counts, noise_many(plan.additive, lattice.largest, number, source))
    scale = plan.additive.scale(lattice.largest)
    bar = _worth(plan.additive.half_interval(scale, 0.0, CHANCE), lattice)
    values = _scaled(noisy, lattice.exponent, plan.integral)
    parameters = {"noise_scale": _worth(scale, lattice), "half_interval": bar if clip.trusted else None}
    return values, np.full(number, bar), parameters


def _means(plan: SumPlan, clip: Clip, tallied: Tallied, source: RandomSource) -> Summed:
    """Noisy means, likewise."""
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    number, width = len(tallied.units), lattice.width
    counts, sums = tallied.tally.totals(lattice, number)
    if int(counts.max(initial=0)) * width >= _LARGEST:
        counts, sums = counts.astype(object), sums.astype(object)
    above = _added(sums, noise_many(plan.additive, width, number, source))
    below = _added(width * counts - sums, noise_many(plan.additive, width, number, source))
    part = above.astype(np.float64)
    whole = part + below.astype(np.float64)
    share = np.clip(np.divide(part, whole, out=np.full(number, 0.5), where=whole > 0), 0.0, 1.0)
    low, high = finite_float(clip.low), finite_float(clip.high)
    values = np.clip(low * (1 - share) + high * share, low, high)  # high - low may be beyond the floats
    # The noise of the two sums counts with weights that add up to 1: at most as much as that of one of them.
    scale = plan.additive.scale(width)
    bar = plan.additive.half_interval(scale, 0.0, CHANCE) / np.maximum(whole, 1.0)
    bars = np.minimum(bar, 1.0) * _worth(width, lattice)
    return values, bars, {"noise_scale": _worth(scale, lattice)}


def _added(whole: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The exact sum, in 64 bits or in Python's whole numbers; which of them must not show (see `_fitting`)."""
    if noise.dtype != object and int(np.abs(noise).max(initial=0)) < _LARGEST:
        return np.asarray(whole + noise)
    return np.asarray(whole.astype(object) + noise.astype(object))


def _fitting(released: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 64 bits if all of them fit: this depends on the released numbers alone, not on the addition."""
    most = max(map(abs, (int(released.min(initial=0)), int(released.max(initial=0)))))
    return released.astype(np.int64) if most < 1 << 63 else released.astype(object)


def _scaled(whole: NDArray[Any], exponent: int, integral: bool) -> NDArray[Any]:
    """Numbers of steps in the units of the data: whole numbers if all answers are."""
    if not integral:
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(whole.astype(np.float64), exponent), -MAX, MAX) + 0.0
    return _fitting(whole.astype(object) * (1 << exponent) if exponent else whole)


def _worth(steps: float, lattice: Lattice) -> float:
    """A number of steps in the units of the data."""
    return finite_float(Fraction(steps) * lattice.step)


def _indices(places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(places)


def check_delta(delta: Number) -> Fraction:
    """A delta between 0 and 1, both excluded."""
    exact = rational(delta, "delta")
    if not 0 < exact < 1:
        raise ValueError(f"delta must be greater than 0 and less than 1, got delta={delta!r}")
    return exact
