"""Routes: where to start walking, in which direction, and with which eps1 and eps2.

A walk that starts far outside the data must know that there are enough records, or it halts on the empty rungs on its
way and answers something like -1e300. So routes carry the size they need, `choose` lists them in order of preference,
and the last one fails gently: it starts at a public bound, or at 0 after a private decision of the sign, and then a
walk that halts too early answers something too small (docs/mechanism.md).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from nobounds.ladder import Ladder
from nobounds.loss import Cost, Neighbors, both, mirrored, monotonic, moving_threshold, pure, split, worst
from nobounds.noise import Noise

Method: TypeAlias = Literal["walk", "flip"]

# Shares of eps1 in eps1 + eps2 (benchmarks/choices.py, by exact laws): for inner quantiles 0.4 is within 5 % of the
# best under both relations; near the end of the data 0.65 has the smallest error, and the chance to overshoot the
# maximum tenfold is 5e-6 (0.6: 4e-5; 0.5: 9e-4).
INNER, OUTER = Fraction(2, 5), Fraction(13, 20)
# A rank is near the end of the data when less than this over epsilon lies beyond it.
NEAR_END = 10
# There Gumbel noise, whose eps1 share must be one half, aims this many ranks over epsilon lower: a chance below 1e-4.
GUMBEL_DROP = 6
# A walk from far needs eps2 * target above ln(rungs) plus this: it halts on the way with probability below exp(-10).
MARGIN = 10.0
SIZE_SHARE = Fraction(1, 20)  # of epsilon, for the private size
SIZE_FAILS = 2000  # the private size is too large with probability at most 1 in this many
SIGN_SHARE = Fraction(1, 10)  # of epsilon, for the private sign
TINY = 2.0**-40  # walks outward from 0 take all that is smaller for 0


@dataclass(frozen=True, slots=True)
class Route:
    """One walk: up or down a ladder from rung `start` to rung `stop`, to `drop` ranks before the target."""

    ladder: Ladder
    up: bool
    start: int
    stop: int
    eps1: Fraction
    eps2: Fraction
    drop: int = 0
    at_least: int = 0  # the number of records it needs
    from_zero: bool = False  # its first rung stands for 0


@dataclass(frozen=True, slots=True)
class Outward:
    """A private decision of the sign of the quantile, then a walk from 0 to that side."""

    sign: Fraction  # epsilon for the sign
    positive: Route
    negative: Route
    at_least: int = 0


@dataclass(frozen=True, slots=True)
class FlipRoute:
    """Permute-and-flip over all rungs of a ladder, with this rate of noise."""

    ladder: Ladder
    epsilon: Fraction
    rate: Fraction
    at_least: int

    @property
    def up(self) -> bool:
        """Positions count the rungs from below."""
        return True

    @property
    def start(self) -> int:
        """The first rung."""
        return self.ladder.first

    @property
    def stop(self) -> int:
        """The last rung."""
        return self.ladder.last

    @property
    def from_zero(self) -> bool:
        """The first rung stands for itself."""
        return False


AnyRoute: TypeAlias = Route | Outward | FlipRoute


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How the number of records is learned: known, or a private count lowered so that it is hardly ever too large."""

    epsilon: Fraction
    slack: int
    known: int | None = None


def check_method(method: object) -> Method:
    """The name of the method, checked."""
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got method={method!r}")
    return method  # type: ignore[return-value]


def walk_cost(
    q: Fraction, up: bool, neighbors: Neighbors, eps1: Fraction, eps2: Fraction, missing: bool = True
) -> Cost:
    """The cost of one walk on counts - q n (docs/costs.md).

    Under swap a record may also turn from missing to present, if its type has missing values: that is an add-remove
    step. A walk up and a walk down see the same moved record from opposite sides, so their costs do not simply add.
    """
    added = moving_threshold(q if up else 1 - q, eps1, eps2)
    if neighbors == "add-remove":
        return added
    moved = monotonic(eps1, eps2) if up else mirrored(monotonic(eps1, eps2))
    return both(moved, added) if missing else moved


def size_rule(epsilon: Fraction, neighbors: Neighbors, rows: int | None, nullable: bool) -> SizeRule:
    """What to spend on the size: nothing if it is public, little if only missing records are private."""
    if neighbors == "swap" and rows is not None and not nullable:
        return SizeRule(Fraction(0), 0, rows)
    spent = epsilon * SIZE_SHARE
    if neighbors == "swap" and rows is not None:
        spent = min(spent, Fraction(16, max(rows, 1)))  # enough to tell a size above rows / 2
    return SizeRule(spent, math.ceil(math.log(SIZE_FAILS / 2) / spent))


def choose(
    q: Fraction, epsilon: Fraction, neighbors: Neighbors, ladder: Ladder, noise: Noise, method: Method = "walk"
) -> tuple[AnyRoute, ...]:
    """The routes to the q-quantile for this epsilon, best first; take the first that the size allows.

    Under add-remove a walk up costs q eps1 + eps2 and a walk down (1-q) eps1 + eps2, so small quantiles walk up and
    large ones down where the size allows: at q = 5 and 95 % the error is 0.65, at 25 and 75 % 0.83 of the
    other way's (benchmarks/choices.py). Under swap the directions cost the same, and the longer way round has more
    records to count.
    """
    low, high = _is_bound(ladder, ladder.first), _is_bound(ladder, ladder.last)
    natural = 2 * q >= 1
    order = (natural, not natural) if neighbors == "swap" else (2 * q <= 1, 2 * q > 1)
    route = partial(_route, q, epsilon, neighbors, ladder, noise)
    routes: list[AnyRoute] = [_flip(q, epsilon, neighbors, ladder)] if method == "flip" and 0 < q < 1 else []
    routes += [found for up in order for found in (route(up, INNER), route(up, OUTER)) if found]
    if low and (natural or not high):
        last: Route | Outward | None = route(True, OUTER, gentle=True)
    elif high:
        last = route(False, OUTER, gentle=True)
    else:
        last = _outward(q, epsilon, neighbors, ladder, noise)
    assert last is not None
    kept: list[AnyRoute] = []
    for found in routes:  # a route that needs more rows than one before it is never taken
        if not (kept and kept[-1].at_least <= found.at_least) and not _same(found, last):
            kept.append(found)
    return (*kept, last)


def first_allowed(routes: tuple[AnyRoute, ...], size: int) -> AnyRoute:
    """The best route for so many records; the last needs none."""
    return next((route for route in routes if route.at_least <= size), routes[-1])


def _route(
    q: Fraction,
    epsilon: Fraction,
    neighbors: Neighbors,
    ladder: Ladder,
    noise: Noise,
    up: bool,
    share: Fraction,
    gentle: bool = False,
) -> Route | None:
    target = q if up else 1 - q
    part = Fraction(1, 2) if noise == "gumbel" else share
    eps1, eps2 = split(partial(walk_cost, q, up, neighbors), epsilon, part)
    if (share == OUTER or gentle) and not _is_bound(ladder, ladder.last if up else ladder.first):
        ladder = ladder.fine()  # to halt in time past the end of the data takes many rungs a decade
    ends = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    if gentle:
        return Route(ladder, up, *ends, eps1, eps2, _drop(epsilon, noise))
    if target == 0 or (share == INNER and target == 1):
        return None
    drop = 0 if share == INNER else _drop(epsilon, noise)
    at_least = math.ceil((Fraction(math.log(ladder.size) + MARGIN) / eps2 + drop) / target)
    if share == INNER:
        at_least = max(at_least, math.ceil(NEAR_END / (epsilon * (1 - target))))
    return Route(ladder, up, *ends, eps1, eps2, drop, at_least)


def _flip(q: Fraction, epsilon: Fraction, neighbors: Neighbors, ladder: Ladder) -> FlipRoute:
    """Permute-and-flip: all rungs compete at once, so far empty ones must be outweighed from both sides."""
    sensitivity = Fraction(1) if neighbors == "swap" else max(q, 1 - q)
    rate = epsilon / (2 * sensitivity)
    at_least = math.ceil(Fraction(math.log(ladder.size) + MARGIN) / (rate * min(q, 1 - q)))
    return FlipRoute(ladder, epsilon, rate, at_least)


def _outward(q: Fraction, epsilon: Fraction, neighbors: Neighbors, ladder: Ladder, noise: Noise) -> Outward:
    ladder = ladder.fine()
    sign = epsilon * SIGN_SHARE
    part = Fraction(1, 2) if noise == "gumbel" else OUTER
    plus, minus = (int(rung) for rung in ladder.rungs(np.array([TINY, -TINY])))
    sides = {}
    for up in (True, False):
        eps1, eps2 = split(partial(walk_cost, q, up, neighbors), epsilon - sign, part)
        start, stop = (plus, ladder.last) if up else (minus, ladder.first)
        sides[up] = Route(ladder, up, start, stop, eps1, eps2, _drop(epsilon, noise), from_zero=True)
    return Outward(sign, sides[True], sides[False])


def _drop(epsilon: Fraction, noise: Noise) -> int:
    return math.floor(GUMBEL_DROP / epsilon + Fraction(1, 2)) if noise == "gumbel" else 0


def cost(route: AnyRoute, q: Fraction, neighbors: Neighbors, missing: bool) -> Cost:
    """What taking this route costs."""
    if isinstance(route, FlipRoute):
        return pure(route.epsilon)
    if isinstance(route, Route):
        return walk_cost(q, route.up, neighbors, route.eps1, route.eps2, missing)
    return pure(route.sign) + worst([cost(side, q, neighbors, missing) for side in (route.positive, route.negative)])


def _is_bound(ladder: Ladder, rung: int) -> bool:
    """Whether an end of the ladder is a public bound on the data, and not just where floats end."""
    return rung not in ladder.map.ends or abs(ladder.value(rung)) < 2.0**1000


def _same(a: AnyRoute, b: AnyRoute) -> bool:
    return isinstance(a, Route) and isinstance(b, Route) and (a.up, a.eps1, a.eps2) == (b.up, b.eps1, b.eps2)
