"""The whole mechanism, audited for what it claims: private size, private sign and whichever walk they choose."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.laws import answer_law, mean_error

import nobounds as nb
from nobounds.auditing.audit import audit
from nobounds.auditing.claims.answers import SHORT, live, log_law
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.auto import Aim, SizeRule, choose
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import FlipRoute, Outward, Route

LADDER = Ladder.float_bits(0)  # one rung a power of two, the whole line
MISSING = math.nan
# The rows that are public, and whether records can be missing: so that the size is private, capped, known or too small.
PUBLIC = {
    "add-remove": (None, True),
    "swap": (400, True),
    "swap, no missing": (10**6, False),
    "swap, few rows": (2, False),
}


def short(qs, ladder, relation, epsilon=F(1), **options):
    """The plan where walks take the steps of the ladder itself, so that their laws are short; all else is the same."""
    return Question.of(Problem(qs, ladder, relation, tuning=SHORT, **options), epsilon)


def audited(q, relation, **options):
    """The same for a quantile at epsilon 2 with the public facts of a relation, all of its routes alive."""
    rows, nullable = PUBLIC[relation]
    return live(short((q,), LADDER, relation.split(",")[0], F(2), nullable=nullable, rows=rows, **options))


def routes_to(q, neighbors, method, ladder=None):
    """The routes for all sizes, on a ladder that does not grow, for epsilon 1 and a size that costs a twentieth."""
    ladder = ladder or Ladder.float_bits(8)
    return choose(Aim(q, F(1), Problem((q,), ladder, neighbors, method=method, tuning=SHORT)), SizeRule(F(1, 20)))


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.parametrize("q", [F(0), F(1, 5), F(1, 2), F(1)], ids=str)
@pytest.mark.parametrize("relation", ["add-remove", "swap", "swap, no missing", "swap, few rows"])
def test_the_whole_answer_costs_what_it_says(relation, q, noise):
    """Over all neighbouring data sets of up to two records of both signs (and missing ones), all branches live."""
    neighbors = relation.split(",")[0]
    question = audited(q, relation, noise=noise)
    assert len(question.routes[0]) > 1 or question.size.known is not None
    spots = (-3.0, 0.0, 5.0, *((MISSING,) if relation == "swap" else ()))
    found = audit(lambda data: log_law(question, data), spots, 2, neighbors, least=1 if neighbors == "swap" else 0)
    loss = question.loss()
    # A private size under swap costs only pairs with a missing record, and not all that is left over can be spent.
    assert loss.epsilon == 2 if relation != "swap" else 1.99 < loss.epsilon <= 2
    assert found.epsilon <= loss.epsilon + 1e-9
    assert found.eta <= loss.eta + 1e-9
    assert found.epsilon > 0.5  # it is not for nothing


@pytest.mark.medium
@pytest.mark.parametrize("method", ["flip", "exponential"])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_flip_and_the_routes_behind_it_cost_what_they_say(neighbors, method):
    """The same audit with a choice among all rungs as the first route, on a ladder that is short enough for its law."""
    question = audited(F(1, 2), neighbors, method=method)
    assert any(
        isinstance(route, FlipRoute) and route.exponential == (method == "exponential") for route in question.routes[0]
    )
    assert isinstance(question.routes[0][-1], Outward)
    spots = (-3.0, 0.0, 5.0, *((MISSING,) if neighbors == "swap" else ()))
    found = audit(lambda data: log_law(question, data), spots, 2, neighbors, least=1 if neighbors == "swap" else 0)
    assert 0.5 < found.epsilon <= question.loss().epsilon + 1e-9
    assert question.loss().epsilon == 2
    assert found.eta <= question.loss().eta + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_flip_is_better_for_the_median(neighbors):
    """Exact expected errors for 1000 lognormal records: flip at most the walk, 0.7 of it under add-remove."""
    data = np.random.default_rng(8).lognormal(3, 0.8, 1000)
    options = {"epsilon": 1, "neighbors": neighbors, "rows": 1000}
    walk, flip = (
        mean_error(data, 0.5, np.median(data), 0, 200, method=method, **options) for method in ("walk", "flip")
    )
    assert flip < walk * (0.7 if neighbors == "add-remove" else 1)


def test_flip_is_not_taken_where_far_rungs_could_win():
    """Extremes and small data walk: their routes are the same with method flip."""
    assert routes_to(F(1), "swap", "flip") == routes_to(F(1), "swap", "walk")
    first = routes_to(F(1, 20), "swap", "flip")[0]
    assert isinstance(first, FlipRoute) and first.rate == F(1, 2)
    assert float(first.rate) * first.at_least / 20 > math.log(first.ladder.size) + 8  # the empty rungs weigh exp(-8)
    data = np.random.default_rng(9).lognormal(0, 1, 40)
    law = answer_law(data, 0.5, epsilon=0.5, method="flip")
    assert law.above(10 * data.max()) + law.below(-10 * data.max()) <= 1e-3


@pytest.mark.medium
def test_the_claimed_range_is_nearly_reached():
    """Routes in both directions widen the range: twice epsilon is nearly true for the maximum under swap."""
    question = audited(F(1), "swap")
    found = audit(lambda data: log_law(question, data), (-3.0, 0.0, 5.0, MISSING), 2, "swap", least=1)
    assert 0.9 * question.loss().eta < found.eta <= question.loss().eta


def test_small_data_walk_outward_and_large_data_from_far():
    """The routes of a quantile end in the one that needs no size, and it is the gentle one."""
    routes = routes_to(F(1, 2), "add-remove", "walk")
    assert isinstance(routes[-1], Outward) and routes[-1].at_least == 0
    assert all(isinstance(route, Route) and route.at_least > 30 for route in routes[:-1])
    bounded = routes_to(F(1), "add-remove", "walk", Ladder.float_bits(8).limited(F(0), None))
    assert isinstance(bounded[-1], Route) and bounded[-1].up and bounded[-1].start == bounded[-1].ladder.first


@pytest.mark.parametrize(
    ("q", "up"), [(F(1, 20), True), (F(1, 4), True), (F(3, 4), False), (F(19, 20), False), (F(1), True), (F(0), False)]
)
def test_directions_under_add_remove(q, up):
    """Inner quantiles take the cheap direction, up for small q and down for large; extremes have only one."""
    assert routes_to(q, "add-remove", "walk")[0].up == up


@pytest.mark.medium
@given(
    st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=5),
    st.integers(0, 2000),
    st.sampled_from(["add-remove", "swap"]),
    st.booleans(),
    st.sampled_from([LADDER, Ladder.grid(1).limited(F(0), None), Ladder.grid(1).limited(F(0), F(50))]),
)
@settings(deadline=None)
def test_any_number_of_quantiles_stays_within_epsilon(qs, rows, neighbors, missing, ladder):
    """The plan for several quantiles never costs more than the total, and one quantile costs next to all of it."""
    public = rows if neighbors == "swap" else None
    question = short(tuple(qs), ladder, neighbors, nullable=missing, rows=public)
    assert question.cost().epsilon <= 1
    if len(qs) == 1:
        assert question.cost().epsilon > F(99, 100)


def test_nothing_is_spent_on_a_size_that_no_route_needs():
    """The maximum over a public lower bound has one route, so all of epsilon goes to the walk."""
    free = short((F(1),), Ladder.float_bits(8).limited(F(0), None), "add-remove")
    paid = short((F(1),), Ladder.float_bits(8), "add-remove")
    assert free.size.epsilon == 0 and paid.size.epsilon == F(1, 20)
    assert free.loss().epsilon == paid.loss().epsilon == 1


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize(("n", "q", "off"), [(30, 0.5, 2), (250, 0.95, 1.3), (2000, 1, 1.3)])
def test_answers_follow_their_law(n, q, off, neighbors):
    """Ten bands of the answer's law catch their share of 800 answers, through the public function (chi-square).

    The laws for an epsilon 30 % off are rejected; few records tell less, and reject one that is twice or half.
    """
    from scipy import stats

    rng = np.random.default_rng(n)
    data = rng.normal(1, 2, n)
    answers = np.array([nb.quantile(data, q, epsilon=0.5, neighbors=neighbors, rng=rng).value for _ in range(1000)])
    cuts = np.unique(np.quantile(answers[:200], np.linspace(0, 1, 11)[1:-1]))
    counted = np.histogram(answers[200:], [-np.inf, *np.nextafter(cuts, np.inf), np.inf])[0]

    def p_value(epsilon):
        law = answer_law(data, q, epsilon=epsilon, neighbors=neighbors)
        expected = -np.diff([1.0, *(law.above(cut) for cut in cuts), 0.0])
        keep = expected > 1e-12
        if counted[~keep].any():
            return 0.0
        return stats.chisquare(counted[keep], expected[keep] * counted.sum() / expected[keep].sum()).pvalue

    assert p_value(0.5) > 1e-9
    assert p_value(0.5 * off) < 1e-9 and p_value(0.5 / off) < 1e-9
