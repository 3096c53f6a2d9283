"""Releases under zCDP: rho is the total, the noise is Gaussian, and exact Renyi divergences stay within the claim."""

import math
import random
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.accounting.cost import gaussian, pure
from nobounds.accounting.spending import Spending, nominal
from nobounds.clipping.average import AverageRule
from nobounds.noise.additive import Additive, two_normal
from nobounds.noise.source import random_source

X = np.random.default_rng(3).lognormal(3, 1, 2000)
STATISTICS = {
    "quantile": lambda **o: nb.quantile(X, 0.3, **o),
    "quantiles": lambda **o: nb.quantiles(X, [0.1, 0.5, 0.9], **o),
    "maximum": lambda **o: nb.maximum(X, **o),
    "minimum": lambda **o: nb.minimum(X, **o),
    "bounds": lambda **o: nb.bounds(X, **o),
    "sum": lambda **o: nb.sum(X, **o),
    "mean": lambda **o: nb.mean(X, **o),
    "count": lambda **o: nb.count(X, **o),
    "describe": lambda **o: nb.describe({"x": X, "y": X > 3}, **o),
    "vector_mean": lambda **o: nb.vector_mean(X.reshape(-1, 2), **o),
}
ADDED = ("sum", "mean", "count", "describe", "vector_mean")
ALPHAS = (1.0001, 1.5, 2.0, 4.0, 16.0, 64.0)


class Refusing:
    """A budget in which nothing fits; it notes what it was asked for."""

    def __init__(self):
        self.asked = []

    def charge(self, loss, what):
        self.asked.append((loss, what))
        raise nb.BudgetExceeded("nothing is left")


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("rho", ["0.001", "0.125", 2])
@pytest.mark.parametrize("name", STATISTICS)
def test_rho_is_the_total(name, rho, neighbors):
    """Every statistic costs at most the rho asked for, and all of it but a thousandth, unless a plan jumps there."""
    loss = STATISTICS[name](rho=rho, neighbors=neighbors, rng=random.Random(1)).loss
    assert (0.999 if name in ADDED else 0.97) * float(rho) <= loss.rho <= float(rho)
    assert loss.epsilon == math.inf  # parts that are pure cost rho alone as well: how it is split follows the size


@pytest.mark.medium
@pytest.mark.parametrize("name", STATISTICS)
def test_a_budget_is_charged_once_with_the_loss_of_the_release(name):
    """What is written down is what the release says, and a refusal ends the call."""
    budget = nb.Budget(rho=1)
    released = STATISTICS[name](rho="0.25", budget=budget, rng=random.Random(1))
    (charge,) = budget.history
    assert charge.loss == released.loss and charge.what.split()[0] == name.split("_")[0]
    refusing = Refusing()
    with pytest.raises(nb.BudgetExceeded):
        STATISTICS[name](rho="0.25", budget=refusing)
    assert len(refusing.asked) == 1


@pytest.mark.medium
def test_the_exponential_mechanism_and_gaussian_noise_beat_pure_mechanisms_under_zcdp():
    """At one rho a median may have more than 1.8 times the epsilon of a pure mechanism, and a mean less noise."""
    assert nb.quantile(X, 0.5, rho=0.125, rng=random.Random(1)).loss.epsilon > 0.9
    pure_epsilon = 0.5  # 0.5**2 / 2 = 0.125
    noise = [
        nb.mean(X, lower=0, upper=50, **o).parameters["noise_scale"]
        for o in ({"epsilon": pure_epsilon}, {"rho": 0.125})
    ]
    assert noise[1] < noise[0] * math.sqrt(2)  # a Laplace scale, and a standard deviation


def test_spending_names_what_is_wrong():
    """Exactly one of epsilon and rho is given, and it is a number in range."""
    for epsilon, rho, words in (
        (None, None, "got neither"),
        (1, 1, "got both"),
        (None, 0, "rho must be"),
        (0, None, "epsilon"),
    ):
        with pytest.raises(ValueError, match=words):
            Spending.of(epsilon, rho)


@pytest.mark.parametrize("rho", [F(1, 10**12), F(1, 7), F(10**12)])
def test_a_plan_within_rho_uses_nearly_all_of_it(rho):
    """For a cost that is no square, too, as that of a pure mechanism."""

    class Plan:
        def __init__(self, epsilon, zcdp):
            self.epsilon = epsilon
            assert zcdp

        def cost(self):
            return pure(self.epsilon)

    found = Spending(rho, True).plan(Plan).cost().rho
    assert F(999, 1000) * rho <= found <= rho


@pytest.mark.parametrize("rho", [F(1, 10**12), F(1, 3), F(7), F(10**12)])
def test_a_nominal_epsilon_has_this_rho(rho):
    """epsilon**2 / 2 is within rho, and not much less."""
    assert rho * (1 - F(1, 10**9)) <= nominal(rho) ** 2 / 2 <= rho


@pytest.mark.sampled
def test_additive_noise_has_the_spread_it_states():
    """Over many draws, the standard deviation of Gaussian noise and the scale of Laplace noise are as stated."""
    for zcdp in (False, True):
        noise, source = Additive(F(1, 2), zcdp), random_source(random.Random(seed_of(7)))
        draws = np.array([noise.draw(5, source) for _ in range(4000)])
        spread = draws.std() if zcdp else np.abs(draws).mean()
        assert spread == pytest.approx(noise.scale(5), rel=0.06)
        assert np.mean(np.abs(draws) > noise.half_interval(noise.scale(5), 0.0, 0.05)) == pytest.approx(0.05, abs=0.017)
    assert Additive(F(1, 2), True).cost() == gaussian(F(1, 8)) and Additive(F(1, 2)).cost() == pure(F(1, 2))
    assert two_normal(3.0, 4.0, 0.05) == pytest.approx(5 * 1.959964, rel=1e-6)


def log_gaussian(variance, low, high):
    """Log-probabilities of the discrete Gaussian law on the whole numbers from low to high."""
    j = np.arange(low, high + 1)
    weights = -(j**2) / (2 * float(variance))
    return weights - math.log(np.exp(weights).sum())


def renyi(p, q, alpha):
    """The divergence of order alpha of two laws by their log-probabilities."""
    with np.errstate(invalid="ignore"):
        terms = alpha * p - (alpha - 1) * q
    top = terms[np.isfinite(terms)].max()
    return (top + math.log(np.exp(terms[np.isfinite(terms)] - top).sum())) / (alpha - 1)


def average_law(rule, data, width, reach):
    """The joint law of the two noisy numbers that an average is made of: log-probabilities on one grid of outcomes."""
    there = [k for k in data if k is not None]
    count, total = len(there), sum(there)
    if rule.neighbors == "add-remove":
        exact, noises = (total, width * count - total), (rule.noise, rule.noise)
        spreads = (width, width)
    else:
        exact, noises = (2 * total - width * count, len(data) - count), (rule.noise, rule.for_count)
        spreads = (2 * width, 1)
    laws = []
    for value, noise, spread in zip(exact, noises, spreads, strict=True):
        shift = reach + 10 * width
        law = np.full(2 * shift + 1, -np.inf)
        law[value - reach + shift : value + reach + shift + 1] = log_gaussian(
            (spread / noise.epsilon) ** 2, -reach, reach
        )
        laws.append(law)
    return laws


@pytest.mark.parametrize("spent", [0, F(1, 10)])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_averages_stay_within_their_rho_and_come_near_it(neighbors, spent):
    """Exact Renyi divergences over all neighbours of small data sets, missing records too, stay below alpha rho.

    An earlier look at the number of records, for `spent`, is part of what a record that is added costs.
    """
    width, epsilon, reach = 2, F(1), 60
    rule = AverageRule(epsilon, neighbors, 2, True, spent * epsilon, True)
    records, worst = [0, 1, 2, None], 0.0
    claim = float(rule.cost().rho)
    for first, second in product(product(records, repeat=2), repeat=2):
        if neighbors == "swap" and sum(a != b for a, b in zip(first, second, strict=True)) != 1:
            continue
        if neighbors == "add-remove" and not (first[0] == second[0] and second[1] is None and first[1] is not None):
            continue
        added = (
            sum((a is None) != (b is None) for a, b in zip(first, second, strict=True)) if neighbors == "swap" else 0
        )
        pair = [average_law(rule, data, width, reach) for data in (first, second)]
        for alpha in ALPHAS[:4]:  # beyond, the ends of the grid count
            for mine, yours in (pair, pair[::-1]):
                inside = [np.isfinite(p) & np.isfinite(q) for p, q in zip(mine, yours, strict=True)]
                total = sum(renyi(p[k], q[k], alpha) for p, q, k in zip(mine, yours, inside, strict=True))
                found = total / alpha + added * float((spent * epsilon) ** 2) / 2
                assert found <= claim * (1 + 1e-6)
                worst = max(worst, found)
    assert worst >= 0.98 * claim
