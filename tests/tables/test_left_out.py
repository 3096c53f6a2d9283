"""The share of rows left out: an estimate near the truth, in an interval that holds it, for what one unit costs."""

import random

import numpy as np
import pytest

import nobounds as nb
from nobounds.tables.excess import Cells, share_beyond

SIZES = {
    "one row each": lambda rng, n: np.ones(n),
    "geometric": lambda rng, n: rng.geometric(0.3, n),
    "many rows each": lambda rng, n: rng.geometric(0.05, n),
    "poisson": lambda rng, n: 1 + rng.poisson(3, n),
    "lognormal": lambda rng, n: np.ceil(rng.lognormal(1, 1, n)),
    "thirty rows each": lambda rng, n: np.full(n, 30),
    "pareto 2.5": lambda rng, n: np.floor(1 + rng.pareto(2.5, n)),
}
HEAVY = {"pareto 1.5": lambda rng, n: np.floor(1 + rng.pareto(1.5, n))}


def users(sizes, most):
    """A table in which each user has a number of rows."""
    return nb.Table({"user": np.repeat(np.arange(len(sizes)), sizes.astype(int))}, unit="user", rows_per_unit=most)


def simulated(family, most, epsilon, runs, n=5000):
    """The errors of the estimates, and how often their intervals hold the truth."""
    rng, cells = np.random.default_rng(5), Cells.of(most)
    errors, held = [], 0
    for _ in range(runs):
        rows = (SIZES | HEAVY)[family](rng, n).astype(float)
        truth = np.maximum(rows - most, 0).sum() / rows.sum()
        counts, chance = cells.counts(rows), 1 - np.exp(-epsilon)
        noise = rng.geometric(chance, len(counts)) - rng.geometric(chance, len(counts))
        value, low, high = share_beyond((counts + noise).tolist(), cells, 1 / epsilon, False)
        errors.append(abs(value - truth))
        held += low <= truth <= high
    return np.array(errors), held / runs


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("family", SIZES)
def test_the_share_is_within_five_points_for_a_twentieth_of_epsilon(family, most):
    """With 5,000 units and epsilon 0.05, the mean error is within 4 points, and the interval holds 90% of the time."""
    errors, held = simulated(family, most, 0.05, 60)
    assert errors.mean() < 0.04
    assert held >= 0.9


@pytest.mark.medium
def test_a_heavy_tail_needs_more():
    """With units by a Pareto law of 1.5, epsilon 1 is within 6 points on average, and the interval holds mostly."""
    errors, held = simulated("pareto 1.5", 5, 1, 20)
    assert errors.mean() < 0.06
    assert held >= 0.75


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 0.05}, {"rho": 0.01}], ids=str)
def test_a_table_states_the_share(spent):
    """The release has the share, an interval, what it assumes, and the number of rows that are kept."""
    sizes = np.random.default_rng(1).geometric(0.3, 5000)
    release = users(sizes, 3).rows_left_out(**spent, rng=random.Random(1))
    truth = np.maximum(sizes - 3, 0).sum() / sizes.sum()
    low, high = release.interval
    assert low <= truth <= high and abs(release.value - truth) < 0.08
    assert release.parameters["kept_rows"] == 3 and "rows_per_unit" not in release.parameters
    assert release.parameters["interval"]["assumes"]
    assert nb.Release.from_json(release.to_json()) == release


def test_with_few_units_it_is_not_answered():
    """The noisy number of units decides; what would do is an epsilon, if one up to 20 would."""
    release = users(np.full(200, 4), 2).rows_left_out(epsilon=0.1, rng=random.Random(1))
    assert release.value is None and release.reason == "too few rows"
    assert 0.1 < release.parameters["needed"]["epsilon"] <= 20
    fewest = users(np.full(1, 4), 2).rows_left_out(epsilon=0.1, rng=random.Random(1))
    assert fewest.reason == "too few rows" and fewest.parameters["needed"].get("epsilon", 0) <= 20


def test_it_needs_a_unit_and_is_charged_once():
    """A table without a unit leaves out nothing; a unit costs epsilon, whatever its rows."""
    with pytest.raises(ValueError, match="unit"):
        nb.Table({"x": [1, 2]}).rows_left_out(epsilon=1)
    budget = nb.Budget(epsilon=1, unit="user")
    table = nb.Table({"user": ["a"] * 50}, unit="user", rows_per_unit=5, budget=budget)
    assert table.rows_left_out(epsilon=0.25).loss.epsilon == 0.25
    assert budget.remaining == 0.75


def test_what_is_left_out_is_said():
    """Print, JSON and explanation of an answer with a unit say how many rows count, and claim nothing of the others."""
    table = users(np.full(300, 4), 2)
    release = table.count(epsilon=1)
    assert str(release).endswith("Of each user at most 2 rows count; the other rows are left out.")
    assert release.to_dict()["parameters"]["rows_per_unit"] == 2
    text = str(nb.explain(release)).replace("\n  ", " ")
    assert "the other rows are left out" in text and "The number of rows that count:" in text
    assert "left out" not in str(nb.count([1, 2, 3], epsilon=1))


def test_a_unit_of_one_row():
    """One row counts."""
    assert "at most 1 row counts;" in str(users(np.full(30, 4), 1).count(epsilon=1))
