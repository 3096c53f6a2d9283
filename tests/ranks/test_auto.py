"""Plans: whatever the size, their parts cost no more than epsilon; and each kind of data has the route meant for it."""

import itertools
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.accounting.cost import pure
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.zoned import Zoned
from nobounds.ranks.auto import LARGEST, SizeRule, auto, ends_cost, size_rule
from nobounds.ranks.framing import HALF
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import ChoiceRoute, Route
from nobounds.ranks.tuning import TUNING

RELATIONS = ["add-remove", "swap"]
FLOATS = Ladder.float_bits(8)
MANY = [(HALF,), (F(9, 10),), (F(1),), (F(0), F(1)), (F(1, 100), HALF, F(3, 4)), tuple(F(k, 8) for k in range(9))]


def problem_of(qs, neighbors, ladder=FLOATS, grows=True, **more):
    return Problem(tuple(qs), ladder, neighbors, method=more.pop("method", "auto"), grows=grows, **more)


def parts_of(plan, problem):
    """The cost of each decision of a plan."""
    neighbors, nullable = problem.neighbors, problem.nullable
    if plan.frame is not None:
        if plan.frame.center.epsilon:
            yield plan.frame.center.cost(HALF, neighbors, nullable)
        if plan.frame.eps_scale:
            yield plan.frame.scale_cost()
    if plan.together:
        yield ends_cost(neighbors, plan.routes[0].eps1, plan.routes[0].eps2)
        return
    for q, route in zip(problem.qs, plan.routes, strict=True):
        rank = getattr(route, "rank", None)
        yield route.cost(q if rank is None else rank, neighbors, nullable)


def total(costs):
    whole = pure(F(0))
    for cost in costs:
        whole = whole + cost
    return whole


@pytest.mark.medium
@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("qs", MANY, ids=lambda qs: f"{len(qs)} from {qs[0]}")
def test_the_parts_of_every_plan_cost_no_more_than_is_charged(qs, neighbors, zcdp):
    """For each size that plans tell apart, each method and noise: by the algebra of costs, and nearly all of it."""
    for epsilon in (F(1, 10), F(3)):
        for method, noise in (("auto", "exponential"), ("walk", "gumbel"), ("flip", "laplace"), ("exponential",) * 2):
            for nullable in (False, True):
                problem = problem_of(qs, neighbors, method=method, noise=noise, nullable=nullable)
                question = Question.of(problem, epsilon, zcdp)
                charged = question.parts()["answer"]
                for size in question.size.levels[::7]:
                    spent = total(parts_of(question.plan(size), problem))
                    if zcdp:
                        assert spent.rho <= charged.rho * (1 + 1e-12)
                    else:
                        assert spent.epsilon <= charged.epsilon
                        if len(qs) == 1:
                            assert spent.epsilon == charged.epsilon


@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@given(
    qs=st.lists(st.fractions(0, 1, max_denominator=200), min_size=1, max_size=6),
    size=st.integers(0, 2 * LARGEST),
    noise=st.integers(0, 400),
    epsilon=st.fractions(F(1, 1000), 10, max_denominator=1000),
    neighbors=st.sampled_from(RELATIONS),
    grows=st.booleans(),
)
@settings(deadline=None)
def test_plans_of_any_kind_cost_no_more_than_epsilon(zcdp, qs, size, noise, epsilon, neighbors, grows):
    """Any quantiles, any size and any epsilon; under zCDP their rho is within epsilon**2 / 8."""
    problem = problem_of(qs, neighbors, grows=grows)
    spent = total(parts_of(auto(problem, epsilon, size, zcdp, noise), problem))
    if zcdp:
        assert spent.rho <= float(epsilon) ** 2 / 8 * (1 + 1e-12)
    else:
        assert spent.epsilon <= epsilon


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("rows", [0, 5, 10**3, 10**12])
def test_no_size_is_bought_when_rows_are_stated(rows, neighbors):
    """All of epsilon goes to the answer, for one plan."""
    rule = size_rule(problem_of((HALF,), neighbors, rows=rows, stated=True), F(1))
    assert rule.epsilon == 0 and rule.known == min(rows, LARGEST) and rule.noise == 0


def test_public_rows_buy_no_size_unless_some_may_be_missing():
    """Under swap the rows are public; with missing records a little is spent, the less the more rows there are."""
    assert size_rule(problem_of((HALF,), "swap", rows=50, nullable=False), F(1)).epsilon == 0
    few, many = (size_rule(problem_of((HALF,), "swap", rows=rows), F(1)) for rows in (50, 10**6))
    assert 0 < many.epsilon < few.epsilon < F(1, 10) and many.at_most == 10**6
    alone = size_rule(problem_of((HALF,), "add-remove"), F(1))
    assert 0 < alone.epsilon < F(1, 10) and alone.known is None and alone.noise == round(1 / alone.epsilon)


@given(st.integers(0, LARGEST))
def test_levels_fall_from_the_largest_size_to_zero(most):
    """No two are the same, and next to each size is one that is a fifth smaller or nearer."""
    levels = SizeRule(F(1, 40), at_most=most).levels
    assert levels[0] == most and levels[-1] == 0
    assert list(levels) == sorted(set(levels), reverse=True)
    for one, other in itertools.pairwise(levels):
        assert other == 0 or one - other <= 1 + one / 5


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_few_records_have_no_frame_and_many_have_one(neighbors):
    """An inner quantile of few records is chosen under the prior, of many on a ladder that grows finer with them."""
    problem = problem_of((HALF,), neighbors)
    few, many, more = (auto(problem, F(1), size) for size in (20, 10**5, 10**8))
    assert few.frame is None and isinstance(few.routes[0], ChoiceRoute) and few.routes[0].weighed
    assert many.frame is not None and many.frame.eps_scale > more.frame.eps_scale > 0
    assert isinstance(many.routes[0], ChoiceRoute) and not many.routes[0].weighed
    assert many.routes[0].ladder.map.bits < more.routes[0].ladder.map.bits


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_few_records_are_aimed_a_little_nearer_to_the_middle(neighbors):
    """By a hundredth at most, up to the rank with 20 nats beyond it: 120 records at q = 1/4, 160 under swap."""
    for q in (F(1, 4), F(3, 10), HALF, F(3, 4)):
        problem, enough = problem_of((q,), neighbors), 120 if neighbors == "add-remove" else 160
        aimed = [auto(problem, F(1), size).routes[0].rank for size in (30, enough - 1, enough, 400)]
        assert all(abs(rank - HALF) <= abs(q - HALF) and abs(rank - q) <= F(1, 100) for rank in aimed)
        assert aimed[2] == aimed[3] == q
        assert (aimed[0] != q) == (aimed[1] != q or q == F(3, 10)) == (q != HALF)


@pytest.mark.parametrize("q", [F(0), F(1, 100), F(99, 100), F(1)], ids=str)
def test_tails_are_walked_to_on_their_own_side_of_the_centre(q):
    """Under add-remove, with a frame: fine rungs lie on the side of the quantile."""
    (route,) = auto(problem_of((q,), "add-remove"), F(1), 10**5).routes
    assert isinstance(route, Route) and isinstance(route.ladder.map, Zoned)
    assert route.ladder.map.mirrored == (2 * q < 1)
    assert (-route.ladder.first > route.ladder.last) == (2 * q < 1)


@pytest.mark.parametrize("q", [F(1, 20), F(1, 10), F(4, 5), F(9, 10)], ids=str)
def test_a_tail_of_few_records_is_chosen_without_a_centre_under_swap(q):
    """Both sides of its target have nats enough where there are any, and the target is no farther out than q."""
    upper = 2 * q >= 1
    for size in (0, 20, 60, 80, 100, 129):
        plan = auto(problem_of((q,), "swap"), F(1), size)
        (route,) = plan.routes
        assert plan.frame is None and isinstance(route, ChoiceRoute) and route.rate * sum(route.slopes) == 1
        tail, (inner, outer) = (1 - route.rank, route.slopes) if upper else (route.rank, route.slopes[::-1])
        assert min(q, 1 - q) <= tail <= HALF and inner <= outer
        if size >= 80:
            assert size * tail * outer * route.rate > TUNING.outer_nats - 1
            assert size * (1 - tail) * inner * route.rate > TUNING.inner_nats - 2
    assert auto(problem_of((q,), "swap", method="walk"), F(1), 100).frame is not None
    assert auto(problem_of((q,), "add-remove"), F(1), 100).frame is not None


@pytest.mark.parametrize("q", [F(1, 10_000), F(999, 1000)], ids=str)
def test_ranks_on_both_sides_of_a_target_count(q):
    """Also where nearly all records are missing, and noise makes up most of the size."""
    problem = problem_of((q,), "swap", rows=100_000)
    learned = size_rule(problem, F(1, 2))
    for size in learned.levels:
        (route,) = auto(problem, F(1, 2) - learned.epsilon, size, noise=learned.noise).routes
        if isinstance(route, ChoiceRoute):
            assert min(route.slopes) > 0
            low, high = route.window(q if route.rank is None else route.rank, 9000)
            assert low < high


def test_a_tail_with_few_records_is_walked_to_from_a_centre():
    """Without a scale, however few they are: a noisy size does not tell 20 records from 100."""
    problem = problem_of((F(1),), "add-remove")
    for size in (0, 10, 100):
        plan = auto(problem, F(1), size)
        (route,) = plan.routes
        assert plan.frame is not None and plan.frame.eps_scale == 0
        assert isinstance(route, Route) and route.start == 0 and route.up


@pytest.mark.parametrize("method", ["walk", "flip", "exponential"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_ladder_of_ones_own_has_one_route_and_no_frame(neighbors, method):
    """Whatever the size, and nothing is spent on it."""
    problem = problem_of((HALF,), neighbors, Ladder.geometric(1.01), grows=False, method=method)
    question = Question.of(problem, F(1))
    assert question.size.epsilon == 0 and question.plan(0) == question.plan(10**6)
    plan = question.plan(0)
    assert plan.frame is None and isinstance(plan.routes[0], Route if method == "walk" else ChoiceRoute)
    assert plan.routes[0].ladder == problem.ladder


@pytest.mark.parametrize(
    ("lower", "upper", "q", "up"),
    [(None, None, F(3, 4), True), (None, None, F(1, 4), False), (F(0), None, F(1, 4), True), (None, F(9), F(1), False)],
)
def test_a_walk_on_a_ladder_of_ones_own_begins_at_a_bound(lower, upper, q, up):
    """If there is one: otherwise at the end that is farther from the quantile."""
    (route,) = auto(problem_of((q,), "swap", FLOATS.limited(lower, upper), grows=False), F(1), 100).routes
    assert isinstance(route, Route) and route.up == up
    assert (route.start, route.stop) == (route.ladder.first, route.ladder.last)[:: 1 if up else -1]
