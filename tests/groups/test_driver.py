"""Many groups at once: each has the answer that the scalar code gives it alone, from the same random words."""

import random
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from support.grouped import FINE, Recording, alone, groups_of

from nobounds.counting.second_look import Counts
from nobounds.groups import Groups, answers, choices, records, walks
from nobounds.groups.draws import Draws
from nobounds.groups.driver import answered, ways
from nobounds.groups.view import GroupsView
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms import exponential_mechanism, flip, skip_ahead
from nobounds.mechanisms.walk import Walk
from nobounds.noise.source import random_source
from nobounds.ranks.framing import prior_choice
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import ChoiceRoute
from nobounds.ranks.view import View

LADDERS = {
    "floats": Ladder.float_bits(8),
    "integers": Ladder.grid(1, 8),
    "cents": Ladder.grid(F(1, 100), 8),
    "quarters": Ladder.grid(F(1, 4), 8),
    "bounded": Ladder.float_bits(8).limited(F(0), F(100)),
    "bounded integers": Ladder.grid(1, 8).limited(F(-10), None),
    "bounded cents": Ladder.grid(F(1, 100), 8).limited(F(-1, 3), F(50)),
}
RANKS = [F(0), F(1, 20), F(1, 4), F(1, 2), F(9, 10), F(1)]


def check(question, groups, seed=1, left_over=False):
    """All answers are those of the scalar code on the same words, none of which is left over."""
    draws = Recording(random_source(random.Random(seed)))
    found = answered(question, groups, draws)
    for column in found:
        assert column.dtype in ([np.int64, object] if question.ladder.integral else [np.float64])
        assert column.shape == (len(groups),)
    for g in range(len(groups)):
        bits, left = draws.replayed(g)
        assert tuple(column[g] for column in found) == alone(question, groups, g, bits)
        assert left_over or not left


def some_data(rng, sizes, groups=40):
    """Groups of all kinds: empty, one record, ties, huge and tiny, both signs."""
    kinds = [
        lambda n: rng.lognormal(3, 1, n),
        lambda n: -rng.lognormal(0, 2, n),
        lambda n: rng.normal(0, 10, n),
        lambda n: rng.integers(-5, 20, n).astype(float),
        lambda n: np.full(n, 7.0),
        lambda n: np.zeros(n),
        lambda n: rng.choice([1e300, -1e300, np.inf, 1e-40, 0.0, 3.0], n),
        lambda n: 1e-20 * rng.standard_cauchy(n),
        lambda n: 1e12 * rng.standard_cauchy(n),
    ]
    return [kinds[rng.integers(len(kinds))](n) for n in rng.choice(sizes, groups)]


def asked(qs, epsilon, ladder, neighbors="add-remove", rows=None, method="auto", grows=True, zcdp=False, **more):
    problem = Problem(qs, ladder, neighbors, rows=rows, method=method, grows=grows, **more)
    return Question.of(problem, epsilon, zcdp)


@pytest.mark.medium
@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("name", LADDERS)
def test_every_group_has_the_answer_of_the_scalar_code(name, neighbors, zcdp):
    """For all kinds of routes and records, ranks and epsilons."""
    rng = np.random.default_rng(len(name))
    for seed, q in enumerate(RANKS):
        for epsilon, sizes in ((F(1, 100), [0, 1, 30]), (F(1), [0, 1, 2, 10, 300]), (F(10), [0, 1, 5, 20, 200])):
            rows = None if neighbors == "add-remove" else int(rng.choice([0, 40, 1000]))
            question = asked((q,), epsilon, LADDERS[name], neighbors, rows, zcdp=zcdp)
            check(question, groups_of(some_data(rng, sizes, 25)), seed)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["floats", "integers", "cents", "bounded"])
@pytest.mark.parametrize("q", [F(1, 100), F(1, 20), F(1, 2), F(9, 10)], ids=str)
def test_large_groups_have_frames_of_their_own(name, q):
    """Thousands of records a group, at any offset: each has a centre and a scale, and then one ladder serves all."""
    rng = np.random.default_rng(3)
    question = asked((q,), F(1), LADDERS[name])
    assert question.plan(4000).frame.eps_scale > 0
    data = [rng.normal(rng.normal(0, 500), 10.0 ** rng.integers(-3, 4), n) for n in (800, 1500, 3000, 4000) * 3]
    check(question, groups_of(data))


@pytest.mark.medium
def test_several_quantiles_are_drawn_one_after_the_other():
    """Each group learns its size once, and then has its quantiles in the order asked."""
    rng = np.random.default_rng(4)
    for name in ("floats", "integers"):
        check(asked((F(1, 4), F(1, 2), F(1)), F(2), LADDERS[name]), groups_of(some_data(rng, [0, 3, 400])))


@pytest.mark.parametrize("method", ["walk", "flip", "exponential"])
@pytest.mark.parametrize(
    "ladder", [Ladder.geometric(1.01, lower=0), Ladder.uniform(-10, 10, 300), Ladder.float_bits(4)], ids=str
)
def test_ladders_and_methods_of_ones_own(ladder, method):
    """Any table of edges, and steps that do not grow."""
    rng = np.random.default_rng(5)
    question = asked((F(1, 2),), F(1), ladder, method=method, grows=False)
    check(question, groups_of(some_data(rng, [0, 1, 10, 100, 1000])))


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_other_noises_are_drawn_by_the_scalar_code(noise):
    """The answers are the same as well, one group after the other."""
    rng = np.random.default_rng(6)
    check(asked((F(1, 2), F(1)), F(1), LADDERS["integers"], noise=noise), groups_of(some_data(rng, [0, 1, 300], 20)))


@pytest.mark.medium
def test_numbers_of_many_digits_are_left_to_the_scalar_code():
    """A rank of 18 digits and an epsilon of 1e-9 do not fit into 64 bits; the answers are the same."""
    rng = np.random.default_rng(7)
    groups = groups_of(some_data(rng, [0, 1, 200], 12))
    for q in (F(1, 3), F(123456789123456789, 10**18)):
        for epsilon in (F(1, 10**9), F(1)):
            for rows in (None, 10**6, 10**14):
                check(asked((q,), epsilon, LADDERS["floats"], rows=rows, stated=rows is not None), groups, 2)


def test_huge_whole_numbers_become_objects():
    """A maximum near 1e300 is a Python int, as it is for one group alone."""
    groups = groups_of([[1e300] * 400, [5.0] * 400])
    question = asked((F(1),), F(10), LADDERS["integers"])
    found = answers(question, groups, random_source(random.Random(1)))[0]
    assert found.dtype == object
    assert isinstance(found[0], int) and found[0] > 10**290
    check(question, groups)


def test_no_groups_and_empty_groups():
    """There is an array for each quantile, whatever the number of groups."""
    question = asked((F(1, 2), F(1)), F(1), LADDERS["floats"])
    assert [len(found) for found in answers(question, groups_of([]), random_source(random.Random(1)))] == [0, 0]
    check(question, groups_of([[], [], []]))


def undecided(*found):
    """The same result, of which nothing is sure."""
    *rest, decided = found
    return *rest, np.zeros_like(decided)


@pytest.mark.medium
@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("q", [F(1, 20), F(1, 2), F(1)], ids=str)
def test_what_doubles_cannot_decide_balls_decide_from_the_same_words(q, zcdp, monkeypatch):
    """With all comparisons of walks and choices left open, in the scalar code too, nothing changes."""
    rng = np.random.default_rng(8)
    groups = groups_of([rng.normal(0, 10, n) for n in (0, 1, 20, 200, 300, 1500, 2000)])
    question = asked((q,), F(1), LADDERS["floats"], zcdp=zcdp)
    plain = answers(question, groups, random_source(random.Random(1)))[0]
    real, picked = walks._in_doubles, choices._picked
    monkeypatch.setattr(walks, "_in_doubles", lambda *given: undecided(*real(*given)))
    monkeypatch.setattr(choices, "_picked", lambda *given: undecided(*picked(*given)))
    for module in (skip_ahead, flip, exponential_mechanism):
        monkeypatch.setattr(module, "_in_doubles", lambda *_: None)
    check(question, groups)
    assert np.mean(answers(question, groups, random_source(random.Random(1)))[0] == plain) < 1  # other words are used


@pytest.mark.parametrize("q", [F(1, 2), F(9, 10)], ids=str)
def test_doubles_say_so_when_they_cannot_tell(q, monkeypatch):
    """On a ladder of 2**52 rungs some positions have too many digits for doubles, and the scalar code is asked."""
    rng = np.random.default_rng(9)
    ladder = Ladder.float_bits(40)
    question = asked((q,), F(10), ladder, rows=1000, stated=True, grows=False, method="walk")
    asked_for = []
    real = walks._decided
    monkeypatch.setattr(walks, "_decided", lambda *given: asked_for.append(1) or real(*given))
    groups = groups_of([rng.lognormal(0, 1, 30) for _ in range(200)])
    check(question, groups, left_over=True)
    assert len(asked_for) > 0


def test_each_group_reaches_the_level_that_it_reaches_alone():
    """At the levels of the size and next to them, from the same words."""
    question = asked((F(1, 2),), F(1), LADDERS["floats"])
    levels = question.size.levels[-100:]
    sizes = np.unique([max(level + k, 0) for level in levels for k in (-1, 0, 1)])
    groups = Groups(FINE, np.arange(len(sizes) + 1), np.zeros(len(sizes), dtype=np.int64), sizes)
    draws, given = Recording(random_source(random.Random(1))), (F(1, 3), max(levels), levels, question.cost)
    reached = GroupsView(groups, np.arange(len(sizes)), question.ladder).level(*given)
    for g, code in enumerate(reached.codes(draws).tolist()):
        bits, left = draws.replayed(g)
        assert reached.outcome(code) == View(Counts(groups.histogram(g), list)).level(*given).draw(bits)
        assert not left


@pytest.mark.medium
def test_groups_that_are_taken_in_many_blocks_have_the_answers_of_the_scalar_code(monkeypatch):
    """Blocks of a few records: centres and scales are drawn block by block, and outcomes of all blocks are gathered."""
    monkeypatch.setattr(records, "BLOCK", 50)
    rng = np.random.default_rng(10)
    for q in (F(1, 100), F(1, 2)):
        check(asked((q, F(1)), F(1), LADDERS["floats"]), groups_of(some_data(rng, [0, 1, 10, 300, 1500])))


def test_every_group_comes_to_one_result_by_its_own_outcomes():
    """A program that asks for the centre of the groups that have many records: an array, by the number of the group."""
    groups = groups_of([[value] * n for value, n in ((1, 0), (5, 1500), (-1, 50), (-7, 2000), (1, 3), (9, 1600))])
    everyone = GroupsView(groups, np.arange(6), LADDERS["floats"])
    question = asked((F(1, 2),), F(1), LADDERS["floats"])
    route = prior_choice(question.problem, F(1, 2), F(20), 30)

    def program(view):
        level = yield view.level(F(20), 10**6, (1000, 10, 0), question.cost)
        centers = (yield view.center(route, question.cost)) if level == 1000 else None
        return level, None if centers is None else centers.tolist()

    results = [
        (level, centers, view.who.tolist())
        for (level, centers), view in ways(program, everyone, lambda many: many.codes(Draws(random_source())))
    ]
    assert {(level, tuple(who)) for level, _, who in results} == {(1000, (1, 3, 5)), (10, (2,)), (0, (0, 4))}
    (centers,) = [centers for level, centers, _ in results if level == 1000]
    near = route.ladder.map.floats(np.array(centers))
    assert near[[1, 3, 5]] == pytest.approx([5, -7, 9], rel=1e-4) and near[[0, 2, 4]].tolist() == [0, 0, 0]


@pytest.mark.medium
def test_all_kinds_of_routes_are_among_those_tested():
    """A control on the questions above: choices under the prior, on a ladder and among deviations, and walks."""
    kinds = set()
    for zcdp in (False, True):
        for neighbors in ("add-remove", "swap"):
            for q in RANKS:
                for size in (20, 300, 6000):
                    plan = asked((q,), F(1), LADDERS["floats"], neighbors, zcdp=zcdp).plan(size)
                    (route,) = plan.routes
                    choice = isinstance(route, ChoiceRoute)
                    frame = "none" if plan.frame is None else "scale" if plan.frame.eps_scale else "centre"
                    kinds.add((type(route).__name__, frame, route.tilt > 0, choice and route.exponential))
    assert {
        ("ChoiceRoute", "none", False, True),
        ("Route", "centre", True, False),
        ("Route", "scale", True, False),
        ("Route", "scale", False, False),
        ("ChoiceRoute", "scale", False, False),
        ("ChoiceRoute", "scale", False, True),
    } <= kinds


def test_a_private_size_is_capped():
    """However large the noise is, groups never take routes for more records than can be told."""
    groups = groups_of([[7.0] * 5] * 600)
    level = GroupsView(groups, np.arange(600), LADDERS["floats"]).level(F(1, 1000), 50, (51, 50, 1, 0), F)
    reached = Counter(level.outcome(code) for code in level.codes(Draws(random.Random(1).getrandbits)).tolist())
    assert set(reached) == {50, 1, 0} and reached[0] > 200 and reached[50] > 200


def test_the_repr_hides_the_records():
    """Groups say how many there are, and on which ladder; a view says how many, and decisions what is public."""
    groups = Groups(LADDERS["floats"], np.array([0, 1]), np.array([77]), np.array([777]))
    view = GroupsView(groups, np.array([0]), LADDERS["floats"])
    assert "7" not in repr(groups) + repr(view) + repr(view.level(F(1), 50, (1, 0), F))


def test_a_tiny_exponential_variable_halts_among_the_runs_that_doubles_leave_out():
    """2**40 queries 75 ranks below the threshold add 2**-68: E = 2**-70 halts there, not behind them."""
    positions, counts = np.array([0, 2**40, 2**40 + 5]), np.array([25, 73, 2])
    found = walks.walks_at(positions, counts, np.array([0, 3]), 2**40 + 10, F(1), F(0), F(10**9), F(1))
    runs = np.array([0, 2**40, 2**40 + 5]), np.array([25, 98, 100])

    def halted(u):
        given = iter([2**63, u >> 64, u % 2**64, *[2**63] * 4])  # for the threshold, then for E
        draws = Recording(lambda _: next(given))
        one = Walk(*runs, 2**40 + 10, F(100), F(1), F(10**9), F(1), rising=True)
        return int(walks.halts(found, np.array([0]), draws, lambda _: one)[0])

    assert 0 <= halted(2**128 - 2**58) < 2**40
    assert halted(2**128 - 2**64) == 2**40
    assert halted(2**126) == 2**40 + 5


@pytest.mark.medium
def test_many_groups_flip_by_the_weights_of_the_scalar_code():
    """Close calls among few rungs: hundreds of groups in which permute-and-flip differs from other choices."""
    rng = np.random.default_rng(8)
    question = asked((F(1, 2),), F(1), Ladder.grid(1, 8).limited(F(0), F(30)), method="flip", grows=False)
    check(question, groups_of([rng.integers(0, 30, 12).astype(float) for _ in range(600)]))
