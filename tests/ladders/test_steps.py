"""Ladders of walks in a frame: they cover all deviations, and tilts change at octaves in the order of the walk."""

from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.ladders.frame import Frame
from nobounds.ladders.steps import inward_cuts, octave_ladder, on_points, outward_cuts, step_bits, walk_ladder

LADDERS = {
    f"{name} {bits}, {'below' if mirrored else 'above'}": make(bits, mirrored)
    for name, make in (("walk", walk_ladder), ("octaves", octave_ladder))
    for bits in (0, 2, 7)
    for mirrored in (False, True)
}
every = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())


@every
def test_every_deviation_has_a_rung(ladder):
    """Rungs meet from the largest float below the centre to that above, and few lie on the other side."""
    low, high = ladder.map.edges(np.arange(ladder.first, ladder.last + 1))
    assert np.array_equal(high[:-1], low[1:]) and high[-1] == -low[0] == np.finfo(float).max
    assert min(ladder.last, -ladder.first) < 2500


@pytest.mark.parametrize("bits", [0, 3, 9])
def test_steps_are_as_fine_as_the_bits_say_around_the_scale(bits):
    """2**bits rungs from one scale to two, and never more farther out."""
    rungs = walk_ladder(bits, False).map
    assert rungs.at(1) - rungs.at(0) == 2**bits
    many = [rungs.at(octave + 1) - rungs.at(octave) for octave in range(0, 1000)]
    assert many == sorted(many, reverse=True) and many[-1] >= 1


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("bits", [0, 2, 7])
def test_tilts_change_where_octaves_do(bits, mirrored):
    """In rising positions of the walk, each the first rung of an octave on the way out, or the last on the way in."""
    ladder, octaves = walk_ladder(bits, mirrored), octave_ladder(bits, mirrored)
    sign = -1 if mirrored else 1
    outermost = ladder.first if mirrored else ladder.last
    for position in outward_cuts(octaves):
        low, high = octaves.map.interval(sign * position)
        assert np.frexp(float(-high if mirrored else low))[0] == 0.5
    for position in inward_cuts(ladder):
        low, high = ladder.map.interval(outermost - sign * (position - 1))
        assert np.frexp(float(-high if mirrored else low))[0] == 0.5
    for cuts, on in ((outward_cuts(octaves), octaves), (inward_cuts(ladder), ladder)):
        assert list(cuts) == sorted(set(cuts)) and cuts[0] > 0 and cuts[-1] < on.size


@pytest.mark.parametrize("most", [3, 40])
def test_bits_make_steps_of_about_so_many_octaves(most):
    """Within a factor of the square root of two, unless more than the most are needed."""
    for octaves in (1.0, 0.25, 0.3, 1e-3, 1e-9, 5.0):
        bits = step_bits(octaves, most)
        assert 0 <= bits <= most
        if 0 < bits < most:
            assert 2**-0.5 <= octaves * 2**bits <= 2**0.5


@pytest.mark.parametrize("octave", [-300, -3, 0, 5, 40])
@every
def test_on_a_grid_no_octave_has_more_rungs_than_points(ladder, octave):
    """Rungs still meet, the steps of octaves with many points are as before, and a rung is a whole number of points."""
    fewer = on_points(ladder, octave)
    test_every_deviation_has_a_rung(fewer)
    assert fewer.size <= ladder.size
    for here in range(max(0, -octave), 60):
        many, most = (on.map.at(here + 1) - on.map.at(here) for on in (fewer, ladder))
        assert many == min(most, 2 ** (here + octave))
    for cuts in (inward_cuts(fewer), outward_cuts(fewer)):
        assert list(cuts) == sorted(cuts) and cuts[0] >= 0 and cuts[-1] < fewer.size


@pytest.mark.parametrize("octave", [0, 5])
@every
def test_on_a_grid_the_answer_of_a_rung_is_a_point_on_it(ladder, octave):
    """For every rung that holds a point, above the centre and below; and every point has a rung."""
    frame = Frame(12_345.0, octave, F(1))
    fewer = on_points(ladder, octave)
    points = np.arange(12_345.0 - 2000, 12_345.0 + 2000)
    which = np.unique(fewer.rungs(frame.deviations(points)))
    for passed in (None, True, False):
        answers = frame.values(fewer.map, which, passed)
        assert np.array_equal(fewer.rungs(frame.deviations(answers)), which)
        assert np.all(np.diff(answers) > 0)


@pytest.mark.parametrize("octave", [0, 2])
@every
def test_a_rung_between_two_points_has_the_one_that_a_walk_has_passed(ladder, octave):
    """Going up it is the last point on that rung or a lower one, and going down the first on it or a higher one."""
    frame = Frame(12_345.0, octave, F(1))
    finer = on_points(ladder, octave + 3)
    points = np.arange(12_345.0 - 60, 12_345.0 + 61)
    rungs = finer.rungs(frame.deviations(points))
    which = np.arange(rungs[0], rungs[-1] + 1)
    empty = which[~np.isin(which, rungs)]
    assert ladder.map.bits_at(0) < 7 or len(empty) > 100
    assert np.array_equal(frame.values(finer.map, empty, True), points[np.searchsorted(rungs, empty) - 1])
    assert np.array_equal(frame.values(finer.map, empty, False), points[np.searchsorted(rungs, empty)])
