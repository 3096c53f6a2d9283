"""A private summary of a table: count, mean, standard deviation, minimum, quantiles and maximum of each numeric column.

One epsilon is split, in this order: a part over all columns for their counts, and the rest in equal parts over the
columns. In a column the quantiles come first (see `halving`); the minimum and maximum are searched outward or inward
around the median, and are the clip of the mean and of the standard deviation. So nothing is spent twice, and every
number's share is known before the data are read. Under zCDP rho is split.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit, rows_of
from nobounds.accounting.spending import Spending, nominal
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Clip, ClipStart, Search
from nobounds.clipping.plan import CHANCE
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.clipping.view import RecordsView
from nobounds.counting.lattice import Lattice, Squares, totals
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.frames import Frame, FrameFacts, frame
from nobounds.exact import finite_float, round_up
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import Noisy
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.problem import Problem
from nobounds.ranks.view import View
from nobounds.release.description import COUNT_SHARE, RANKS, SHARES, STATISTICS, Description, Summary
from nobounds.statistics.door import Request, admit
from nobounds.statistics.keywords import DescribeKeywords, spelled_out, terms_of

NUMERIC = Fraction(1, 4)  # without types, a column of a file is numeric if it has this part of the most numbers


@spelled_out
def describe(data: object, **options: Unpack[DescribeKeywords]) -> Description:
    """A private count, mean, standard deviation, minimum, 5/25/50/75/95% and maximum of each numeric column.

    data: a pandas or polars DataFrame, an Arrow table, a dict of columns, a numpy array, or one column.
    The loss is that of all numbers together, for one row of the table. `lower`, `upper` and `resolution` are one number
    for all columns, or a dict by column. Columns that are not numeric by their type are listed as skipped.

    >>> import random
    >>> described = describe({"age": range(18, 78), "name": ["x"] * 60}, epsilon=100, rng=random.Random(1))
    >>> described["age"].values["50%"]
    47
    """
    terms, stated = terms_of(options), {name: options.get(name) for name in ("lower", "upper", "resolution")}

    def answer(plan: DescribePlan, facts: FrameFacts, table: Frame, loss: PrivacyLoss) -> Program[Description]:
        counts: dict[str, int] = {}
        for name, column in table.columns.items():
            counts[name] = yield from _count(column, plan)
        most = max(counts.values(), default=0)
        kept = [name for name in counts if facts.typed or counts[name] >= NUMERIC * most]
        few = {name: "hardly any numbers" for name in counts if name not in kept}
        jobs = {
            name: _Job(table.columns[name], facts.columns[name], plan, len(kept), counts[name], name) for name in kept
        }
        parameters: dict[str, Any] = {"noise": "exact, on lattices", "neighbors": terms.neighbors}
        parameters |= rows_of(facts.query) | terms.spending.breakdown(plan.parts(max(len(kept), 1)), plan.unit)
        columns: dict[str, Summary] = {}
        for name, job in jobs.items():
            columns[name] = yield from job.summary()
        return Description(columns, facts.skipped | few, loss, parameters)

    request = Request(
        terms.neighbors,
        lambda facts: DescribePlan.of(facts, terms, stated),
        lambda plan, facts: plan.unit.loss(plan.cost(), terms.neighbors),
        lambda facts: f"describe {', '.join(facts.columns)}",
        answer,
        sized=False,
    )
    table = data if isinstance(data, Frame) else frame(data)
    return admit(request, table, options.get("budget"), options.get("rng"))


@dataclass(frozen=True, slots=True)
class DescribePlan:
    """How an epsilon or a rho is split: equal shares for the columns."""

    spending: Spending  # for one row
    neighbors: Neighbors
    unit: Unit
    ladders: dict[str, Ladder]

    @classmethod
    def of(cls, facts: FrameFacts, terms: Terms, stated: Mapping[str, Any]) -> "DescribePlan":
        """The plan for a table."""
        unit = next((column.unit for column in facts.columns.values()), Unit())  # that of all columns
        ladders = {name: _stated(name, stated).ladder(column) for name, column in facts.columns.items()}
        _check_names(facts, stated)
        return cls(terms.spending.each(unit.rows), terms.neighbors, unit, ladders)

    @property
    def columns(self) -> int:
        """The number of columns, at least 1."""
        return max(len(self.ladders), 1)

    def cost(self) -> Cost:
        """The cost of all counts and of all columns that turn out to be numeric, however many these are."""
        return gaussian(self.spending.amount) if self.spending.zcdp else pure(self.spending.amount)

    def parts(self, many: int) -> dict[str, Cost]:
        """The cost of all columns by what it is for, if `many` of them turn out to be numeric."""
        made = gaussian if self.spending.zcdp else pure
        return {"counts": made(self.count_part * self.columns)} | {
            name: made(self.part(name, many) * many) for name in SHARES
        }

    @property
    def count_part(self) -> Fraction:
        """What a count costs."""
        return COUNT_SHARE * self.spending.amount / self.columns

    def part(self, name: str, many: int) -> Fraction:
        """What a part of one of `many` columns costs."""
        return (1 - COUNT_SHARE) * self.spending.amount / many * SHARES[name]

    def epsilon(self, amount: Fraction) -> Fraction:
        """The epsilon for this amount; as a pure one, and as that of Gaussian noise, it has at most this rho."""
        return nominal(amount) if self.spending.zcdp else amount

    def noise(self, amount: Fraction) -> Additive:
        """The noise for this amount."""
        return Additive(self.epsilon(amount), self.spending.zcdp)

    def halving(self, facts: Facts, ladder: Ladder, many: int, count: int) -> Halving:
        """How the quantiles of one of `many` columns are chosen."""
        qs = tuple(RANKS.values())
        problem = Problem(qs, ladder, self.neighbors, facts.nullable, rows=count, stated=True, grows=True)
        return Spending(self.part("quantiles", many), self.spending.zcdp).plan(partial(Halving.of, problem))


def _stated(name: str, options: Mapping[str, Any]) -> Stated:
    """What the user states about a column."""
    return Stated.of(**{key: each.get(name) if isinstance(each, Mapping) else each for key, each in options.items()})


def _check_names(facts: FrameFacts, options: Mapping[str, Any]) -> None:
    for option, given in options.items():
        for name in given if isinstance(given, Mapping) else ():
            if name not in facts.columns:
                raise ValueError(f"{option} names the column {name!r}, which is not a numeric column of the table")


def _count(data: Column, plan: DescribePlan) -> Program[int]:
    if plan.neighbors == "swap" and not data.facts.nullable:
        return data.rows()
    noise = plan.noise(plan.count_part)
    noisy: int = yield Noisy(totals(data.chunks())[0], noise, noise.cost)
    return max(0, noisy)


@dataclass(frozen=True, slots=True)
class _Job:
    """One of `many` columns, the plan for all of them, and its noisy count."""

    data: Column
    facts: Facts
    plan: DescribePlan
    many: int
    count: int
    name: str

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.plan.ladders[self.name]

    def summary(self) -> Program[Summary]:
        """All statistics of the column."""
        quantiles = yield from self._quantiles()
        clip = yield from self._extremes(quantiles)
        mean, std, bars = yield from self._moments(clip)
        plain = int if self.ladder.integral else finite_float
        ends = min(plain(clip.low), quantiles["5%"]), max(plain(clip.high), quantiles["95%"])
        ordered = [ends[0], *quantiles.values(), ends[1]]
        values = {
            "count": self.count,
            "mean": mean,
            "std": std,
            **dict(zip(("min", *RANKS, "max"), ordered, strict=True)),
        }
        noise = self.plan.noise(self.plan.count_part)
        bar = 0 if self._public else math.ceil(noise.half_interval(noise.scale(1), 0.0, CHANCE))
        bars["count"] = (float(max(self.count - bar, 0)), float(self.count + bar))
        costs = {"count": Fraction(0) if self._public else self.plan.count_part}
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
        return self.plan.neighbors == "swap" and not self.facts.nullable

    @property
    def _times(self) -> int:
        """The cost of a unit over the cost of a row."""
        rows = self.facts.unit.rows
        return rows**2 if self.plan.spending.zcdp else rows

    def _part(self, name: str) -> Fraction:
        return self.plan.part(name, self.many)

    def _quantiles(self) -> Program[dict[str, int | float]]:
        halving = self.plan.halving(self.facts, self.ladder, self.many, self.count)
        values = yield from halving.program(View(Counts.of(self.data.chunks, self.ladder)))
        return dict(zip(RANKS, values, strict=True))

    def _extremes(self, quantiles: dict[str, int | float]) -> Program[Clip]:
        """The minimum and maximum, as a clip around the median; the quartiles give the scale."""
        epsilon = self.plan.epsilon(self._part("min and max"))
        search = Search(epsilon, self.plan.neighbors, self.ladder, True, self.facts.nullable)
        octave = _octave(quantiles)
        start = ClipStart(search.within(Fraction(quantiles["50%"])), octave, search.epsilon)
        size = self.count - (
            0 if self._public else math.ceil(CLIP_TUNING.slack / self.plan.epsilon(self.plan.count_part))
        )
        return (yield from search.widths(RecordsView(self.data.chunks), start, size))

    def _moments(self, clip: Clip) -> Program[tuple[float, float, dict[str, tuple[float, float]]]]:
        """Mean and standard deviation within the clip, with their intervals."""
        plan, rows = self.plan, self.data.rows() if self.plan.neighbors == "swap" else None
        epsilon, zcdp = plan.epsilon(self._part("mean")), plan.spending.zcdp
        rule = AverageRule(epsilon, plan.neighbors, rows, self.facts.nullable, zcdp=zcdp)
        lattice = Lattice.of(clip.low, clip.high, self.ladder.integral)
        count, total = totals(self.data.chunks(), lattice.steps)
        average = yield from rule.release(count, total, lattice.width)
        squares = Squares(lattice, round(average.value))
        rule = replace(rule, epsilon=plan.epsilon(self._part("std")))
        count, total = totals(self.data.chunks(), squares.steps)
        square = yield from rule.release(count, total, squares.width)
        mean = finite_float(min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high))
        bar = finite_float(Fraction(average.half_interval(CHANCE)) * lattice.step)
        # The centre of the squares is the mean except for rounding, which matters where the steps are whole numbers.
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
    """About the octave of the median deviation from the median, by the quantiles; None if they are all the same."""
    exact = {name: Fraction(value) for name, value in quantiles.items()}
    quartile = max(exact["75%"] - exact["50%"], exact["50%"] - exact["25%"])
    tail = max(exact["95%"] - exact["50%"], exact["50%"] - exact["5%"])
    scale = max(Fraction(3, 2) * quartile, tail)  # for normal data 0.9 and 1.4 times the 75% deviation
    return math.frexp(finite_float(scale))[1] - 2 if scale > 0 else None
