"""The paper's own algorithms: candidates, answers and costs as printed, slips mended."""

from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.auditing.audit import all_data, neighbors_of
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.research.reference import fully_unbounded_quantile, unbounded_quantile

pytestmark = pytest.mark.medium  # the first of them makes the paper's ladder

SURE = {"eps1": 10**6, "eps2": 10**6}  # no noise to speak of


def candidates(lower, count, beta=1.01):
    return [beta**i + lower - 1 for i in range(count)]


@pytest.mark.parametrize("lower", [0, -50, 7])
def test_algorithm_2_answers_the_first_candidate_with_enough_records_below(lower):
    """The smallest beta**k + lower - 1 that has at least q n records strictly below it."""
    data = np.random.default_rng(1).exponential(100, 501) + lower
    for q in (0.1, 0.5, 0.9, 1):
        below = next(c for c in candidates(lower, 5000) if (data < c).sum() >= q * 501 - 1e-9)
        assert unbounded_quantile(data, q, lower=lower, beta=1.01, **SURE).value == pytest.approx(below, rel=1e-9)


def test_records_below_the_lower_bound_count_in_the_first_query():
    """With most records below it, the answer is the lower bound itself."""
    data = np.concatenate([np.full(80, -5.0), np.full(20, 5.0)])
    assert unbounded_quantile(data, 0.5, lower=0, **SURE).value == 0


@pytest.mark.parametrize(("sign", "q"), [(1, 0.25), (1, 0.9), (-1, 0.25), (-1, 0.9)])
def test_algorithm_4_finds_quantiles_on_both_sides_of_zero(sign, q):
    """Positive data halt in the first walk, negative data in the second."""
    data = sign * np.random.default_rng(2).exponential(100, 1000)
    found = fully_unbounded_quantile(data, q, beta=1.01, **SURE).value
    assert found == pytest.approx(np.quantile(data, q), rel=0.03, abs=0.1)


def test_algorithm_4_answers_0_for_zeros():
    """Both walks halt at once."""
    assert fully_unbounded_quantile([-1.0] * 15 + [1.0] * 15, 0.5, **SURE).value == 0


def test_costs_are_those_of_one_and_two_walks():
    """One walk costs eps1 + eps2 under swap and q eps1 + eps2 under add-remove; two cost less than twice that."""
    integers = np.array([1, 2, 3])
    once = unbounded_quantile(integers, 0.75, eps1=0.5, eps2=0.5)
    assert (once.loss.epsilon, once.loss.eta, once.loss.neighbors) == (1.0, 1.5, "swap")
    assert once.loss.rho <= float((F(1, 4) + F(1, 2)) ** 2 / 2)
    assert unbounded_quantile(integers, 0.75, eps1=0.5, eps2=0.5, neighbors="add-remove").loss.epsilon == 0.875
    assert fully_unbounded_quantile(integers, 0.75, eps1=0.5, eps2=0.5).loss.epsilon == 1.5
    assert fully_unbounded_quantile(integers, 0.75, eps1=0.5, eps2=0.5, neighbors="add-remove").loss.epsilon == 1.5


@pytest.mark.parametrize(("eps1", "eps2"), [(F(1, 2), F(1, 2)), (F(1, 4), F(3, 4)), (F(13, 20), F(7, 20))], ids=str)
def test_two_opposite_walks_cost_eps1_plus_2_eps2_under_swap(eps1, eps2):
    """The worst joint log-ratio of a walk up and a walk down never exceeds it and comes within 2% of it."""
    spots, lengths = (0, 1, 2), (10**8, 1, 10**8)
    starts = np.array([0, 10**8, 10**8 + 1])
    telling = [0, 10**5, 10**8 - 1, 10**8, 10**8 + 1, 2 * 10**8]

    def law(counts, shift):
        walk = Walk(starts, np.array(counts), sum(lengths), F(1 + shift), F(1), eps1, eps2)
        return Law(walk).log_pmf(telling)

    worst = 0.0
    for shift in (0, 20):
        laws = {
            data: (
                law([sum(x <= s for x in data) for s in spots], shift),
                law([sum(x >= s for x in data) for s in reversed(spots)], shift),
            )
            for data in all_data(spots, 2, least=1)
        }
        for data, (up, down) in laws.items():
            for other in neighbors_of(data, spots, "swap"):
                worst = max(worst, float((up - laws[other][0]).max() + (down - laws[other][1]).max()))
    assert 0.98 * float(eps1 + 2 * eps2) < worst <= float(eps1 + 2 * eps2) + 1e-9


def test_parameters_are_checked():
    """By name."""
    with pytest.raises(ValueError, match="eps1"):
        unbounded_quantile([1.0], 0.5, eps1=0, eps2=1)
    with pytest.raises(ValueError, match="beta"):
        fully_unbounded_quantile([1.0], 0.5, eps1=1, eps2=1, beta=1)
    with pytest.raises(ValueError, match="q must"):
        unbounded_quantile([1.0], 2, eps1=1, eps2=1)
