"""Weighted means, covariances and correlations: averages of products of two columns, each clipped by itself.

Each column gets half of the spending, of which a part buys its clip, as for a mean. What both leave for
noise is pooled. A product of two clipped records is a whole number with a public bound, so its sensitivity is exact.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.spending import Spending, pooled, share
from nobounds.accounting.terms import Terms
from nobounds.arrays import Floats, Ints
from nobounds.clipping.average import Average, AverageRule
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.moments.proportion import share_interval
from nobounds.clipping.moments.variance import TUNING
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.counting.lattice import steps_total, totals
from nobounds.counting.scan import Joined, first_of, second_of
from nobounds.exact import MAX, finite_float
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import AddedNoise, NoisyMany
from nobounds.noise.additive import Additive, GaussianNoise
from nobounds.programs.program import Program
from nobounds.values import dataclass

_PLACES, _WEIGHTS = 1 << 26, 1 << 16  # steps of a clipped record and of its weight
_STEPS = 1 << 20  # of a deviation from the mean, on either side
_OFF = 0.1  # of the chance that an interval fails, for the noise of the means
# Of the epsilon for noise: for each mean, and for each average of products.
_COVARIANCE = (Fraction(1, 10), Fraction(8, 10))
_CORRELATION = (Fraction(1, 16), Fraction(7, 24))


@dataclass(frozen=True, slots=True)
class PairPlan:
    """How the spending is split on two columns, decided before the data are read."""

    x: SumPlan
    y: SumPlan

    @classmethod
    def weighted(
        cls, x: Facts, weights: Facts, terms: Terms, stated: tuple[Stated, Stated] = (Stated(), Stated())
    ) -> "PairPlan":
        """The plan for a weighted mean; weights below 0 count as 0."""
        half = _half(terms)
        of_x = SumPlan.of(x, half, stated[0], centered=True)
        return cls(of_x, SumPlan.of(weights, half, replace(stated[1], lower=Fraction(0)), centered=False))

    @classmethod
    def products(
        cls, x: Facts, y: Facts, terms: Terms, stated: tuple[Stated, Stated] = (Stated(), Stated())
    ) -> "PairPlan":
        """The plan for a covariance or a correlation."""
        first, second = (
            SumPlan.of(facts, _half(terms), known, centered=True, tuning=TUNING, power=2)
            for facts, known in zip((x, y), stated, strict=True)
        )
        return cls(first, second)

    @property
    def zcdp(self) -> bool:
        """Whether a rho is spent."""
        return self.x.zcdp

    def cost(self) -> Cost:
        """The cost of both; pooled noise costs as much as its epsilons together, and not as the roots of squares."""
        first, second = self.x.cost(), self.y.cost()
        return gaussian(first.rho + second.rho) if self.zcdp else pure(first.epsilon + second.epsilon)

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        first, second = self.x.parts(), self.y.parts()
        return {name: first[name] + second[name] for name in first if name in second}

    def clips(self, joined: Joined) -> Program["Clips"]:
        """The clips of both columns, over the rows that have both records."""
        x = yield from self.x.program(joined(first_of))
        return Clips(x, (yield from self.y.program(joined(second_of))))


def _half(terms: Terms) -> Terms:
    return replace(terms, spending=Spending(terms.spending.amount / 2, terms.spending.zcdp))


@dataclass(frozen=True, slots=True)
class Clips:
    """The clips of two columns, and what is left for noise."""

    x: Settled
    y: Settled

    @property
    def trusted(self) -> bool:
        """Whether there were enough records for both searches."""
        return self.x.clip.trusted and self.y.clip.trusted

    @property
    def epsilon(self) -> Fraction:
        """The pooled epsilon for noise; what under swap pays the number of records is taken off.

        Octaves leave something for that number alone (see `TailRule.spare`): a record that moves has paid all of them.
        """
        plans = (self.x.plan, self.y.plan)
        parts = [plan.eps_noise - (0 if plan.zcdp else max(plan.average.spent, Fraction(0))) for plan in plans]
        return pooled(parts, self.x.plan.zcdp)

    @property
    def rule(self) -> AverageRule:
        """How averages over both columns are taken, for all of that epsilon."""
        return replace(self.x.plan.average, epsilon=self.epsilon, spent=Fraction(0))

    def parts(self) -> dict[str, Cost]:
        """The cost by what it was for."""
        return PairPlan(self.x.plan, self.y.plan).parts()


@dataclass(frozen=True, slots=True)
class Weighted:
    """The noisy weighted mean of clipped records, and the interval that noise leaves open; None if nothing is known."""

    clips: Clips
    value: float
    interval: tuple[float, float] | None
    noise: Additive


def weighted_mean(plan: PairPlan, joined: Joined) -> Program[Weighted]:
    """The weighted mean of records clipped to an interval, with weights clipped to [0, c].

    With weights, the distances to both ends of the clip get noise of the same scale; a row changes both by the width
    times c together.
    """
    clips = yield from plan.clips(joined)
    clip, top = clips.x.clip, max(finite_float(clips.y.clip.high), 0.0)
    low, high = finite_float(clip.low), finite_float(clip.high)
    (_, above), (_, below) = (
        totals(joined(partial(_weighted, low, high, top, side))(), _whole) for side in (False, True)
    )
    swap, noise = clips.x.plan.neighbors == "swap", Additive(clips.epsilon, plan.zcdp)
    # Under swap a row may move all of its weight from one end to the other.
    most = _PLACES * _WEIGHTS * (2 if swap and not plan.zcdp else 1)
    added: AddedNoise = GaussianNoise(clips.epsilon**2 / 4) if swap and plan.zcdp else noise
    above, below = yield NoisyMany((above, below), added, noise.cost, most)
    scale = noise.scale(most) * (math.sqrt(2) if swap and plan.zcdp else 1)
    total = above + below
    first, last = share_interval(above, total, lambda p: ((1 - p) * scale, p * scale), noise, 1.0)
    place = min(max(Fraction(above, total), Fraction(0)), Fraction(1)) if total > 0 else Fraction(1, 2)
    ends = tuple(finite_float(clip.low + Fraction(p) * (clip.high - clip.low)) for p in (first, last))
    known = clips.trusted and (first, last) != (0.0, 1.0)
    value = finite_float(clip.low + place * (clip.high - clip.low))
    return Weighted(clips, value, (ends[0], ends[1]) if known else None, noise)


def _weighted(low: float, high: float, top: float, below: bool, x: Floats, weights: Floats) -> Floats:
    """The weight of each record times its distance from the low or the high end of a clip, in whole numbers."""
    width = high / 2 - low / 2
    with np.errstate(all="ignore"):  # a warning would reveal a record
        places = (np.clip(x, low, high) / 2 - low / 2) / width if width > 0 else np.where(np.isnan(x), np.nan, 0.0)
        shares = np.clip(weights, 0.0, top) / top if top > 0 else np.where(np.isnan(weights), np.nan, 0.0)
        steps = np.rint(np.clip(places, 0.0, 1.0) * _PLACES)
        return np.asarray(np.rint(shares * _WEIGHTS) * (_PLACES - steps if below else steps))


@dataclass(frozen=True, slots=True)
class Side:
    """One of two columns: its clip, and a noisy mean that deviations are taken from."""

    low: float
    high: float
    center: float
    radius: float  # the largest deviation
    off: float  # by which the mean may be off, over the radius

    @classmethod
    def of(cls, settled: Settled, mean: Average, step: Fraction, first: int) -> "Side":
        """The side of a clip around its noisy mean on a lattice."""
        clip = settled.clip
        center = min(max((first + mean.value) * step, clip.low), clip.high)
        radius = max(clip.high - center, center - clip.low)
        off = Fraction(mean.half_interval(_OFF * CHANCE / 2)) * step / radius if radius else Fraction(0)
        return cls(*(finite_float(end) for end in (clip.low, clip.high, center, radius, off)))

    def steps(self, values: Floats) -> Floats:
        """The deviations of clipped values from the mean, in whole numbers from -_STEPS to _STEPS."""
        if self.radius == 0:
            return np.where(np.isnan(values), np.nan, 0.0)
        with np.errstate(all="ignore"):  # a warning would reveal a record
            away = (np.clip(values, self.low, self.high) / 2 - self.center / 2) / (self.radius / 2)
            return np.asarray(np.rint(np.clip(away, -1.0, 1.0) * _STEPS))


@dataclass(frozen=True, slots=True)
class Products:
    """Noisy averages of products of the deviations of two columns, over the radii; with a half interval each."""

    clips: Clips
    x: Side
    y: Side
    both: tuple[float, float]
    squares: tuple[tuple[float, float], ...] = ()
    average: Average | None = None  # of the products, with the noisy number of rows

    def covariance(self) -> tuple[float, float, float]:
        """The covariance of the clipped records, and the ends of what noise leaves open."""
        value, bar = self.both
        unit, bar = Fraction(self.x.radius) * Fraction(self.y.radius), bar + self.x.off * self.y.off
        low, high = (Fraction(value + sign * bar) * unit for sign in (-1, 1))
        return (
            finite_float(Fraction(value) * unit),
            -math.inf if low < -MAX else finite_float(low),
            math.inf if high > MAX else finite_float(high),
        )

    def correlation(self) -> tuple[float, float, float]:
        """The same for the correlation; from -1 to 1 if nothing is known of it."""
        value, bar = self.both
        bar += self.x.off * self.y.off
        offs = (self.x.off, self.y.off)
        least = math.prod(max(of - by - off**2, 0.0) for (of, by), off in zip(self.squares, offs, strict=True))
        most, middle = (math.prod(max(of + k * by, 0.0) for of, by in self.squares) for k in (1, 0))
        low, high = value - bar, value + bar
        first = low / math.sqrt(least if low < 0 else most) if least > 0 else -1.0
        last = high / math.sqrt(least if high > 0 else most) if least > 0 else 1.0
        answer = value / math.sqrt(middle) if middle > 0 else 0.0
        kept = [min(max(end, -1.0), 1.0) for end in (answer, first, last)]
        return kept[0], kept[1], kept[2]


def products(plan: PairPlan, joined: Joined, squares: bool) -> Program[Products]:
    """The average product of the deviations of two columns; with `squares` those of each with itself as well."""
    clips = yield from plan.clips(joined)
    for_mean, for_product = _CORRELATION if squares else _COVARIANCE
    rule, sides = clips.rule, []
    for settled, join in ((clips.x, first_of), (clips.y, second_of)):
        lattice = settled.plan.lattice(settled.clip)
        count, total = steps_total(joined(join)(), lattice)
        mean = yield from _part(rule, for_mean).release(count, total, lattice.width)
        sides.append(Side.of(settled, mean, lattice.step, lattice.low))
    x, y = sides
    chance = (1 - _OFF) * CHANCE / (3 if squares else 1)
    joins = [partial(_product, x, y), *([partial(_square, x, False), partial(_square, y, True)] if squares else [])]
    averages = []
    for k, join in enumerate(joins):
        shift = 0 if k else _STEPS**2  # a product may be negative
        count, total = totals(joined(join)(), _whole)
        average = yield from _part(rule, for_product).release(count, total, _STEPS**2 + shift)
        value = finite_float(average.value - shift) / _STEPS**2
        averages.append((average, value, average.half_interval(chance) / _STEPS**2))
    return Products(clips, x, y, averages[0][1:], tuple(each[1:] for each in averages[1:]), averages[0][0])


def _part(rule: AverageRule, part: Fraction) -> AverageRule:
    return replace(rule, epsilon=share(rule.epsilon, 1 / part, rule.zcdp))


def _product(x: Side, y: Side, first: Floats, second: Floats) -> Floats:
    return x.steps(first) * y.steps(second) + _STEPS**2


def _square(side: Side, swapped: bool, first: Floats, second: Floats) -> Floats:
    values, others = (second, first) if swapped else (first, second)
    return np.where(np.isnan(others), np.nan, side.steps(values) ** 2)


def _whole(values: Floats) -> Ints:
    """Whole numbers that are floats as integers."""
    return values.astype(np.int64)
