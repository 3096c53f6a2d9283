"""The law of a sparse vector: a law, the one on paper, and what it says of the privacy that is promised."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from support import broken

from nobounds.accounting.cost import general, monotonic, pure
from nobounds.auditing.cases import most
from nobounds.auditing.claims.sparse import EITHER_WAY, HITS, ONE_WAY, PURE, delta_seen, pure_seen, rates_for, rho_seen
from nobounds.auditing.enumerated import enumerated_law
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.hits import FreshThreshold, hits_of
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.sparse_vector import Promise, Rates
from nobounds.mechanisms.walk import Walk
from nobounds.programs.streams import over

METHODS = ("iterated", "classical")
QUERIES = (0, 2, -1, 1, 0)


def answers(pattern, hits, length):
    """The answers of a pattern of hits, as they are given."""
    asked = pattern[-1] + 1 if len(pattern) == hits else length
    return tuple(k in pattern for k in range(asked))


# --- the law ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.parametrize("hits", [1, 2, 3, 5])
def test_laws_sum_to_one(method, noise, hits):
    """Every law is a law, no pattern left out and none counted twice."""
    found = SparseLaw(QUERIES, F(1), hits, F(1, 2), F(1, 2), method, noise)
    if (method, noise) == ("classical", "gumbel"):
        with pytest.raises(ValueError, match="exponential or Laplace"):
            found.log_pmf()
        return
    assert np.exp(found.log_pmf()).sum() == pytest.approx(1, abs=1e-12)
    assert len(set(found.patterns)) == len(found.patterns) == sum(math.comb(5, k) for k in range(hits + 1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_one_hit_is_above_threshold(method, noise):
    """With one hit both have the law of Algorithm 1."""
    found = SparseLaw(QUERIES, F(1), 1, F(1, 2), F(1, 3), method, noise).log_pmf()
    walk = Law(Walk.of(list(QUERIES), F(1), eps1=F(1, 2), eps2=F(1, 3), noise=noise)).log_pmf()
    assert found == pytest.approx(np.append(walk[-1], walk[:-1]), rel=1e-9)


@pytest.mark.parametrize("hits", [1, 2, 3])
def test_the_classical_law_is_that_of_the_published_algorithm(hits):
    """A program that knows only Algorithm 1 of Lyu, Su and Li (2017) comes to the same probabilities."""
    for make, factor in ((broken.correct, 2), (broken.correct_monotonic, 1)):
        published = make(1.0, hits).law(QUERIES)
        found = SparseLaw(QUERIES, F(0), hits, F(1, 2), F(1, 2) / (factor * hits), "classical", "laplace")
        for pattern, chance in zip(found.patterns, np.exp(found.log_pmf()), strict=True):
            assert chance == pytest.approx(published[answers(pattern, hits, len(QUERIES))], rel=1e-9)


def test_the_iterated_law_by_hand():
    """Two hits on three queries: the probabilities of two runs of Algorithm 1, written out as sums over the lattice."""
    eps1, eps2, threshold, queries = 0.5, 0.25, 2, (1, 3, 0)
    j = np.arange(400)
    weight = -math.expm1(-eps1) * np.exp(-eps1 * j)
    above = [np.exp(-eps2 * np.maximum(threshold + j - query, 0)) for query in queries]

    def segment(said, start):
        return float(
            weight @ np.prod([above[start + k] if hit else 1 - above[start + k] for k, hit in enumerate(said)], axis=0)
        )

    found = SparseLaw(queries, F(threshold), 2, F(1, 2), F(1, 4))
    by_hand = {
        (): segment((0, 0, 0), 0),
        (0,): segment((1,), 0) * segment((0, 0), 1),
        (1,): segment((0, 1), 0) * segment((0,), 2),
        (2,): segment((0, 0, 1), 0),
        (0, 1): segment((1,), 0) * segment((1,), 1),
        (0, 2): segment((1,), 0) * segment((0, 1), 1),
        (1, 2): segment((0, 1), 0) * segment((1,), 2),
    }
    assert dict(zip(found.patterns, np.exp(found.log_pmf()), strict=True)) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_program_has_this_law(method, noise):
    """Driven through every noise of its thresholds and every answer, the program that runs has the closed law."""
    queries, threshold, hits = (0, 2, -1, 1), F(1), 2
    fresh = FreshThreshold(threshold, F(3), F(2, 3), noise, 1, lambda: pure(F(1)))

    def found(driver):
        return driver.run(over(hits_of(fresh, hits, renewed=method == "iterated"), map(F, queries)))

    chances = {pattern: math.exp(log) for pattern, log in enumerated_law(found, 27).logs.items()}
    law = SparseLaw(queries, threshold, hits, fresh.eps1, fresh.eps2, method, noise)
    assert chances == pytest.approx(dict(zip(law.patterns, np.exp(law.log_pmf()), strict=True)), abs=1e-10)


@pytest.mark.medium
def test_a_finer_lattice_changes_little():
    """The lattice of the sampler, 1/1024, and one of 1/64 agree to a few in a thousand, by both ways to the law."""
    for method in METHODS:
        fine, coarse = (SparseLaw(QUERIES, F(1), 2, F(1), F(1), method, step=step) for step in (F(1, 1024), F(1, 64)))
        assert np.exp(fine.log_pmf()) == pytest.approx(np.exp(coarse.log_pmf()), abs=0.01)


# --- pure privacy -------------------------------------------------------------------------------------------------


def audited(rates: Rates, moves, **options):
    """The worst over data sets of no record or one, whose queries stand just below the threshold or far below."""
    found = most(pure_seen(rates, moves, **options))
    return found["epsilon"].value, found["range"].value


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
def test_monotonic_streams_keep_their_epsilon_and_use_it_up(method):
    """No pattern of two hits shows more than epsilon or the range, and one shows 98% of each.

    Here at a share of 2/3; that of 1/3 is in the quick table of the audit.
    """
    rates = rates_for(PURE, method, True, share=F(2, 3))
    epsilon, eta = audited(rates, ONE_WAY)
    claimed = sum(cost.eta for cost in rates.costs())
    assert 0.98 < epsilon <= 1 + 1e-9
    assert 0.98 * claimed < eta <= claimed + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
def test_general_streams_keep_their_epsilon_and_use_it_up(method):
    """So for queries that move either way, whose range is bounded but not reached."""
    rates = rates_for(PURE, method, False)
    epsilon, eta = audited(rates, EITHER_WAY)
    assert 0.98 < epsilon <= 1 + 1e-9
    assert eta <= 2 + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
def test_laplace_noise_keeps_its_epsilon(method):
    """Both with discrete Laplace noise."""
    rates = rates_for(PURE, method, True)
    assert 0.98 < audited(rates, ONE_WAY[:2], noise="laplace")[0] <= 1 + 1e-9


@pytest.mark.medium
def test_gumbel_noise_keeps_its_epsilon():
    """And the iterated one with Gumbel noise."""
    rates = rates_for(PURE, "iterated", True)
    assert 0.95 < audited(rates, ONE_WAY[:2], noise="gumbel")[0] <= 1 + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("is_monotonic", [True, False])
def test_query_noise_that_does_not_grow_with_hits_is_caught(is_monotonic):
    """A classical sparse vector with the query noise of one hit shows what its second hit costs."""
    rates = rates_for(PURE, "classical", is_monotonic)
    epsilon, _ = audited(rates, EITHER_WAY[: 4 - is_monotonic], eps2=rates.eps2 * rates.hits)
    row = monotonic if is_monotonic else general
    truth = row(rates.eps1, rates.hits**2 * rates.eps2).epsilon
    assert truth > 1.3
    assert 0.98 * truth < epsilon <= truth + F(1, 10**9)


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
def test_the_monotonic_price_for_other_queries_is_caught(method):
    """A stream that moves both ways costs more than the price of a monotonic one."""
    assert audited(rates_for(PURE, method, True), EITHER_WAY)[0] > 1.3


@pytest.mark.medium
def test_a_threshold_that_is_not_renewed_costs_less():
    """The threshold's noise is then paid for once: eps1 + 2 eps2 where the iterated price is 2 eps1 + 2 eps2."""
    rates = rates_for(PURE, "iterated", True)
    epsilon, _ = audited(rates, ONE_WAY, method="classical")
    assert epsilon == pytest.approx(float(rates.eps1 + 2 * rates.eps2), rel=0.02)
    assert epsilon < 0.8


# --- rho, and an epsilon at a delta -------------------------------------------------------------------------------


def worst_renyi(rates, **options):
    """The largest Renyi divergence over its order."""
    return max(one.value for one in rho_seen(rates, **options))


def worst_delta(rates, epsilon, **options):
    """The largest hockey-stick divergence."""
    return max(one.value for one in delta_seen(rates, epsilon, **options))


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("is_monotonic", "rho"), [(True, F(2)), (False, F(1, 10))])
def test_rho_holds(method, is_monotonic, rho):
    """No Renyi divergence of the laws exceeds rho times its order; 1/10 and monotonic is in the audit's quick table."""
    assert worst_renyi(rates_for(Promise(None, None, rho), method, is_monotonic, HITS)) <= float(rho) + 1e-12


@pytest.mark.medium
def test_the_rho_of_one_hit_for_all_is_caught():
    """Rates that give each of four hits the whole rho show more than it."""
    rates = rates_for(Promise(None, None, F(1, 10)), "iterated", True, 1)
    assert worst_renyi(rates, hits=HITS) > 0.12


APPROXIMATE = [(F(1), F(1, 1000)), (F(2), F(1, 100)), (F(3), F(1, 10))]


@pytest.mark.medium
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("is_monotonic", "epsilon", "delta"), [(True, *APPROXIMATE[0]), (False, *APPROXIMATE[1]), (False, *APPROXIMATE[2])]
)
def test_an_epsilon_at_a_delta_holds(method, is_monotonic, epsilon, delta):
    """No hockey-stick divergence of the laws exceeds delta at epsilon; the quick table of the audit has another."""
    rates = rates_for(Promise(epsilon, delta, None), method, is_monotonic, HITS)
    assert worst_delta(rates, float(epsilon)) <= delta


@pytest.mark.medium
@pytest.mark.parametrize(("epsilon", "delta"), APPROXIMATE)
def test_bugs_are_caught_at_a_delta(epsilon, delta):
    """Query noise that does not grow with the hits, and the rates of one hit for all of them, exceed delta."""
    classical = rates_for(Promise(epsilon, delta, None), "classical", True, HITS)
    assert worst_delta(classical, float(epsilon), eps2=classical.eps2 * HITS) > 1.5 * delta
    once = rates_for(Promise(epsilon, delta, None), "iterated", True, 1)
    assert worst_delta(once, float(epsilon), hits=HITS) > 1.5 * delta
