"""Decisions: draws by their laws, the same words as their parts, and nothing shown."""

import math
import random
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.chance import seed_of

from nobounds.accounting.cost import pure
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Above, Bits, Choose, Halt, Level, Nested, Noisy, NoisyMany, Together
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.noise.additive import Additive

LADDER = Ladder.uniform(0, 40, 40)
RECORDS = Histogram.of([np.array([3.0, 3.5, 9.0, 22.0, 22.5, 31.0] * 5)], LADDER)


def free():
    return pure(F(0))


def walk(epsilon=F(1, 4)):
    counts = RECORDS.up_to[np.searchsorted(RECORDS.rungs, np.arange(4, 40)) - 1]
    return Walk.of(counts, F(15), eps1=epsilon, eps2=epsilon)


def runs():
    return Runs.of(RECORDS, F(1, 2), F(1, 3))


FINITE = {
    "level": Level(9, F(1, 4), (20, 11, 9, 5, 0), free, 30),
    "level of nothing": Level(0, F(1, 2), (4, 2, 1, 0), free, 30),
    "level that is never 0": Level(2, F(1, 2), (6, 3), free, 30),
    "sign": Above(F(-1), F(1), F(1, 2), False, free),
    "sign with ties": Above(F(-1, 2), F(1, 2), F(1, 2), True, free),
    "walk": Halt(walk, free),
}


LESS_NOISE = {
    "level": Level(9, F(1, 2), (20, 11, 9, 5, 0), free, 30),
    "level of nothing": Level(0, F(1), (4, 2, 1, 0), free, 30),
    "level that is never 0": Level(2, F(1), (6, 3), free, 30),
    "sign": Above(F(-1), F(1), F(1), False, free),
    "sign with ties": Above(F(-1, 2), F(1, 2), F(1), True, free),
    "walk": Halt(lambda: walk(F(1, 2)), free),
}


@pytest.mark.parametrize("number", [0, 1, -3])
@pytest.mark.sampled
def test_every_number_gets_the_same_noise(number):
    """0 too: what is added depends on the random source alone."""
    source, again = random.Random(seed_of(1)).getrandbits, random.Random(seed_of(1)).getrandbits
    noise = Additive(F(1, 3))
    drawn = [Noisy(number, noise, free, 2).draw(source) - number for _ in range(20)]
    assert drawn == [noise.draw(2, again) for _ in range(20)] and len(set(drawn)) > 3


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.sampled
def test_draws_follow_the_law(name):
    """By chi-square; and not that of half the noise."""
    source = random.Random(seed_of(5)).getrandbits
    drawn = Counter(FINITE[name].draw(source) for _ in range(2000))
    p, wrong = (agreement(drawn, dict(of[name].outcomes())) for of in (FINITE, LESS_NOISE))
    assert p > 1e-9 > wrong


def agreement(drawn, law):
    """The p-value of draws under a law; outcomes that are rare under it count as one."""
    assert math.fsum(law.values()) == pytest.approx(1)
    assert set(drawn) <= set(law)
    n, common = drawn.total(), [outcome for outcome, chance in law.items() if chance > 0.005]
    counts, chances = [drawn[outcome] for outcome in common], [law[outcome] for outcome in common]
    expected = n * np.append(chances, max(1 - sum(chances), 1e-4))
    return stats.chisquare([*counts, n - sum(counts)], expected * n / expected.sum()).pvalue


def test_all_outcomes_of_walks_and_choices_have_their_log_probabilities():
    """In the order of positions, never halting last; or in the order of rungs."""
    positions, logs = FINITE["walk"].log_pmf()
    assert positions == [*range(36), None]
    law = dict(FINITE["walk"].outcomes())
    assert np.exp(logs) == pytest.approx([law.get(position, 0.0) for position in positions], abs=1e-9)
    for exponential in (False, True):
        rungs, logs = Choose(runs, exponential, free).log_pmf()
        assert rungs == list(range(LADDER.first, LADDER.last + 1))
        assert np.exp(logs).sum() == pytest.approx(1)


def test_decisions_together_draw_what_they_draw_alone():
    """From the same words, in their order."""
    parts = FINITE["sign"], FINITE["walk"], Bits(9), Choose(runs, True, free)
    one, other = random.Random(8).getrandbits, random.Random(8).getrandbits
    assert Together(parts, free).draw(one) == tuple(part.draw(other) for part in parts)
    numbers = NoisyMany((5, 7, 9), Additive(F(1, 3)), free, 2)
    assert numbers.draw(one) == [part.draw(other) for part in numbers.parts]
    assert [part.number for part in numbers.parts] == [5, 7, 9]


def test_a_nested_program_draws_as_it_would_alone():
    """By the same driver."""

    def program():
        first = yield FINITE["level"]
        return first, (yield FINITE["walk"])

    one, other = random.Random(2).getrandbits, random.Random(2).getrandbits
    assert Nested(program, free).draw(one) == (FINITE["level"].draw(other), FINITE["walk"].draw(other))


def test_a_walk_is_made_when_it_is_needed_and_once():
    """Not to be drawn yet, and not again for its law."""
    made = []
    halt = Halt(lambda: made.append(1) or walk(), free)
    assert not made
    halt.draw(random.Random(1).getrandbits)
    halt.law()
    assert halt.public == FINITE["walk"].public
    assert made == [1]


def test_reprs_show_public_facts_alone():
    """Neither numbers nor counts."""
    for decision in (Noisy(123457, Additive(F(1)), free), Level(123457, F(1), (9, 0), free, 10), *FINITE.values()):
        assert "123457" not in repr(decision) and "data hidden" in repr(decision)
    assert "15" not in repr(FINITE["walk"]).replace("data", "")
