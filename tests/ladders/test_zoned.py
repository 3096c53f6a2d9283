"""Rungs by zones: they cover the line, meet at their edges, and change sides in a mirror."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.ladders import INF, MAX, SPECIAL, numbers

from nobounds.ladders.zoned import Zoned

ZONES = {
    "one zone": Zoned(((-16, 2),), 1),
    "fine in the middle": Zoned(((-40, 2), (-8, 7), (2, 5), (8, 3), (32, 0)), 1),
    "as fine on the other side": Zoned(((-3, 4),), 4),
    "one octave": Zoned(((1023, 3),), 0),
}
ALL = ZONES | {f"{name}, mirrored": Zoned(rungs.zones, rungs.other, True) for name, rungs in ZONES.items()}
every = pytest.mark.parametrize("rungs", ALL.values(), ids=ALL.keys())


def all_rungs(rungs):
    first, last = rungs.ends
    return np.arange(first, last + 1)


@every
def test_rungs_meet_and_cover_the_line(rungs):
    """The upper edge of a rung is the lower edge of the next, and the outer edges are the largest floats."""
    low, high = rungs.edges(all_rungs(rungs))
    assert np.array_equal(high[:-1], low[1:])
    assert np.all(low < high)
    assert low[0] == -MAX and high[-1] == MAX


@every
@given(st.lists(numbers, min_size=1, max_size=30))
def test_every_float_lies_on_its_rung(rungs, values):
    """Between its edges, in order; infinities on the last ones."""
    records = np.sort(np.array([*values, *SPECIAL]))
    placed = rungs.of(records)
    assert np.all(np.diff(placed) >= 0)
    assert (placed[0], placed[-1]) == rungs.ends
    low, high = rungs.edges(placed)
    finite = np.clip(records, -MAX, MAX)
    assert np.all((low <= finite) & (finite <= high))


@every
def test_edges_begin_the_rung_farther_out(rungs):
    """An edge belongs to the rung that lies on its far side of 0; 0 itself to rung 0."""
    which = all_rungs(rungs)
    low, high = rungs.edges(which)
    above, below = which > 0, which < 0
    assert np.array_equal(rungs.of(low[above]), which[above])
    assert np.array_equal(rungs.of(high[below]), which[below])
    assert rungs.of(np.array([0.0, -0.0])).tolist() == [0, 0]


@every
def test_values_are_in_the_middle(rungs):
    """As fractions and as floats, and on their own rung."""
    which = all_rungs(rungs)[1:-1]
    floats = rungs.floats(which)
    assert np.array_equal(rungs.of(floats), which)
    for rung in which[:: max(1, len(which) // 50)].tolist():
        low, high = rungs.interval(rung)
        assert rungs.value(rung) == (low + high) / 2
        assert float(rungs.value(rung)) == floats[rung - which[0]]


@pytest.mark.parametrize("name", ZONES)
@given(values=st.lists(numbers, min_size=1, max_size=30))
def test_mirrored_rungs_are_the_mirror_image(name, values):
    """The rung of -x is minus the rung of x, edge by edge."""
    plain, other = ZONES[name], ALL[f"{name}, mirrored"]
    records = np.array([*values, *SPECIAL])
    assert np.array_equal(other.of(-records), -plain.of(records))
    which = all_rungs(plain)
    low, high = plain.edges(which)
    assert np.array_equal(np.stack(other.edges(-which)), np.stack([-high, -low]))


def test_zones_have_the_rungs_that_they_say():
    """2**bits in each octave from the octave of the zone on, and 2**other on the other side."""
    rungs = ZONES["fine in the middle"]
    for octave, many in ((-40, 4), (-9, 4), (-8, 128), (1, 128), (2, 32), (7, 32), (8, 8), (32, 1), (1000, 1)):
        assert rungs.at(octave + 1) - rungs.at(octave) == many
        below = rungs.of(np.array([-(2.0**octave), -(2.0 ** (octave + 1))]))
        assert below[0] - below[1] == 2
    assert rungs.at(-40) == 1
    starts, bits, first = rungs.octaves[0]
    assert starts[0] == 1 and first == -40 and bits[0] == 2 and bits[40] == 7
    assert len(starts) == len(bits) == 1023 + 40 + 1
    assert rungs.of(np.array([2.0**-41, INF, -INF])).tolist() == [0, rungs.ends[1], rungs.ends[0]]
