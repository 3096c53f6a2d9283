"""Sums of groups: steps are scaled exactly, and intervals wait until they are read, without the data."""

import gc
import random
import weakref
from unittest import mock

import numpy as np
import pytest

import nobounds as nb
from nobounds.tables.by_group import sums as group_sums
from nobounds.tables.by_group.sums import _scaled


def test_steps_are_scaled_exactly():
    """To whole numbers of Python where 64 bits are too few, and to the largest float at most."""
    assert _scaled(np.array([3, -5]), 62, integral=True).tolist() == [3 * 2**62, -5 * 2**62]
    assert _scaled(np.array([3, -5]), -1, integral=False).tolist() == [1.5, -2.5]
    assert _scaled(np.array([2**61]), 1000, integral=False).tolist() == [np.finfo(float).max]


class Records(np.ndarray):
    """An array that can be referred to weakly."""


@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_intervals_wait_without_the_data(statistic):
    """They are worked out once, when they are read, from noisy numbers: the records may be gone by then."""
    x = np.random.default_rng(1).lognormal(3, 1, 4000).view(Records)
    gone = weakref.ref(x)
    groups = nb.Table({"g": np.arange(4000) % 4, "x": x}).group_by("g", keys=range(4))
    with mock.patch.object(group_sums, "reaches", wraps=group_sums.reaches) as reaches:
        release = getattr(groups, statistic)("x", epsilon=1, rng=random.Random(1))
        assert reaches.call_count == 0
        del x, groups
        gc.collect()
        assert gone() is None
        low, high = release.intervals.T
        assert release.intervals is release.intervals
        assert reaches.call_count == 1
    assert np.all(low <= release.values)
    assert np.all(release.values <= high)
