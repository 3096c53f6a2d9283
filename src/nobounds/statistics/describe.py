"""A private summary of a table: count, mean, standard deviation, minimum, quantiles and maximum of each numeric column.

One epsilon is charged first, and split by need. A part over all columns buys their noisy counts. The rest goes in equal
parts to the columns that can answer at least a median for it, and in a column to the statistics that its noisy count
can carry (see `release.shares`). The median comes first, with the other quantiles by halving; it is the centre of the
mean, of the standard deviation and of the walks to the minimum and the maximum, and the shells of the mean are those of
the standard deviation. Under zCDP rho is split. Its cost is proven in docs/proofs/describe.md.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any, Unpack

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit, rows_of
from nobounds.accounting.spending import Spending, nominal
from nobounds.accounting.terms import Terms
from nobounds.answers.many import halved
from nobounds.answers.quantile import outermost
from nobounds.answers.spent import Part
from nobounds.answers.totals import clip_around, mean_of, squares, total, variance_of
from nobounds.counting.order import Order
from nobounds.engines.column import Column
from nobounds.engines.memory.frames import Frame, FrameFacts, frame
from nobounds.exact import finite_float, round_up
from nobounds.kinds.kind import Kind, Value
from nobounds.ladders.facts import Facts, viewed, where_in_words
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import Noisy
from nobounds.noise.additive import Additive, reach
from nobounds.programs.program import Program
from nobounds.release.description import Description, Summary
from nobounds.release.shares import COUNT_SHARE, LEVELS, PARTS, RANKS, STATISTICS, answered, shares
from nobounds.release.words import TOO_FEW, TOO_FEW_NUMBERS
from nobounds.statistics.door import Request, admit
from nobounds.statistics.keywords import LEVEL, DescribeKeywords, spelled_out, terms_of
from nobounds.statistics.moments.spreads import root
from nobounds.statistics.typed import typed_summary, types_of
from nobounds.values import dataclass

NEAR = 3  # scales of its noise that a count may lie from that of the table, to be taken as it
NUMERIC = Fraction(1, 4)  # without types, a column of a file is numeric if it has this part of the most numbers


@spelled_out
def describe(data: object, **options: Unpack[DescribeKeywords]) -> Description:
    """A private count, mean, standard deviation, minimum, 5/25/50/75/95% and maximum of each numeric column.

    data: a pandas or polars DataFrame, an Arrow table, a dict of columns, a numpy array, or one column.
    The loss is that of all numbers together, for one row of the table. A statistic that the number of rows cannot carry
    at this loss is None, and `reasons` says why. `lower`, `upper` and `resolution` are one number
    for all columns, or a dict by column. Columns that are not numeric by their type are listed as skipped.

    >>> import random
    >>> described = describe({"age": range(18, 78), "name": ["x"] * 60}, epsilon=100, rng=random.Random(1))
    >>> described["age"].values["50%"]
    47
    """
    terms, stated = terms_of(options), {name: options.get(name) for name in ("lower", "upper", "resolution")}

    def answer(plan: DescribePlan, facts: FrameFacts, table: Frame, loss: PrivacyLoss) -> Program[Description]:
        orders = {name: Order(column.chunks, plan.ladders[name]) for name, column in table.columns.items()}
        counts: dict[str, int] = {}
        for name, column in table.columns.items():
            counts[name] = yield from _count(column, orders[name], plan)
        most = max(counts.values(), default=0)
        kept = {name: counts[name] for name in counts if facts.typed or counts[name] >= NUMERIC * most}
        few = {name: "hardly any numbers" for name in counts if name not in kept}
        rows = {name: table.columns[name].rows() for name in kept} if terms.neighbors == "swap" else None
        sizes = plan.sizes(facts, kept, rows)
        shared = plan.shares(facts, sizes)
        parameters: dict[str, Any] = {"noise": "exact, on lattices", "neighbors": terms.neighbors}
        parameters |= (
            viewed(facts.where, facts.formulas)
            | rows_of(facts.query)
            | terms.spending.breakdown(plan.parts(facts, shared), plan.unit)
        )
        columns: dict[str, Summary] = {}
        for name in kept:
            data, ladder = table.columns[name], plan.ladders[name]
            job = _Job(data, orders[name], facts.columns[name], plan, ladder, counts[name], sizes[name], shared[name])
            columns[name] = typed_summary((yield from job.summary()), facts.columns[name].kind)
        parameters |= types_of(facts.columns)
        return Description(columns, facts.skipped | few, loss, parameters)

    request = Request(
        terms.neighbors,
        lambda facts: DescribePlan.of(facts, terms, stated),
        lambda plan, facts: plan.unit.loss(plan.cost(), terms.neighbors),
        lambda facts: f"describe {', '.join(facts.columns)}{where_in_words(facts.where)}",
        answer,
        sized=False,
    )
    table = data if isinstance(data, Frame) else frame(data)
    return admit(request, table, options.get("budget"), options.get("rng"))


@dataclass(frozen=True, slots=True)
class DescribePlan:
    """How an epsilon or a rho is split: the counts first, and the rest by them."""

    spending: Spending  # for one row
    neighbors: Neighbors
    unit: Unit
    ladders: dict[str, Ladder]

    @classmethod
    def of(cls, facts: FrameFacts, terms: Terms, stated: Mapping[str, Any]) -> "DescribePlan":
        """The plan for a table."""
        unit = next((column.unit for column in facts.columns.values()), Unit())  # that of all columns
        _check_names(facts, stated)
        ladders = {name: _stated(name, column.kind, stated).ladder(column) for name, column in facts.columns.items()}
        return cls(terms.spending.each(unit.rows), terms.neighbors, unit, ladders)

    def cost(self) -> Cost:
        """The cost of all counts and of all that they decide, whatever these are."""
        return self._cost(self.spending.amount)

    def _cost(self, amount: Fraction) -> Cost:
        return gaussian(amount) if self.spending.zcdp else pure(amount)

    def public_count(self, facts: Facts) -> bool:
        """Whether the number of records of a column is public."""
        return self.neighbors == "swap" and not facts.nullable

    @property
    def count_part(self) -> Fraction:
        """What a count costs."""
        return COUNT_SHARE * self.spending.amount / max(len(self.ladders), 1)

    def left(self, facts: FrameFacts) -> Fraction:
        """What is left after all counts."""
        return self.spending.amount - self.count_part * self._counted(facts)

    def _counted(self, facts: FrameFacts) -> int:
        return sum(not self.public_count(column) for column in facts.columns.values())

    def sizes(self, facts: FrameFacts, counts: Mapping[str, int], rows: Mapping[str, int] | None) -> dict[str, int]:
        """The numbers of records that shares go by, for noisy counts; all of it is already noised.

        Few records are missing in most columns. So a count that noise may well have moved away from that of the table
        is taken as it: from the public rows under swap, else from the median of all noisy counts.
        """
        noise = 1 / self.epsilon(self.count_part)
        middle = math.floor(median(counts.values())) if counts else 0
        whole = dict.fromkeys(counts, middle) if rows is None else rows
        near = [name for name, count in counts.items() if abs(count - whole[name]) <= NEAR * noise]
        less = 0 if rows is not None else math.ceil(noise / max(math.isqrt(len(near)), 1))
        sizes = {
            name: (whole[name] - less if name in near else count - math.ceil(noise)) for name, count in counts.items()
        }
        public = {name: count for name, count in counts.items() if self.public_count(facts.columns[name])}
        seen = reach(float(noise), self.spending.zcdp)
        sizes = {name: size if counts[name] > seen else 0 for name, size in sizes.items()}
        return {name: max(size, 0) for name, size in (sizes | public).items()}

    def shares(self, facts: FrameFacts, sizes: Mapping[str, int]) -> dict[str, dict[str, Fraction]]:
        """What each part of the columns of these sizes gets; a column that cannot carry a median gets nothing."""
        share = partial(shares, neighbors=self.neighbors, zcdp=self.spending.zcdp)
        left = self.left(facts)
        carried = [name for name, size in sizes.items() if share(left / len(sizes), size)]
        return {name: share(left / len(carried), size) if name in carried else {} for name, size in sizes.items()}

    def parts(self, facts: FrameFacts, shared: Mapping[str, Mapping[str, Fraction]]) -> dict[str, Cost]:
        """The cost of all columns by what it is for."""
        spent = {"counts": self.count_part * self._counted(facts)}
        spent |= {part: sum((each.get(part, Fraction(0)) for each in shared.values()), Fraction(0)) for part in PARTS}
        return {part: self._cost(amount) for part, amount in spent.items() if amount}

    def epsilon(self, amount: Fraction) -> Fraction:
        """The epsilon for this amount; as a pure one, and as that of Gaussian noise, it has at most this rho."""
        return nominal(amount) if self.spending.zcdp else amount

    def noise(self, amount: Fraction) -> Additive:
        """The noise for this amount."""
        return Additive(self.epsilon(amount), self.spending.zcdp)


def _stated(name: str, kind: Kind, options: Mapping[str, Any]) -> Stated:
    """What the user states about a column: by its name, or for all columns of its kind."""
    return Stated.of(
        **{
            key: each.get(name) if isinstance(each, Mapping) else each if kind.takes(each, key) else None
            for key, each in options.items()
        }
    )


def _check_names(facts: FrameFacts, options: Mapping[str, Any]) -> None:
    for option, given in options.items():
        for name in given if isinstance(given, Mapping) else ():
            if name not in facts.columns:
                raise ValueError(f"{option} names the column {name!r}, which is not a numeric column of the table")
        if given is None or isinstance(given, Mapping) or not facts.columns:
            continue
        if not any(column.kind.takes(given, option) for column in facts.columns.values()):
            kind = next(iter(facts.columns.values())).kind
            (kind.span if option == "resolution" else kind.number)(given, option)  # raises, with the reason


def _count(data: Column, order: Order, plan: DescribePlan) -> Program[int]:
    if plan.public_count(data.facts):
        return data.rows()
    noise = plan.noise(plan.count_part)
    noisy: int = yield Noisy(order.total, noise, noise.cost)
    return max(0, noisy if plan.neighbors == "add-remove" else min(noisy, data.rows()))


@dataclass(frozen=True, slots=True)
class _Job:
    """One column, its noisy count, and what each of its parts gets for about `size` records."""

    data: Column
    order: Order
    facts: Facts
    plan: DescribePlan
    ladder: Ladder
    count: int
    size: int
    parts: Mapping[str, Fraction]

    def summary(self) -> Program[Summary]:
        """All statistics of the column that are answered."""
        values: dict[str, int | float | None] = {"count": self.count}
        bars = {"count": (float(max(self.count - self._count_bar, 0)), float(self.count + self._count_bar))}
        bars |= {"mean": (-math.inf, math.inf), "std": (0.0, math.inf)}
        if "median" in self.parts:
            quantiles = yield from self._quantiles()
            values |= {name: self._value(key) for name, key in quantiles.items()}
        if "min and max" in self.parts:
            values |= yield from self._extremes(quantiles)
        if "mean" in self.parts:
            moments, intervals = yield from self._moments(quantiles["50%"])
            values, bars = values | moments, bars | intervals
        shown: dict[str, Value | None] = {
            name: values.get(name) if name in answered(self.parts) else None for name in STATISTICS
        }
        return Summary(
            shown,
            bars,
            {name: round_up(cost * self._times) for name, cost in self._costs().items()},
            {name: TOO_FEW_NUMBERS if self.facts.texts else TOO_FEW for name, value in shown.items() if value is None},
        )

    def _part(self, name: str) -> Part:
        return Part(self.parts.get(name, Fraction(0)), self.plan.spending.zcdp, self.plan.neighbors)

    def _value(self, key: int) -> int | float:
        return self.ladder.within(self.order.line.number(key))

    @property
    def _count_bar(self) -> int:
        """What noise changes the count by, 95% of the time."""
        noise = self.plan.noise(self.plan.count_part)
        public = self.plan.public_count(self.facts)
        return 0 if public else math.ceil(noise.half_interval(noise.scale(1), 0.0, 1 - LEVEL))

    def _costs(self) -> dict[str, Fraction]:
        """What each statistic costs."""
        costs = dict.fromkeys(STATISTICS, Fraction(0))
        costs["count"] = Fraction(0) if self.plan.public_count(self.facts) else self.plan.count_part
        for part, amount in self.parts.items():
            costs |= {name: amount / len(PARTS[part]) for name in PARTS[part]}
        return costs

    @property
    def _times(self) -> int:
        """The cost of a unit over the cost of a row."""
        rows = self.facts.unit.rows
        return rows**2 if self.plan.spending.zcdp else rows

    def _quantiles(self) -> Program[dict[str, int]]:
        """The keys of the quantiles: a level of the halving for each of their parts."""
        names = [name for name in RANKS if name in answered(self.parts)]
        levels = [self._part(level) for level in LEVELS if level in self.parts]
        keys = yield from halved(self.order, tuple(RANKS[name] for name in names), levels)
        return dict(zip(names, keys, strict=True))

    def _extremes(self, quantiles: Mapping[str, int]) -> Program[dict[str, int | float]]:
        """The minimum and the maximum, by walks outward from the median, which no quantile lies beyond."""
        each = self._part("min and max").of(Fraction(1, 2))
        low = yield from outermost(self.order, quantiles["50%"], -1, each)
        high = yield from outermost(self.order, quantiles["50%"], 1, each)
        keys = {"min": min(low, *quantiles.values()), "max": max(high, *quantiles.values())}
        return {name: self._value(key) for name, key in keys.items()}

    def _moments(self, center: int) -> Program[tuple[dict[str, int | float | None], dict[str, tuple[float, float]]]]:
        """Mean and standard deviation of the rows, around the median."""
        line, chunks, size = self.order.line, self.data.chunks, max(self.count, 1)
        number = line.number(center)
        clip = yield from clip_around(self.order, chunks, center, number, self._part("mean"), size, self._count_bar)
        clip, noisy = yield from total(chunks, clip, clip.left, self.ladder.integral, Fraction(1), LEVEL)
        value, low, high = mean_of(clip, noisy, line, 0.0)
        values: dict[str, int | float | None] = {"mean": finite_float(value)}
        bars = {"mean": (low, high)}
        if "std" in self.parts:
            second = yield from squares(chunks, clip, self._part("std"), LEVEL)
            spread, least, most = variance_of(clip, noisy, second, line)
            values["std"], bars["std"] = root(spread), (min(root(least), root(spread)), max(root(most), root(spread)))
        return values, bars
