"""The expected errors of a private quantile: every route to the answer with its probability, and the law along it.

This is `laws.answers` made fast: the probabilities of the routes come from the data set whose records lie at their
expected places, rare routes are merged, and the laws are those of `quick_laws`.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.ladders.rungs import Grid
from nobounds.laws.answers import laplace_at_least
from nobounds.mechanisms.runs import Runs, reach
from nobounds.mechanisms.walk import Walk
from nobounds.planning.expectation import Outcomes, together
from nobounds.planning.quick_laws import Blocks, choice_blocks, walk_blocks
from nobounds.planning.samples import Sample
from nobounds.ranks.question import Question, sign_test, walk_of
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Scaled
from nobounds.ranks.scale import octave

LEAST = 1e-7  # routes with less probability are left out
_LOOKS = 16  # points of the threshold's noise, times those of a quick law, for the probabilities of scales
_FAR = 1e290  # such values divided by a unit are still floats
_NATS = 20  # ranks further from the target than this many nats of noise hardly matter


def likely_routes(question: Question, which: int, typical: Sample) -> list[tuple[float, OneRoute]]:
    """The routes that one of the answers may take, with their probabilities."""
    routes, left = [], 1.0
    for route in question.routes[which]:
        reached = 1.0
        if route.at_least > 0 and question.size.known is None:
            reached = laplace_at_least(question.size.epsilon, route.at_least - typical.total)
        taken = max(0.0, reached - (1 - left))  # the size allows this route and none before it
        if taken > LEAST:
            routes += [(taken * chance, side) for chance, side in _sides(question, question.qs[which], route, typical)]
        left = min(left, 1 - reached)
    return list(together((chance, route) for chance, route in routes if chance > LEAST))


def _sides(question: Question, q: Fraction, route: AnyRoute, typical: Sample) -> Iterator[tuple[float, OneRoute]]:
    if isinstance(route, Scaled):
        scales = octaves(route.scale.walk(typical.histogram(question.ladder)))
        yield from ((chance, route.at(exponent)) for chance, exponent in scales)
    elif isinstance(route, Outward):
        gap, step, rate = sign_test(typical.histogram(question.ladder), q, route, question.neighbors)
        ties = 2 * q < 1 and (gap / step).denominator == 1
        negative = laplace_at_least(rate, math.floor(-gap / step) + (0 if ties else 1))
        yield from ((1 - negative, route.positive), (negative, route.negative))
    else:
        yield 1.0, route


def octaves(walk: Walk) -> list[tuple[float, int | None]]:
    """The scales at which a walk may halt, with their probabilities; None for no scale."""
    chances: dict[int | None, float] = {}
    for number in range(_LOOKS):
        first, last, masses = walk_blocks(walk, number)
        for place, mass in zip(((first + last) // 2).tolist()[:-1], masses.tolist(), strict=False):
            chances[octave(place)] = chances.get(octave(place), 0.0) + mass / _LOOKS
        chances[None] = chances.get(None, 0.0) + float(masses[-1]) / _LOOKS  # it never halted
    scales = ((chance, exponent) for exponent, chance in chances.items())
    return sorted(scales, key=lambda scale: (scale[1] is not None, scale[1]))


def outcomes(question: Question, which: int, route: OneRoute, sample: Sample, number: int) -> Outcomes:
    """The errors of an answer that takes this route on this data set."""
    q = question.qs[which]
    blocks = _blocks(question, q, route, sample, number)
    truth = sample.quantile(float(q))
    low, high = (answers(question, route, positions) for positions in blocks[:2])
    ranks = (sample.rank_errors(low, float(q)) + sample.rank_errors(high, float(q))) / 2
    errors = np.minimum(np.abs(low - truth), _FAR) / 2 + np.minimum(np.abs(high - truth), _FAR) / 2
    return Outcomes(ranks, errors, blocks.masses)


def point(question: Question, typical: Sample, chance: float) -> float:
    """The answer to the only quantile of a question that is not exceeded with this probability."""
    values, masses = [], []
    for share, route in likely_routes(question, 0, typical):
        blocks = _blocks(question, question.qs[0], route, typical, 0)
        values.append(answers(question, route, (blocks.first + blocks.last) // 2))
        masses.append(share * blocks.masses)
    every, chances = np.concatenate(values), np.concatenate(masses)
    order = np.argsort(every)
    passed = np.cumsum(chances[order])
    return float(every[order][np.searchsorted(passed, chance * passed[-1])])


def _blocks(question: Question, q: Fraction, route: OneRoute, sample: Sample, number: int) -> Blocks:
    total, size = sample.total, route.ladder.size
    if isinstance(route, FlipRoute):
        far = reach(size, route.rate, _NATS)
        low, high = float(q * total) - far, float(q * total) + far
    else:
        target = float((q if route.up else 1 - q) * total - route.drop)
        low = target - (math.log(size) + _NATS) / float(route.eps2)
        high = target + _NATS / float(route.eps1) + _NATS / float(route.eps2)
        low, high = (low, high) if route.up else (total - high, total - low)
    near = sample.histogram(route.ladder, low, high)
    if not route.again:
        near = sample.histogram(question.ladder).on(route.ladder)
    if isinstance(route, FlipRoute):
        return choice_blocks(Runs.of(near, q, route.rate), route.exponential)
    return walk_blocks(walk_of(near, q, route, question.noise), number)


def answers(question: Question, route: OneRoute, positions: Ints) -> Floats:
    """The answers at many positions of a route, as floats."""
    ladder = question.ladder
    rungs = route.start + positions if route.up else route.start - positions
    values = route.ladder.map.floats(rungs)
    fine = route.ladder.map
    if not route.again and isinstance(ladder.map, Grid) and isinstance(fine, Grid) and fine != ladder.map:
        steps, (first, last) = float(ladder.map.unit / fine.unit), fine.points(rungs)  # a power of two
        points = np.floor((last + 0.5) / steps) if route.up else np.ceil((first - 0.5) / steps)
        values = np.clip(points * float(ladder.map.unit), -_FAR, _FAR)
    elif not route.again:
        values = ladder.map.floats(ladder.rungs(np.clip(values, -_FAR, _FAR)))
    if route.from_zero:
        values = np.where(positions == 0, 0.0, values)
    low, high = ladder.lower, ladder.upper
    return np.clip(values, -MAX if low is None else float(low), MAX if high is None else float(high))
