"""Statistics of each group of a table, for one epsilon: a row is in one group, so all groups cost what one does.

The keys of the groups are public, or those that enough units have are chosen privately (see `key_selection`), for a
part of epsilon and a delta. One pass makes the tally; all groups are answered together (see `groups`).

A quantile is answered for each group as if it were alone. Sums and means share one clip, found among the records of all
groups: small groups could not find one, and what clipping changes is then weighed against the noise of all groups.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import PrivacyLoss, Unit, rows_of
from nobounds.accounting.spending import Chargeable, Spending, charged
from nobounds.clipping.clip import Clip, Search
from nobounds.clipping.plan import CHANCE, ONE_SIDED, SIZE_SHARE, TWO_SIDED, SumPlan
from nobounds.counting.lattice import Lattice
from nobounds.counting.tally import BITS, SUMMED
from nobounds.engines.column import Column
from nobounds.engines.source import Bounding, Facts, Keyed, TableSource, Tallied
from nobounds.exact import MAX, Number, finite_float, rational, round_up
from nobounds.groups import Groups, answers, noise_many
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.key_selection import KeySelection
from nobounds.noise.additive import Additive
from nobounds.noise.source import RandomSource as Bits
from nobounds.release.grouped import GroupedRelease, ordered
from nobounds.statistics.quantile import ask, check_rank, ladder_for

KEY_SHARE = Fraction(1, 4)  # of epsilon, for the choice of keys
# Parts of epsilon for the common clip of G groups: those of one group over the root of G, and at least this. The more
# groups there are, the fewer records a clip has to be right to (benchmarks/groups.py).
LEAST_CLIP = Fraction(1, 40)
_LARGEST = 1 << 60  # steps that add up in 64 bits, with noise


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which groups are asked for, and whom privacy is for; all public."""

    source: TableSource
    keyed: Keyed
    delta: Fraction | None
    unit: Unit
    groups_per_unit: int
    budget: Chargeable | None

    def quantile(
        self, name: str, q: Number, spending: Spending, source: Bits, statistic: str, **facts: Any
    ) -> GroupedRelease:
        """A quantile of each group."""
        rank, data = check_rank(q), self._facts(name)
        part = self._part(spending)
        given: dict[str, Any] = {"rho" if part.zcdp else "epsilon": part.amount}
        asked = ask(data, (rank,), **given, **facts)
        ladder = ladder_for(data, **facts, bits=BITS)
        what = f"quantile {rank}" if statistic == "quantile" else statistic
        loss = self._charged(asked.cost(), spending, f"{what} of {name}")
        keys, found = self._tallied(name, ladder, False, spending, source)
        number = len(found.units)
        groups = Groups(ladder, found.tally.starts(number), found.tally.rungs, found.tally.counts)
        values = answers(asked, groups, source)[0]
        parameters = {"q": str(rank)} if statistic == "quantile" else {}
        parameters |= asked.ladder.describe() | self._told(asked.parts(), spending, name)
        return GroupedRelease(statistic, self.keyed.names, keys, values, loss, parameters)

    def count(self, name: str | None, spending: Spending, source: Bits) -> GroupedRelease:
        """How many records each group has."""
        noise = self._part(spending).each(self.unit.rows).plan(Additive)
        loss = self._charged(noise.cost(), spending, f"count of {name or 'rows'}")
        keys, found = self._tallied(name, Ladder.float_bits(0), False, spending, source)
        number = len(found.units)
        counts = np.diff(np.append(0, np.cumsum(found.tally.counts))[found.tally.starts(number)])
        noisy = _fitting(np.maximum(_added(counts, noise_many(noise, 1, number, source)), 0))
        scale = noise.scale(1)
        bar = noise.half_interval(scale, 0.0, CHANCE)
        parameters = {"noise": noise.name, "noise_scale": scale, "half_interval": bar}
        parameters |= self._told({"noise": noise.cost()}, spending, name)
        return GroupedRelease("count", self.keyed.names, keys, noisy, loss, parameters, np.full(number, bar))

    def sum(self, name: str, spending: Spending, source: Bits, **facts: Any) -> GroupedRelease:
        """The sum of each group."""

        def release(
            plan: SumPlan, clip: Clip, found: Tallied
        ) -> tuple[NDArray[Any], NDArray[np.float64], dict[str, Any]]:
            lattice = Lattice.of(clip.low, clip.high, plan.integral)
            number = len(found.units)
            counts, sums = found.tally.totals(lattice, number)
            if int(counts.max(initial=0)) * lattice.largest >= _LARGEST:
                counts, sums = counts.astype(object), sums.astype(object)
            noisy = _added(sums + lattice.low * counts, noise_many(plan.additive, lattice.largest, number, source))
            scale = plan.additive.scale(lattice.largest)
            bar = plan.additive.half_interval(scale, 0.0, CHANCE)
            values = _scaled(noisy, lattice.exponent, plan.integral)
            known = {"half_interval": _worth(bar, lattice) if clip.trusted else None}
            return values, np.full(number, _worth(bar, lattice)), {"noise_scale": _worth(scale, lattice)} | known

        return self._summed("sum", name, spending, source, release, centered=False, **facts)

    def mean(self, name: str, spending: Spending, source: Bits, **facts: Any) -> GroupedRelease:
        """The mean of each group (see `average`)."""

        def release(
            plan: SumPlan, clip: Clip, found: Tallied
        ) -> tuple[NDArray[Any], NDArray[np.float64], dict[str, Any]]:
            lattice = Lattice.of(clip.low, clip.high, plan.integral)
            number, width = len(found.units), lattice.width
            counts, sums = found.tally.totals(lattice, number)
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

        return self._summed("mean", name, spending, source, release, centered=True, **facts)

    def _summed(
        self,
        statistic: str,
        name: str,
        spending: Spending,
        source: Bits,
        release: Callable[[SumPlan, Clip, Tallied], tuple[NDArray[Any], NDArray[np.float64], dict[str, Any]]],
        centered: bool,
        **facts: Any,
    ) -> GroupedRelease:
        data = self._facts(name)
        ladder = ladder_for(data, **facts)
        known = 1 if self.keyed.known is None else max(len(self.keyed.known[0]), 1)
        each = self._part(spending).each(self.unit.rows)

        def planned(number: int) -> SumPlan:
            return each.plan(lambda total, zcdp: _plan(total, ladder, centered, data.nullable, zcdp, number))

        loss = self._charged(planned(known).cost(), spending, f"{statistic} of {name}")
        summed = SUMMED.limited(ladder.lower, ladder.upper)
        keys, found = self._tallied(name, summed, True, spending, source)
        plan = planned(max(len(found.units), 1))  # the number of groups is public by now
        clip = plan.clip(replace(data, chunks=found.tally.chunks), source)
        values, bars, parameters = release(plan, clip, found)
        ends = [(int if plan.integral else finite_float)(end) for end in (clip.low, clip.high)]
        parameters = {"clip": ends, "noise": plan.additive.name} | parameters | ladder.describe()
        parameters |= self._told(plan.parts(), spending, name)
        half = bars if clip.trusted else None
        return GroupedRelease(statistic, self.keyed.names, keys, values, loss, parameters, half)

    def _facts(self, name: str) -> Column:
        """The public facts of a column, as a Column that has no records."""
        facts: Facts = self.source.facts[name]
        return Column(
            facts.integral,
            facts.nullable,
            lambda: [],
            rows=lambda: 0,
            lower=facts.lower,
            upper=facts.upper,
            unit=self.unit,
        )

    def _part(self, spending: Spending) -> Spending:
        """What is left for the statistic."""
        return spending if self.delta is None else replace(spending, amount=(1 - KEY_SHARE) * spending.amount)

    def _selection(self, spending: Spending) -> KeySelection | None:
        if self.delta is None:
            return None
        return KeySelection(KEY_SHARE * spending.amount, self.delta, self.groups_per_unit)

    def _charged(self, cost: Cost, spending: Spending, what: str) -> PrivacyLoss:
        loss = self.unit.loss(cost, "add-remove")
        selection = self._selection(spending)
        if selection is not None:  # added up before it is rounded, so that what is asked for is what is charged
            both = cost.times(self.unit.rows).epsilon + selection.epsilon
            loss = PrivacyLoss.approximate(both, selection.delta, unit=self.unit.name)
        return charged(loss, self.budget, f"{what} by {', '.join(self.keyed.names)}")

    def _told(self, parts: dict[str, Cost], spending: Spending, name: str | None) -> dict[str, Any]:
        """For the parameters of a release: the column, the keys, and what was spent on what."""
        told = spending.told(parts, self.unit)
        selection = self._selection(spending)
        if selection is not None:
            told["split"] = {"keys": round_up(selection.epsilon), **told["split"]}
        of = {} if name is None else {"column": name}
        most = {} if self.unit == Unit() else {"groups_per_unit": self.groups_per_unit}
        of |= rows_of(self.source.query)
        return of | {"keys": "public" if selection is None else "private"} | told | most

    def _tallied(
        self, name: str | None, ladder: Ladder, sums: bool, spending: Spending, source: Bits
    ) -> tuple[tuple[Any, ...], Tallied]:
        """The keys to show, in order, and the tally of their groups in that order."""
        bounding = None
        if self.unit != Unit():
            bounding = Bounding(self.unit.name, self.unit.rows, self.groups_per_unit, source(62))
        found = self.source.tally(name, ladder, sums, self.keyed, bounding)
        selection = self._selection(spending)
        if selection is None:
            return found.keys, found
        # They come in the order of the data, which tells of them; in their own a seed gives the same answers, too.
        order = ordered(tuple(array[: len(found.units)] for array in found.keys))
        kept = order[selection.kept(found.units[order], source)]
        keys = tuple(array.take(_indices(kept)) for array in found.keys)
        return keys, replace(found, units=found.units[kept], tally=found.tally.only(kept))


def _plan(total: Fraction, ladder: Ladder, centered: bool, nullable: bool, zcdp: bool, number: int) -> SumPlan:
    """What is spent on the common clip of so many groups, and on the noise."""
    one = TWO_SIDED if centered else ONE_SIDED
    size, part = total * SIZE_SHARE, total * max(one / math.isqrt(number), LEAST_CLIP)
    if ladder.size <= 2 and ladder.lower is not None and ladder.upper is not None:
        size, part = Fraction(0), Fraction(0)
    noise = total - part - size
    # One record more is clipped for each unit of noise in each group.
    outside = math.ceil((number - 1) / noise)
    search = Search(part, "add-remove", ladder, centered, nullable, outside)
    return SumPlan(size, search, noise, "add-remove", ladder.integral, None, centered, zcdp)


def _added(whole: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The exact sum, in 64 bits or in Python's whole numbers; which of them must not be seen (see `_fitting`)."""
    if noise.dtype != object and int(np.abs(noise).max(initial=0)) < _LARGEST:
        return np.asarray(whole + noise)
    return np.asarray(whole.astype(object) + noise.astype(object))


def _fitting(released: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 64 bits if all of them fit: by what is released alone, not by how it was added up."""
    most = max(map(abs, (int(released.min(initial=0)), int(released.max(initial=0)))))
    return released.astype(np.int64) if most < 1 << 63 else released.astype(object)


def _scaled(whole: NDArray[Any], exponent: int, integral: bool) -> NDArray[Any]:
    """Whole numbers of steps as numbers: whole ones where all answers are."""
    if not integral:
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(whole.astype(np.float64), exponent), -MAX, MAX) + 0.0
    return _fitting(whole.astype(object) * (1 << exponent) if exponent else whole)


def _worth(steps: float, lattice: Lattice) -> float:
    """So many steps as a number."""
    return finite_float(Fraction(steps) * lattice.step)


def _indices(places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(places)


def check_delta(delta: Number) -> Fraction:
    """A delta between 0 and 1, without its ends."""
    found = rational(delta, "delta")
    if not 0 < found < 1:
        raise ValueError(f"delta must be greater than 0 and less than 1, got delta={delta!r}")
    return found
