"""A private summary of a table: count, mean, standard deviation, minimum, quantiles and maximum of each numeric column.

One epsilon is charged first, and split by need. A part over all columns buys their noisy counts. The rest goes in equal
parts to the columns that can answer at least a median for it, and in a column to the statistics that its noisy count
can carry (see `release.shares`). One frame serves all of them: the quantiles come first (see `halving`); the minimum
and maximum are searched around the median, on the scale of the quartiles, and are the clip of the mean and of the
standard deviation. Under zCDP rho is split. Its cost is proven in docs/proofs/describe.md.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any, Unpack

import numpy as np

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit, rows_of
from nobounds.accounting.spending import Spending, nominal
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Clip, ClipStart, Search
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.moments.variance import variance
from nobounds.clipping.tail import TailRule
from nobounds.clipping.tailing import Tailing
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import DEVIATIONS
from nobounds.counting.lattice import Lattice, steps_total
from nobounds.engines.column import Column
from nobounds.engines.memory.frames import Frame, FrameFacts, frame
from nobounds.exact import finite_float, round_up
from nobounds.kinds.kind import Kind, Value
from nobounds.ladders.facts import Facts, viewed, where_in_words
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive, reach
from nobounds.programs.program import Program
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.problem import Problem
from nobounds.ranks.tuning import TUNING
from nobounds.release.description import Description, Summary
from nobounds.release.shares import COUNT_SHARE, LEVELS, PARTS, RANKS, STATISTICS, answered, shares
from nobounds.release.words import TOO_FEW, TOO_FEW_NUMBERS
from nobounds.statistics.door import Request, admit
from nobounds.statistics.keywords import DescribeKeywords, flag, spelled_out, terms_of
from nobounds.statistics.typed import typed_summary, types_of
from nobounds.values import dataclass

BITS = 11  # of the numbers under the prior, beyond log2 of the nats for the median
FENCES = 4  # deviations of the quartiles from the median, at which the mean is clipped where no clip is searched for
# Of the share of the mean, for the octaves around its clip: with few nats most of it, until they have OCTAVES nats.
# They say what lies beyond the clip, and with few nats that makes an interval wider than the noise does.
MOST_TAIL, LEAST_TAIL, OCTAVES = Fraction(3, 5), Fraction(1, 5), 60
# For the same reason a clip is chosen as if noise were smaller, by the nats of the mean below SURE.
SURE, MOST_WIDENED = 400, 4
OUTSIDE = 7  # records outside, over eps2, that halt a walk to an extreme: with fewer it runs away ten times as often
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
    marks = flag(options, "marks")
    terms, stated = terms_of(options), {name: options.get(name) for name in ("lower", "upper", "resolution")}

    def answer(plan: DescribePlan, facts: FrameFacts, table: Frame, loss: PrivacyLoss) -> Program[Description]:
        views = {name: RecordsView(column.chunks, plan.ladders[name]) for name, column in table.columns.items()}
        counts: dict[str, int] = {}
        for name, column in table.columns.items():
            counts[name] = yield from _count(column, views[name], plan)
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
            data, ladder, own = table.columns[name], plan.ladders[name], None if rows is None else rows[name]
            job = _Job(
                data,
                views[name],
                facts.columns[name],
                plan,
                ladder,
                counts[name],
                sizes[name],
                own,
                shared[name],
                marks,
            )
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

    def halving(self, facts: Facts, ladder: Ladder, parts: Mapping[str, Fraction], size: int) -> Halving:
        """How the quantiles of a column are chosen: one level of the recursion for each of these parts."""
        qs = tuple(q for name, q in RANKS.items() if name in answered(parts))
        tuning = replace(TUNING, many_bits=self._bits(parts["median"], size))
        problem = Problem(qs, ladder, self.neighbors, facts.nullable, size, stated=True, grows=True, tuning=tuning)
        amounts = [parts[level] for level in LEVELS if level in parts]
        whole = sum(amounts, Fraction(0))
        levels = tuple(amount / whole for amount in amounts)
        return Spending(whole, self.spending.zcdp).plan(partial(Halving.of, problem, shares=levels))

    def _bits(self, amount: Fraction, size: int) -> int:
        """The bits of the numbers under the prior: fewer with few records, where heaps need the weight."""
        nats = float(size * self.epsilon(amount)) / (2 if self.neighbors == "swap" else 1)
        return min(BITS + math.ceil(math.log2(max(nats, 1.0))), TUNING.many_bits)


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


def _count(data: Column, view: RecordsView, plan: DescribePlan) -> Program[int]:
    if plan.public_count(data.facts):
        return data.rows()
    noise = plan.noise(plan.count_part)
    noisy: int = yield view.number(noise, noise.cost)
    return max(0, noisy if plan.neighbors == "add-remove" else min(noisy, data.rows()))


@dataclass(frozen=True, slots=True)
class _Job:
    """One column, its noisy count, and what each of its parts gets for about `size` records."""

    data: Column
    view: RecordsView
    facts: Facts
    plan: DescribePlan
    ladder: Ladder
    count: int
    size: int
    rows: int | None  # public under swap
    parts: Mapping[str, Fraction]
    marks: bool = True

    def summary(self) -> Program[Summary]:
        """All statistics of the column that are answered."""
        values: dict[str, int | float | None] = {"count": self.count}
        bars = {"count": self._count_bar(), "mean": (-math.inf, math.inf), "std": (0.0, math.inf)}
        if "median" in self.parts:
            quantiles = yield from self._quantiles()
            values |= quantiles
        if "mean" in self.parts:
            clip, left = yield from self._clip(quantiles)
            plain = int if self.ladder.integral else finite_float
            values["min"] = min(plain(clip.low), *quantiles.values())
            values["max"] = max(plain(clip.high), *quantiles.values())
            moments, intervals = yield from self._moments(clip, quantiles, left)
            values, bars = values | moments, bars | intervals
        shown: dict[str, Value | None] = {
            name: values[name] if name in answered(self.parts) else None for name in STATISTICS
        }
        return Summary(
            shown,
            bars,
            {name: round_up(cost * self._times) for name, cost in self._costs().items()},
            {name: TOO_FEW_NUMBERS if self.facts.texts else TOO_FEW for name, value in shown.items() if value is None},
        )

    def _count_bar(self) -> tuple[float, float]:
        noise = self.plan.noise(self.plan.count_part)
        public = self.plan.public_count(self.facts)
        bar = 0 if public else math.ceil(noise.half_interval(noise.scale(1), 0.0, CHANCE))
        return float(max(self.count - bar, 0)), float(self.count + bar)

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

    def _quantiles(self) -> Program[dict[str, int | float]]:
        halving = self.plan.halving(self.facts, self.ladder, self.parts, self.size)
        values = yield from halving.program(self.view.ranks(self.ladder))
        return dict(zip((name for name in RANKS if name in answered(self.parts)), values, strict=True))

    def _clip(self, quantiles: dict[str, int | float]) -> Program[tuple[Clip, Fraction]]:
        """The clip of the moments in the frame of the quantiles, and what it leaves for the noise of the mean.

        It is the minimum and maximum where these get a share; else a multiple of the deviations of the quartiles from
        the median, and with no such deviations a part of the mean's share buys one.
        """
        extremes, mean = self.parts.get("min and max"), self.parts["mean"]
        fenced = self._fences(quantiles) if extremes is None else None
        if fenced is not None:
            return fenced, mean
        spent = mean * CLIP_TUNING.octaves if extremes is None else extremes
        clip = yield from self._extremes(quantiles, self._search(spent))
        return clip, mean if extremes is not None else mean - spent

    def _search(self, amount: Fraction) -> Search:
        plan, tuning = self.plan, replace(CLIP_TUNING, outside=OUTSIDE, outside_swap=OUTSIDE, widened=0)
        return Search(plan.epsilon(amount), plan.neighbors, self.ladder, True, self.facts.nullable, tuning=tuning)

    def _fences(self, quantiles: dict[str, int | float]) -> Clip | None:
        """FENCES times the deviations of the quartiles on both sides of the median; None if these are 0.

        How much lies beyond is not known, so the mean gets no interval.
        """
        low, center, high = (Fraction(quantiles[name]) for name in ("25%", "50%", "75%"))
        least = self.ladder.map.unit if isinstance(self.ladder.map, Grid) else max(high - center, center - low) / 4
        if least == 0:
            return None
        within = self._search(self.parts["mean"]).within
        below, above = (FENCES * max(away, least) for away in (center - low, high - center))
        return Clip(within(center - below), within(center + above), center, False)

    def _extremes(self, quantiles: dict[str, int | float], search: Search) -> Program[Clip]:
        """The minimum and maximum, as a clip around the median; the quartiles give the scale."""
        start = ClipStart(search.within(Fraction(quantiles["50%"])), _octave(quantiles), search.epsilon)
        return (yield from search.widths(self.view, start, self.size))

    def _moments(
        self, clip: Clip, quantiles: dict[str, int | float], left: Fraction
    ) -> Program[tuple[dict[str, float | None], dict[str, tuple[float, float]]]]:
        """Mean and standard deviation within the clip, as far as they get a share, with their intervals.

        Part of the share of the mean buys counts of the octaves around the clip. They may move it, and bound what it
        cuts off from the mean; the standard deviation is at least what it is within the clip.
        """
        plan, zcdp = self.plan, self.plan.spending.zcdp
        nats = max(self.size * plan.epsilon(left) / (2 if plan.neighbors == "swap" else 1), Fraction(1))
        for_tail = left * min(max(OCTAVES / nats, LEAST_TAIL), MOST_TAIL)
        epsilon = plan.epsilon(left - for_tail)
        wider = epsilon * min(max(SURE / nats, Fraction(1)), Fraction(MOST_WIDENED))
        tailing = Tailing(self._search(left), TailRule(plan.epsilon(for_tail), plan.neighbors, zcdp), wider)
        octave = _octave(quantiles)
        start = ClipStart(clip.center, octave, Fraction(0))
        widths = {1: clip.high - clip.center, -1: clip.center - clip.low}
        rungs = tuple(_rung(widths[side], octave) for side in tailing.search.sides(clip.center))
        tailed = yield from tailing.program(self.view, start, rungs, True)
        clip = tailed.clip
        rule = AverageRule(epsilon, plan.neighbors, self.rows, self.facts.nullable, zcdp=zcdp)
        lattice = Lattice.of(clip.low, clip.high, self.ladder.integral)
        count, total = steps_total(self.data.chunks(), lattice)
        average = yield from rule.release(count, total, lattice.width)
        value = min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high)
        bar = Fraction(average.half_interval(CHANCE)) * lattice.step
        values: dict[str, float | None] = {"mean": finite_float(value)}
        bars = {"mean": tailed.interval(value, bar, max(average.count, Fraction(1)))}
        if "std" in self.parts:
            squared = replace(rule, epsilon=plan.epsilon(self.parts["std"]))
            spread = yield from variance(self.data.chunks, squared, lattice, average)
            values["std"] = math.sqrt(finite_float(spread.value))
            bars["std"] = (math.sqrt(finite_float(spread.low)) if clip.trusted else 0.0, math.inf)
        if not self.marks:
            return values, bars
        return {name: None if self._useless(name, bars[name], clip) else each for name, each in values.items()}, bars

    def _useless(self, name: str, bar: tuple[float, float], clip: Clip) -> bool:
        """Whether an interval says nothing: it has no end, or is wider than the clip of the mean."""
        low, high = bar
        if name == "std":
            return not clip.trusted
        wide = math.isfinite(high - low) and high - low >= finite_float(clip.high - clip.low) > 0
        return wide or (math.isinf(low) and math.isinf(high))


def _rung(width: Fraction, octave: int | None) -> int:
    """The rung of a width, over the octave of the scale."""
    over = finite_float(width / Fraction(2) ** (octave or 0))
    return abs(int(DEVIATIONS.rungs(np.array([over]))[0])) if over > 0 else 0


def _octave(quantiles: Mapping[str, int | float]) -> int | None:
    """About the octave of the median deviation from the median, by the quantiles; None if they are all the same."""
    away = {name: abs(Fraction(value) - Fraction(quantiles["50%"])) for name, value in quantiles.items()}
    quartile, tail = max(away["25%"], away["75%"]), max(away.values())
    scale = max(Fraction(3, 2) * quartile, tail)  # for normal data 0.9 and 1.4 times the 75% deviation
    return math.frexp(finite_float(scale))[1] - 2 if scale > 0 else None
