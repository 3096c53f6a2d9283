"""Decisions: what a run draws at random, with its exact distribution on one data set.

A decision is a noisy number, the position where a walk halts, a chosen rung, the keys to show, or the answer to a query
of a stream. Given the same decision on a neighbouring data set, it knows the log-ratio of an outcome, the outcome with
the largest log-ratio, and Renyi divergences. `public` is what both data sets must agree on before anything is drawn.

Apart from the sum over noisy thresholds and the chances of keys, formulas are written from the papers and not taken
from the library; tests/attacks/test_lockstep.py compares them.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nobounds.auditing.divergences import renyi
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

ORDERS = (1.5, 2.0, 8.0, 32.0)
# How improbable a forced outcome may be, in nats. The samplers of choices drop what is below 2**-60.
WALK_NATS, CHOICE_NATS = 300.0, 35.0
DEEP = 740.0  # threshold noise is summed down to exp(-740)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
CLOSE = 0.005  # of the largest log-ratio: among outcomes this close to it, the most probable one is chosen


class Impossible(AssertionError):
    """An outcome on one data set has probability 0 on the other."""


@dataclass(frozen=True)
class Bits:
    """Random bits drawn outside the known samplers: both data sets get the same."""

    width: int
    drawn: int

    @property
    def public(self):
        return "bits", self.width

    def log_ratio(self, other, outcome):
        return 0.0

    def worst_outcome(self, other):
        return self.drawn

    def divergences(self, other):
        return np.zeros(len(ORDERS))


@dataclass(frozen=True)
class Number:
    """raw + step * J, with J discrete Laplace noise of a rate or discrete Gaussian noise of a variance."""

    noise: str
    parameter: Fraction  # the rate, or the variance
    step: Any
    raw: Any
    noise_drawn: int

    @property
    def public(self):
        return self.noise, self.parameter, self.step

    @property
    def drawn(self):
        return self.raw + self.step * self.noise_drawn

    def log_ratio(self, other, outcome):
        return self._log_weight(outcome) - other._log_weight(outcome)

    def worst_outcome(self, other):
        """On the side of this raw number that is farther from the other."""
        away = 1 if self.raw > other.raw else -1
        return self.raw + away * self.step * abs(self.noise_drawn)

    def divergences(self, other):
        shift = abs(self._steps(other.raw))
        if self.noise == "gaussian":  # exact if (order - 1) * shift is a whole number, otherwise an upper bound
            return float(shift**2 / (2 * self.parameter)) * np.array(ORDERS)
        return np.array([laplace_divergence(float(self.parameter), shift, order) for order in ORDERS])

    def _log_weight(self, outcome):
        steps = self._steps(outcome)
        if self.noise == "laplace":
            return -float(self.parameter * abs(steps))
        return -float(steps**2 / (2 * self.parameter))

    def _steps(self, outcome):
        steps = Fraction(outcome - self.raw) / self.step
        if steps.denominator != 1:
            raise Impossible("the two data sets have noisy numbers on different lattices")
        return steps


def laplace_divergence(rate, shift, order):
    """The Renyi divergence of discrete Laplace noise from the same noise shifted by a whole number of steps."""
    if shift == 0:
        return 0.0
    far, slope, one = rate * float(shift), (2 * order - 1) * rate, -math.expm1(-rate)
    # Sums over the noise up to 0, between 0 and the shift, and from the shift on, divided by exp((order - 1) * far).
    between = math.exp(-slope) * math.expm1(-slope * float(shift - 1)) / math.expm1(-slope)
    total = 1 / one + between + math.exp(-(2 * order - 1) * far) / one
    return far + math.log(math.tanh(rate / 2) * total) / (order - 1)


@dataclass(frozen=True, eq=False)
class Halt:
    """The position where a walk halts, or None. With `one_end`, halting at the last position equals never halting."""

    walk: Walk
    drawn: int | None
    one_end: bool = False

    @property
    def public(self):
        walk = self.walk
        return "walk", walk.length, walk.step, walk.eps1, walk.eps2, walk.noise, self.one_end

    def log_ratio(self, other, outcome):
        return 0.0 if self._equals(other) else self._log_pmf(outcome) - other._log_pmf(outcome)

    def worst_outcome(self, other):
        if self._equals(other):
            return self.drawn
        first, _, mine, yours = compared(self, other, whole=False)
        best = largest(mine, yours, mine, WALK_NATS)
        return self.drawn if best is None else None if best == len(first) else int(first[best])

    def divergences(self, other):
        """Of the stretch of positions where the walk halts: a lower bound, because a stretch tells less."""
        return np.zeros(len(ORDERS)) if self._equals(other) else both_ways(*compared(self, other, whole=True)[2:])

    def merged(self, logs):
        """The log-probabilities, with the last two (the last position, and never) as one outcome if they are one."""
        return np.append(np.append(logs[:-2], -np.inf), np.logaddexp(*logs[-2:])) if self.one_end else logs

    def _log_pmf(self, outcome):
        walk = self.walk
        if outcome is None or (self.one_end and outcome == walk.length - 1):
            last = np.arange(walk.length - 1, walk.length)
            return float(self.merged(halting(walk, last, last + 1))[-1])
        k, runs = np.array([outcome]), int(np.searchsorted(walk.starts, outcome, side="right"))
        begun = replace(walk, starts=walk.starts[:runs], levels=walk.levels[:runs], length=outcome + 1, trusted=None)
        return float(halting(begun, k, k + 1)[0])

    def _equals(self, other):
        one, two = self.walk, other.walk
        equal = one.threshold == two.threshold and np.array_equal(one.levels, two.levels)
        return equal and np.array_equal(one.starts, two.starts)


@lru_cache(maxsize=4)
def compared(one, other, whole):
    """Stretches of positions of two walks, and both log-probabilities of halting there, and of never halting."""
    first, last = stretches(one.walk, other.walk) if whole else run_ends(one.walk, other.walk)
    return first, last, *(halt.merged(halting(halt.walk, first, last)) for halt in (one, other))


def run_ends(one, other):
    """The first and the last position of each run of two walks, one by one."""
    starts = np.union1d(one.starts, other.starts)
    first = np.union1d(starts, np.append(starts[1:], one.length) - 1)
    return first, first + 1


def stretches(one, other):
    """All positions of two walks, in stretches within runs that grow longer and longer."""
    starts = np.union1d(one.starts, other.starts)
    lengths = np.diff(starts, append=one.length)
    steps = np.array([0, *(64**k for k in range(10))])
    first = np.union1d((starts[:, None] + steps)[steps < lengths[:, None]], [one.length - 1])
    return first, np.append(first[1:], one.length)


def halting(walk, first, last):
    """Log-probabilities of halting from `first` to before `last`, each within one run, and of never halting.

    Given the noisy threshold, a walk is silent through H nats of increments with probability exp(-H) (see `walk`). All
    terms of the sum over thresholds are positive, so small probabilities keep their relative precision.
    """
    run = np.searchsorted(walk.starts, first, side="right") - 1
    inside, lengths = (first - walk.starts[run]).astype(float), (last - first).astype(float)
    result = np.full(len(first) + 1, -np.inf)
    for weight, before, each in Law(walk)._given_threshold(DEEP, len(first)):
        with np.errstate(all="ignore"):
            step = each[:, run]
            silent = before[:, run] + np.where(inside > 0, step * inside, 0.0)
            end = before[:, -1] + each[:, -1] * float(walk.lengths[-1])
            if walk.noise == "gumbel":
                halts = np.log(step * lengths) - np.log1p(silent) - np.log1p(silent + step * lengths)
                never = -np.log1p(end)
            else:
                halts = -silent + np.log(-np.expm1(-step * lengths)) + weight[:, None]
                never = -end + weight
        terms = np.column_stack([np.where(np.isnan(halts), -np.inf, halts), never])
        result = np.logaddexp(result, np.logaddexp.reduce(terms, axis=0))
    return result


def both_ways(mine, yours):
    """The larger of both Renyi divergences, for each order."""
    known = (np.minimum(mine, yours) > -np.inf) | (np.maximum(mine, yours) > -WALK_NATS)  # not below what is summed
    pairs = ((mine[known], yours[known]), (yours[known], mine[known]))
    return np.array([max(0.0, *(renyi(p, q, order) for p, q in pairs)) for order in ORDERS])


def largest(mine, yours, log_mass, nats):
    """The place of the largest log-ratio that is not too improbable; of those close to it, the most probable."""
    with np.errstate(invalid="ignore"):
        allowed = np.minimum(log_mass, log_mass - mine + yours) > -nats
        ratios = np.where(allowed, mine - yours, -np.inf)
    most = ratios.max(initial=-np.inf)
    if not most > -np.inf:
        return None
    return int(np.argmax(np.where(ratios >= most - CLOSE * abs(most), log_mass, -np.inf)))


@dataclass(frozen=True, eq=False)
class Choice:
    """A rung, chosen by permute-and-flip or by the exponential mechanism among runs of rungs."""

    starts: Any
    lengths: Any
    x: Any  # rate * distance of the nearest rung of each run
    slope: Any  # by what x grows from one rung of a run to the next
    reversed: Any  # whether the nearest rung of a run is its last
    exponential: bool
    facts: tuple
    drawn: int

    @classmethod
    def of(cls, runs, exponential, drawn):
        """The choice among the runs of the scalar code."""
        x, slope = runs.distances() * float(runs.rate), runs.growth * float(runs.rate)
        facts = runs.rate, int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1])
        return cls(runs.starts, runs.lengths, x, slope, runs.below >= 0, exponential, facts, drawn)

    @property
    def public(self):
        return "exponential mechanism" if self.exponential else "permute-and-flip", *self.facts

    def log_ratio(self, other, outcome):
        mine, yours = (float(choice.log_pmf(np.array([outcome]))[0]) for choice in (self, other))
        return mine - yours

    def worst_outcome(self, other):
        first, lengths = self._cells(other)
        mine = self.log_pmf(first)
        best = largest(mine, other.log_pmf(first), mine + np.log(lengths), CHOICE_NATS)
        return self.drawn if best is None else int(first[best])

    def divergences(self, other):
        first, lengths = self._cells(other)
        mine, yours = (choice.log_pmf(first) + np.log(lengths) for choice in (self, other))
        known = np.minimum(mine, yours) > -np.inf  # the code for many groups drops what is below 2**-60
        return both_ways(mine[known], yours[known])

    def log_pmf(self, rungs):
        """The log-probability of each rung."""
        run = np.maximum(np.searchsorted(self.starts, rungs, side="right") - 1, 0)
        place = rungs - self.starts[run]
        inside = (place >= 0) & (place < self.lengths[run])
        place = np.where(self.reversed[run], self.lengths[run] - 1 - place, place)
        return np.where(inside, self._nearest[run] - self.slope[run] * place, -np.inf)

    @cached_property
    def _nearest(self):
        """The log-probability of the nearest rung of each run."""
        if not self.exponential:
            return log_flip(self.x, self.lengths.astype(float))
        slope = np.where(self.slope > 0, self.slope, 1.0)
        weight = np.where(self.slope > 0, np.expm1(-slope * self.lengths) / np.expm1(-slope), self.lengths)
        return -self.x - np.logaddexp.reduce(-self.x + np.log(weight))

    def _cells(self, other):
        """Where stretches of equally probable rungs begin, and how long they are."""
        pair = (self, other)
        cuts = [end for choice in pair for end in (choice.starts, choice.starts + choice.lengths)]
        sloped = [
            np.arange(start, start + length)
            for choice in pair
            for start, length, slope in zip(choice.starts, choice.lengths, choice.slope, strict=True)
            if slope > 0
        ]
        first = np.unique(np.concatenate([*cuts, *sloped]))
        return first[:-1], np.diff(first)


def log_flip(x, lengths):
    """The log-probability of one rung of each run under permute-and-flip, which is report-noisy-max (Ding et al. 2021).

    With a = exp(-x) it is a times the integral, over t from 0 to 1, of the product of 1 - a_j t over all other rungs j.
    The product falls like exp(-w t), w the sum of all a, so the integral is taken in parts.
    """
    x = x - x.min()
    a = np.exp(-x)
    edges = np.unique(np.minimum(np.array([0, 0.25, 0.5, 1, 2, 4, 8, 16, 40]) / float(a @ lengths), 1.0))
    t = ((edges[1:] + edges[:-1]) / 2 + np.diff(edges) / 2 * NODES[:, None]).ravel()
    w = (np.diff(edges) / 2 * WEIGHTS[:, None]).ravel()
    others = np.log1p(-a[:, None] * np.minimum(t, 1 - 2.0**-53))
    return -x + np.log(np.exp(lengths @ others - others) @ w)


@dataclass(frozen=True)
class Keys:
    """Which keys are shown: each independently, with a chance that depends on the number of its units."""

    chances: dict  # of each key with a unit: to be shown, and not to be shown
    facts: tuple
    drawn: frozenset

    @property
    def public(self):
        return "keys", *self.facts

    def shown(self, other, worst):
        """Keys that both data sets may show, with those that one of them must show: drawn here, or all of them."""
        keys = {*self.chances, *other.chances}
        must = {key for key in keys if 0.0 in (self._chance(key)[1], other._chance(key)[1])}
        may = {key for key in keys if self._chance(key)[0] > 0 < other._chance(key)[0]}
        return must | (may if worst else may & self.drawn)

    def epsilon(self, other, delta):
        """The smallest epsilon at which the choice of all keys is private with this delta, in both directions."""
        p, q = np.ones(1), np.ones(1)
        for key in {*self.chances, *other.chances}:
            if self._chance(key) != other._chance(key):
                p, q = (np.outer(law, side._chance(key)).ravel() for law, side in ((p, self), (q, other)))
        low, high = 0.0, 64.0
        for _ in range(60):
            middle = (low + high) / 2
            excess = max(np.maximum(one - math.exp(middle) * two, 0).sum() for one, two in ((p, q), (q, p)))
            low, high = (low, middle) if excess <= delta else (middle, high)
        return high

    def _chance(self, key):
        return self.chances.get(key, (0.0, 1.0))


class Stream:
    """The queries that are compared with one noisy threshold, and the answers so far."""

    def __init__(self, threshold, eps1, eps2, noise, lattice):
        self.facts = noise, eps1, eps2
        self.threshold, self.noise, self.lattice = threshold, noise, lattice
        self.queries, self.answers = [], []

    def log_pmf(self):
        """Log-probabilities that query k is the first with another answer, for each k, and that there is none."""
        levels = [int(query * self.lattice) for query in self.queries]
        eps1, eps2 = (epsilon / self.lattice for epsilon in self.facts[1:])
        walk = Walk.of(levels, self.threshold * self.lattice, eps1=eps1, eps2=eps2, noise=self.noise)
        answers, rows = np.array(self.answers), []
        for weight, before, each in Law(walk)._given_threshold(DEEP, len(levels)):
            with np.errstate(all="ignore"):
                if self.noise == "gumbel":
                    assert not answers[:-1].any(), "a threshold with Gumbel noise is for one hit"
                    silent = np.log1p(before) - np.log1p(before + each)
                    above = np.log(each) - np.log1p(before + each)
                else:
                    silent, above = -each, np.log(-np.expm1(-each))
                given, other = np.where(answers, above, silent), np.where(answers, silent, above)
                agreed = np.cumsum(np.column_stack([weight, given]), axis=1)
            rows.append(np.column_stack([agreed[:, :-1] + other, agreed[:, -1]]))
        return np.logaddexp.reduce(np.concatenate(rows), axis=0)


@dataclass(frozen=True)
class Answer:
    """Whether the next query of a stream is above its noisy threshold; the law is that of the whole stream."""

    stream: Stream
    drawn: bool

    @property
    def public(self):
        return "query", len(self.stream.queries), *self.stream.facts

    def worst_outcome(self, other):
        """No hit while a record moves all queries the same way, and a hit at a query that it moves otherwise."""
        moves = [mine - yours for mine, yours in zip(self.stream.queries, other.stream.queries, strict=True)]
        return moves[-1] != moves[0]


@dataclass(frozen=True)
class Several:
    """Independent decisions of many groups, drawn together."""

    parts: tuple
    facts: tuple

    @property
    def public(self):
        return "groups", self.facts, *(part.public for part in self.parts)

    @property
    def drawn(self):
        return tuple(part.drawn for part in self.parts)

    def log_ratio(self, other, outcome):
        return math.fsum(a.log_ratio(b, one) for a, b, one in zip(self.parts, other.parts, outcome, strict=True))

    def worst_outcome(self, other):
        return tuple(mine.worst_outcome(yours) for mine, yours in zip(self.parts, other.parts, strict=True))

    def divergences(self, other):
        return sum((a.divergences(b) for a, b in zip(self.parts, other.parts, strict=True)), np.zeros(len(ORDERS)))
