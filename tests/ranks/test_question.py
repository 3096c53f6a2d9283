"""The whole answer: its law is that of its draws, and it is charged for what it spends."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.laws import answer_law, mean_error

import nobounds as nb
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question

WHOLE = Ladder.grid(1).limited(F(0), None)
LADDERS = [Ladder.float_bits(0), WHOLE, Ladder.grid(1).limited(F(0), F(50))]


@pytest.mark.medium
@given(
    st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=5),
    st.integers(0, 2000),
    st.sampled_from(["add-remove", "swap"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(LADDERS),
)
@settings(deadline=None)
def test_any_number_of_quantiles_costs_epsilon(qs, rows, neighbors, missing, grows, ladder):
    """The size and the answers together, by what they are for and as a whole."""
    public = rows if neighbors == "swap" else None
    problem = Problem(tuple(qs), ladder, neighbors, missing, public, method="auto", grows=grows)
    question = Question.of(problem, F(1))
    assert question.cost().epsilon == sum(cost.epsilon for cost in question.parts().values()) == 1
    assert question.loss().epsilon == 1
    nominal = Question.of(problem, F(1), True)
    assert nominal.cost().rho <= 0.5


def bands(law, cuts):
    """The probability of each band between the cuts."""
    parts = law.parts
    above = [sum(chance * law._above(route, part, cut) for chance, route, part in parts) for cut in cuts]
    return -np.diff([1.0, *above, 0.0])


def p_value(counted, expected):
    """Chi-square of the bands that are likely enough; 0 if one is hit that has no probability."""
    expected = expected / expected.sum() * counted.sum()
    if counted[expected < 1e-9].any():
        return 0.0
    kept = expected > 3
    counted, expected = (np.append(x[kept], x[~kept].sum()) for x in (counted, expected))
    return stats.chisquare(counted[expected > 0], expected[expected > 0]).pvalue


# Records, rank, and options that take the walks of these.
FOLLOWED = {
    "own ladder": (300, 0.5, {"beta": 1.01}),
    "gumbel": (2000, 1, {"noise": "gumbel", "beta": 1.01}),
}


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("name", FOLLOWED)
@pytest.mark.unmarked
def test_answers_follow_their_law(name, neighbors):
    """Ten bands of the answer's law catch their share of 600 answers, through the public function (chi-square).

    The laws for an epsilon of half and of twice as much are rejected.
    """
    n, q, options = FOLLOWED[name]
    rng = np.random.default_rng(n)
    data = rng.normal(10, 3, n)
    options = {"neighbors": neighbors, **options}
    answers = np.array([nb.quantile(data, q, epsilon=0.5, rng=rng, **options).value for _ in range(800)])
    cuts = np.unique(np.quantile(answers[:200], np.linspace(0, 1, 11)[1:-1]))
    counted = np.histogram(answers[200:], [-np.inf, *np.nextafter(cuts, np.inf), np.inf])[0]

    def against(epsilon):
        return p_value(counted, bands(answer_law(data, q, least=1e-3, epsilon=epsilon, **options), cuts))

    assert against(0.5) > 1e-9
    assert against(1) < 1e-9 and against(0.25) < 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_flip_is_better_for_the_median(neighbors):
    """Expected errors for 2000 lognormal records: flip at most the walk, 0.75 of it under add-remove."""
    data = np.random.default_rng(8).lognormal(3, 0.8, 2000)
    options = {"epsilon": 1, "neighbors": neighbors, "rows": 2000}
    walk, flip = (
        mean_error(data, 0.5, np.median(data), 0, 200, method=method, **options) for method in ("walk", "flip")
    )
    assert flip < walk * (0.75 if neighbors == "add-remove" else 1)


@pytest.mark.parametrize("method", ["auto", "walk", "flip", "exponential"])
def test_every_method_answers_every_quantile(method):
    """Few records and many, at the ends and in between: near the data."""
    rng = random.Random(1)
    for n in (30, 300, 5000):
        data = np.random.default_rng(n).normal(50, 1, n)
        for q in (0, 0.1, 0.5, 0.9, 1):
            assert n < 300 or 0 < nb.quantile(data, q, epsilon=2, method=method, rng=rng).value < 100


def test_levels_of_the_size_are_mixed_in_the_law():
    """The law over a noisy size is that over its levels, so its masses add up to one.

    A frame is bought with probability 1e-5; its many centres are each so unlikely that the law leaves them out.
    """
    data = np.random.default_rng(4).normal(5, 1, 100)
    law = answer_law(data, 0.5, epsilon=1)
    assert sum(chance for chance, *_ in law.lasts) == pytest.approx(1, abs=2e-5)
    values, masses = law.points()
    assert masses.sum() == pytest.approx(1, abs=1e-3)
    assert np.all(np.diff(values) >= 0)
    assert law.above(values[-1] * 2) < 1e-3 and law.below(-1e300) < 1e-3
