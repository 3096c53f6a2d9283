"""One-sided intervals of a maximum and a minimum: "the maximum is at least ...", which holds for every data set.

After the size and a frame, a walk goes inward from beyond all floats to the centre. It halts where a noisy number of
records beyond passes a noisy constant. As long as there are no records beyond, what it does is public chance: the
constant is so large that it halts too early with at most the probability that the level leaves
(docs/proofs/intervals.md). So the edge of the rung where it halts is an end that holds, and the answer lies on that
rung. How far the largest record lies above all others no private method can say: the other end is infinite, or the
public bound.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending, rest, share
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.steps import inward_cuts, walk_ladder
from nobounds.programs.program import Program
from nobounds.ranks.answerable import needed_nats
from nobounds.ranks.auto import walk_split
from nobounds.ranks.framing import FrameRule
from nobounds.ranks.intervals.edges import bounded, edge
from nobounds.ranks.intervals.interval import Interval, Wanted
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import RankView, Route
from nobounds.values import dataclass

HALF = Fraction(1, 2)


class FoundExtremes(NamedTuple):
    """The extremes, None if they are not answered; their intervals; and the noisy size."""

    values: tuple[int | float | None, ...]
    ends: tuple[Interval, ...]
    size: int


@dataclass(frozen=True, slots=True)
class ExtremesPlan:
    """A plan for a minimum, a maximum or both, with one-sided intervals that hold together; all of it public."""

    question: Question
    wanted: Wanted

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, problem: Problem, wanted: Wanted, epsilon: Fraction, zcdp: bool = False) -> "ExtremesPlan":
        """Plan the spending: what is left after the size and the frame goes to the walks, in equal parts."""
        return cls(Question.of(problem, epsilon, zcdp), wanted)

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return self.question.problem

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.problem.ladder

    def cost(self) -> Cost:
        """The cost of the size, the frame and the walks, whatever the size is."""
        return self.question.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return self.question.parts()

    @property
    def _left(self) -> Fraction:
        return self.question.epsilon - self.question.size.epsilon

    def frame(self, size: int) -> FrameRule:
        """The frame that is bought: it decides how near the ends are, never whether they hold."""
        most = self._left * self.problem.tuning.most_frame
        rule = FrameRule.affordable(self.problem, max(size - self.question.size.noise, 1), self._left)
        return replace(rule, heaped=True) if rule.epsilon <= most else FrameRule.of(self.problem, most / 2, most / 2)

    @lru_cache(maxsize=256)  # noqa: B019 - a small public value
    def routes(self, size: int) -> tuple[Route, ...]:
        """The walk to each extreme."""
        frame, qs, zcdp = self.frame(size), self.problem.qs, self.question.zcdp
        left = rest(self._left, (frame.center.epsilon, frame.eps_scale), zcdp)
        return tuple(self._route(q, share(left, len(qs), zcdp)) for q in qs)

    def _route(self, q: Fraction, epsilon: Fraction) -> Route:
        """A walk inward, to one rung past the centre: there it knows nothing."""
        problem, tuning, upper = self.problem, self.problem.tuning, q == 1
        ladder = walk_ladder(tuning.end_bits, not upper)
        part = tuning.end_share if problem.neighbors == "swap" else HALF
        eps1, eps2 = walk_split(problem, q, not upper, epsilon, part, self.question.zcdp)
        start, stop = (ladder.last, -1) if upper else (ladder.first, 1)
        # With so much epsilon that one record outweighs all rungs there is no tilt.
        tilt = math.ceil(tuning.end_tilt / eps2) if eps2 < tuning.tilted_below else 0
        route = Route(ladder, not upper, start, stop, eps1, eps2, Fraction(0), True, tilt, inward_cuts(ladder))
        route = route if tilt else replace(route, cuts=())
        return replace(route, drop=-Fraction(records_beyond(route, float(1 - self.wanted.level) / len(problem.qs))))

    def answers(self, size: int) -> bool:
        """Whether this many records, perhaps a noisy number, can carry the extremes."""
        rule = self.question.size
        least = size - self.problem.tuning.careful * rule.noise
        return bool(least * self._each >= self._nats and size > rule.reach)

    @property
    def _each(self) -> Fraction:
        return share(self._left, len(self.problem.qs), self.question.zcdp)

    @property
    def _nats(self) -> Fraction:
        return max(needed_nats(self.problem, q) for q in self.problem.qs)

    def needed(self, size: int, spending: Spending) -> dict[str, int | float]:
        """What would do: how many rows, or how much epsilon or rho."""
        noise, tuning = self.question.size.noise, self.problem.tuning
        least = float(self._nats / self._each) + tuning.careful * noise
        rows = max(least, self.question.size.reach) + tuning.room * noise
        return would_do(rows, size, noise, spending)

    def sized(self, noisy: int) -> int:
        """The size that a noisy number of records stands for."""
        return next(level for level in self.question.size.levels if level <= max(noisy, 0))

    def program(self, view: RankView, marks: bool = True, size: int | None = None) -> Program[FoundExtremes]:
        """The extremes and their intervals: the size, unless it is learned already, the frame, and the walks."""
        size = (yield from self.question.learned(view)) if size is None else size
        qs = self.problem.qs
        if marks and not self.answers(size):
            return FoundExtremes((None,) * len(qs), ((-math.inf, math.inf),) * len(qs), size)
        frame = yield from self.frame(size).program(self.problem, view)
        values, ends = [], []
        for q, route in zip(qs, self.routes(size), strict=True):
            framed = route.within(frame)
            halted = yield framed.last(q, self.problem, view)
            value, bar = self._answer(framed, halted)
            values.append(value)
            ends.append(bar)
        return FoundExtremes(tuple(values), tuple(ends), size)

    def _answer(self, route: Route, halted: int | None) -> tuple[int | float, Interval]:
        """The answer and its interval, where the walk halted; past the centre the end is not found."""
        last = abs(route.stop - route.start)
        position = last if halted is None else halted
        low, high = bounded(self.ladder, -math.inf), bounded(self.ladder, math.inf)
        if position < last and route.up:
            high = edge(self.ladder, route.placed, route.start + position, 1)
        elif position < last:
            low = edge(self.ladder, route.placed, route.start - position, 0)
        value = self.question.value_at(route, min(position, last - 1))
        if low <= value <= high:
            return value, (low, high)
        return self.ladder.within(Fraction(low if value < low else high)), (low, high)


def records_beyond(route: Route, tail: float) -> int:
    """The number of records beyond that halts a walk: without any it halts with at most this probability.

    At a rung with no records beyond it a walk halts with the probability exp(-eps2 x), x the noisy constant and what
    counts are lowered by; all rungs but the last are added up.
    """
    eps1, eps2, last = float(route.eps1), float(route.eps2), abs(route.stop - route.start)
    places = np.array([0, *route.cuts, last])
    ahead = np.arange(len(route.cuts), -1, -1)  # cuts that are still ahead, after each place
    weight = float(np.sum(np.diff(places) * np.exp(-eps2 * route.tilt * ahead)))
    noise = math.expm1(-eps1) / math.expm1(-eps1 - eps2)  # the mean of exp(-eps2 times the noise of the constant)
    return max(math.ceil(math.log(weight * noise / tail) / eps2), 1)
