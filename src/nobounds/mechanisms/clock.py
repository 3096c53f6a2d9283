"""The walk as a clock: AboveThreshold over all distances from a released number (docs/proofs/clock.md).

Candidates are distances from a centre, on one side of it or on both, and each has a public weight: octaves weigh as
decades do in the prior, and all distances within one alike. A walk inward visits them from the largest to the smallest,
and a walk outward the other way. Where k records lie at a distance or beyond, its query is k - t n inward and t n - k
outward, or k alone with t = 0. Given noise X on the threshold, a lattice exponential of rate eps1, the walk halts at a
distance of weight w, if not before, with probability 1 - exp(-(w / level) exp(eps2 (query - X))).

This is Algorithm 1 with exponential noise on the threshold and Gumbel noise on queries that the weights move; the proof
of Lemma A.1 covers it, and so do the costs of Lemmas A.3, B.1 and B.2. To join or to split distances that the same
records lie beyond changes nothing, so the sampler skips over whole runs of them.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from nobounds.accounting.cost import Cost, fixed_threshold, monotonic, moving_threshold
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.core.line import Line
from nobounds.core.prior import DECADE, WIDTH_SQUARED, float_of, floats_of, key_of
from nobounds.counting.order import Order
from nobounds.exact import MAX, ball, upper
from nobounds.mechanisms.decisions import Hidden
from nobounds.noise.discrete import Exponential, decide, geometric
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

Side = Literal[-1, 0, 1]  # below the centre, on both sides, above it

BITS = 16  # leading bits of a distance: a step is at most 1 / 65,536 of it
EFOLDS = 36.0  # the length of the way: an e-fold weighs 2 of it in the heaviest decade, and 1 at 2.5 decades from it
_LOWEST = -1074  # the octave of the smallest distance
_OCTAVES = 1024 - _LOWEST
_ONE = 1 << 24  # the weight of one rung in the heaviest octave
_SURE = 60  # nats: a clock that is so far ahead has rung
_ERROR = 2.0**-40  # relative error allowed for a weight in double precision
_DEEP, _LONG = (120.0, 740.0), 1 << 18  # laws leave out noise on a threshold that is so improbable, by their length
_FINE, _NODES = 64, 12  # steps of a lattice above which laws take it as continuous, and nodes of a part


def walk_cost(tail: Fraction, inward: bool, eps1: Fraction, eps2: Fraction, neighbors: Neighbors) -> Cost:
    """The cost of a walk to where a part `tail` of the records lies beyond (Lemmas A.3 and B.1)."""
    if neighbors == "swap":
        return monotonic(eps1, eps2)
    return moving_threshold(tail if inward else 1 - tail, eps1, eps2)


def fixed_cost(eps1: Fraction, eps2: Fraction, neighbors: Neighbors) -> Cost:
    """The cost of a walk inward to where a fixed number of records lies beyond (Lemma B.2)."""
    return monotonic(eps1, eps2) if neighbors == "swap" else fixed_threshold(eps1, eps2)


class Way(NamedTuple):
    """The weights of rungs of distances, which are counted from the smallest on; an octave has 2**BITS of them."""

    each: list[int]  # what a rung of each octave weighs
    before: list[int]  # what all rungs of smaller octaves weigh, and last what all weigh

    def up_to(self, rung: int) -> int:
        """What the rungs below this one weigh."""
        octave = rung >> BITS
        return self.before[octave] + (self.each[octave] * (rung & ((1 << BITS) - 1)) if octave < _OCTAVES else 0)

    def rung(self, place: int) -> int:
        """The rung on which this unit of weight lies."""
        octave = bisect_right(self.before, place) - 1
        return (octave << BITS) + (place - self.before[octave]) // self.each[octave]

    @property
    def whole(self) -> int:
        """What all rungs weigh."""
        return self.before[-1]

    @property
    def end(self) -> int:
        """One more than the last rung."""
        return _OCTAVES << BITS


@lru_cache(maxsize=64)
def way_of(shift: int) -> Way:
    """The weights of distances in units of about 10**shift."""
    decades = (np.arange(_LOWEST, 1024) + 0.5) * math.log10(2) + shift
    each = [int(_ONE * WIDTH_SQUARED / (WIDTH_SQUARED + (k - DECADE - 0.5) ** 2)) for k in decades.tolist()]
    before = [0]
    for weight in each:
        before.append(before[-1] + (weight << BITS))
    return Way(each, before)


def distance(rung: int) -> float:
    """The smallest distance on a rung."""
    octave, part = divmod(rung, 1 << BITS)
    try:
        return math.ldexp(1 + part / (1 << BITS), octave + _LOWEST)
    except OverflowError:
        return MAX


def rungs_of(distances: Floats) -> Ints:
    """The rung of each positive distance."""
    mantissa, exponent = np.frexp(np.minimum(distances, MAX))
    return ((exponent.astype(np.int64) - 1 - _LOWEST) << BITS) + ((mantissa * 2 - 1) * (1 << BITS)).astype(np.int64)


class Runs(NamedTuple):
    """Runs of rungs in the order of the visit: what each weighs, its query, and its rungs from `first` to `last`.

    Queries are in parts of the denominator of the tail. Those of the first run are only known to be at most `most`, if
    records beyond it were not looked at; and after the last run more may follow, unless they are `complete`.
    """

    first: list[int]
    last: list[int]
    weights: list[int]
    queries: list[int]
    most: int
    complete: bool

    @property
    def is_sure(self) -> bool:
        """Whether all queries are exact."""
        return not self.queries or self.most == self.queries[0]


@dataclass(frozen=True, eq=False, repr=False)
class Ring(Hidden):
    """The rung of distances at which the clock rings, or None if it never does. Sensitive."""

    order: Order = field(repr=False)
    center: int  # a released key
    side: Side
    inward: bool
    tail: Fraction
    eps1: Fraction
    eps2: Fraction
    level: Fraction  # of the whole way: with no noise, a query of 0 all along rings after this part of it
    cost: Callable[[], Cost]

    @property
    def line(self) -> Line:
        """The numbers that distances are taken on."""
        return self.order.line

    @property
    def public(self) -> Hashable:
        return self.center, self.side, self.inward, self.tail, self.eps1, self.eps2, self.level, self.line

    @property
    def way(self) -> Way:
        """The weights of distances."""
        return way_of(self.line.prior.shift)

    def draw(self, source: RandomSource) -> int | None:
        lattice, total = self.tail.denominator, self.order.total
        noise, e = geometric(self.eps1 / lattice, source), Exponential(source)
        nats = _SURE + abs(math.log(self.level.numerator) - math.log(self.level.denominator))
        reach, target = int(nats / self.eps2) + 1, int(self.tail * total)
        least = max(target - reach, 0) if self.inward and self.side else 0
        most = target + reach + (noise // lattice + 1 if self.inward else 0)
        while True:
            runs = self.runs(least, most)
            rung = self._in_doubles(runs, noise, e)
            if rung is None and not runs.is_sure:
                least, most = 0, most if self.inward else total
                continue
            if rung is None:
                rung = decide(lambda precision, runs=runs: self._in_balls(runs, noise, e, precision))  # type: ignore[misc]
            if rung != self.way.end:
                return rung
            if runs.complete:
                return None
            most *= 4

    def runs(self, least: int, most: int) -> Runs:
        """The runs where from `least` to `most` records lie beyond, as far as these records tell."""
        rungs, counts, inner = self._beyond(least, most)
        total, over, target = self.order.total, self.tail.denominator, self.tail.numerator * self.order.total
        last = np.concatenate([[self.way.end - 1], rungs])
        first = np.concatenate([rungs + 1, [0 if inner else self.way.end if not len(rungs) else int(rungs[-1]) + 1]])
        beyond = least + np.concatenate([[0], counts.cumsum()])
        if not self.inward and not inner and len(rungs):
            first[-1], beyond[-1] = 0, total  # the run that was not looked at comes first
        keep = last >= first
        ends = list(zip(first[keep].tolist(), last[keep].tolist(), strict=True))
        weights = [self.way.up_to(high + 1) - self.way.up_to(low) for low, high in ends]
        queries = (over * beyond - target if self.inward else target - over * beyond)[keep].tolist()
        highest = queries[0] if queries else 0
        if self.inward and least and queries:  # `least` records lie farther out than all these, nobody looked where
            queries[0] = -target
        if not self.inward:
            ends, weights, queries = ends[::-1], weights[::-1], queries[::-1]
            highest = queries[0] if inner or not queries else target - over * int(counts.sum())
        return Runs(
            [low for low, _ in ends], [high for _, high in ends], weights, queries, highest, inner or not self.inward
        )

    def _beyond(self, least: int, most: int) -> tuple[Ints, Ints, bool]:
        """The rungs of records with `least` to `most` others farther out, the farthest first, and the number on each.

        And whether no other record lies farther in.
        """
        total, center = self.order.total, float_of(self.center)
        parts, inner = [], True
        for side in (1, -1) if self.side == 0 else (self.side,):
            keys, counts = self.order.between(*((total - most, total - least) if side > 0 else (least, most)))
            with np.errstate(over="ignore"):
                away = side * (floats_of(keys) - center)
            inner = inner and (most >= total or bool((away <= 0).any()))
            parts.append((rungs_of(away[away > 0]), counts[away > 0]))
        rungs, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        unique, places = np.unique(rungs, return_inverse=True)
        totals = np.zeros(len(unique), dtype=np.int64)
        np.add.at(totals, places, counts)
        unique, totals = unique[::-1], totals[::-1]
        if not inner and self.side == 0:  # beyond the nearest of the farthest on each side all are known
            nearest = max(int(part.min()) for part, _ in parts if len(part))
            unique, totals = unique[unique >= nearest], totals[unique >= nearest]
        return unique, totals, inner

    def _nats(self, queries: list[int], noise: int) -> Floats:
        """eps2 times queries, with the noise taken off."""
        gaps = np.array([query - noise for query in queries], dtype=np.float64)
        return gaps * (float(self.eps2) / self.tail.denominator)

    def _in_doubles(self, runs: Runs, noise: int, e: Exponential) -> int | None:
        """The rung, or the end of the way if it does not ring there; None if double precision does not decide."""
        low, high = e.bounds()
        if not high < math.inf:
            return None
        with np.errstate(over="ignore"):
            speed = np.exp(self._nats(runs.queries, noise)) / (float(self.level) * float(self.way.whole))
            passed = (np.array(runs.weights, dtype=np.float64) * speed).cumsum()
            fastest = float(np.exp(self._nats([runs.most], noise))[0]) / (float(self.level) * float(self.way.whole))
        unsure = 0.0 if runs.is_sure else runs.weights[0] * fastest
        run = int(np.searchsorted(passed * (1 - _ERROR), high))
        if run != int(np.searchsorted((passed + unsure) * (1 + _ERROR), low)) or (unsure and run == 0):
            return None
        if run == len(passed):
            return self.way.end
        before, each = (float(passed[run - 1]) if run else 0.0), float(speed[run])
        if not 0 < each < math.inf:
            return None
        most = runs.weights[run] - 1
        places = [
            min(
                max(math.ceil((goal - (before + more) * (1 + sign * _ERROR)) / each * (1 - sign * _ERROR)) - 1, 0), most
            )
            for goal, more, sign in ((low, unsure, 1), (high, 0.0, -1))
        ]
        rungs = {self._rung(runs, run, place) for place in places}
        return rungs.pop() if len(rungs) == 1 else None

    def _rung(self, runs: Runs, run: int, place: int) -> int:
        """The rung on which a unit of a run's weight lies, in the order of the visit."""
        if self.inward:
            return self.way.rung(self.way.up_to(runs.last[run] + 1) - 1 - place)
        return self.way.rung(self.way.up_to(runs.first[run]) + place)

    def _in_balls(self, runs: Runs, noise: int, e: Exponential, precision: int) -> int | None:
        goal = e.ball(precision) * ball(self.level * self.way.whole)
        before = ball(0)
        for run, (weight, query) in enumerate(zip(runs.weights, runs.queries, strict=True)):
            each = ball(self.eps2 * Fraction(query - noise, self.tail.denominator)).exp()
            after = before + each * weight
            if goal <= after:
                place = ((goal - before) / each).ceil()
                ends = [int(upper(-place)) * -1, int(upper(place))]
                rungs = {self._rung(runs, run, min(max(at - 1, 0), weight - 1)) for at in ends}
                return rungs.pop() if len(rungs) == 1 else None
            if not goal > after:
                return None
            before = after
        return self.way.end

    def number(self, rung: int | None) -> float:
        """The number at a rung's distance from the centre, on its side; of a walk that never rings, where it ends."""
        end = 0.0 if self.inward else MAX
        away = self.side * (end if rung is None else distance(rung))
        return float_of(self.center) + away

    @cached_property
    def whole(self) -> Runs:
        """The runs of all records."""
        return self.runs(0, self.order.total)

    def log_chances(self, edges: list[int]) -> Floats:
        """The log-probabilities of halting between edges in the order of the visit, and last of never halting.

        Each interval lies inside one run of `whole`.
        """
        runs, over = self.whole, self.tail.denominator
        low, high = (edges[1:], edges[:-1]) if self.inward else (edges[:-1], edges[1:])
        weights = np.array([float(self.way.up_to(b) - self.way.up_to(a)) for a, b in zip(low, high, strict=True)])
        starts = np.array(runs.first if not self.inward else runs.first[::-1])
        place = np.searchsorted(starts, low, side="right") - 1
        queries = np.array(runs.queries if not self.inward else runs.queries[::-1], dtype=np.float64)[place]
        eps2 = float(self.eps2) / over
        logs = np.full(len(weights) + 1, -np.inf)
        scale = math.log(float(self.level)) + math.log(float(self.way.whole))
        for noise, chances in self._noises(len(weights)):
            hazards = np.log(weights) + (queries - noise[:, None]) * eps2 - scale
            with np.errstate(over="ignore", divide="ignore", under="ignore"):
                passed = np.exp(np.minimum(hazards, 700.0)).cumsum(axis=1)
                before = np.concatenate([np.zeros((len(noise), 1)), passed[:, :-1]], axis=1)
                halts = np.log(-np.expm1(-np.exp(np.minimum(hazards, 700.0)))) - before
            terms = np.column_stack([halts, -passed[:, -1]]) + chances[:, None]
            logs = np.logaddexp(logs, np.logaddexp.reduce(terms, axis=0))
        return logs

    def _noises(self, many: int) -> Iterator[tuple[Floats, Floats]]:
        """Blocks of noise on the threshold, in steps of the lattice, with log-probabilities.

        A lattice that is finer than `_FINE` is taken as continuous, at Gauss nodes: that is the same to a part in
        1,000, and the mechanism with continuous noise costs the same.
        """
        over = self.tail.denominator
        rate = float(self.eps1) / over
        if over <= _FINE:
            noises = np.arange(int(min(max(_DEEP[0], _LONG * rate), _DEEP[1]) / rate) + 1.0)
            logs = math.log(-math.expm1(-rate)) - rate * noises
        else:
            nodes, weights = np.polynomial.legendre.leggauss(_NODES)
            width = 3 * over / float(self.eps1 + self.eps2)
            starts = np.arange(0.0, _DEEP[0] / rate, width)
            noises = (starts[:, None] + (nodes + 1) * width / 2).ravel()
            logs = math.log(rate * width / 2) + np.tile(np.log(weights), len(starts)) - rate * noises
        blocks = max(1, len(noises) * many >> 20)
        yield from zip(np.array_split(noises, blocks), np.array_split(logs, blocks), strict=True)


def at_distance(line: Line, center: int, side: int, away: float, inward: bool = True) -> int:
    """The key of the number at a distance from a centre, kept on the line.

    On a grid a walk inward found records there or farther out, which are on the next number outward; and one outward
    found none, so that the farthest are on the next number inward.
    """
    number = float_of(center) + side * away
    if line.unit is not None and math.isfinite(number):
        number = float(math.ceil(number) if (side > 0) == inward else math.floor(number))
    first, last = line.ends
    return min(max(key_of(min(max(number, -MAX), MAX)), first), last)
