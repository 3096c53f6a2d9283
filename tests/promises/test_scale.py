"""Nothing depends on the scale or the sign of the data: no parameter has a unit."""

import numpy as np
import pytest
from support.laws import adult, answer_law, mean_error

AGES = adult()["age"].astype(float)
SCALES = [1e-9, 1, 1e15]
STEP = 2.0**-8  # the widest rung of the default ladder, relative to its value


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("size", [1000, len(AGES)])
@pytest.mark.parametrize("q", [0.5, 1])
def test_the_relative_error_is_the_same_at_every_scale(q, size, neighbors):
    """Ages times 1e-9 to 1e15: the errors of median and maximum differ by less than half a rung.

    A rung's place relative to the value changes with the scale, so half its width is as equal as errors can be. The
    number of ages is stated, because the law of a private size would take long.
    """
    options = {"epsilon": 1, "neighbors": neighbors} | ({"rows": size} if size == len(AGES) else {})
    data = np.random.default_rng(1).choice(AGES, size, replace=False)
    errors = []
    for scale in SCALES:
        truth = np.quantile(data * scale, q)
        error = mean_error(data * scale, q, truth, truth / 10, truth * 10, **options)
        errors.append(error / truth)
    assert max(errors) - min(errors) < STEP / 2 * (1 + max(errors) * 10)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("resolution", [None, 1])
@pytest.mark.parametrize("n", [10, 200, 3000])
def test_the_minimum_of_minus_x_is_minus_the_maximum_of_x_in_law(n, neighbors, resolution):
    """Candidate by candidate, for data of both signs and with zeros, whichever routes are taken."""
    data = np.round(np.random.default_rng(n).normal(3, 10, n))
    options = {"epsilon": 1, "neighbors": neighbors, "resolution": resolution}
    law = dict(zip(*answer_law(data, 1, **options).pmf(-200, 200), strict=True))
    mirror = dict(zip(*answer_law(-data, 0, **options).pmf(-200, 200), strict=True))
    assert max(law.values()) > 0.01
    for value in {*law, *(-value for value in mirror)}:
        assert law.get(value, 0.0) == pytest.approx(mirror.get(-value, 0.0), abs=1e-12)


def test_powers_of_two_change_nothing_at_all():
    """The ladder repeats itself at every power of two, so the law on a given ladder does too, exactly."""
    data = np.random.default_rng(2).lognormal(0, 1, 2000)
    options = {"epsilon": 1, "beta": 1 + 2**-8}
    values, masses = answer_law(data, 0.9, **options).pmf(0.1, 100)
    scaled, scaled_masses = answer_law(data * 2.0**40, 0.9, **options).pmf(0.1 * 2.0**40, 100 * 2.0**40)
    assert scaled == pytest.approx(values * 2.0**40)
    assert scaled_masses == pytest.approx(masses, abs=1e-12)


@pytest.mark.medium
def test_with_a_private_scale_powers_of_two_hardly_matter():
    """More octaves lie below larger data, and a scale may halt there: the laws differ by less than 1 %."""
    data = np.random.default_rng(2).lognormal(0, 1, 2000)
    values, masses = answer_law(data, 0.9, epsilon=1, least=1e-3).pmf(0.1, 100)
    scaled, scaled_masses = answer_law(data * 2.0**40, 0.9, epsilon=1, least=1e-3).pmf(0.1 * 2.0**40, 100 * 2.0**40)
    assert scaled == pytest.approx(values * 2.0**40)
    assert np.abs(scaled_masses - masses).sum() / 2 < 0.01
