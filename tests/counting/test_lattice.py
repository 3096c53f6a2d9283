"""Exact sums on a lattice: one record changes them by no more than is stated, and no order or chunk changes them."""

import math
import random
import sys
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.counting.lattice import Lattice, Squares, totals
from nobounds.engines.memory.arrays import column

MAX = sys.float_info.max
TINY = 5e-324
ODD = [
    0.0,
    -0.0,
    1.0,
    0.1,
    1e308,
    -1e308,
    MAX,
    -MAX,
    TINY,
    -TINY,
    math.inf,
    -math.inf,
    2.0**63,
    -(2.0**63),
    2.0**53 + 2,
]
VALUES = st.one_of(st.floats(allow_nan=False), st.sampled_from(ODD), st.floats(-1000, 1000))
MAYBE = st.one_of(VALUES, st.just(math.nan))
ENDS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1000, 1000), st.integers(-(2**63), 2**63))


@st.composite
def lattices(draw):
    """Lattices of any clip: wide, narrow, far from 0, or a single point; of floats, or of whole numbers."""
    low, high = sorted((F(draw(ENDS)), F(draw(ENDS))))
    if draw(st.booleans()):
        high = low + F(draw(st.floats(0, 10)))
    integral = draw(st.booleans())
    return Lattice.of(F(math.floor(low)), F(math.floor(high)), True) if integral else Lattice.of(low, high, False)


def steps_of(lattice, values):
    """The steps of some values, as Python's own numbers."""
    return [int(k) for k in lattice.steps(np.array(values, dtype=float))]


def exactly(lattice, value):
    """The value kept between the ends of the lattice, as a rational."""
    low, high = lattice.low * lattice.step, (lattice.low + lattice.width) * lattice.step
    return low if value == -math.inf else high if value == math.inf else min(max(F(value), low), high)


@pytest.mark.medium
@given(lattices(), st.lists(VALUES, max_size=30))
def test_steps_stay_within_the_width(lattice, values):
    """Whatever the record, its whole number is between 0 and the width, and its value at most `largest` from 0."""
    for k in steps_of(lattice, values):
        assert 0 <= k <= lattice.width
        assert abs(lattice.low + k) <= lattice.largest
    assert {0, lattice.width} == set(steps_of(lattice, [-math.inf, math.inf]))


@pytest.mark.medium
@given(lattices(), st.lists(MAYBE, max_size=30), MAYBE, MAYBE)
def test_one_record_changes_the_sum_by_no_more_than_the_width(lattice, values, one, other):
    """To change a record changes the sum by at most the width; to add one, by at most the largest magnitude."""
    rest, mine, yours = (
        totals([np.array(data, dtype=float)], lattice.steps) for data in (values, [*values, one], [*values, other])
    )
    if not math.isnan(one) and not math.isnan(other):
        assert mine[0] == yours[0] and abs(mine[1] - yours[1]) <= lattice.width
    around = [count * lattice.low + total for count, total in (rest, mine)]
    assert abs(around[1] - around[0]) <= lattice.largest
    assert mine[0] - rest[0] == (not math.isnan(one))


def test_the_width_and_the_largest_are_reached():
    """Both bounds are sharp: the ends of a clip differ by the width, and one of them has the largest magnitude."""
    for low, high in [(-3, 5), (F(1, 3), F(2, 3)), (-(10**300), -1), (10**6, 10**6 + 1)]:
        lattice = Lattice.of(F(low), F(high), False)
        first, last = steps_of(lattice, [-math.inf, math.inf])
        assert last - first == lattice.width
        assert max(abs(lattice.low + first), abs(lattice.low + last)) == lattice.largest


@pytest.mark.medium
@given(lattices(), st.lists(VALUES, max_size=40))
def test_the_sum_is_right_to_half_a_step_a_record(lattice, values):
    """The sum of steps differs from the exact sum of the clipped records by at most half a step each."""
    count, total = totals([np.array(values, dtype=float)], lattice.steps)
    exact = sum((exactly(lattice, value) for value in values), F(0))
    assert abs((total + lattice.low * count) * lattice.step - exact) <= F(count, 2) * lattice.step


@pytest.mark.medium
@given(st.integers(-20, 45), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_record_goes_to_its_nearest_step(octave, values):
    """The whole number of a record within the clip is that of its exact value, rounded half to even."""
    lattice = Lattice.of(F(-(2**20)), F(2**20), False) if octave < 0 else Lattice(octave - 20, -(2**40), 2**41)
    for value, k in zip(values, steps_of(lattice, values), strict=True):
        assert lattice.low + k == round(exactly(lattice, value) / lattice.step)


def test_many_records_are_summed_without_rounding():
    """Records of nearly 2**40 steps have the sum that Python's integers give, beyond 2**53."""
    values = np.random.default_rng(2).uniform(0.9, 1, 200_000)
    lattice = Lattice.of(F(0), F(1), False)
    assert totals([values], lattice.steps) == [len(values), sum(lattice.steps(values).tolist())]


def test_records_with_counts_are_those_records_many_times():
    """A value that is there k times adds k times its whole number, with all of its bits; missing ones add nothing."""
    lattice, values = Lattice.of(F(-1000), F(1000), False), np.array([999.9, -0.3, math.nan, 1e-9])
    counts = np.array([3, 10**9, 5, 7])
    number, total = totals([(values, counts)], lattice.steps)
    whole = lattice.steps(values[~np.isnan(values)]).tolist()
    assert number == 3 + 10**9 + 7
    assert total == sum(times * steps for times, steps in zip((3, 10**9, 7), whole, strict=True))


@pytest.mark.medium
@given(ENDS, ENDS, st.booleans())
def test_a_lattice_covers_its_clip_and_hardly_more(one, other, integral):
    """It begins and ends within a step of the clip; it has enough steps, and few enough for floats to hold them."""
    low, high = sorted((F(one), F(other)))
    lattice = Lattice.of(low, high, integral)
    first, last = lattice.low * lattice.step, (lattice.low + lattice.width) * lattice.step
    assert first <= low < first + lattice.step
    assert last - lattice.step <= high <= last
    assert 1 <= lattice.width <= 2**40 + 1
    assert lattice.largest <= 2**51 + 1
    if not integral and high > low:
        narrow = (high - low) / max(abs(low), abs(high)) < F(1, 2**11)
        assert lattice.width >= 2**39 or narrow or high - low < F(2) ** -1073
    assert not integral or lattice.exponent >= 0


@pytest.mark.medium
@given(st.lists(st.integers(-(10**6), 10**6), max_size=50), st.integers(-1000, 0), st.integers(1, 2000))
def test_integers_are_summed_exactly(values, low, high):
    """On the lattice of a clip of integers the sum is that of Python's own integers."""
    lattice = Lattice.of(F(low), F(high), True)
    assert (lattice.exponent, lattice.low, lattice.width) == (0, low, high - low)
    count, total = totals([np.array(values, dtype=float)], lattice.steps)
    assert total + low * count == sum(min(max(value, low), high) for value in values)


@pytest.mark.medium
@given(lattices(), st.lists(MAYBE, max_size=60), st.integers(0, 10**6), st.integers(1, 7))
def test_order_and_chunks_do_not_matter(lattice, values, seed, size):
    """Any permutation in any chunks has the same number of records and the same sums."""
    squares = Squares(lattice, lattice.width // 3)
    data = np.array(values, dtype=float)
    whole = totals([data], lattice.steps, squares.steps)
    shuffled = data.copy()
    np.random.default_rng(seed).shuffle(shuffled)
    chunks = [shuffled[k : k + size] for k in range(0, len(data), size)]
    assert totals(chunks, lattice.steps, squares.steps) == whole
    assert totals([*chunks[::-1], np.zeros(0)], lattice.steps, squares.steps) == whole
    assert whole[0] == np.count_nonzero(~np.isnan(data))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.float16, np.float32, np.float64])
def test_dtypes_do_not_matter(dtype):
    """The same numbers in any type that holds them have the same sums, and so do strided arrays."""
    values = np.random.default_rng(1).integers(0, 100, 40_000)
    lattice = Lattice.of(F(-7, 2), F(90), False)
    expected = totals([values.astype(float)], lattice.steps)
    assert totals(column(values.astype(dtype)).chunks(), lattice.steps) == expected
    assert totals(column(np.repeat(values.astype(dtype), 2)[::2]).chunks(), lattice.steps) == expected
    assert totals(column([int(value) for value in values]).chunks(), lattice.steps) == expected


@pytest.mark.parametrize(
    ("values", "low", "high", "integral"),
    [
        (np.array([-(2**63), 2**63 - 1, 2**62] * 20_000), -(2**63), 2**63, True),
        (np.full(70_000, 2**64 - 1, dtype=np.uint64), 0, 2**64, True),
        (np.full(70_000, 1e308), -(10**308), 10**308, False),
        (np.full(70_000, MAX), F(-MAX) * 2, F(MAX) * 2, False),
        (np.full(70_000, math.inf), 0, 2**1023, False),
        (np.full(70_000, TINY), 0, F(TINY) * 2, False),
        (np.full(70_000, -1e308), 0, F(TINY), False),
    ],
    ids=["int64", "uint64", "1e308", "largest", "infinite", "denormal", "far below"],
)
def test_nothing_overflows(values, low, high, integral):
    """Seventy thousand of the largest numbers that there are have the sum that Python's integers give."""
    lattice = Lattice.of(F(low), F(high), integral)
    count, total = totals(column(values).chunks(), lattice.steps)
    kinds, counts = np.unique(values, return_counts=True)
    floats = [float(kind) for kind in kinds]
    expected = sum(k * int(n) for k, n in zip(steps_of(lattice, floats), counts, strict=True))
    assert (count, total) == (len(values), expected)
    exact = sum((exactly(lattice, x) * int(n) for x, n in zip(floats, counts, strict=True)), F(0))
    assert abs((total + lattice.low * count) * lattice.step - exact) <= F(count, 2) * lattice.step


def test_a_sum_hides_what_rounding_of_floats_would_show():
    """In floats 2**53 + 1 - 2**53 is 0 or 1 by the order; on the lattice all orders have one sum."""
    values, lattice = [2.0**53, 1.0, -(2.0**53)], Lattice.of(F(-(2**53)), F(2**53), False)
    assert len({math.fsum([values[0] + values[1], values[2]]), math.fsum([values[0] + values[2], values[1]])}) == 2
    found = set()
    for seed in range(20):
        random.Random(seed).shuffle(values)
        found.add(totals([np.array(values)], lattice.steps)[1])
    assert len(found) == 1


# --- squares ------------------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(lattices(), st.lists(VALUES, min_size=1, max_size=30), st.floats(0, 1))
def test_squares_are_whole_numbers_up_to_their_width(lattice, values, share):
    """Each is between 0 and the width, and right to 2**-38 of the largest square."""
    center = round(lattice.width * share)
    squares = Squares(lattice, center)
    far = max(center, lattice.width - center, 1)
    assert squares.radius == far * lattice.step
    for k, square in zip(steps_of(lattice, values), squares.steps(np.array(values)), strict=True):
        assert 0 <= square <= squares.width
        assert abs(F(int(square), squares.width) - F(k - center, far) ** 2) <= F(1, 2**38)


def test_one_record_changes_squares_by_their_width_at_most():
    """The farthest record has the square `width`, one at the centre 0."""
    lattice = Lattice.of(F(-10), F(30), False)
    squares = Squares(lattice, lattice.width // 4)  # the centre is at 0
    found = squares.steps(np.array([0.0, 30.0, math.inf, -10.0, 15.0]))
    assert found.tolist() == pytest.approx([0, squares.width, squares.width, squares.width / 9, squares.width / 4])


@pytest.mark.parametrize("chunks", [1, 3])
def test_no_records_have_no_sums(chunks):
    """No chunks, empty chunks and missing records have the sum 0."""
    lattice = Lattice.of(F(-1), F(1), False)
    assert totals([], lattice.steps) == [0, 0]
    assert totals([np.zeros(0)] * chunks, lattice.steps) == [0, 0]
    assert totals([np.full(5, math.nan)] * chunks, lattice.steps, lattice.steps) == [0, 0, 0]
    assert totals([np.zeros(5)] * chunks) == [5 * chunks]
