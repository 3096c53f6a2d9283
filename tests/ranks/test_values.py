"""The answers at many positions of a route: each that of the scalar code, round, on its rung and within the bounds."""

from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.values import NEVER, floats_at, values_at, zeros

LADDERS = {
    "floats": Ladder.float_bits(4),
    "bounded": Ladder.float_bits(4).limited(F(-7), F(10**6)),
    "whole numbers": Ladder.grid(1, 6),
    "cents": Ladder.grid(F(1, 100), 6),
    "thirds": Ladder.grid(F(1, 3), 6).limited(F(-1, 3), F(100)),
}
SIZES = [0, 10, 100, 1000, 10**5]


def routes_of(question):
    """The routes of plans for few and many records, where there is a frame in two of them."""
    unit = getattr(question.ladder.map, "unit", None)
    for size in SIZES:
        plan = question.plan(size)
        for center, octave in ((37.0, 3), (-2e5, 12)):
            frame = None if plan.frame is None else Frame(center, octave, unit)
            yield from (route.within(frame) for route in plan.routes)


def positions_of(route):
    last = abs(route.stop - route.start)
    return np.unique(np.array([0, 1, last - 1, *(last * k // 39 for k in range(40))]))


def question_of(name, q, neighbors="add-remove", grows=True):
    return Question.of(Problem((q,), LADDERS[name], neighbors, method="auto", grows=grows), F(1))


@pytest.mark.parametrize("grows", [False, True], ids=["fixed", "grows"])
@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("q", [F(0), F(1, 2), F(19, 20), F(1)], ids=str)
def test_answers_at_many_positions_are_those_of_the_scalar_code(name, q, grows):
    """At the ends, next to them, in between, and for a walk that never halts; as floats, and within the bounds."""
    question = question_of(name, q, grows=grows)
    ladder = question.ladder
    for route in routes_of(question):
        positions = positions_of(route)
        exact = [question.value_at(route, int(position)) for position in positions]
        assert values_at(ladder, route, positions).tolist() == exact
        assert values_at(ladder, route, np.array([NEVER])).tolist() == exact[-1:] == [question.value_at(route, None)]
        assert floats_at(ladder, route, positions).tolist() == [float(value) for value in exact]
        assert all(type(value) is (int if ladder.integral else float) for value in exact)
        low, high = ladder.lower, ladder.upper
        assert all((low is None or float(low) <= value) and (high is None or value <= float(high)) for value in exact)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("q", [F(0), F(1, 2), F(19, 20), F(1)], ids=str)
def test_answers_rise_with_the_rung(name, q, neighbors):
    """Answers are monotone in the position, which laws need, and in a frame each lies between the edges of its rung."""
    question = question_of(name, q, neighbors)
    for route in routes_of(question):
        positions = positions_of(route)
        values = floats_at(question.ladder, route, positions)
        assert np.all(np.diff(values) >= 0) if route.up else np.all(np.diff(values) <= 0)
        if route.frame is not None and route.frame.unit is None and name == "floats":
            rungs = route.start + (positions if route.up else -positions)
            low, high = route.frame.ends(route.ladder.map, rungs)
            assert np.all((low <= values) & (values <= high))


@pytest.mark.parametrize("name", ["whole numbers", "cents", "thirds"])
def test_answers_on_a_grid_are_points_of_it_in_any_frame(name):
    """Multiples of the unit, each as the nearest float, or a bound."""
    question = question_of(name, F(1, 2))
    unit, ends = question.ladder.map.unit, {question.ladder.lower, question.ladder.upper}
    for route in routes_of(question):
        for value in values_at(question.ladder, route, positions_of(route)).tolist():
            if abs(value) < 1e12:
                assert float(round(F(value) / unit) * unit) == value or F(value) in ends


def test_frames_of_groups_replace_that_of_the_route():
    """One for each position, as if the route were in that frame alone."""
    question = question_of("floats", F(1, 2))
    route = question.plan(10**5).routes[0]
    frames = Frame(np.array([5.0, -3e6, 0.0]), np.array([0, 7, -3]))
    positions = np.array([3, 1000, 40]) + route.ladder.size // 2
    together = values_at(question.ladder, route.within(frames), positions, frames)
    for k, position in enumerate(positions.tolist()):
        one = Frame(float(frames.center[k]), int(frames.octave[k]))
        assert question.value_at(route.within(one), position) == together[k]


def test_answers_under_the_prior_have_few_digits():
    """The roundest number on the chosen rung, not the digits of a float."""
    question = question_of("floats", F(1, 2))
    (route,) = question.plan(50).routes
    rungs = route.ladder.rungs(np.array([np.pi * 1e5, -np.e / 1e7, 0.0])) - route.start
    values = values_at(question.ladder, route, rungs)
    assert values == pytest.approx([np.pi * 1e5, -np.e / 1e7, 0.0], rel=1e-4)
    assert max(len(repr(value)) for value in values.tolist()) < 14
    assert np.array_equal(route.ladder.rungs(values) - route.start, rungs)


def test_no_positions_have_no_answers():
    """Of the type that the ladder's answers have."""
    question = question_of("whole numbers", F(1))
    route = question.plan(100).routes[0]
    assert values_at(question.ladder, route, np.zeros(0, dtype=np.int64)).dtype == zeros(0, True).dtype == np.int64
