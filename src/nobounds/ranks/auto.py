"""Auto: the best route to a quantile for a number of records, by public facts alone.

A walk that starts far outside the data must know that there are enough records, or it halts on the empty rungs on its
way and answers something like -1e300; and where all rungs compete at once, far empty ones must not win. The last resort
fails gently: it starts at a public bound, or at 0 after a private decision of the sign, and then a walk that halts too
early answers something too small (docs/mechanism.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Literal, TypeAlias, get_args

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.ladders.ladder import Ladder
from nobounds.noise.discrete import Noise
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Route, Scaled, rank_sensitivity, walk_cost
from nobounds.ranks.scale import Scale

Method: TypeAlias = Literal["auto", "walk", "flip", "exponential"]

# Shares of eps1 in eps1 + eps2, and ranks over epsilon that the threshold is raised by, because a walk halts early
# (benchmarks/choices.py, by exact laws). Inner quantiles: 0.5 and 1 have 0.78 to 0.85 of the error of 0.4 and 0 under
# add-remove, and the same error under swap. Near the end of the data 0.65 and 0 are within 2 % of the best, and the
# chance to overshoot the maximum tenfold is 5e-6 (0.6 and 0: 4e-5).
INNER, OUTER = Fraction(1, 2), Fraction(13, 20)
RISE = 1
# A rank is near the end of the data when less than this over epsilon lies beyond it.
NEAR_END = 8
# There Gumbel noise, whose eps1 share must be one half, aims this many ranks over epsilon lower: a chance below 1e-4.
GUMBEL_DROP = 6
# Far empty rungs must not halt a walk or win a flip: their chance is below exp(-8) in all.
MARGIN = 8.0
SIZE_SHARE = Fraction(1, 20)  # of epsilon, for the private size
SIZE_NATS = 25  # over the rows, if only missing records are private
SIZE_FAILS = 2000  # a private size that is too large leads to a catastrophe at most once in this many times
SCALE_SHARE = Fraction(1, 20)  # of epsilon: a scale is bought where it costs no more
SIGN_SHARE = Fraction(1, 10)  # of epsilon, for the private sign
TINY = 2.0**-40  # walks outward from 0 take all that is smaller for 0
# Bits of a growing ladder beyond log2(records * rate of the noise), for flip; and beyond log2(records * epsilon) for a
# walk, which fine steps halt early and which therefore takes fewer in the tails: 8 or 9 bits for flip at n = 1000 and
# epsilon 1, where 7 have 1.07 to 1.27 of the error of 8, and 10 have 0.94 to 1.01 (benchmarks/choices.py).
FLIP_BITS, WALK_BITS, MOST_GROWN = -1.0, -0.5, 40
FLIP_TAIL = Fraction(3, 10)  # under add-remove a walk is better for quantiles with less in their tail
# A walk from the side of the fewer records that is not safe by itself has its counts lowered by 2 ranks over epsilon an
# octave, from 3 octaves above the scale on: 0.58 to 0.97 of the other way's error on six families, 10 ranks from the
# end (benchmarks/choices.py).
TILT = 2
TINIEST = Fraction(1, 1 << 64)  # the smallest tail that steps follow
LARGEST = 1 << 32  # no plan tells larger sizes apart


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How the number of records is learned: known, or a private count that is capped by the public number of rows."""

    epsilon: Fraction
    known: int | None = None
    at_most: int = LARGEST

    @property
    def slack(self) -> float:
        """How many records too large it is once in SIZE_FAILS times."""
        return math.log(SIZE_FAILS / 2) / float(self.epsilon) if self.known is None else 0.0


@dataclass(frozen=True, slots=True)
class Aim:
    """What to find, all of it public: a quantile for this epsilon on a ladder that may grow finer with the size."""

    q: Fraction
    epsilon: Fraction
    neighbors: Neighbors
    ladder: Ladder
    noise: Noise
    method: Method
    grows: bool
    zcdp: bool = False  # whether rho is what counts

    @property
    def tail(self) -> Fraction:
        """The share of the records on the smaller side of the quantile."""
        return min(self.q, 1 - self.q)


def check_method(method: object) -> Method:
    """The name of the method, checked."""
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got method={method!r}")
    return method  # type: ignore[return-value]


def size_rule(epsilon: Fraction, neighbors: Neighbors, rows: int | None, stated: bool, missing: bool) -> SizeRule:
    """What to spend on the size: nothing if it is public or stated, little if only missing records are private."""
    if rows is not None and (stated or (neighbors == "swap" and not missing)):
        return SizeRule(Fraction(0), min(rows, LARGEST))
    spent = epsilon * SIZE_SHARE
    if rows is not None:
        return SizeRule(min(spent, Fraction(SIZE_NATS, max(rows, 1))), at_most=min(rows, LARGEST))
    return SizeRule(spent)


def auto(aim: Aim, size: int, slack: float = 0.0) -> AnyRoute:
    """The best route for so many records, of which `slack` may not be there; by public facts alone.

    Measured by exact laws, n = 1000, epsilon 1, geometric means over synthetic families (benchmarks/choices.py):
    - under swap flip has 0.84 to 0.92 of the walk's error at every q from 5 to 95 %;
    - under add-remove a walk from the side of the fewer records is cheaper the fewer they are: its error is 0.63 of
      flip's at q = 5 and 95 % and 0.91 at 25, 30 and 75 %, but 1.09 at 35 % and 1.5 at the median;
    - near the end of the data, and for the maximum and minimum, only walks are safe.
    """
    if 0 < aim.q < 1:
        scale = _scale(aim, size, slack)
        epsilon = aim.epsilon - (scale.cost(aim.neighbors, False).epsilon if scale else 0)
        found = _inner(aim, epsilon, size, slack, tilt=scale is not None)
        best = next(found, None)
        plain = next(found, None) if best and best.tilt else best
        if best and plain:
            return Scaled(scale, best, plain) if scale else best
    natural = 2 * aim.q >= 1
    outer = _walk(aim, aim.epsilon, natural, OUTER, _fine(aim.ladder, natural))
    if is_safe(outer.ladder, (1 - aim.tail) * outer.eps2, size - math.ceil(2 * outer.drop), slack):
        return outer
    low, high = is_bound(aim.ladder, aim.ladder.first), is_bound(aim.ladder, aim.ladder.last)
    if low or high:
        up = low and (natural or not high)
        return _walk(aim, aim.epsilon, up, OUTER, _fine(aim.ladder, up))
    return _outward(aim)


def choose(aim: Aim, size: SizeRule) -> tuple[AnyRoute, ...]:
    """The route for a known size; or routes for all sizes, each with the least size that it is for, largest first."""
    if size.known is not None:
        return (auto(aim, size.known),)
    found: list[AnyRoute] = []
    for level in _levels(size.at_most):
        route = replace(auto(aim, level, size.slack), at_least=level)
        if found and replace(found[-1], at_least=level) == route:
            found.pop()
        found.append(route)
    return tuple(found)


def _levels(most: int) -> Iterator[int]:
    """Sizes from the largest down to 0: sixteen in the first octave, where the rows of a file are, then four."""
    yield from (round(most / 2 ** (k / 16)) for k in [*range(16), *range(16, 16 * most.bit_length(), 4)])
    yield 0


def first_allowed(routes: tuple[AnyRoute, ...], size: int) -> AnyRoute:
    """The best route for so many records; the last needs none."""
    return next((route for route in routes if route.at_least <= size), routes[-1])


def _scale(aim: Aim, size: int, slack: float) -> Scale | None:
    """A scale, if 0 lies inside the ladder and there are enough records; a grid has one, and needs it only to tilt."""
    bounds = aim.ladder.lower, aim.ladder.upper
    one_sided = (bounds[0] is not None and bounds[0] >= 0) or (bounds[1] is not None and bounds[1] <= 0)
    if not aim.grows or one_sided or size == 0:
        return None
    if aim.ladder.is_grid:
        best = next(_inner(aim, aim.epsilon, size, slack, tilt=True), None)
        if not (best and best.tilt):
            return None
    nats = scale_nats(size * aim.epsilon)
    each = Fraction(nats, size)
    scale = Scale(each, each)
    return scale if scale.cost(aim.neighbors, False).epsilon <= SCALE_SHARE * aim.epsilon else None


def scale_nats(nats: Fraction) -> int:
    """How many nats a walk for a scale is worth, for so many records times epsilon.

    The walk passes all data, and steps are far too coarse, with probability exp(-nats / 2), below 1 / (n epsilon): less
    than the noise adds to the mean error. It halts on the rungs below the data with 1 % at n = 1000.
    """
    return 1 + math.ceil(2 * math.log(max(float(nats), 1.0)))


def _inner(aim: Aim, epsilon: Fraction, size: int, slack: float, tilt: bool) -> Iterator[OneRoute]:
    """The safe routes to an inner quantile, best first; with a scale, a tilt makes one more of them safe."""
    # Under zCDP the exponential mechanism has the noise of a walk's queries at most, and no noise on a threshold.
    wanted = aim.noise == "exponential" and (aim.neighbors == "swap" or aim.zcdp or aim.tail > FLIP_TAIL)
    weighted = aim.method == "exponential" or (aim.method == "auto" and aim.zcdp)
    if aim.method in ("flip", "exponential") or (aim.method == "auto" and wanted):
        rate = epsilon / (2 * rank_sensitivity(aim.q, aim.neighbors))
        for ladder in _growing(aim, size * rate, FLIP_BITS):
            if is_safe(ladder, rate * aim.tail, size, slack):
                yield FlipRoute(ladder, epsilon, rate, weighted, again=aim.grows)
                break
    for up in (2 * aim.q >= 1, 2 * aim.q < 1) if aim.neighbors == "swap" else (2 * aim.q <= 1, 2 * aim.q > 1):
        target = aim.q if up else 1 - aim.q
        if size * aim.epsilon * (1 - target) < NEAR_END:
            continue
        bits = WALK_BITS + math.log2(max(aim.tail, TINIEST)) / 2
        walks = (_walk(aim, epsilon, up, INNER, ladder) for ladder in _growing(aim, size * aim.epsilon, bits))
        finest = next(walks)
        safe = (walk for walk in chain([finest], walks) if is_safe(walk.ladder, walk.eps2 * target, size, slack))
        if found := next(safe, None):
            yield replace(found, again=aim.grows)
        elif tilt and aim.neighbors == "add-remove" and size * aim.epsilon * target >= NEAR_END:
            yield replace(finest, again=True, tilt=max(_ranks(TILT, aim.epsilon), 1))


def _growing(aim: Aim, nats: Fraction, extra: float) -> Iterator[Ladder]:
    """The ladder with `extra` bits more than log2(nats), and then coarser ones."""
    if not aim.grows:
        yield aim.ladder
        return
    bits = min(max(round(math.log2(max(float(nats), 1.0)) + extra), aim.ladder.least_bits), MOST_GROWN)
    for fewer in range(bits, aim.ladder.least_bits - 1, -1):
        yield aim.ladder.with_bits(fewer)


def is_safe(ladder: Ladder, per_record: Fraction, size: int, slack: float) -> bool:
    """Whether `size` records, each worth so many nats against an empty rung, outweigh all of them.

    A size that is too large by s records with probability exp(-s / slack * ln(SIZE_FAILS / 2)) must not lead to a
    catastrophe more often than once in SIZE_FAILS times: then without those records the rungs are still outweighed.
    """
    each, empty = float(per_record), math.log(ladder.size)
    return each * size >= empty + MARGIN and each * (size - slack) >= empty


def _walk(aim: Aim, epsilon: Fraction, up: bool, share: Fraction, ladder: Ladder) -> Route:
    part = Fraction(1, 2) if aim.noise == "gumbel" else share
    whole = walk_cost(aim.q, up, aim.neighbors, part, 1 - part)
    # Under zCDP the range is what counts, and epsilon stands for that of the exponential mechanism.
    unit = epsilon / (whole.eta if aim.zcdp else whole.epsilon)
    eps1, eps2 = part * unit, (1 - part) * unit
    ends = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    if share == INNER:
        lattice = aim.q.denominator  # points a rank
        drop = -Fraction(round(RISE / aim.epsilon * lattice), lattice)
    else:
        drop = Fraction(_ranks(GUMBEL_DROP, aim.epsilon) if aim.noise == "gumbel" else 0)
    return Route(ladder, up, *ends, eps1, eps2, drop)


def _outward(aim: Aim) -> Outward:
    ladder, sign = aim.ladder.fine(), aim.epsilon * SIGN_SHARE
    plus, minus = (int(rung) for rung in ladder.rungs(np.array([TINY, -TINY])))
    up, down = (_walk(aim, aim.epsilon - sign, way, OUTER, ladder) for way in (True, False))
    return Outward(sign, replace(up, start=plus, from_zero=True), replace(down, start=minus, from_zero=True))


def _ranks(over_epsilon: int, epsilon: Fraction) -> int:
    return math.floor(over_epsilon / epsilon + Fraction(1, 2))


def _fine(ladder: Ladder, up: bool) -> Ladder:
    """To halt in time past the end of the data takes many rungs a decade, unless a public bound ends the ladder."""
    return ladder if is_bound(ladder, ladder.last if up else ladder.first) else ladder.fine()


def is_bound(ladder: Ladder, rung: int) -> bool:
    """Whether an end of the ladder is a public bound on the data, and not just where floats end."""
    return rung not in ladder.map.ends or abs(ladder.value(rung)) < 2.0**1000
