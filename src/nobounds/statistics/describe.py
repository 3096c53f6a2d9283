"""A private summary of a table: count, mean, standard deviation, minimum, quantiles and maximum of each numeric column.

One epsilon is split, in this order: a part over all columns for their counts, and the rest in equal parts over the
columns. In a column the quantiles come first (see `halving`); the minimum and maximum are searched outward or inward
around the median, and are the clip of the mean and of the standard deviation. So nothing is spent twice, and every
number's share is known before the data are read. Under zCDP it is rho that is split.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import Neighbors, Unit, check_neighbors, rows_of
from nobounds.accounting.spending import Chargeable, Spending, charged, nominal
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Clip, Search
from nobounds.clipping.plan import CHANCE, SLACK
from nobounds.counting.lattice import Lattice, Squares, totals
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.frames import Frame, frame
from nobounds.exact import Number, finite_float, round_up
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.noise.additive import Additive
from nobounds.noise.source import RandomSource, Rng, random_source
from nobounds.ranks.halving import Halving
from nobounds.release.description import COUNT_SHARE, RANKS, SHARES, STATISTICS, Description, Summary
from nobounds.statistics.quantile import ladder_for

PerColumn = Number | Mapping[str, Number] | None

NUMERIC = Fraction(1, 4)  # a column of a file without types is numeric if it has so many numbers of the most found


def describe(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: PerColumn = None,
    upper: PerColumn = None,
    resolution: PerColumn = None,
    neighbors: Neighbors = "add-remove",
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Description:
    """A private count, mean, standard deviation, minimum, 5/25/50/75/95 % and maximum of each numeric column.

    data: a pandas or polars DataFrame, an Arrow table, a dict of columns, a numpy array, or one column.
    epsilon, rho: the total privacy loss of all numbers together, for one row of the table; give one of them.
    lower, upper, resolution: public facts as in `quantile`, one number for all columns or a dict by column.
    budget: a `Budget` that is charged before the data are read.

    Columns that are not numeric by their type are listed as skipped. Integer columns have resolution 1.

    >>> import random
    >>> described = describe({"age": range(18, 78), "name": ["x"] * 60}, epsilon=100, rng=random.Random(1))
    >>> described["age"].values["50%"]
    48
    """
    spending, relation, source = Spending.of(epsilon, rho), check_neighbors(neighbors), random_source(rng)
    table = data if isinstance(data, Frame) else frame(data)
    options = {"lower": lower, "upper": upper, "resolution": resolution}
    ladders = {name: _ladder(name, column, options) for name, column in table.columns.items()}
    _check_names(table, options)
    unit = next((found.unit for found in table.columns.values()), Unit())  # that of all columns
    plan = _Plan(spending.each(unit.rows), relation, max(len(ladders), 1))
    loss = charged(unit.loss(plan.cost(), relation), budget, f"describe {', '.join(map(str, ladders))}")
    counts = {name: _count(column, plan, source) for name, column in table.columns.items()}
    most = max(counts.values(), default=0)
    kept = [name for name in ladders if table.typed or counts[name] >= NUMERIC * most]
    skipped = table.skipped | {name: "hardly any numbers" for name in ladders if name not in kept}
    found = {
        name: _Job(table.columns[name], ladders[name], plan, max(len(kept), 1), counts[name], source).summary()
        for name in kept
    }
    parameters: dict[str, Any] = {"noise": "exact, on lattices", "neighbors": relation}
    parameters |= rows_of(table.query) | spending.told(plan.parts(max(len(kept), 1)), unit)
    return Description(found, skipped, loss, parameters)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How much is spent on what: equal shares for a number of columns, of an epsilon or of a rho."""

    spending: Spending
    neighbors: Neighbors
    columns: int

    def cost(self) -> Cost:
        """The cost of all counts and of all columns that turn out to be numeric, however many these are."""
        return gaussian(self.spending.amount) if self.spending.zcdp else pure(self.spending.amount)

    def parts(self, many: int) -> dict[str, Cost]:
        """The cost of all columns by what it is for, if so many of them turn out to be numeric."""
        made = gaussian if self.spending.zcdp else pure
        return {"counts": made(self.count * self.columns)} | {
            name: made(self.part(name, many) * many) for name in SHARES
        }

    @property
    def count(self) -> Fraction:
        """What a count costs."""
        return COUNT_SHARE * self.spending.amount / self.columns

    def part(self, name: str, many: int) -> Fraction:
        """What a part of one of so many columns costs."""
        return (1 - COUNT_SHARE) * self.spending.amount / many * SHARES[name]

    def epsilon(self, amount: Fraction) -> Fraction:
        """The epsilon for so much; as a pure one, and as that of Gaussian noise, it has at most this rho."""
        return nominal(amount) if self.spending.zcdp else amount

    def noise(self, amount: Fraction) -> Additive:
        """The noise for so much."""
        return Additive(self.epsilon(amount), self.spending.zcdp)

    def halving(self, data: Column, ladder: Ladder, many: int, count: int) -> Halving:
        """How the quantiles of one of so many columns are found."""
        qs = tuple(RANKS.values())

        def plan(epsilon: Fraction, zcdp: bool) -> Halving:
            return Halving.of(qs, epsilon, ladder, self.neighbors, count, data.nullable, True, True, zcdp)

        return Spending(self.part("quantiles", many), self.spending.zcdp).plan(plan)


def _ladder(name: str, data: Column, options: dict[str, PerColumn]) -> Ladder:
    """The ladder of a column, from public facts."""
    low, high, grid = (
        option.get(name) if isinstance(option, Mapping) else option
        for option in (options["lower"], options["upper"], options["resolution"])
    )
    return ladder_for(data, low, high, grid)


def _check_names(table: Frame, options: dict[str, PerColumn]) -> None:
    for option, given in options.items():
        for name in given if isinstance(given, Mapping) else ():
            if name not in table.columns:
                raise ValueError(f"{option} names the column {name!r}, which is not a numeric column of the table")


def _count(data: Column, plan: _Plan, source: RandomSource) -> int:
    if plan.neighbors == "swap" and not data.nullable:
        return data.rows()
    return max(0, totals(data.chunks())[0] + plan.noise(plan.count).draw(1, source))


@dataclass(frozen=True, slots=True)
class _Job:
    """One of so many columns, what may be spent on it, and its private count."""

    data: Column
    ladder: Ladder
    plan: _Plan
    many: int
    count: int
    source: RandomSource

    def summary(self) -> Summary:
        """All statistics of the column."""
        quantiles = self._quantiles()
        clip = self._extremes(quantiles)
        mean, std, bars = self._moments(clip)
        plain = int if self.ladder.integral else finite_float
        ends = min(plain(clip.low), quantiles["5%"]), max(plain(clip.high), quantiles["95%"])
        ordered = [ends[0], *quantiles.values(), ends[1]]
        values = {
            "count": self.count,
            "mean": mean,
            "std": std,
            **dict(zip(("min", *RANKS, "max"), ordered, strict=True)),
        }
        noise = self.plan.noise(self.plan.count)
        bar = 0 if self._public else math.ceil(noise.half_interval(noise.scale(1), 0.0, CHANCE))
        bars["count"] = (float(max(self.count - bar, 0)), float(self.count + bar))
        costs = {"count": Fraction(0) if self._public else self.plan.count}
        costs |= {name: self._part(name) for name in ("mean", "std")}
        costs |= {name: self._part("min and max") / 2 for name in ("min", "max")}
        costs |= {name: self._part("quantiles") / len(RANKS) for name in RANKS}
        return Summary(
            {name: values[name] for name in STATISTICS},
            {name: bars[name] for name in ("count", "mean", "std")},
            {name: round_up(costs[name] * self._times) for name in STATISTICS},
        )

    @property
    def _public(self) -> bool:
        """Whether the count is public."""
        return self.plan.neighbors == "swap" and not self.data.nullable

    @property
    def _times(self) -> int:
        """What a unit costs, over what a row costs."""
        rows = self.data.unit.rows
        return rows**2 if self.plan.spending.zcdp else rows

    def _part(self, name: str) -> Fraction:
        return self.plan.part(name, self.many)

    def _quantiles(self) -> dict[str, int | float]:
        asked = self.plan.halving(self.data, self.ladder, self.many, self.count)
        return dict(zip(RANKS, asked.answer(Counts.of(self.data.chunks, self.ladder), self.source), strict=True))

    def _extremes(self, quantiles: dict[str, int | float]) -> Clip:
        """The minimum and maximum, as a clip around the median; the quartiles give the scale."""
        epsilon = self.plan.epsilon(self._part("min and max"))
        search = Search(epsilon, self.plan.neighbors, self.ladder, True, self.data.nullable)
        center = search.within(Fraction(quantiles["50%"]))
        around = search.deviations(self.data, center)
        walks = search.walks(around, center, _octave(quantiles), search.epsilon)
        widths = [search.width(walk.candidates, halt_position(walk.walk, self.source)) for walk in walks]
        size = self.count - (0 if self._public else math.ceil(SLACK / self.plan.epsilon(self.plan.count)))
        return search.clip(center, widths, search.trusts(size, walks))

    def _moments(self, clip: Clip) -> tuple[float, float, dict[str, tuple[float, float]]]:
        """Mean and standard deviation within the clip, with their intervals."""
        plan, rows = self.plan, self.data.rows() if self.plan.neighbors == "swap" else None
        epsilon, zcdp = plan.epsilon(self._part("mean")), plan.spending.zcdp
        rule = AverageRule(epsilon, plan.neighbors, rows, self.data.nullable, zcdp=zcdp)
        lattice = Lattice.of(clip.low, clip.high, self.ladder.integral)
        count, total = totals(self.data.chunks(), lattice.steps)
        average = rule.release(count, total, lattice.width, self.source)
        squares = Squares(lattice, round(average.value))
        rule = replace(rule, epsilon=plan.epsilon(self._part("std")))
        count, total = totals(self.data.chunks(), squares.steps)
        square = rule.release(count, total, squares.width, self.source)
        mean = finite_float(min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high))
        bar = finite_float(Fraction(average.half_interval(CHANCE)) * lattice.step)
        # The centre of the squares is the mean but for rounding, which matters where the steps are whole numbers.
        off = (average.value - squares.center) * lattice.step / squares.radius
        part = Fraction(square.half_interval(CHANCE))
        low, std, high = (
            finite_float(squares.radius) * math.sqrt(max((square.value + shift) / squares.width - off**2, Fraction(0)))
            for shift in (-part, Fraction(0), part)
        )
        if not clip.trusted:
            return mean, std, {"mean": (-math.inf, math.inf), "std": (0.0, math.inf)}
        return mean, std, {"mean": (mean - bar, mean + bar), "std": (low, high)}


def _octave(quantiles: dict[str, int | float]) -> int | None:
    """The octave of the 75 % deviation from the median, judged by the quantiles; None if they are all the same."""
    found = {name: Fraction(value) for name, value in quantiles.items()}
    quartile = max(found["75%"] - found["50%"], found["50%"] - found["25%"])
    tail = max(found["95%"] - found["50%"], found["50%"] - found["5%"])
    scale = max(Fraction(3, 2) * quartile, tail)  # for normal data 0.9 and 1.4 times the 75 % deviation
    return math.frexp(finite_float(scale))[1] - 1 if scale > 0 else None
