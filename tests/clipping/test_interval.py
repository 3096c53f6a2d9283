"""The interval of a sum: noise, and what lies beyond the clip."""

import math
import random

import numpy as np
import pytest

import nobounds as nb


@pytest.mark.medium
@pytest.mark.parametrize("family", ["uniform", "lognormal"])
def test_the_interval_of_a_sum_holds(family):
    """In most of 30 runs; a stated upper bound ends it."""
    rng = np.random.default_rng(2)
    data = rng.uniform(0, 100, 3000) if family == "uniform" else rng.lognormal(3, 0.8, 3000)
    bars = [nb.sum(data, epsilon=1, rng=random.Random(k)).interval for k in range(30)]
    assert sum(low <= data.sum() <= high for low, high in bars) >= 26
    assert all(math.isfinite(nb.sum(data, epsilon=1, upper=1000, rng=random.Random(k)).interval[0]) for k in range(3))
