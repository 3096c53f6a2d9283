"""What the decisions of a release cost, on the path that it takes, is at most what was charged for it."""

import math
import random

import numpy as np
import pytest
from support.paid import Paid

import nobounds as nb
from nobounds.exact import rational
from nobounds.mechanisms.decisions import Nested, Noisy, NoisyMany
from nobounds.noise.additive import GaussianNoise

_RNG = np.random.default_rng(3)
FAR = _RNG.normal(1000, 1, 4000)
HOLED = np.where(_RNG.random(900) < 0.2, np.nan, _RNG.lognormal(3, 1, 900))
DATA = {"far": FAR, "holed": HOLED, "whole": _RNG.integers(-5, 90, 700), "none": FAR[:0]}
SPENT = [{"epsilon": 1}, {"epsilon": 8}, {"rho": 0.1}, {"rho": 20}]
PAIRED = list(zip(SPENT, ["add-remove", "swap", "swap", "add-remove"], strict=True))
relations = pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
spent = pytest.mark.parametrize("spent", SPENT, ids=lambda spent: " ".join(f"{k} {v}" for k, v in spent.items()))


def paid(statistic, data, **options):
    """The decisions of a release; all of them cost at most its loss, and the release is that of the same seed."""
    driver = Paid(7)
    release = statistic(data, rng=driver, **options)
    assert statistic(data, rng=random.Random(7), **options) == release
    loss, cost = release.loss, driver.total
    if loss.rho < math.inf:
        assert cost.rho <= rational(loss.rho, "rho")
    if loss.epsilon < math.inf and not loss.delta:
        assert cost.epsilon <= rational(loss.epsilon, "epsilon")
    return driver, release


@pytest.mark.parametrize(("spent", "neighbors"), PAIRED)
@pytest.mark.parametrize("statistic", [nb.sum, nb.mean, nb.count], ids=["sum", "mean", "count"])
@pytest.mark.parametrize("data", DATA)
def test_sums_means_and_counts_pay_for_every_decision(data, statistic, spent, neighbors):
    """Without bounds and with one, whatever is missing."""
    for bounds in ({}, {"lower": 0}) if statistic is not nb.count else ({},):
        paid(statistic, DATA[data], neighbors=neighbors, **spent, **bounds)


@pytest.mark.parametrize(("spent", "neighbors"), [*PAIRED, ({"epsilon": 1}, "swap"), ({"rho": 0.1}, "add-remove")])
@pytest.mark.parametrize(
    "statistic", [nb.ratio, nb.weighted_mean, nb.covariance, nb.correlation], ids=lambda f: f.__name__
)
def test_statistics_of_two_columns_pay_for_every_decision(statistic, spent, neighbors):
    """What both columns leave for noise is pooled, and no more than that: records that move, too, pay for it."""
    for x, y in ((FAR, HOLED), (DATA["whole"], DATA["whole"][::-1]), (FAR[:0], FAR[:0])):
        rows = min(len(x), len(y))
        paid(lambda pair, **options: statistic(*pair, **options), (x[:rows], y[:rows]), neighbors=neighbors, **spent)


@pytest.mark.parametrize(("spent", "neighbors"), [*PAIRED, ({"epsilon": 1}, "swap")])
@pytest.mark.parametrize("statistic", [nb.std, nb.variance, nb.median, nb.iqr], ids=lambda f: f.__name__)
def test_spreads_and_ranks_pay_for_every_decision(statistic, spent, neighbors):
    """The mean that squares are taken around, and both quartiles, are paid for as well."""
    for data in DATA.values():
        paid(statistic, data, neighbors=neighbors, **spent)


@pytest.mark.parametrize(("spent", "neighbors"), [*PAIRED, ({"epsilon": 1}, "swap")])
def test_proportions_pay_for_every_decision(spent, neighbors):
    """With missing records and without."""
    paid(nb.proportion, DATA["whole"] > 40, neighbors=neighbors, **spent)
    paid(nb.proportion, [None, True, False] * 30, neighbors=neighbors, **spent)


@relations
@pytest.mark.parametrize("rho", [0.02, 0.5, 30])
@pytest.mark.parametrize("statistic", [nb.vector_sum, nb.vector_mean], ids=["sum", "mean"])
@pytest.mark.parametrize("rows", [0, 40, 5000])
def test_vectors_pay_for_every_decision(rows, statistic, rho, neighbors):
    """The number of rows, one or two searches, the walk inward and the noise."""
    data = np.random.default_rng(rows).normal(size=(rows, 3))
    data[::9, 1] = np.nan
    for values in (data, np.nan_to_num(data).astype(np.int64)):  # that can be missing, and that cannot
        driver, release = paid(statistic, values, rho=rho, neighbors=neighbors)
        assert driver.total.rho > rational(release.loss.rho, "rho") / 8  # the noise alone has as much


@relations
@spent
def test_describe_pays_for_every_decision(spent, neighbors):
    """A table with columns that are far from 0, holed, whole numbers, and constant."""
    table = {name: DATA[name][:300] for name in ("far", "holed", "whole")} | {"zeros": np.zeros(300)}
    driver, release = paid(nb.describe, table, neighbors=neighbors, **spent)
    assert len(release.columns) == 4 and len(driver.costs) >= 4 * 2
    paid(nb.describe, {"few": FAR[:3]}, neighbors=neighbors, **spent)


@relations
@spent
@pytest.mark.parametrize("rows", [30, 90, 200, 260, 450, 900, 4000])
def test_describe_pays_for_every_decision_at_each_number_of_statistics(rows, spent, neighbors):
    """Whatever is answered for a number of rows, and where the quartiles are the same."""
    zeros = np.where(np.arange(rows) % 9 == 0, FAR[:rows], 0.0)
    for column in (FAR[:rows], zeros, np.round(FAR[:rows]).astype(np.int64)):
        paid(nb.describe, {"x": column}, neighbors=neighbors, **spent)


def test_a_vector_mean_under_swap_pays_for_rows_that_move_or_turn_missing():
    """A row that moves changes the sum by two radii, one that turns missing the sum by one and the number by one."""
    data = np.random.default_rng(1).normal(size=(5000, 3))
    driver, release = paid(nb.vector_mean, data, rho=0.5, neighbors="swap")
    (size, noise), (first, last) = (
        driver.costs[:: len(driver.costs) - 1],
        driver.decisions[:: len(driver.decisions) - 1],
    )
    assert isinstance(first.noise, GaussianNoise) and isinstance(last, NoisyMany)
    assert size.rhos == (0, first.noise.rho) and noise.rhos == (last.noise.rho, last.noise.rho / 4)
    assert size.rho + noise.rho > rational(release.loss.rho, "rho") > (size + noise).rho
    assert len(driver.decisions) == 7  # the number, a scale and a width twice, a walk inward, the coordinates


def test_a_driver_that_pays_notices_what_is_dearer_inside():
    """The negative control: a decision that claims less than what is inside of it is refused."""

    def program():
        yield Noisy(3, GaussianNoise(rational(1, "rho")), GaussianNoise(rational(1, "rho")).cost)

    Paid(1).decide(Nested(program, GaussianNoise(rational(1, "rho")).cost))
    with pytest.raises(AssertionError):
        Paid(1).decide(Nested(program, GaussianNoise(rational("0.9", "rho")).cost))
