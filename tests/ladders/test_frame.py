"""Frames: deviations are monotone in the record, and what is released for a rung is the roundest number on it."""

from decimal import Decimal
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.ladders import MAX, NORMAL, SPECIAL, numbers, rung_of

from nobounds.ladders.frame import Frame, Framed, points_of, roundest, roundest_moment
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid
from nobounds.ladders.zoned import Zoned

FRAMES = [
    Frame(0.0, 4),
    Frame(17.3, 0),
    Frame(-1.6e9, -30),
    Frame(1e300, 990),
    Frame(-1e-310, -1070),
    Frame(5e-324, 1020),
    Frame(MAX, -1074),
]
ON_GRIDS = [Frame(37.0, 3, F(1)), Frame(-(2.0**54), 2, F(1, 100)), Frame(0.0, 0, F(3)), Frame(12345.0, 12, F(1, 4))]
RUNGS = {
    "even": Ladder.grid(F(1, 64), 6).map,
    "above": Zoned(((-40, 2), (-8, 6), (2, 3)), 1),
    "below": Zoned(((-40, 2), (-8, 6), (2, 3)), 1, mirrored=True),
}
frames = pytest.mark.parametrize("frame", FRAMES + ON_GRIDS, ids=str)
maps = pytest.mark.parametrize("rungs", RUNGS.values(), ids=RUNGS.keys())


@frames
@given(values=st.lists(numbers, min_size=2, max_size=20))
def test_deviations_are_monotone_in_the_record(frame, values):
    """For all floats, with infinities and subnormal numbers; that of the centre is 0."""
    records = np.sort(np.array([*values, *SPECIAL]))
    away = frame.deviations(records)
    assert not np.isnan(away).any()
    assert np.all(away[1:] >= away[:-1])
    assert away[0] == -np.inf and away[-1] == np.inf
    if frame.unit is None:
        assert frame.deviations(np.array([frame.center]))[0] == 0


@frames
@maps
@given(values=st.lists(numbers, min_size=1, max_size=20))
def test_rungs_of_records_are_monotone_and_those_of_their_deviations(frame, rungs, values):
    """A ladder in a frame is a ladder of records: every float has a rung of it."""
    framed = Framed(frame, rungs)
    records = np.sort(np.array([*values, *SPECIAL]))
    placed = framed.of(records)
    assert np.all(np.diff(placed) >= 0)
    first, last = framed.ends
    assert np.all((placed >= first - 1) & (placed <= last + 1))
    assert np.array_equal(placed, rungs.of(frame.deviations(records)))


def digits_of(value):
    """How many significant digits a number has."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits) if value else 0


def fewest_digits(low, high):
    """By brute force: the fewest digits of a number from `low` to `high`, both exact."""
    if low <= 0 <= high:
        return 0
    low, high = sorted((abs(low), abs(high)))
    for digits in range(1, 18):
        for power in range(-30, 30):
            if 10 ** (digits - 1) <= (m := -(-low // F(10) ** power)) < 10**digits and m * F(10) ** power <= high:
                return digits
    raise AssertionError("no number with 17 digits")


normal = numbers.filter(lambda x: x == 0 or 2 * NORMAL < abs(x) <= MAX)
decimals = st.integers(-(10**6), 10**6).flatmap(lambda m: st.integers(-6, 6).map(lambda p: float(f"{m}e{p}")))


@given(decimals | st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9), st.floats(1e-6, 1e3))
def test_the_roundest_number_lies_between_and_has_the_fewest_digits(low, width):
    """Against brute force over all numbers of each length."""
    high = low + width * max(abs(low), 1e-9)
    value = float(roundest(np.array([low]), np.array([high]))[0])
    assert low <= value <= high
    assert digits_of(value) == fewest_digits(F(low), F(high))


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        (-1.0, 2.0, 0.0),
        (0.0, 0.0, 0.0),
        (36.7, 37.4, 37.0),
        (0.1234, 0.1239, 0.1236),
        (95.0, 105.0, 100.0),
        (-1234.6, -1233.9, -1234.0),
        (299_990.0, 300_020.0, 300_000.0),
        (3.0, 3.0, 3.0),
        (1e300, 1.2e300, 1e300),
    ],
)
def test_round_numbers_are_those_that_a_reader_expects(low, high, value):
    """Zero first, then as few digits as there can be, near the middle."""
    got = float(roundest(np.array([low]), np.array([high]))[0])
    assert got == pytest.approx(value, rel=1e-15) and low <= got <= high


@given(normal, normal)
def test_some_number_is_round_wherever_an_interval_lies(one, other):
    """Never outside of its interval, for any two normal floats."""
    low, high = sorted((one, other))
    value = roundest(np.array([low]), np.array([high]))[0]
    assert np.isfinite(value) and low <= value <= high


@maps
@pytest.mark.parametrize("frame", FRAMES[:4], ids=str)
def test_the_value_of_a_rung_lies_on_it(frame, rungs):
    """The edges in the frame hold the value, and the rung of the value is the rung or, at an edge, its neighbour."""
    framed = Framed(frame, rungs)
    first, last = rungs.ends
    for rung in np.unique(np.concatenate([np.linspace(first, last, 60).astype(int), np.arange(-40, 41)])).tolist():
        low, high = framed.interval(rung)
        assert low <= framed.value(rung) <= high
        assert float(framed.value(rung)) == framed.floats(np.array([rung]))[0]
        if low < high and abs(framed.value(rung)) < MAX:
            assert abs(rung_of(Ladder(framed, first, last), float(framed.value(rung))) - rung) <= 1


@maps
@pytest.mark.parametrize("frame", ON_GRIDS, ids=str)
def test_values_on_a_grid_are_points_of_it(frame, rungs):
    """A rung of deviations is answered by a whole number of units: the roundest, or the last that a walk has passed."""
    which = np.arange(max(rungs.ends[0], -300), min(rungs.ends[1], 300))
    low, high = frame.ends(rungs, which)
    for passed in (None, True, False):
        points = frame.values(rungs, which, passed)
        assert np.array_equal(points, np.rint(points))
        assert np.all((low - 1 <= points) & (points <= high + 1))
        if passed is not None:
            assert np.all(np.diff(points) >= 0)


@given(st.integers(-(2**53), 2**53), st.sampled_from([F(1), F(1, 100), F(1, 3), F(7)]))
def test_records_on_a_grid_are_whole_numbers_of_units(point, unit):
    """Exactly, for all points below 2**50 of a unit that a float can only come near to."""
    point = point // 8
    value = float(point * unit)
    assert points_of(np.array([value]), unit)[0] == point
    assert points_of(np.array([value]), None)[0] == value


def test_a_scale_on_a_grid_may_be_raised():
    """So that steps of 2**-bits of it are points or more; for one frame and for those of many groups."""
    assert Frame(5.0, 3, F(1)).at_least(6).octave == 6
    assert Frame(5.0, 8, F(1)).at_least(6).octave == 8
    many = Frame(np.array([5.0, 6.0]), np.array([3, 8]), F(1)).at_least(6)
    assert many.octave.tolist() == [6, 8] and many.center.tolist() == [5.0, 6.0]


def test_frames_of_groups_are_those_of_each():
    """Deviations of records that are laid out group after group."""
    many = Frame(np.array([5.0, -2.0, 1e9]), np.array([3, 0, -5]))
    values = np.array([1.0, 5.5, 7.0, 1e9 + 3, 2.0])
    sizes = np.array([2, 0, 3])
    together = many.repeated(sizes).deviations(values)
    alone = [Frame(5.0, 3).deviations(values[:2]), Frame(1e9, -5).deviations(values[2:])]
    assert together.tolist() == np.concatenate(alone).tolist()
    assert many.of_group(np.array([2, 0])).center.tolist() == [1e9, 5.0]


def test_equal_steps_around_the_centre_hold_equal_deviations():
    """A choice has rungs of one width within a scale of the centre, wherever that is."""
    bits = 6
    framed = Framed(Frame(1000.0, 2), Grid(F(1, 2**bits), bits))
    widths = {framed.interval(rung)[1] - framed.interval(rung)[0] for rung in range(-(2**bits) + 1, 2**bits)}
    assert widths == {F(4, 2**bits)}


def test_the_roundest_moment_is_a_day_an_hour_or_a_minute():
    """Whatever lies between, in seconds or in units of ten of them; the middle if nothing rounder does."""
    day = 86_400
    for low, high, unit, moment in [
        (day - 10, day + 7000, 1, day),
        (3000, 4000, 1, 3600),
        (3610, 3719, 1, 3660),
        (360, 371, 10, 360),
        (3601, 3603, 1, 3602),
        (-4000, -3000, 1, -3600),
    ]:
        found = roundest_moment(np.array([float(low)]), np.array([float(high)]), F(unit))
        assert found.tolist() == [moment]


def test_the_roundest_number_of_one_rung_is_that_of_many():
    """One pair of ends is rounded without arrays, and many at once; both have the same number."""
    drawn = np.random.default_rng(4)
    low = drawn.normal(0, 1, 3000) * 10.0 ** drawn.uniform(-300, 300, 3000)
    high = low + np.abs(low) * 10.0 ** drawn.uniform(-16, 1, 3000)
    low, high = np.append(low, [-1.0, 0.0, 999.5, -np.pi]), np.append(high, [1.0, 5.0, 1000.5, -3.0])
    alone = [float(roundest(low[k : k + 1], high[k : k + 1])[0]) for k in range(len(low))]
    assert alone == roundest(low, high).tolist()


@maps
@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_the_value_of_one_rung_is_that_among_many(frame, rungs):
    """The value of one rung is found without arrays, out to rungs that lie beyond the floats."""
    first, last = rungs.ends
    which = np.unique(np.concatenate([np.linspace(first, last, 60).astype(np.int64), np.arange(-40, 41)]))
    alone = [float(frame.values(rungs, which[k : k + 1])[0]) for k in range(len(which))]
    assert alone == frame.values(rungs, which).tolist()
