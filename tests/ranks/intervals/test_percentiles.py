"""Percentiles of an answer: noisy counts below, at and above it."""

import random

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_the_percentiles_of_an_answer_hold(neighbors):
    """Of continuous data and of heaps: the share of records up to the answer lies between them, nearly always."""
    rng = np.random.default_rng(seed_of(1))
    for data in (rng.normal(50, 10, 3000), rng.integers(0, 5, 3000)):
        held = 0
        for k in range(25):
            release = nb.quantile(data, 0.5, epsilon=1, ranks=True, neighbors=neighbors, rng=random.Random(seed_of(k)))
            low, high = release.parameters["percentiles"]
            below, up_to = (100 * np.mean(share) for share in (data < release.value, data <= release.value))
            held += low <= up_to and below <= high
        assert held >= 22
