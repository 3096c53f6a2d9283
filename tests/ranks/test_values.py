"""The answers at many positions of a route: each that of the scalar code, and floats near it."""

from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.ladders.ladder import Ladder
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import OneRoute
from nobounds.ranks.values import NEVER, floats_at, values_at, zeros

LADDERS = {
    "floats": Ladder.float_bits(4),
    "bounded": Ladder.float_bits(4).limited(F(-7), F(10**6)),
    "whole numbers": Ladder.grid(1, 6),
    "cents": Ladder.grid(F(1, 100), 6),
}


def routes_of(question: Question) -> list[OneRoute]:
    """Every single route of a question, of each kind."""
    routes = []
    for route in question.routes[0]:
        inside = [getattr(route, name) for name in ("then", "without", "positive", "negative") if hasattr(route, name)]
        routes += inside or [route]
    return routes


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("q", [F(0), F(1, 2), F(1)], ids=str)
def test_answers_at_many_positions_are_those_of_the_scalar_code(name, q):
    """At the ends, next to them, in between, and for a walk that never halts."""
    question = Question.of(Problem((q,), LADDERS[name], "add-remove", method="auto", grows=True), F(1))
    for route in routes_of(question):
        last = abs(route.stop - route.start)
        positions = np.unique(np.concatenate([[0, 1, last - 1, last], np.linspace(0, last, 40).astype(np.int64)]))
        exact = [question.value_at(route, int(position)) for position in positions]
        assert values_at(question, route, positions).tolist() == exact
        assert values_at(question, route, np.array([NEVER])).tolist() == [question.value_at(route, None)]
        near = [value if abs(value) < 1e280 else None for value in exact]
        floats = floats_at(question, route, positions).tolist()
        pairs = [(one, other) for one, other in zip(floats, near, strict=True) if other is not None]
        assert [one for one, _ in pairs] == pytest.approx([float(other) for _, other in pairs], rel=1e-9)


def test_no_positions_have_no_answers():
    """Of the type that the ladder's answers have."""
    question = Question.of(Problem((F(1),), LADDERS["whole numbers"], "add-remove"), F(1))
    (route,) = routes_of(question)[:1]
    assert values_at(question, route, np.zeros(0, dtype=np.int64)).dtype == zeros(0, True).dtype == np.int64
