"""The radius by AboveThreshold."""

import math

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.research.baselines.mapped.radius import OUTSIDE, radius


@pytest.mark.sampled
def test_nearly_all_deviations_are_inside_and_it_is_not_much_larger():
    """Of 5000 deviations, within a factor of two of the largest 99% of the time at epsilon 1."""
    rng = np.random.default_rng(seed_of(1))
    deviations = np.abs(rng.normal(0, 1, 5000))
    found = np.array([radius(deviations, 2.0**-60, 2.0, 1.0, rng) for _ in range(500)])
    assert np.mean((found >= 2) & (found <= 2 * deviations.max())) > 0.99


def test_it_is_a_power_of_the_growth_times_the_least():
    """So it does not depend on the data otherwise."""
    rng = np.random.default_rng(2)
    steps = math.log(radius(np.arange(1000.0), 0.1, 2**0.5, 0.5, rng) / 0.1) / math.log(2**0.5)
    assert abs(steps - round(steps)) < 1e-9


def test_without_noise_to_speak_of_it_is_the_first_that_leaves_few_outside():
    """At a huge epsilon all records are inside, up to OUTSIDE / epsilon."""
    assert OUTSIDE / 1e6 < 1
    assert radius(np.arange(1000.0), 1.0, 2.0, 1e6, np.random.default_rng(3)) == 1024.0


def test_no_records_give_an_early_halt():
    """Nothing is outside at the first candidates."""
    assert radius(np.array([]), 1.0, 2.0, 1.0, np.random.default_rng(4)) <= 16
