"""The public prior: masses are those of all decimals that round to a double, and numbers are drawn by them."""

import math
import random
from collections import Counter
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from support.laws import chi_square

from nobounds.core.prior import TOP, ZERO, Prior, float_of, floats_of, key_of, keys_of, prior_of
from nobounds.mechanisms.choice import drawn

REAL, WHOLE = Prior(), Prior(True)
BOTH = pytest.mark.parametrize("prior", [REAL, WHOLE, Prior(True, -2)], ids=["real", "whole", "cents"])
MAX = float_of(TOP)


def weight(decade):
    """What a decimal of 17 digits weighs in a decade: Cauchy about the tens, half as much 2.5 decades away."""
    return int(2**30 * 6.25 / (6.25 + (decade - 1) ** 2))


def decimals_that_round_to(x):
    """The masses of all decimals of 1 to 17 digits that round to a positive double, ties to even."""
    low, high = ((F(math.nextafter(x, end)) + F(x)) / 2 for end in (0, math.inf))
    even = key_of(x) % 2 == 0
    for decade in range(math.floor(math.log10(x)) - 1, math.floor(math.log10(x)) + 2):
        for digits in range(1, 18):
            step = F(10) ** (decade - digits + 1)
            for number in range(math.ceil(low / step), math.floor(high / step) + 1):
                inside = low < number * step < high or (even and number * step in (low, high))
                if inside and 10 ** (digits - 1) <= number < 10**digits:
                    yield weight(decade) * 10 ** (17 - digits)


def keys_at_random(many, seed=0):
    """Keys of all sizes and signs."""
    source = random.Random(seed)
    return sorted(source.choice((-1, 1)) * source.randrange(TOP + 1) >> source.randrange(63) for _ in range(many))


@pytest.mark.parametrize(
    "x",
    [
        1.0,
        40.0,
        0.1,
        0.25,
        39.817264,
        math.nextafter(10, 0),
        10.0,
        1e22,
        2.0**53 + 2,
        1e23,
        1e-5,
        123456.789,
        2.0**-1022,
    ],
)
def test_a_double_weighs_all_decimals_that_round_to_it(x):
    """Exactly, as a whole number."""
    key = key_of(x)
    assert REAL.mass(key, key) == REAL.mass(-key, -key) == sum(decimals_that_round_to(x))


@pytest.mark.parametrize(
    ("key", "decade", "low", "high"),
    [(TOP, 308, F(MAX) - F(2) ** 970, F(MAX) + F(2) ** 970), (1, -324, F(2) ** -1075, 3 * F(2) ** -1075)],
)
def test_decimals_that_become_nothing_or_infinite_are_dropped(key, decade, low, high):
    """The largest double weighs the decimals half a step around it, and so does the smallest."""
    steps = [F(10) ** (decade - digits) for digits in range(17)]
    numbers = [math.ceil(high / step) - math.ceil(low / step) for step in steps]
    assert REAL.mass(key, key) == sum(n * weight(decade) * 10 ** (16 - k) for k, n in enumerate(numbers))


@BOTH
def test_masses_add_up_and_are_alike_on_both_sides_of_zero(prior):
    """An interval weighs what its halves do, and so does its mirror image; 0 weighs 1/20 of the whole."""
    keys = keys_at_random(300)
    for first, middle, last in zip(keys, keys[1:], keys[2:], strict=False):
        assert prior.mass(first, last) == prior.mass(first, middle) + prior.mass(middle + 1, last)
        assert prior.mass(first, last) == prior.mass(-last, -first)
    whole = prior.mass(-TOP, TOP)
    assert abs(F(prior.mass(0, 0), whole) - F(1, ZERO)) < F(1, 10**9)
    assert prior.mass(5, 4) == 0


def test_every_double_weighs_something_and_short_ones_weigh_more():
    """Each double is the nearest to a decimal of 17 digits at least."""
    assert all(REAL.mass(key, key) > 0 for key in keys_at_random(2000, 1))
    masses = [REAL.mass(key_of(x), key_of(x)) for x in (40.0, 41.0, 41.2, 39.81, 39.817264, 39.817264123)]
    assert masses == sorted(masses, reverse=True)


def test_whole_numbers_alone_weigh_something_on_a_grid():
    """Between two of them there is nothing; numbers of one digit share what a decade weighs, with those of two."""
    masses = {x: WHOLE.mass(key_of(float(x)), key_of(float(x))) for x in range(1, 100)}
    assert all(masses[x] == masses[1] for x in range(1, 10))
    assert all(masses[x] == (masses[20] if x % 10 == 0 else masses[21]) for x in range(10, 100))
    assert masses[20] == 11 * masses[21]  # of one digit and of two
    assert F(sum(masses[x] for x in range(10, 100)), sum(masses[x] for x in range(1, 10))) == F(weight(1), weight(0))
    assert WHOLE.mass(key_of(7.0) + 1, key_of(8.0) - 1) == WHOLE.mass(1, key_of(1.0) - 1) == 0


@BOTH
def test_masses_in_floats_are_those_in_whole_numbers(prior):
    """To a relative error of 2**-45, in gaps of all lengths."""
    generator = np.random.default_rng(0)
    numbers = np.concatenate([generator.normal(0, 3, 200), np.round(generator.lognormal(3, 1, 200), 2), [0, 1e300]])
    keys = np.unique(np.concatenate([keys_of(numbers), keys_at_random(100, 2)]))
    first, last = np.concatenate([keys[:-1] + 1, keys]), np.concatenate([keys[1:] - 1, keys])
    first, last = first[first <= last], last[first <= last]
    for a, b, mass in zip(first.tolist(), last.tolist(), prior.masses(first, last).tolist(), strict=True):
        exact = prior.mass(a, b)
        assert abs(F(mass) - exact) <= F(exact, 2**45)


@pytest.mark.medium
@BOTH
@pytest.mark.parametrize("middle", [0.125, 0.0, 10.0, 1e15])
def test_numbers_are_drawn_as_they_weigh(prior, middle):
    """6,000 draws from a few numbers: around a power of two, 0, a power of ten, and where floats are eighths."""
    first = key_of(middle) - (3 if middle != 10 else 5 << 48)
    last = key_of(middle) + (3 if middle != 10 else 5 << 48)
    source = random.Random(1).getrandbits
    if not prior.mass(first, last):
        return
    numbers = Counter(drawn(prior, first, last, source) for _ in range(6000))
    if middle == 10:  # the whole numbers, and others in between
        keys = [key_of(float(x)) for x in range(8, 13)]
        edges = [first, *(edge for key in keys for edge in (key, key + 1) if first < edge <= last), last + 1]
        stretches = list(pairwise(edges))
    else:
        stretches = [(key, key + 1) for key in range(first, last + 1)]
    seen = [sum(n for key, n in numbers.items() if a <= key < b) for a, b in stretches]
    masses = [prior.mass(a, b - 1) for a, b in stretches]
    assert chi_square(seen, masses) > 1e-9


@BOTH
def test_draws_stay_in_their_interval(prior):
    """However short it is and wherever it lies, at the ends of the floats too."""
    source = random.Random(2).getrandbits
    for a, b in zip(keys_at_random(1500, 3), keys_at_random(1500, 4), strict=True):
        first, last = min(a, b), max(a, b)
        if prior.mass(first, last):
            assert first <= drawn(prior, first, last, source) <= last
    assert drawn(REAL, TOP, TOP, source) == -drawn(REAL, -TOP, -TOP, source) == TOP
    assert drawn(REAL, 0, 0, source) == 0


def test_keys_are_in_the_order_of_the_floats():
    """Each float has one, that of -x is minus that of x, and -0 is 0."""
    values = np.sort(np.concatenate([np.random.default_rng(3).normal(0, 1, 100), [0.0, MAX, -MAX, 5e-324, -5e-324]]))
    keys = keys_of(values)
    assert np.array_equal(floats_of(keys), values) and np.all(np.diff(keys) > 0)
    assert np.array_equal(keys_of(-values), -keys)
    assert key_of(-0.0) == 0 and math.copysign(1, float_of(0)) == 1
    assert key_of(math.inf) > TOP


@pytest.mark.parametrize(("unit", "shift"), [(F(1), 0), (F(1, 100), -2), (F(1000), 3)])
def test_the_decades_of_multiples_are_those_of_the_numbers(unit, shift):
    """The heaviest decade is that of 10 to 99, whatever the unit is."""
    prior = prior_of(unit)
    assert (prior.whole, prior.shift) == (True, shift)
    decades = range(0, 9)
    masses = [prior.mass(key_of(float(10**k)), key_of(float(10 ** (k + 1))) - 1) for k in decades]
    assert max(decades, key=masses.__getitem__) == max(1 - shift, 0)
