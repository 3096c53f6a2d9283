"""Proportions: exact numbers under noise, and intervals that hold for every data set."""

import random

import numpy as np
import pytest

from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.engines.memory.arrays import column
from nobounds.programs.program import Draw

MISSING = np.ma.masked_array(np.arange(90) < 30, np.arange(90) >= 60)


def released(data, terms, seed):
    """A share and its interval."""
    opened = column(data)
    plan = ProportionPlan.of(opened.public(terms.neighbors == "swap"), terms)
    average = Draw(random.Random(seed).getrandbits).run(plan.program(opened.chunks))
    return float(average.value), plan.interval(average)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_with_hardly_any_noise_it_is_the_share(neighbors):
    """Of the records that are not missing."""
    value, (low, high) = released(MISSING, Terms.of(1000, None, neighbors), 1)
    assert value == 0.5
    assert low <= 0.5 <= high


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("spent", [(0.2, None), (3, None), (None, 0.1)])
@pytest.mark.parametrize("true", [0, 1, 20, 60])
def test_the_interval_holds_and_is_not_much_too_wide(neighbors, spent, true):
    """In 95% of runs, for shares near 0 and 1 as well, few rows, large and small noise, and missing records."""
    data = np.ma.masked_array(np.arange(90) < true, np.arange(90) >= 60)
    outcomes = [released(data, Terms.of(*spent, neighbors), seed) for seed in range(300)]
    inside = [low <= true / 60 <= high for _, (low, high) in outcomes]
    assert sum(inside) >= 270  # 269 or fewer have a chance of 1e-4 at 95%
    assert all(0 <= low <= value <= high <= 1 for value, (low, high) in outcomes)
    widths = [high - low for _, (low, high) in outcomes]
    if spent == (3, None):
        assert max(widths) < 0.25


def test_few_rows_say_nothing():
    """Then the interval has all shares in it, and more rows are said to be needed."""
    terms = Terms.of(0.1, None, "add-remove")
    plan = ProportionPlan.of(column(np.zeros(5, dtype=bool)).facts, terms)
    assert released(np.ones(5, dtype=bool), terms, 1)[1] == (0.0, 1.0)
    _, (low, high) = released(np.arange(4 * plan.enough()) % 2 == 0, terms, 1)
    assert high - low < 0.9
