"""Attacks on a mechanism in use: each is charged once, and none gets more answers than were paid for.

The attacker has one paid mechanism and queries that are surely above its threshold. What they want is more hits than
it has: from copies, forked processes, threads, calls from within a query, or after an interruption.
"""

import contextlib
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest

import nobounds as nb
from nobounds.trust.scripted import loss_between
from nobounds.trust.streams import called_law

SURE = 10**6  # a query that is above the threshold whatever the noise
KINDS = {
    "AboveThreshold": (1, lambda **options: nb.AboveThreshold(0, epsilon=1, **options)),
    "AboveThreshold, Gumbel": (1, lambda **options: nb.AboveThreshold(0, epsilon=1, noise="gumbel", **options)),
    "IterativeExponential": (1, lambda **options: nb.IterativeExponential(0, epsilon=1, **options)),
    "SparseVector, iterated": (
        2,
        lambda **options: nb.SparseVector(0, hits=2, epsilon=1, method="iterated", **options),
    ),
    "SparseVector, classical": (
        2,
        lambda **options: nb.SparseVector(0, hits=2, epsilon=1, method="classical", **options),
    ),
}
every = pytest.mark.parametrize(("hits", "make"), KINDS.values(), ids=KINDS)
forking = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the test runner itself may have threads

COPYING = "cannot be copied or pickled"
ELSEWHERE = "is a copy, or was created in another process"
INTERRUPTED = "was interrupted or is still being answered"


def hits_of(mechanism, tries=10):
    """How many hits a mechanism gives to someone who keeps asking."""
    found = 0
    for _ in range(tries):
        with contextlib.suppress(RuntimeError):
            found += mechanism.query(SURE)
    return found


# --- values -------------------------------------------------------------------------------------------------------


RISING = {"monotonic": True, "share": Fraction(1, 4)}
MECHANISMS = {
    "AboveThreshold": partial(nb.AboveThreshold, epsilon=3, **RISING),
    "iterated": partial(nb.SparseVector, hits=2, epsilon=20, method="iterated", **RISING),
    "classical": partial(nb.SparseVector, hits=2, epsilon=20, method="classical", **RISING),
}
UNIT = Fraction(1, 2**60)
LONG = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are doubles here")
SCALES = [  # a sensitivity, a threshold, and the query that is k sensitivities above it
    pytest.param(
        UNIT, 1 + 256 * UNIT, lambda k: 1 + (256 + k) * np.longdouble(2) ** -60, id="long doubles", marks=LONG
    ),
    pytest.param("1e-450", 0, lambda k: Decimal(k).scaleb(-450), id="1e-450"),
    pytest.param("1e450", 0, lambda k: Decimal(k).scaleb(450), id="1e450"),
    pytest.param(0.1, 0, lambda k: k * Fraction(0.1), id="0.1"),
]
NEIGHBORS = [((-1, 0), (0, 1)), ((-128, -1), (-127, 0))]


@cache
def law_of_whole_numbers(make, stream):
    return called_law(partial(make, 0), stream)


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize(("sensitivity", "threshold", "query"), SCALES)
def test_queries_of_every_scale_cost_what_is_claimed(sensitivity, threshold, query, make):
    """Values one sensitivity apart lose at most epsilon by their exact laws, which are those of whole numbers."""
    mechanism = partial(make, threshold, sensitivity=sensitivity)
    laws = [[called_law(mechanism, [query(k) for k in stream]) for stream in pair] for pair in NEIGHBORS]
    assert max(loss_between(*pair)[0] for pair in laws) <= mechanism().loss.epsilon
    assert laws == [[law_of_whole_numbers(make, stream) for stream in pair] for pair in NEIGHBORS]
