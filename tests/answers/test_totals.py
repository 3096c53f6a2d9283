"""Shells say where a clip lies, and how much may lie beyond it."""

import math

import numpy as np
import pytest

from nobounds.answers.totals import HALF_OCTAVES, SHELLS, Shells, beyond, clip_of

NOISE = 4.0


def shells_of(distances, start, noise=NOISE):
    """The shells around a start that hold these distances, without noise."""
    edges = [start * 2.0 ** (half / 2) for half in HALF_OCTAVES]
    counts = np.histogram(distances, [*edges, math.inf])[0]
    return Shells((*edges[1:], math.inf), tuple(map(float, counts)), noise)


def test_shells_lie_in_octaves_around_the_start():
    """With half octaves beside it, and the last one open."""
    shells = shells_of([], 8.0)
    assert len(shells.counts) == SHELLS == len(shells.edges) and shells.edges[-1] == math.inf
    assert np.all(np.diff(shells.edges) > 0) and 8.0 in shells.edges


@pytest.mark.parametrize("start", [1e-9, 1.0, 1e12])
def test_the_clip_is_the_outermost_loud_shell(start):
    """A few records far out are not taken for loud, and many are, at any scale."""
    near = np.random.default_rng(1).uniform(0, start * 1.3, 2000)
    assert shells_of(near, start).edges[clip_of(shells_of(near, start), start) - 1] == pytest.approx(start * 2**0.5)
    for many, moves in ((9, False), (60, True)):
        shells = shells_of(np.append(near, np.full(many, start * 40)), start)
        assert (shells.edges[clip_of(shells, start) - 1] > 10 * start) == moves


def test_nothing_loud_is_no_clip():
    """Then nothing is known of what lies beyond."""
    shells = shells_of([], 1.0)
    assert clip_of(shells, 1.0) == 0 and beyond(shells, 0) == math.inf


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("draw", ["exponential", "normal", "uniform"])
def test_what_lies_beyond_is_bounded(draw, power):
    """The records beyond the clip lie no farther beyond it, in all, than the bound, and it is no wild one."""
    distances = np.abs(getattr(np.random.default_rng(2), draw)(size=20_000)) * 10
    start = float(np.sort(distances)[-60])
    shells = shells_of(distances, start, noise=1.0)
    inside = clip_of(shells, start)
    reach = shells.edges[inside - 1]
    over = np.sum((distances[distances > reach] / reach) ** power - 1)
    assert over <= beyond(shells, inside, power) < 60


def test_a_group_far_out_has_no_bound():
    """Where the clip is nearer, and the shells beyond it hold more than noise does."""
    near = np.random.default_rng(3).normal(size=20_000)
    far = shells_of(np.append(np.abs(near), np.full(40, 200.0)), 3.0)
    inside = min(clip_of(far, 3.0), 6)
    assert beyond(far, inside) == math.inf
