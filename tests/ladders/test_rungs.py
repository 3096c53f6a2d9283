"""The maps of float-bits and grids: intervals hold their values, and a rung is decided by the record alone."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.ladders import (
    GRIDS,
    MAX,
    NORMAL,
    TINY,
    few,
    finite,
    rung_of,
)

from nobounds.ladders.ladder import Ladder


@pytest.mark.medium
@pytest.mark.parametrize("bits", range(52))
@few
@given(value=finite)
def test_float_bits_intervals_hold_their_values(bits, value):
    """0 < low <= |x| < high for the interval of the rung of |x|, and |x| < high for rung 0; the last holds the end."""
    ladder = Ladder.float_bits(bits)
    size = abs(value)
    rung = rung_of(ladder, size)
    low, high = ladder.map.interval(rung)
    assert size < high or size == MAX == high
    assert (low == -high) if rung == 0 else (0 < low <= size)


@pytest.mark.medium
@pytest.mark.parametrize("bits", range(52))
@few
@given(share=st.fractions(0, 1))
def test_float_bits_intervals_touch(bits, share):
    """Each rung begins where the one before it ends, with 2**bits equal rungs between powers of two."""
    ladder = Ladder.float_bits(bits)
    rung = max(1, round(share * ladder.last))
    low, high = ladder.map.interval(rung)
    assert ladder.map.interval(rung - 1)[1] == low
    assert low <= ladder.map.value(rung) <= high
    if low >= NORMAL and rung < ladder.last:
        assert high - low == Fraction(2) ** (math.frexp(float(low))[1] - 1 - bits)


@pytest.mark.parametrize("bits", [0, 1, 8, 20, 51])
@pytest.mark.parametrize("floor", [-1022, -100, 0])
def test_float_bits_size(bits, floor):
    """2**bits rungs for each exponent from the floor to 1023, on each side, and rung 0."""
    assert Ladder.float_bits(bits, floor).size == 2 * ((1024 - floor) * 2**bits) + 1


@pytest.mark.parametrize("bits", [0, 8, 51])
def test_float_bits_rungs_change_at_the_lower_edge(bits):
    """One float below an edge is the rung below; the edge itself is in the upper rung."""
    ladder = Ladder.float_bits(bits)
    for rung in [1, 2, 3, ladder.last // 3, ladder.last // 2, ladder.last - 1, ladder.last]:
        edge = float(ladder.map.interval(rung)[0])
        assert rung_of(ladder, edge) == rung
        assert rung_of(ladder, math.nextafter(edge, 0)) == rung - 1


def test_float_bits_denormals():
    """What is smaller than 2**floor is 0, denormals always; with 51 bits pairs of floats share a rung."""
    assert rung_of(Ladder.float_bits(8), TINY) == rung_of(Ladder.float_bits(8, -1022), 2.0**-1030) == 0
    assert rung_of(Ladder.float_bits(8), math.nextafter(2.0**-100, 0)) == 0
    assert rung_of(Ladder.float_bits(8), 2.0**-100) == 1
    assert rung_of(Ladder.float_bits(8), -(2.0**-100)) == -1
    step = 2.0**-152
    assert [rung_of(Ladder.float_bits(51), 2.0**-100 + k * step) for k in range(5)] == [1, 1, 2, 2, 3]


@given(value=st.floats(1e-20, 1e300), power=st.integers(-20, 20))
def test_float_bits_are_scale_free(value, power):
    """Scaling by a power of two moves the rung by 2**bits a doubling, wherever the value is."""
    ladder = Ladder.float_bits(8)
    assert rung_of(ladder, math.ldexp(value, power)) == rung_of(ladder, value) + 256 * power


# --- grid ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ladder", GRIDS.values(), ids=GRIDS.keys())
@few
@given(value=finite)
def test_grid_intervals_hold_their_values(ladder, value):
    """low <= x <= high: exactly if the unit is a power of two, else up to the rounding of one division (2**-51)."""
    unit = ladder.map.unit
    if abs(value) / unit >= MAX:
        return
    low, high = ladder.map.interval(rung_of(ladder, value))
    slack = 0 if math.log2(unit).is_integer() else abs(Fraction(value)) / 2**51
    assert low - slack <= value <= high + slack


@pytest.mark.medium
@pytest.mark.parametrize("resolution", [1, 0.01, 0.25, "1e-9", 3])
@pytest.mark.parametrize("bits", [0, 1, 8, 11])
def test_grid_has_one_rung_a_point_near_zero(resolution, bits):
    """The grid points up to 2**bits from 0 each have the rung of their number, and come back as themselves."""
    ladder = Ladder.grid(resolution, bits)
    unit = ladder.map.unit
    for k in range(-(2**bits), 2**bits + 1):
        point = float(k * unit)
        assert rung_of(ladder, point) == k
        assert ladder.value(k) == point


@pytest.mark.parametrize("bits", [0, 1, 8, 11])
@few
@given(share=st.fractions(0, 1))
def test_grid_rungs_far_from_zero_are_narrow(bits, share):
    """Beyond 2**bits points from 0 a rung is at most 2**-bits of its first point wide, and rungs touch."""
    ladder = Ladder.grid("0.01", bits)
    rung = 2**bits + round(share * (ladder.last - 2**bits))
    low, high = ladder.map.interval(rung)
    first_point = low + ladder.map.unit / 2
    assert high - low <= first_point / 2**bits
    assert ladder.map.interval(rung - 1)[1] == low


def test_grid_rungs_are_not_wasted():
    """Far from 0 the rungs of an 8-bit grid are as wide as they may be: 2**-9 to 2**-8 of the value."""
    ladder = Ladder.grid(1)
    for rung in (10_000, 50_000, 200_000):
        low, high = ladder.map.interval(rung)
        assert high - low > low / 2**9


@pytest.mark.medium
def test_cents_come_back_as_themselves():
    """0.00 to 20.47 with 11 bits: every amount that was read from text is returned as the same float."""
    ladder = Ladder.grid(0.01, 11)
    for cents in range(2048):
        amount = float(f"{cents / 100:.2f}")
        for signed in (amount, -amount):
            assert ladder.value(rung_of(ladder, signed)) == signed


def test_cents_that_arithmetic_has_blurred_come_back_clean():
    """A sum such as 0.1 + 0.2 is on the grid of cents up to a rounding error, and is returned without it."""
    assert Ladder.grid(0.01).value(rung_of(Ladder.grid(0.01), 0.1 + 0.2)) == 0.3


def test_whole_numbers_come_back_as_ints():
    """With resolution 1 the answers are of type int, negative ones too; with resolution 0.25 they are floats."""
    ages = Ladder.grid(1)
    for age in range(-511, 512):
        answer = ages.value(rung_of(ages, float(age)))
        assert (answer, type(answer)) == (age, int)
    quarters = Ladder.grid(0.25)
    assert (quarters.value(3), type(quarters.value(3))) == (0.75, float)
    assert Ladder.grid(3).value(5) == 15
    assert (ages.integral, Ladder.grid(3).integral, quarters.integral) == (True, True, False)


def test_tops_of_whole_numbers_are_half_way():
    """The upper edge of the rung of 37 is 37.5, and that of -37 is -36.5: no record of the rung is above it."""
    ages = Ladder.grid(1)
    assert (ages.top(37), ages.top(-37)) == (37.5, -36.5)
    assert rung_of(ages, 37.4) == 37


def test_grid_rungs_of_halves_go_to_the_even_point():
    """A record half-way between two grid points goes to the even one, as IEEE 754 rounds."""
    assert Ladder.grid(1).rungs(np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])).tolist() == [0, 2, 2, 0, -2, -2]


def test_grid_values_beyond_the_last_point_clamp():
    """A quotient too large for a float counts as infinite: the last rung."""
    ladder = Ladder.grid("1e-9")
    assert ladder.rungs(np.array([1e308, -1e308])).tolist() == [ladder.last, ladder.first]
