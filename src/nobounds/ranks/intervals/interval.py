"""The interval of a quantile: two ends, each chosen some ranks beyond the quantile, and the point between them.

The size comes first. It decides how far beyond the quantile the ends aim (see `ends`), and whether there are records
enough beyond each: an end with fewer than 20 nats there is infinite. Then a centre and a scale are bought, or with few
records a scale around 0 alone, and both ends are chosen at once (see `mechanisms.joint.pair`) on a ladder in that
frame, under a prior that is flat within the scale. Ends are moved outward to the edges of their rungs, so heaps of
equal records lie inside. The point is the roundest number near the middle of the two, which costs nothing, or that of
the rung if it is one rung; where an end is infinite, the point is chosen in its place.

An end aims at n / 2 + (q - 1/2) * size. So a record more moves it by one half against the ranks, which is the least
that is possible, and the error of the noisy size counts |q - 1/2| times.
"""

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from nobounds.accounting.cost import Cost, both, gaussian, pure, range_bounded
from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending, rest
from nobounds.exact import Number, rational
from nobounds.ladders.frame import Frame, roundest
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior, prior_flat, prior_of
from nobounds.ladders.rungs import Grid
from nobounds.mechanisms.decisions import Noisy
from nobounds.mechanisms.joint.pair import ChoosePair
from nobounds.mechanisms.runs import Runs
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.auto import SizeRule, even, size_rule
from nobounds.ranks.framing import FrameRule
from nobounds.ranks.intervals.edges import bounded, edge
from nobounds.ranks.intervals.ends import Bounds, Spread, calibrated, guaranteed
from nobounds.ranks.many.slices import Lowered, Slice, SliceAim, runs_in
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import placed
from nobounds.ranks.tuning import RankTuning
from nobounds.ranks.values import value_of
from nobounds.ranks.view import View
from nobounds.values import dataclass

Interval: TypeAlias = tuple[float, float]
Of: TypeAlias = Literal["population", "sample"]
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The interval that the user asks for: its level, what it is for, and whether it holds for every data set."""

    level: Fraction
    of: Of = "population"
    guarantee: bool = False

    @classmethod
    def checked(cls, level: Number, of: object, guarantee: object) -> "Wanted":
        """The interval as the user gives it."""
        exact = rational(level, "interval")
        if not HALF <= exact < 1:
            raise ValueError(f"interval must be at least 0.5 and less than 1, got interval={level!r}")
        if not isinstance(of, str) or of not in get_args(Of):
            raise ValueError(f"of must be one of {', '.join(get_args(Of))}, got of={of!r}")
        if not isinstance(guarantee, bool):
            raise TypeError(f"guarantee must be True or False, got guarantee of type {type(guarantee).__name__}")
        return cls(exact, of, guarantee)  # type: ignore[arg-type]


class Found(NamedTuple):
    """The point, None if it is not answered; its interval; and the noisy size."""

    value: int | float | None
    ends: Interval
    size: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What the size decides, all of it public then: the frame to buy, and how each end is chosen."""

    size: int
    frame: FrameRule | None
    epsilon: Fraction  # for the choice of both ends
    rate: Fraction
    bits: int
    away: int  # ranks from the quantile to the aim of an end
    finite: tuple[bool, bool]
    answers: bool  # whether there are records enough for the point


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """A plan for a quantile and its interval, for one total epsilon; all of it public."""

    problem: Problem
    wanted: Wanted
    epsilon: Fraction
    zcdp: bool
    size: SizeRule

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, problem: Problem, wanted: Wanted, epsilon: Fraction, zcdp: bool = False) -> "IntervalPlan":
        """Plan the spending: the size, if it is sensitive, gets more the farther the quantile is from the median."""
        rule = size_rule(problem, epsilon)
        if rule.epsilon:
            over = 8 if problem.neighbors == "swap" else 2  # how much more a choice moves an end than the size does
            part = Fraction(round(float((problem.qs[0] - HALF) ** 2 / over) ** (1 / 3) * 64), 64)
            rule = SizeRule(epsilon * max(problem.tuning.interval_size, part / (1 + part)), None, rule.at_most)
        return cls(problem, wanted, epsilon, zcdp, rule)

    @property
    def q(self) -> Fraction:
        """The quantile."""
        return self.problem.qs[0]

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.problem.ladder

    @property
    def tuning(self) -> RankTuning:
        """The constants of the problem."""
        return self.problem.tuning

    def cost(self) -> Cost:
        """The cost of the size, the frame and the ends, whatever the size is."""
        return self._size_cost() + self._rest_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"size": self._size_cost(), "answer": self._rest_cost()}

    def _size_cost(self) -> Cost:
        return pure(self.size.epsilon)

    @property
    def _left(self) -> Fraction:
        return self.epsilon - self.size.epsilon

    def _rest_cost(self) -> Cost:
        return gaussian(self._left**2 / 8) if self.zcdp else pure(self._left)

    def _choice_cost(self, epsilon: Fraction) -> Cost:
        """The cost of a choice; under swap of a record that moves, and of one that turns from missing to present."""
        moved = range_bounded(epsilon)
        if self.problem.neighbors == "add-remove" or not self.problem.nullable:
            return moved
        return Cost(both(moved, pure(epsilon / 2)).kinds, moved.rho)

    def rate(self, epsilon: Fraction) -> Fraction:
        """The rate of the noise of a choice: a record more moves a rank by one half, and one that moves by 1."""
        return epsilon / 2 if self.problem.neighbors == "swap" else epsilon

    def learned(self, view: View) -> Program[int]:
        """The number of records, or a noisy one."""
        if self.size.known is not None:
            return self.size.known
        noisy: int = yield Noisy(view.total, Additive(self.size.epsilon), self._size_cost)
        return self.sized(noisy)

    def sized(self, noisy: int) -> int:
        """The size that a noisy number of records stands for."""
        return min(max(0, noisy), self.size.at_most)

    @property
    def _size_noise(self) -> float:
        """The scale of the noise of the size."""
        return float(1 / self.size.epsilon) if self.size.epsilon else 0.0

    def least(self, size: int) -> int:
        """The number of records, at least, for a noisy size."""
        return max(size - math.ceil(self.tuning.careful * self._size_noise), 1)

    def frame_rule(self, size: int) -> FrameRule | None:
        """The frame that is bought: a centre and a scale, or a scale around 0; none for a guaranteed interval."""
        if self.wanted.guarantee:
            return None
        tuning, times = self.tuning, self._times
        if self._is_framed(size):
            inner = min(self.q, 1 - self.q) >= tuning.inner_tail
            return FrameRule.affordable(self.problem, self.least(size), self._left, inner)
        nats_scale = Fraction(tuning.scale_alone * times, self.least(size))
        return FrameRule.of(self.problem, Fraction(0), min(nats_scale, self._left * tuning.most_scale))

    @property
    def _times(self) -> int:
        """How much more a rank costs than under add-remove."""
        return 2 if self.problem.neighbors == "swap" else 1

    def _is_framed(self, size: int) -> bool:
        """Whether there are records enough for a centre and a scale."""
        return bool(self.least(size) * self._left >= self.tuning.framed_interval * self._times)

    @lru_cache(maxsize=256)  # noqa: B019 - a small public value
    def setting(self, size: int) -> Setting:
        """What a size decides."""
        rule, tuning = self.frame_rule(size), self.tuning
        spent = () if rule is None else (rule.center.epsilon, rule.eps_scale)
        epsilon = rest(self._left, spent, self.zcdp)
        rate = self.rate(epsilon)
        away = math.ceil(self._away(size, rate))
        nats = float(self.least(size) * rate)
        low, high = (float(self.q) + side * away / max(size, 1) for side in (-1, 1))
        finite = low * nats >= tuning.answered_nats, (1 - high) * nats >= tuning.answered_nats
        tail = float(min(self.q, 1 - self.q))
        bits = max(math.ceil(math.log2(max(size, 1) / away)), 0) + tuning.end_choice_bits
        if self._is_wide(size, rate):
            bits -= tuning.fewer_bits
        if rule is not None and not rule.center.epsilon:
            bits += tuning.off_center_bits
        return Setting(
            size,
            rule,
            epsilon,
            rate,
            min(bits, tuning.most_end_bits),
            away,
            finite,
            tail * nats >= tuning.answered_nats and size > self.size.reach,
        )

    def _is_wide(self, size: int, rate: Fraction) -> bool:
        """Whether the noise of the choice is most of what moves an end: then heaps and the prior need a wide margin."""
        deviation = math.sqrt(size * self.q * (1 - self.q)) if self.wanted.of == "population" else 0.0
        return not self._is_framed(size) or deviation * float(rate) < self.tuning.sample_nats

    def _away(self, size: int, rate: Fraction) -> float:
        """Ranks from the quantile to the aim of an end."""
        q, tail = float(self.q), float(1 - self.wanted.level) / 2
        moved = abs(float(self.q - HALF)) * self._size_noise
        population = self.wanted.of == "population"
        if not self.wanted.guarantee:
            deviation = math.sqrt(size * q * (1 - q)) if population else 0.0
            # Heaps of equal records, and with few records the prior, pull an end farther than on smooth data.
            margin = self.tuning.wide_margin if self._is_wide(size, rate) else self.tuning.margin
            return calibrated(Spread(1 / float(rate), moved, deviation), tail, margin)
        bounds = Bounds(1 / float(rate), 2 * prior_of(self._absolute).nats, self._size_noise, abs(float(self.q - HALF)))
        return guaranteed(bounds, size, q, tail, population)

    @property
    def _absolute(self) -> Ladder:
        """All numbers, for a guaranteed interval."""
        return self.ladder.finest(self.tuning.guaranteed_bits, self.tuning.prior_floor)

    def placed(self, setting: Setting, frame: Frame | None) -> tuple[Ladder, Prior]:
        """The rungs that ends are chosen among, and what each weighs."""
        if frame is None:
            return self._absolute, prior_of(self._absolute)
        rungs = even(setting.bits)
        assert isinstance(rungs.map, Grid)
        wide = frame.at_least(setting.bits) if frame.unit is not None else frame
        return placed(rungs, wide), prior_flat(rungs.map, int(frame.octave - wide.octave) + self.tuning.flat_octaves)

    def program(self, view: View, marks: bool = True, size: int | None = None) -> Program[Found]:
        """The point and its interval: the size, unless it is learned already, the frame, and the choices."""
        size = (yield from self.learned(view)) if size is None else size
        setting = self.setting(size)
        if marks and not setting.answers:
            return Found(None, (-math.inf, math.inf), size)
        frame = None if setting.frame is None else (yield from setting.frame.program(self.problem, view))
        ladder, prior = self.placed(setting, frame)
        # Where an end is infinite, the point is chosen in its place.
        aims = tuple(side * setting.away if finite else 0 for side, finite in zip((-1, 1), setting.finite, strict=True))
        chosen: tuple[int, int] = yield self._choice(view, setting, ladder, prior, aims)
        first, second = sorted(chosen)
        low, high = setting.finite
        # Rungs may hold no number: then the one beyond their upper edge comes first.
        below, above = sorted(
            (
                edge(self.ladder, ladder, first, 0) if low else bounded(self.ladder, -math.inf),
                edge(self.ladder, ladder, second, 1) if high else bounded(self.ladder, math.inf),
            )
        )
        if low and high and first != second:
            value = self.between((below, above))
        else:  # the roundest number may be the edge itself, which is on the rung beside it
            value = value_of(self.ladder, ladder, first if high else second)
        return Found(value, (float(min(below, value)), float(max(above, value))), size)

    def _choice(self, view: View, setting: Setting, ladder: Ladder, prior: Prior, aims: tuple[int, ...]) -> ChoosePair:
        middle = round((self.q - HALF) * setting.size)

        def runs() -> tuple[Runs, Runs]:
            histogram, whole = view.counts.full(ladder), Slice.whole(ladder, 1)
            low, high = (
                runs_in(
                    histogram, whole, SliceAim(HALF, Fraction(middle + aim), True), setting.rate, NOT_LOWERED, prior
                )
                for aim in aims
            )
            return low, high

        return ChoosePair(runs, partial(self._choice_cost, setting.epsilon))

    def needed(self, size: int, spending: Spending) -> dict[str, int | float]:
        """What would do for the quantile: how many rows, or how much epsilon or rho."""
        tail, noise, tuning = min(self.q, 1 - self.q), self._size_noise, self.tuning
        least = float(tuning.answered_nats / (self.setting(size).rate * tail)) + tuning.careful * noise
        rows = max(least, self.size.reach) + tuning.room * noise
        return would_do(rows, size, self._size_noise, spending)

    def between(self, ends: Interval) -> int | float:
        """The roundest number near the middle of an interval, on the grid if there is one."""
        low, high = ends
        if not (math.isfinite(low) and math.isfinite(high)):
            return self.ladder.within(Fraction(low if math.isfinite(low) else high if math.isfinite(high) else 0))
        near = (high - low) / 16
        middle = low / 2 + high / 2
        value = Fraction(float(roundest(np.array([middle - near]), np.array([middle + near]))[0]))
        if isinstance(self.ladder.map, Grid):
            value = round(value / self.ladder.map.unit) * self.ladder.map.unit
        return self.ladder.within(min(max(value, Fraction(low)), Fraction(high)))


NOT_LOWERED = Lowered(0, Fraction(0))
