"""Spans: the records in some intervals of floats, and no others."""

import math

import numpy as np
import pytest

from nobounds.counting.spans import Spans, selected

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7e308]
VALUES = np.append(np.random.default_rng(0).standard_normal(3000) * 10.0 ** np.linspace(-20, 20, 3000), SPECIAL)


@pytest.mark.parametrize(
    "intervals",
    [
        [(1.0, 2.0)],
        [(-math.inf, -3.0)],
        [(-1e-3, 1e-3)],
        [(-5.0, -1.0), (0.0, 0.0), (1.0, 1.5), (1e10, math.inf)],
        [(-math.inf, -1e5), (-2.0, 3.0)],
    ],
)
def test_records_in_intervals_are_selected(intervals):
    """Both ends belong to an interval; a missing record is in none."""
    spans = Spans.of(intervals)
    wanted = [any(low <= value <= high for low, high in intervals) for value in VALUES]
    chunks = list(selected([VALUES], spans))
    assert np.array_equal(np.concatenate(chunks), VALUES[wanted])
    ((values, counts),) = selected([(VALUES, np.arange(len(VALUES)))], spans)
    assert np.array_equal(values, VALUES[wanted]) and np.array_equal(counts, np.flatnonzero(wanted))
