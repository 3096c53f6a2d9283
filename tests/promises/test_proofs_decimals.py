"""docs/proofs/decimals.md: what a double weighs, that all masses are whole numbers, and that draws follow them."""

import itertools
import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from nobounds.core.prior import DECADE, DIGITS, TOP, WIDTH_SQUARED, ZERO, Prior, key_of

PRIOR = Prior()
NUMBERS = [1.0, 0.1, 0.25, 9.999999999999998, 10.0, 1990.0, 39.817264, 123456.789, 1e22, 5e-324, 2.0**-1022, 1.7e308]


def weight(decade):
    return int((1 << 30) * WIDTH_SQUARED / (WIDTH_SQUARED + (decade - DECADE) ** 2))


def by_counting(x):
    """What the decimals that are read as x weigh, one by one, by Python's own reading of decimals."""
    total, decade = 0, int(f"{x:.16e}".partition("e")[2])
    for k in (decade - 1, decade, decade + 1):
        for d in range(1, DIGITS + 1):
            step = F(10) ** (k - d + 1)
            middle = round(F(x) / step)
            # A double of 53 bits has at most 23 decimals of 17 digits.
            near = range(max(middle - 40, 10 ** (d - 1)), min(middle + 41, 10**d))
            total += sum(float(f"{i}e{k - d + 1}") == x for i in near) * weight(k) * 10 ** (DIGITS - d)
    return total


@pytest.mark.parametrize("x", [x for x in NUMBERS if x > 1e-300])
def test_a_double_weighs_as_much_as_its_decimals(x):
    """Counted one by one, with no half-way point and no telescoping sum."""
    key = key_of(x)
    assert PRIOR.mass(key, key) == by_counting(x)


def test_every_double_weighs_something():
    """Each is the one nearest to a decimal of 17 digits: of all sizes, and on both sides."""
    keys = np.random.default_rng(0).integers(-TOP, TOP + 1, 2000).tolist()
    assert all(PRIOR.mass(key, key) > 0 for key in [*keys, -TOP, -1, 0, 1, TOP])


def test_parts_add_up_and_both_signs_weigh_the_same():
    """The mass of an interval is that of its parts, exactly, and 0 weighs one part in twenty of the whole."""
    cuts = sorted(key_of(sign * x) for x in NUMBERS for sign in (-1, 1))
    ends = [-TOP - 1, *cuts, TOP]
    assert sum(PRIOR.mass(a + 1, b) for a, b in itertools.pairwise(ends)) == PRIOR.mass(-TOP, TOP)
    assert all(PRIOR.mass(key_of(x), TOP) == PRIOR.mass(-TOP, key_of(-x)) for x in NUMBERS)
    assert 0 <= PRIOR.mass(-TOP, TOP) - ZERO * PRIOR.zero < ZERO


def test_masses_in_doubles_have_the_stated_error():
    """Below 2**-45 of the exact mass, for single numbers, short intervals and long ones."""
    rng = np.random.default_rng(1)
    first = np.concatenate([rng.integers(-TOP, TOP, 300), [key_of(x) for x in NUMBERS], [-TOP]])
    last = np.minimum(first + rng.integers(0, 2, len(first)) * (1 << rng.integers(0, 62, len(first))), TOP)
    last[-1] = TOP
    for a, b, mass in zip(first.tolist(), last.tolist(), PRIOR.masses(first, last).tolist(), strict=True):
        exact = PRIOR.mass(a, b)
        assert abs(F(mass) - exact) <= F(exact, 2**45)


def test_draws_weigh_what_they_should():
    """From -2 to 10: single round numbers, what lies between them, and 0, in 20,000 draws."""
    source = random.Random(0).getrandbits
    points = [key_of(x) for x in (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 5.0, 10.0)]
    drawn = np.array([PRIOR.drawn(points[0], points[-1], source) for _ in range(20_000)])
    single = [(p, p) for p in points]
    between = [(a + 1, b - 1) for a, b in itertools.pairwise(points)]
    cells = sorted(single + between)
    counts = [int(((drawn >= a) & (drawn <= b)).sum()) for a, b in cells]
    whole = PRIOR.mass(points[0], points[-1])
    expected = [len(drawn) * float(F(PRIOR.mass(a, b), whole)) for a, b in cells]
    assert min(expected) > 10
    assert stats.chisquare(counts, expected).pvalue > 1e-9


def test_whole_numbers_have_as_many_digits_as_they_need():
    """On a grid decades weigh what their weights say, although decade k has only k + 1 numbers of digits."""
    whole = Prior(whole=True)
    masses = [whole.mass(key_of(10.0**k), key_of(10.0 ** (k + 1) - 1)) for k in range(5)]
    assert [F(m, masses[0]) for m in masses] == [F(weight(k), weight(0)) for k in range(5)]
    assert whole.mass(key_of(1.0) + 1, key_of(2.0) - 1) == 0
