"""What a release of clipped records says would do: following it leads to an answer."""

from random import Random

import numpy as np
import pytest

import nobounds as nb
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW

RUNS = 20
TWO = ("covariance", "correlation", "ratio")


def release(statistic, rows, seed, **spent):
    """A statistic of normal records and others that depend on them."""
    draw = np.random.default_rng(seed)
    x = draw.normal(50, 10, rows)
    return getattr(nb, statistic)(x, x / 2 + draw.normal(0, 5, rows), rng=Random(seed), **spent)


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("statistic", TWO)
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


@pytest.mark.parametrize("statistic", ["covariance", "ratio"])
def test_rows_of_one_value_are_not_called_too_few(statistic):
    """More of them would not help."""
    heap = np.full(3000, 7.5)
    reasons = {getattr(nb, statistic)(heap, heap, epsilon=1, rng=Random(seed)).reason for seed in range(5)}
    assert reasons <= {NO_SPREAD, ONE_VALUE}
