"""The law driver: all ways through a program, with probabilities that multiply and add up."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from nobounds.accounting.cost import pure
from nobounds.mechanisms.decisions import Above, Level, Nested
from nobounds.noise.laws import laplace_at_least
from nobounds.programs.law import paths


def free():
    return pure(Fraction(0))


def sized(n):
    """A level, and for the larger sizes a sign as well."""
    level = yield Level(n, Fraction(1, 2), (8, 4, 0), free, 100)
    if level == 0:
        return "few"
    negative = yield Above(Fraction(1), Fraction(1), Fraction(1, 3), False, free)
    return level, negative


def law(n, **options):
    chances = Counter()
    for chance, result in paths(lambda: sized(n), **options):
        chances[result] += chance
    return chances


@pytest.mark.parametrize("n", [0, 5, 40])
def test_probabilities_multiply_and_add_up(n):
    """Of two independent decisions, the second of which is not always made."""
    at_8, at_4 = (laplace_at_least(Fraction(1, 2), level - n) for level in (8, 4))
    above = laplace_at_least(Fraction(1, 3), 0)
    expected = {"few": 1 - at_4, (8, True): at_8 * above, (4, False): (at_4 - at_8) * (1 - above)}
    found = law(n)
    assert math.fsum(found.values()) == pytest.approx(1)
    assert {result: found[result] for result in expected} == pytest.approx(expected, abs=1e-12)


def test_improbable_ways_are_left_out():
    """Those whose probability in all is not above the least."""
    assert set(law(40, least=0.01)) == {(8, True), (8, False)}
    assert sum(law(40, least=0.01).values()) == pytest.approx(1, abs=0.01)


def test_other_outcomes_may_be_given():
    """A forecast, for example, takes them from a quicker law."""
    only = dict(paths(lambda: sized(5), outcomes=lambda decision: [(next(iter(decision.outcomes()))[0], 1.0)]))
    assert only == {1.0: (8, False)}


def test_a_program_within_a_program_is_one_decision():
    """Its results and their probabilities are those of the program itself."""
    nested = Nested(lambda: sized(5), free)
    chances = Counter()
    for result, chance in nested.outcomes():
        chances[result] += chance
    assert chances == pytest.approx(law(5))
