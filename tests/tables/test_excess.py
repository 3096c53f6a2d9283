"""Cells of units by their number of rows: a unit lies in one of them."""

import numpy as np
import pytest

from nobounds.tables.excess import OCTAVES, Cells, share_beyond


@pytest.mark.parametrize("most", [1, 2, 5, 8, 9, 100, 1 << 20])
def test_a_unit_lies_in_one_cell(most):
    """Cells follow each other without gaps, and those up to `kept` hold no unit with more rows than count."""
    cells = Cells.of(most)
    assert cells.lows == (1, *(high + 1 for high in cells.highs[:-1]))
    assert cells.highs[cells.kept - 1] == most and cells.highs[-2] < most << OCTAVES < cells.highs[-1]
    assert all(high <= 1.5 * low + 1 for low, high in zip(cells.lows[:-1], cells.highs[:-1], strict=True))
    rows = np.array([1, most, most + 1, 2 * most, 2 * most + 1, 10**9], dtype=float)
    counts = cells.counts(rows)
    assert counts.sum() == len(rows)
    assert counts[: cells.kept].sum() == (rows <= most).sum()


def test_without_noise_the_share_is_nearly_exact():
    """With all units in cells of one number, nothing but the small noise is uncertain."""
    cells = Cells.of(1)
    rows = np.repeat([1.0, 2.0], [80_000, 20_000])
    value, low, high = share_beyond(cells.counts(rows).tolist(), cells, 0.1, True)
    assert low <= value <= high and high - low < 0.02
    assert abs(value - 1 / 6) < 0.01


def test_the_same_counts_give_the_same_share():
    """It is computed from the noisy counts alone."""
    cells = Cells.of(4)
    counts = [100, 90, 80, 70, 300, 40, -3, 5] + [0] * (len(cells.highs) - 8)
    assert share_beyond(counts, cells, 5.0, False) == share_beyond(counts, cells, 5.0, False)
