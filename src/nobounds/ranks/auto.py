"""Auto: the best route to a quantile for a number of records, by public facts alone.

A walk that starts far outside the data must know that there are enough records, or it halts on the empty rungs on its
way and answers something like -1e300; and where all rungs compete at once, far empty ones must not win. The last resort
fails gently: it starts at a public bound, or at 0 after a noisy decision on the sign, so a walk that halts too early
gives an answer that is too small (docs/mechanism.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import numpy as np

from nobounds.ladders.ladder import Ladder
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Route, Scaled, rank_sensitivity, walk_cost
from nobounds.ranks.scale import Scale
from nobounds.ranks.tuning import TUNING, RankTuning

TINIEST = Fraction(1, 1 << 64)  # the smallest tail that steps follow
LARGEST = 1 << 32  # plans treat larger sizes as this one


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How the number of records is learned: known, or a noisy count that is capped by the public number of rows."""

    epsilon: Fraction
    known: int | None = None
    at_most: int = LARGEST
    fails: int = TUNING.size_fails

    @property
    def slack(self) -> float:
        """By how many records the noisy size is too large once in `fails` times."""
        return math.log(self.fails / 2) / float(self.epsilon) if self.known is None else 0.0


@dataclass(frozen=True, slots=True)
class Aim:
    """One quantile of a problem, and the epsilon for it."""

    q: Fraction
    epsilon: Fraction
    problem: Problem
    zcdp: bool = False  # whether the cost to minimize is rho

    @property
    def tuning(self) -> RankTuning:
        """The constants of the problem."""
        return self.problem.tuning

    @property
    def tail(self) -> Fraction:
        """The share of the records on the smaller side of the quantile."""
        return min(self.q, 1 - self.q)


def size_rule(problem: Problem, epsilon: Fraction) -> SizeRule:
    """What to spend on the size: nothing if it is public or stated, little if only missing records are sensitive."""
    rows, tuning = problem.rows, problem.tuning
    if rows is not None and (problem.stated or (problem.neighbors == "swap" and not problem.nullable)):
        return SizeRule(Fraction(0), min(rows, LARGEST), fails=tuning.size_fails)
    eps_size = epsilon * tuning.size_share
    if rows is not None:
        eps_size = min(eps_size, Fraction(tuning.size_nats, max(rows, 1)))
    return SizeRule(eps_size, at_most=LARGEST if rows is None else min(rows, LARGEST), fails=tuning.size_fails)


def auto(aim: Aim, size: int, slack: float = 0.0) -> AnyRoute:
    """The best route for `size` records, of which `slack` may be noise; by public facts alone.

    Measured by exact laws, n = 1000, epsilon 1, geometric means over synthetic families (benchmarks/tuning/choices.py):
    - under swap flip has 0.84 to 0.92 of the walk's error at every q from 5 to 95%;
    - under add-remove a walk from the side of the fewer records is cheaper the fewer they are: its error is 0.63 of
      flip's at q = 5 and 95% and 0.91 at 25, 30 and 75%, but 1.09 at 35% and 1.5 at the median;
    - near the end of the data, and for the maximum and minimum, only walks are safe.
    """
    if 0 < aim.q < 1:
        scale = _scale(aim, size, slack)
        epsilon = aim.epsilon - (scale.cost(aim.problem.neighbors, False).epsilon if scale else 0)
        safe = _inner(aim, epsilon, size, slack, tilt=scale is not None)
        best = next(safe, None)
        plain = next(safe, None) if best and best.tilt else best
        if best and plain:
            return Scaled(scale, best, plain) if scale else best
    natural = 2 * aim.q >= 1
    outer = _walk(aim, aim.epsilon, natural, aim.tuning.outer, _fine(aim, natural))
    if is_safe(outer.ladder, (1 - aim.tail) * outer.eps2, size - math.ceil(2 * outer.drop), slack, aim.tuning):
        return outer
    low, high = (
        is_bound(aim.problem.ladder, aim.problem.ladder.first),
        is_bound(aim.problem.ladder, aim.problem.ladder.last),
    )
    if low or high:
        up = low and (natural or not high)
        return _walk(aim, aim.epsilon, up, aim.tuning.outer, _fine(aim, up))
    return _outward(aim)


def choose(aim: Aim, size: SizeRule) -> tuple[AnyRoute, ...]:
    """The route for a known size; or routes for all sizes, each with the least size that it is for, largest first."""
    if size.known is not None:
        return (auto(aim, size.known),)
    routes: list[AnyRoute] = []
    for level in _levels(size.at_most):
        route = replace(auto(aim, level, size.slack), at_least=level)
        if routes and replace(routes[-1], at_least=level) == route:
            routes.pop()
        routes.append(route)
    return tuple(routes)


def _levels(most: int) -> Iterator[int]:
    """Sizes from the largest down to 0: sixteen in the first octave, where the rows of a file are, then four."""
    yield from (round(most / 2 ** (k / 16)) for k in [*range(16), *range(16, 16 * most.bit_length(), 4)])
    yield 0


def _scale(aim: Aim, size: int, slack: float) -> Scale | None:
    """A scale, if 0 lies inside the ladder and there are enough records; a grid needs one only to tilt."""
    bounds = aim.problem.ladder.lower, aim.problem.ladder.upper
    one_sided = (bounds[0] is not None and bounds[0] >= 0) or (bounds[1] is not None and bounds[1] <= 0)
    if not aim.problem.grows or one_sided or size == 0:
        return None
    if aim.problem.ladder.is_grid:
        best = next(_inner(aim, aim.epsilon, size, slack, tilt=True), None)
        if not (best and best.tilt):
            return None
    nats = scale_nats(size * aim.epsilon)
    each = Fraction(nats, size)
    scale = Scale(each, each, octaves=aim.tuning.octaves)
    return scale if scale.cost(aim.problem.neighbors, False).epsilon <= aim.tuning.scale_share * aim.epsilon else None


def scale_nats(nats: Fraction) -> int:
    """How many nats to spend on a walk for a scale, where `nats` is the number of records times epsilon.

    The walk passes all data, and steps are far too coarse, with probability exp(-nats / 2), below 1 / (n epsilon): less
    than the noise adds to the mean error. It halts on the rungs below the data with 1% at n = 1000.
    """
    return 1 + math.ceil(2 * math.log(max(float(nats), 1.0)))


def _inner(aim: Aim, epsilon: Fraction, size: int, slack: float, tilt: bool) -> Iterator[OneRoute]:
    """The safe routes to an inner quantile, best first; with a scale, a tilt makes one more of them safe."""
    # Under zCDP the exponential mechanism has at most the noise of a walk's queries, and no noise on a threshold.
    wanted = aim.problem.noise == "exponential" and (
        aim.problem.neighbors == "swap" or aim.zcdp or aim.tail > aim.tuning.flip_tail
    )
    weighted = aim.problem.method == "exponential" or (aim.problem.method == "auto" and aim.zcdp)
    if aim.problem.method in ("flip", "exponential") or (aim.problem.method == "auto" and wanted):
        rate = epsilon / (2 * rank_sensitivity(aim.q, aim.problem.neighbors))
        for ladder in _growing(aim, size * rate, aim.tuning.flip_bits):
            if is_safe(ladder, rate * aim.tail, size, slack, aim.tuning):
                yield FlipRoute(ladder, epsilon, rate, weighted, again=aim.problem.grows)
                break
    for up in (2 * aim.q >= 1, 2 * aim.q < 1) if aim.problem.neighbors == "swap" else (2 * aim.q <= 1, 2 * aim.q > 1):
        target = aim.q if up else 1 - aim.q
        if size * aim.epsilon * (1 - target) < aim.tuning.near_end:
            continue
        bits = aim.tuning.walk_bits + math.log2(max(aim.tail, TINIEST)) / 2
        walks = (
            _walk(aim, epsilon, up, aim.tuning.inner, ladder) for ladder in _growing(aim, size * aim.epsilon, bits)
        )
        finest = next(walks)
        safe = (
            walk for walk in chain([finest], walks) if is_safe(walk.ladder, walk.eps2 * target, size, slack, aim.tuning)
        )
        if walk := next(safe, None):
            yield replace(walk, again=aim.problem.grows)
        elif tilt and aim.problem.neighbors == "add-remove" and size * aim.epsilon * target >= aim.tuning.near_end:
            yield replace(finest, again=True, tilt=max(_ranks(aim.tuning.tilt, aim.epsilon), 1))


def _growing(aim: Aim, nats: Fraction, extra: float) -> Iterator[Ladder]:
    """The ladder with `extra` bits more than log2(nats), and then coarser ones."""
    if not aim.problem.grows:
        yield aim.problem.ladder
        return
    bits = min(
        max(round(math.log2(max(float(nats), 1.0)) + extra), aim.problem.ladder.least_bits(aim.tuning.least_bits)),
        aim.tuning.most_bits,
    )
    for fewer in range(bits, aim.problem.ladder.least_bits(aim.tuning.least_bits) - 1, -1):
        yield aim.problem.ladder.with_bits(fewer)


def is_safe(ladder: Ladder, per_record: Fraction, size: int, slack: float, tuning: RankTuning = TUNING) -> bool:
    """Whether `size` records, each with `per_record` nats against an empty rung, outweigh all of them.

    A size that is too large by s records with probability exp(-s / slack * ln(`size_fails` / 2)) must not lead to a
    catastrophe more often than once in `size_fails` times: the rungs are outweighed even without `slack` records.
    """
    each, empty = float(per_record), math.log(ladder.size)
    return each * size >= empty + tuning.margin and each * (size - slack) >= empty


def _walk(aim: Aim, epsilon: Fraction, up: bool, share: Fraction, ladder: Ladder) -> Route:
    part = Fraction(1, 2) if aim.problem.noise == "gumbel" else share
    whole = walk_cost(aim.q, up, aim.problem.neighbors, part, 1 - part)
    # Under zCDP the range counts, and epsilon stands for that of the exponential mechanism.
    unit = epsilon / (whole.eta if aim.zcdp else whole.epsilon)
    eps1, eps2 = part * unit, (1 - part) * unit
    ends = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    if share == aim.tuning.inner:
        lattice = aim.q.denominator  # points a rank
        drop = -Fraction(round(aim.tuning.rise / aim.epsilon * lattice), lattice)
    else:
        drop = Fraction(_ranks(aim.tuning.gumbel_drop, aim.epsilon) if aim.problem.noise == "gumbel" else 0)
    return Route(ladder, up, *ends, eps1, eps2, drop)


def _outward(aim: Aim) -> Outward:
    ladder, eps_sign = aim.problem.ladder.fine(aim.tuning.fine_bits), aim.epsilon * aim.tuning.sign_share
    plus, minus = (int(rung) for rung in ladder.rungs(np.array([aim.tuning.tiny, -aim.tuning.tiny])))
    up, down = (_walk(aim, aim.epsilon - eps_sign, rising, aim.tuning.outer, ladder) for rising in (True, False))
    return Outward(eps_sign, replace(up, start=plus, from_zero=True), replace(down, start=minus, from_zero=True))


def _ranks(over_epsilon: int, epsilon: Fraction) -> int:
    return math.floor(over_epsilon / epsilon + Fraction(1, 2))


def _fine(aim: Aim, up: bool) -> Ladder:
    """The ladder, fine enough to halt soon after the end of the data, unless a public bound ends it."""
    ladder = aim.problem.ladder
    return ladder if is_bound(ladder, ladder.last if up else ladder.first) else ladder.fine(aim.tuning.fine_bits)


def is_bound(ladder: Ladder, rung: int) -> bool:
    """Whether an end of the ladder is a public bound on the data, and not just where floats end."""
    return rung not in ladder.map.ends or abs(ladder.value(rung)) < 2.0**1000
