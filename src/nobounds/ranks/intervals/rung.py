"""What is free about a quantile: some number on the rung of its answer lies between two percentiles.

The law of a route bounds how far a rung can be from its target in ranks, on every data set and in every frame
(docs/proofs/intervals.md). So this follows from public facts, the noisy size and where the route ended, and costs
nothing. It is about the rung, not about the answer itself: a heap of equal records may sit on the rung beside it.
"""

import math
from fractions import Fraction
from typing import Any

from nobounds.ranks.auto import SizeRule
from nobounds.ranks.intervals.edges import bounded, edge
from nobounds.ranks.question import Question
from nobounds.ranks.route import ChoiceRoute, OneRoute, Route

CHANCE = 0.05  # that it does not hold, ...
OF_SIZE = 0.01  # ... and the part of it for a noisy size
SHORTEST = 1e-9  # of a step of noise, over its scale


def rung(question: Question, route: OneRoute, position: int | None, size: int, value: float) -> dict[str, Any] | None:
    """What can be said of the rung where a route ended with this answer, at 95%; None where that is nothing.

    An end of the rung is None where it is infinite.
    """
    if position is None or question.noise != "exponential":
        return None
    least, chance = _least(question.size, size), CHANCE - (OF_SIZE if question.size.epsilon else 0.0)
    if not question.problem.grows or least < 1:
        return None
    q = question.qs[0]
    if isinstance(route, ChoiceRoute):
        q = q if route.rank is None else route.rank
        far = choice_reach(route, chance)
        low, high = -far / route.slopes[0], far / route.slopes[1]
    else:
        low, high = walk_reach(route, q, position, chance)
    shares = float(q) + min(low, 0.0) / least, float(q) + max(high, 0.0) / least
    if shares[0] <= 0 and shares[1] >= 1:
        return None
    ends = _ends(question, route, position, value)
    if ends == (None, None):
        return None
    percentiles = [100 * min(max(share, 0.0), 1.0) for share in shares]
    return {"low": ends[0], "high": ends[1], "percentiles": percentiles, "level": 1 - CHANCE}


def _ends(question: Question, route: OneRoute, position: int, value: float) -> tuple[float | None, float | None]:
    """The ends of the rung, with the answer between them; None where one is infinite.

    A walk counts at its first rung all that lies behind it, and at its last one all that lies ahead: so do these ends.
    """
    at = route.start + (position if route.up else -position)
    # A rung may hold no number: then the one beyond its upper edge comes first.
    ends = sorted(edge(question.ladder, route.placed, at, side) for side in (0, 1))
    if isinstance(route, Route):
        for side, place in enumerate((route.start, route.stop) if route.up else (route.stop, route.start)):
            if at == place:
                ends[side] = bounded(question.ladder, math.inf if side else -math.inf)
    # On a grid the answer may be the point beside a rung, which may hold none.
    low, high = float(min(ends[0], value)), float(max(ends[1], value))
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def choice_reach(route: ChoiceRoute, chance: float) -> float:
    """A distance that the chosen rung is farther than from its target with at most this probability.

    Ranks, if they count the same on both sides of the target.
    """
    prior = route.prior
    if prior is not None:
        nats = prior.nats
    elif route.exponential:
        nats = math.log(route.ladder.size)
    else:  # permute-and-flip: the best rung comes first half of the time
        nats = math.log(max(route.ladder.size / 2, 1.0))
    return (nats - math.log(chance)) / float(route.rate)


def walk_reach(route: Route, q: Fraction, position: int, chance: float) -> tuple[float, float]:
    """Ranks from the target to the lowest and the highest that a rung may have where a walk halts.

    Half of the chance is for a walk that halts early, half for one that halts late. A walk down counts from above, so
    its ranks are turned.
    """
    eps1, eps2 = float(route.eps1), float(route.eps2)
    step = max(float(Fraction(1, q.denominator)), SHORTEST / (eps1 + eps2))  # a longer one gives a larger number
    noise = math.expm1(-eps1 * step) / math.expm1(-(eps1 + eps2) * step)
    many = abs(route.stop - route.start) + 1
    early = max(math.log(many * noise / (chance / 2)) / eps2, 0.0)
    late = -math.log(chance / 2) / eps1
    lowered, before = (route.tilt * sum(cut > at for cut in route.cuts) for at in (position, max(position - 1, 0)))
    low, high = lowered - float(route.drop) - early, before - float(route.drop) + late
    return (low, high) if route.up else (-high, -low)


def _least(rule: SizeRule, size: int) -> float:
    """The number of records, at least, for a size that may be noisy."""
    return size + math.log(OF_SIZE) / float(rule.epsilon) if rule.epsilon else float(size)
