"""Counts that are not negative and keep their total, and shares that never fall."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nobounds.statistics.bins.consistent import rising, with_total


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8))
def test_counts_are_the_nearest_with_their_total(noisy):
    """None is negative, they add up, and no unit moved from one bin to another comes nearer (so they are nearest)."""
    counts = with_total(noisy)
    assert min(counts) >= 0 and sum(counts) == max(sum(noisy), 0)
    for giving, has in enumerate(counts):
        for taking in range(len(counts)):
            if has > 0 and giving != taking:
                before = (has - noisy[giving]) ** 2 + (counts[taking] - noisy[taking]) ** 2
                after = (has - 1 - noisy[giving]) ** 2 + (counts[taking] + 1 - noisy[taking]) ** 2
                assert after >= before


def test_counts_are_kept_where_none_is_negative():
    """There is nothing to mend."""
    assert with_total([3, 0, 9]) == [3, 0, 9]


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=12))
def test_shares_never_fall(shares):
    """They lie between 0 and 1, and shares that rise already are kept."""
    mended = rising(np.array(shares))
    assert (np.diff(mended) >= -1e-12).all() and mended.min() >= 0 and mended.max() <= 1
    assert np.allclose(rising(np.sort(shares)), np.clip(np.sort(shares), 0, 1))
