"""One quantile and its interval (docs/mechanism.md).

An inner quantile is a choice. In the tails a walk about a private centre goes inward to it, where enough records lie
beyond, or else outward. Each end of the interval is a walk inward about the number, to where fewer records lie beyond
than at it: by what sampling and the walk's own noise may hide. A walk about the number halts at the first place beyond
its target, where a choice would fall into a gap.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from statistics import NormalDist

from nobounds.accounting.cost import Cost
from nobounds.answers.spent import Known, Part, bought_center, bought_size
from nobounds.core.prior import float_of, key_of
from nobounds.counting.order import Order
from nobounds.mechanisms.choice import Choice, choice_cost
from nobounds.mechanisms.clock import EFOLDS, Ring, Side, at_distance, distance, fixed_cost, walk_cost
from nobounds.programs.program import Program
from nobounds.values import dataclass

INNER = Fraction(1, 4)  # below this tail quantiles are walked to
NUMBER = Fraction(3, 5)  # of epsilon for the number where an interval is requested; its ends share the rest
INWARD = 8  # nats in the tail from which a walk goes inward: fewer do not outweigh the empty numbers far out
SURE = 9  # nats that empty numbers far out must be outweighed by on the way to a tail
TICKS = 200  # of the clock in an e-fold at an extreme, where next to no records lie beyond
SIDES: tuple[Side, Side] = (-1, 1)
NEAREST = 1024  # parts of the records that the tail of an end is a whole number of


@dataclass(frozen=True)
class Wanted:
    """An interval: its level, and whether it is for the population that the rows are a sample of."""

    level: Fraction
    population: bool


@dataclass(frozen=True)
class Bracket:
    """A quantile, the ends of its interval, a noisy number of records, and what each part cost."""

    value: int | None
    ends: tuple[int | None, int | None] | None
    size: int | None
    parts: dict[str, Cost]


def quantile(order: Order, q: Fraction, whole: Part, known: Known, wanted: Wanted | None) -> Program[Bracket]:
    """The key of a quantile, and those of the ends of its interval; an end that is not known is None."""
    size, spent, left, _ = yield from bought_size(order, whole, known)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        return Bracket(None, (None, None) if wanted else None, size, parts | {"number": left.cost})
    looks = [end_look(side, q, left, size, wanted) for side in SIDES] if wanted and 0 < q < 1 else []
    shared = any(look is not None for look in looks)
    own = left.of(NUMBER) if shared else left
    value = yield from one_quantile(order, q, size, own)
    ends: list[int | None] = []
    for look in looks:
        ends.append(None if look is None else (yield from look(order, value)))
    parts |= {"number": own.cost} | ({"interval": left.less(own).cost} if shared else {})
    return Bracket(value, ((ends[0], ends[1]) if ends else (None, None)) if wanted else None, size, parts)


def one_quantile(order: Order, q: Fraction, size: int, own: Part) -> Program[int]:
    """A quantile of about `size` records, with all of this part."""
    tail, side = min(q, 1 - q), SIDES[2 * q >= 1]
    if tail >= INNER:
        rate = own.rate(q)
        key: int = yield Choice(order, q, rate, partial(choice_cost, q, rate, own.neighbors))
        return key
    center, own = yield from bought_center(order, size, own)
    inward = tail * size * own.epsilon >= INWARD * own.twice
    eps1, eps2 = own.walk(tail, inward)
    nats = float(tail * size * eps2)
    ticks = TICKS / (1 + nats) + 2 * nats
    level = max(-math.log(ticks), SURE - nats if inward else -99.0)
    return (yield from walked(order, center, side, inward, tail, (eps1, eps2), level, ticks, own))


def end_look(
    side: Side, q: Fraction, left: Part, size: int, wanted: Wanted
) -> Callable[[Order, int], Program[int | None]] | None:
    """The walk to an end of the interval, about the number; None where it would be open."""
    beyond = 1 - q if side > 0 else q
    own = left.of((1 - NUMBER) / 2)
    away = _deviations(wanted.level)
    sampling = float(size * q * (1 - q)) if wanted.population else 0.0

    def fewer(tail: Fraction) -> float:
        eps1, eps2 = map(float, own.walk(tail, True))
        return away * math.sqrt(sampling + 1 / eps1**2 + math.pi**2 / 6 / eps2**2)

    many = fewer(beyond)
    tail = Fraction(math.floor((float(beyond) - many / size) * NEAREST), NEAREST)
    if tail <= 0:
        return None
    eps = own.walk(tail, True)
    if tail * size * eps[1] < SURE:  # such an end would mostly lie among empty numbers far out
        return None
    ticks = many * float(eps[1])

    def look(order: Order, value: int) -> Program[int | None]:
        return walked(order, value, side, True, tail, eps, -math.log(ticks), ticks, own)

    return look


def _deviations(level: Fraction) -> float:
    """How many standard deviations hold a normal variable at this level."""
    return NormalDist().inv_cdf((1 + float(level)) / 2)


def walked(
    order: Order,
    center: int,
    side: Side,
    inward: bool,
    tail: Fraction,
    eps: tuple[Fraction, Fraction],
    level: float,
    ticks: float,
    own: Part,
) -> Program[int]:
    """The key at which a walk halts, as short a number as half a tick allows."""
    part = Fraction(math.exp(level) / EFOLDS)
    cost = partial(walk_cost, tail, inward, *eps, own.neighbors)
    ring = Ring(order, center, side, inward, tail, *eps, part, cost)
    rung: int | None = yield ring
    if rung is None:
        return center if inward else order.line.ends[1 if side > 0 else 0]
    away = distance(rung)
    slack, farther = away * 0.5 / ticks, 1 if inward else -1
    near = at_distance(order.line, center, side, away, inward)
    far = at_distance(order.line, center, side, away + slack * farther, not inward)
    return roundest(near, far) if (far - near) * side * farther > 0 else near


def roundest(one: int, other: int) -> int:
    """The key of the number of the fewest digits between two keys."""
    first, last = min(one, other), max(one, other)
    if first <= 0 <= last:
        return 0
    for digits in range(1, 17):
        up, down = Context(prec=digits, rounding=ROUND_CEILING), Context(prec=digits, rounding=ROUND_FLOOR)
        for key in (
            key_of(float(up.plus(Decimal(float_of(first))))),
            key_of(float(down.plus(Decimal(float_of(last))))),
        ):
            if first <= key <= last:
                return key
    return one


def extremes(
    order: Order, qs: tuple[Fraction, ...], whole: Part, known: Known, level: Fraction | None
) -> Program[list[Bracket]]:
    """Extremes in equal parts, about one centre; with a level each has an inner end that it lies beyond."""
    size, spent, left, _ = yield from bought_size(order, whole, known)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        return [Bracket(None, (None, None) if level else None, size, parts | {"number": left.cost}) for _ in qs]
    center, after = yield from bought_center(order, size, left)
    parts["center"] = left.less(after).cost
    each = after.of(Fraction(1, len(qs)))
    brackets = []
    for q in qs:
        side: Side = 1 if q == 1 else -1
        own = each.of(NUMBER) if level else each
        value = yield from outermost(order, center, side, own)
        parts["number"] = own.cost if "number" not in parts else parts["number"] + own.cost
        ends = None
        if level:
            rest = each.less(own)
            inner = yield from beyond(order, center, side, math.log(len(qs) / (1 - level)), rest)
            inner = min(inner, value) if side > 0 else max(inner, value)  # one in a while lies anywhere
            ends = (inner, None) if side > 0 else (None, inner)
            parts["interval"] = rest.cost if "interval" not in parts else parts["interval"] + rest.cost
        brackets.append(Bracket(value, ends, size, parts))
    return brackets


def outermost(order: Order, center: int, side: Side, own: Part) -> Program[int]:
    """The extreme on one side of a released number, by a walk outward."""
    ticks, none = float(TICKS), Fraction(0)
    return (yield from walked(order, center, side, False, none, own.walk(none, False), -math.log(ticks), ticks, own))


def beyond(order: Order, center: int, side: Side, nats: float, own: Part) -> Program[int]:
    """A number that a few records lie beyond: a walk inward which no records outlast with a chance of exp(-nats)."""
    eps = own.fixed_walk()
    cost = partial(fixed_cost, *eps, own.neighbors)
    ring = Ring(order, center, side, True, Fraction(0), *eps, Fraction(math.exp(nats)), cost)
    rung: int | None = yield ring
    return center if rung is None else at_distance(order.line, center, side, distance(rung))
