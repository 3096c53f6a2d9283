"""Nothing depends on the scale, the location or the sign of the data: no parameter has a unit."""

import random

import numpy as np
import pytest
from support.chance import seed_of
from support.laws import answer_law, capped_error

import nobounds as nb

OFFSETS, UNITS = (0, 17.3, 1000), (1e-9, 1, 1e9)
SHAPES = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "gamma": lambda rng, n: rng.gamma(2, 0.7, n),  # its median is not 0
}
NEAR_ZERO = "the prior is dense around 0: at n epsilon 50 and 300 a median near 0 errs by 1.7 and 1.5 times as much"
FEW = "25 nats are too few under swap: at 1000 sd the median of 50 rows is lost"


def mean_of(shape, n, q, offset, unit, neighbors, sets):
    """The expected error of a quantile in standard deviations, over data sets that all cases share; at most 20 each."""
    errors = []
    for seed in range(sets):
        data = (SHAPES[shape](np.random.default_rng(seed), n) + offset) * unit
        errors.append(capped_error(data, q, 20 * unit, epsilon=1, neighbors=neighbors, rows=n) / unit)
    return float(np.mean(errors))


def spread(errors):
    return max(errors) / min(errors)


def cases(*, units):
    """The cases with data sets for each, and those for which the promise does not hold yet."""
    for shape in SHAPES:
        for neighbors in ("add-remove", "swap"):
            for n, q, sets in (
                (50, 0.5, 12),
                (300, 0.5, 8),
                (1000, 0.9, 2),
                (1000, 0.99, 5),
                (1000, 1, 2),
                (1000, 0, 2),
            ):
                near = shape == "normal" and q == 0.5
                few = n == 50 and neighbors == "swap"
                fails = (near or few) and not (near and few and units)
                marks = [pytest.mark.xfail(reason=FEW if few else NEAR_ZERO)] if fails else []
                yield pytest.param(shape, n, q, sets, neighbors, marks=marks)


@pytest.mark.medium
@pytest.mark.parametrize(("shape", "n", "q", "sets", "neighbors"), list(cases(units=False)))
def test_the_error_is_the_same_at_every_location(shape, n, q, sets, neighbors):
    """Data at 0, 17.3 and 1000 standard deviations: errors within 1.25 of each other."""
    assert spread([mean_of(shape, n, q, offset, 1, neighbors, sets) for offset in OFFSETS]) < 1.25


@pytest.mark.medium
@pytest.mark.parametrize(("shape", "n", "q", "sets", "neighbors"), list(cases(units=True)))
def test_the_error_is_the_same_in_every_unit(shape, n, q, sets, neighbors):
    """Data times 1e-9 to 1e9: errors within 1.25 of each other."""
    assert spread([mean_of(shape, n, q, 0, unit, neighbors, sets) for unit in UNITS]) < 1.25


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_the_error_of_a_mean_is_the_same_at_every_location_and_in_every_unit(neighbors):
    """For 1000 normal records, over 600 answers (standard errors of 4%): within 1.25 of each other."""
    errors = []
    for offset, unit in ((0, 1), (17.3, 1), (1000, 1), (0, 1e-9), (0, 1e9)):
        away = 0.0
        for seed in range(600):
            data = np.random.default_rng(seed_of(seed)).normal(offset, 1, 1000) * unit
            value = nb.mean(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(seed))).value
            away += abs(value - data.mean()) / unit
        errors.append(away)
    assert spread(errors) < 1.25


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("offset", [0, 5.3])
def test_more_records_never_err_more(offset, neighbors):
    """The median of the first n records of 24 data sets, n from 20 to 10,000: the error never rises by 10%."""
    sets = [np.random.default_rng(seed).gamma(2, 0.7, 10_000) + offset for seed in range(24)]
    errors = []
    for n in (20, 40, 80, 160, 320, 640, 900, 1280, 1700, 2560, 5120, 10_000):
        some = sets if n < 5000 else sets[:8]
        each = [capped_error(data[:n], 0.5, 20, epsilon=1, neighbors=neighbors, rows=n) for data in some]
        errors.append(float(np.mean(each)))
    assert all(after < 1.1 * min(errors[: k + 1]) for k, after in enumerate(errors[1:]))


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize(("n", "resolution"), [(10, None), (200, None), (3000, None), (200, 1), (3000, 1)])
def test_the_minimum_of_minus_x_is_minus_the_maximum_of_x_in_law(n, neighbors, resolution):
    """At many values, for data of both signs and with zeros, whichever routes are taken."""
    data = np.round(np.random.default_rng(n).normal(3, 10, n))
    options = {"epsilon": 1, "neighbors": neighbors, "resolution": resolution, "rows": n, "least": 1e-4}
    law, mirror = answer_law(data, 1, **options), answer_law(-data, 0, **options)
    for value in (-3.3, 10.2, 20.7, 30.3, 40.1, 100.9):
        assert law.above(value) == pytest.approx(mirror.below(-value), abs=2e-2)


def test_powers_of_two_change_nothing_at_all():
    """The ladder repeats itself at every power of two, so the law on a given ladder does too, exactly."""
    data = np.random.default_rng(2).lognormal(0, 1, 2000)
    options = {"epsilon": 1, "beta": 1 + 2**-8}
    values, masses = answer_law(data, 0.9, **options).pmf(0.1, 100)
    scaled, scaled_masses = answer_law(data * 2.0**40, 0.9, **options).pmf(0.1 * 2.0**40, 100 * 2.0**40)
    assert scaled == pytest.approx(values * 2.0**40)
    assert scaled_masses == pytest.approx(masses, abs=1e-12)
