"""Small cases of the joint exponential mechanism, with all outcomes enumerated."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior
from nobounds.mechanisms.joint.stretches import Stretches

LADDER = Ladder.uniform(0.5, 7.5, 7)  # rungs 0 to 7
PRIOR = Prior(np.array([0, 4, 6]), np.array([8, 4, 16]), np.array([2, 1, 1]), "few")
HALF, THIRDS = Fraction(1, 2), (Fraction(1, 3), Fraction(2, 3))


class Small(NamedTuple):
    """Records on rungs, ranks, and a rate."""

    data: tuple[float, ...]
    qs: tuple[Fraction, ...]
    rate: Fraction = Fraction(1)
    places: int = 2


CASES = (
    Small((1, 1, 3, 6, 6, 6, 7), (Fraction(1, 4), HALF, Fraction(3, 4))),
    Small((), THIRDS),
    Small((2,) * 9 + (5,) * 4, (Fraction(0), Fraction(1, 5), HALF), HALF),
    Small((0, 1, 2, 3, 4, 5, 6, 7), (HALF, HALF, Fraction(1)), Fraction(2)),
    Small((3, 3, 4), THIRDS, Fraction(1, 3), 4),
    Small((0, 7) * 40, THIRDS, Fraction(1, 10)),
)


def stretches(case, prior=PRIOR):
    """What is chosen from."""
    histogram = Histogram.of([np.array(case.data, dtype=float)], LADDER)
    return Stretches.of(histogram, case.places, case.qs, case.rate, prior)


def enumerated(made):
    """All places in increasing order, and the logarithms of their weights over that of the whole prior."""
    masses = np.array([made.mass(place, place) for place in range(made.first, made.last + 1)], dtype=float)
    logs = np.log(masses / masses.sum())
    places = list(combinations_with_replacement(range(made.first, made.last + 1), made.many))
    weights = []
    for row in places:
        repeats = math.prod(math.factorial(row.count(place)) for place in set(row))
        prior = sum(logs[place - made.first] for place in row) + math.log(math.factorial(made.many) / repeats)
        weights.append(prior - float(made.rate * made.distance(made.stretch(np.array(row)))))
    return places, np.array(weights)
