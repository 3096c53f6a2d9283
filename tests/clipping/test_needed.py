"""What a release of clipped records says would do: following it leads to an answer."""

from random import Random

import numpy as np
import pytest

import nobounds as nb
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW

RUNS = 20
ONE, TWO = ("std", "variance", "mean"), ("covariance", "correlation", "ratio")


def release(statistic, rows, seed, **spent):
    """A statistic of normal records, or of them and others that depend on them."""
    draw = np.random.default_rng(seed)
    x = draw.normal(50, 10, rows)
    data = (x,) if statistic in ONE else (x, x / 2 + draw.normal(0, 5, rows))
    return getattr(nb, statistic)(*data, rng=Random(seed), **spent)


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("statistic", [*ONE, *TWO])
def test_as_many_rows_or_as_much_epsilon_as_named_are_answered(statistic, spent):
    """Nearly always; with a third of the rows mostly not."""
    rows = 160
    few = next(found for seed in range(9) if (found := release(statistic, rows, seed, **spent)).value is None)
    needed = dict(few.parameters["needed"])
    enough = needed.pop("rows")
    assert few.reason == TOO_FEW and enough > rows
    for answers in (
        [release(statistic, enough, seed, **spent) for seed in range(100, 100 + RUNS)],
        *([release(statistic, rows, seed, **needed) for seed in range(100, 100 + RUNS)] for _ in needed),
    ):
        assert sum(found.value is not None for found in answers) >= 0.8 * RUNS


@pytest.mark.parametrize("statistic", TWO[1:])
def test_flags_name_a_number_of_rows(statistic):
    """There is no clip to search for, so only noise is in the way; with rare flags more than there are is named."""
    draw = np.random.default_rng(1)
    for rows in (8, 60):
        x, y = draw.random(rows) < 0.1, draw.random(rows) < 0.1
        found = getattr(nb, statistic)(x, y, epsilon=1, rng=Random(1))
        assert found.value is None and rows < found.parameters["needed"]["rows"] < 1000


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("statistic", ["mean", "sum", "std"])
def test_units_of_several_rows_need_more_of_both(statistic, spent):
    """Where a unit has four rows, what would do costs more than what was spent, and takes more rows."""
    x = np.random.default_rng(2).normal(50, 10, 800)
    table = nb.Table({"x": x, "who": np.arange(800) // 4}, unit="who", rows_per_unit=4)
    found = getattr(table, statistic)("x", rng=Random(1), **spent)
    needed = found.parameters["needed"]
    alone = getattr(nb, statistic)(x[:60], rng=Random(1), **spent).parameters["needed"]
    assert needed["rows"] > 3 * alone["rows"]
    assert all(needed.get(name, amount + 1) > amount for name, amount in spent.items())


@pytest.mark.parametrize("statistic", ["std", "covariance", "ratio"])
def test_rows_of_one_value_are_not_called_too_few(statistic):
    """More of them would not help."""
    heap = np.full(3000, 7.5)
    data = (heap,) if statistic == "std" else (heap, heap)
    reasons = {getattr(nb, statistic)(*data, epsilon=1, rng=Random(seed)).reason for seed in range(5)}
    assert reasons <= {NO_SPREAD, ONE_VALUE}


def test_a_spread_far_below_the_numbers_is_not_one_of_too_few_rows():
    """No number of rows would show it, but bounds do."""
    far = 2.0**40 + np.arange(20_000.0) / 4
    assert nb.std(far, epsilon=1, rng=Random(1)).reason == NO_SPREAD
    near = nb.std(far, epsilon=1, lower=2**40 - 1000, upper=2**40 + 9000, rng=Random(1))
    assert near.value == pytest.approx(far.std(), rel=0.1)
