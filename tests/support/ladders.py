"""Ladders of every kind, and numbers of every kind, for the tests of ladders and of their maps."""

import math
import sys
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings

from nobounds.ladders.ladder import Ladder

MAX, NORMAL, TINY = sys.float_info.max, sys.float_info.min, 5e-324
INF = math.inf

FLOAT_BITS = {f"float-bits {bits}": Ladder.float_bits(bits) for bits in (0, 1, 8, 51)}
GRIDS = {
    f"grid {resolution}, {bits} bits": Ladder.grid(resolution, bits)
    for resolution in (1, 0.01, 0.25, "1e-9", 3)
    for bits in (0, 8, 48)
}
TABLES = {
    "geometric 1.01": Ladder.geometric(1.01),
    "geometric 1.1 from -3": Ladder.geometric(1.1, lower=-3, scale=Fraction(1, 7)),
    "geometric 2 to 1000": Ladder.geometric(2, upper=1000),
    "uniform": Ladder.uniform(-1, 2, 30),
    "given": Ladder.of([-5, "-1/3", 0, 0.1, 7, 1e9]),
}
LADDERS = FLOAT_BITS | GRIDS | TABLES
SYMMETRIC = FLOAT_BITS | GRIDS

SPECIAL = [0.0, -0.0, TINY, -TINY, NORMAL, -NORMAL, 1.0, -1.0, 0.5, 1.5, 2.5, 1e308, -1e308, MAX, -MAX, INF, -INF]

few = settings(max_examples=20, deadline=None)  # there are many ladders
every = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
symmetric = pytest.mark.parametrize("ladder", SYMMETRIC.values(), ids=SYMMETRIC.keys())
finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3000, 3000).map(lambda i: i / 100)
numbers = st.floats(allow_nan=False) | st.sampled_from(SPECIAL) | st.integers(-3000, 3000).map(float)


def rung_of(ladder: Ladder, value: float) -> int:
    return int(ladder.rungs(np.array([value]))[0])
