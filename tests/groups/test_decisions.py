"""Decisions about all groups: exact draws, what is public of them, and the same decision group by group."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.grouped import groups_of

from nobounds.accounting.cost import pure
from nobounds.groups import GroupIntervals, GroupQuantiles, NoisyGroups, answers, noise_many
from nobounds.groups.view import GroupsView
from nobounds.ladders.ladder import Ladder
from nobounds.noise.additive import Additive
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question


def seeded():
    return random_source(random.Random(1))


def noisy(numbers, noise, sensitivity=1):
    return NoisyGroups(np.array(numbers), noise, noise.cost, sensitivity)


@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("epsilon", [F(1), F(1, 10**25)], ids=["small", "beyond 64 bits"])
@pytest.mark.parametrize("numbers", [[3, 0, -5], [10**30, 0, -7]], ids=["64 bits", "objects"])
def test_each_group_gets_its_own_noise_exactly(numbers, epsilon, zcdp):
    """The sums are exact, whatever the size of the numbers and of the noise."""
    decision = noisy(numbers, Additive(epsilon, zcdp), 7)
    noise = noise_many(Additive(epsilon, zcdp), 7, 3, seeded()).tolist()
    assert decision.draw(seeded()).tolist() == [a + b for a, b in zip(numbers, noise, strict=True)]
    assert decision.numbers.tolist() == numbers


def test_the_noise_of_groups_follows_the_sensitivity():
    """At sensitivity 5 and epsilon 1/2 the noise has the scale 10, and not 9."""
    found = np.abs(noisy(np.zeros(20_000, dtype=np.int64), Additive(F(1, 2)), 5).draw(seeded()))
    cuts = np.array([0, 1, 3, 6, 10, 15, 25, 10**9])
    for scale, fits in ((10, True), (9, False)):
        r = np.exp(-1 / scale)
        tails = np.append(1.0, 2 * r ** cuts[1:-1] / (1 + r))
        expected = -np.diff(tails, append=0.0) * len(found)
        seen = np.histogram(found, cuts)[0]
        assert (stats.chisquare(seen, expected).pvalue > 1e-6) == fits


def test_the_number_of_groups_and_the_noise_are_public_and_the_numbers_are_not():
    """Neighbouring data have the same facts, and a repr shows no more than these."""
    one, other = (noisy([n, 777], Additive(F(1)), 2) for n in (777, 778))
    assert one.public == other.public != noisy([777], Additive(F(1)), 2).public
    assert "77" not in repr(one) and one.cost() == pure(F(1))


FLOATS = Ladder.float_bits(8)


def question(noise="exponential", ladder=FLOATS):
    qs = F(1, 2), F(9, 10)
    return Question.of(Problem(qs, ladder, "add-remove", noise=noise, method="auto", grows=True), F(2))


DATA = [[], [3.0], [-5.0, 2.0, 7.0] * 20, list(range(500))]


def test_quantiles_of_groups_are_those_of_the_groups_driver():
    """With one array for each quantile, for what the question costs."""
    decision = GroupQuantiles(question(), groups_of(DATA))
    found = [column.tolist() for column in decision.draw(seeded())]
    assert found == [column.tolist() for column in answers(question(), groups_of(DATA), seeded())]
    assert decision.cost() == question().cost()
    assert decision.public == GroupQuantiles(question(), groups_of([[777.0]] * 4)).public
    assert "777" not in repr(GroupQuantiles(question(), groups_of([[777.0]])))


@pytest.mark.parametrize("ladder", [FLOATS, Ladder.grid(1, 8)], ids=str)
def test_a_driver_may_settle_the_decisions_about_each_group(ladder):
    """With almost no noise they come to what the vectorised draw comes to, by the same driver of groups."""
    problem = Problem((F(1, 2), F(9, 10)), ladder, "add-remove", method="auto", grows=True)
    decision = GroupQuantiles(
        Question.of(problem, F(10**6)), groups_of([[3.0], [-5.0, 2.0, 7.0] * 20, list(range(501))])
    )
    for one, other in zip(decision.settled_by(Draw(seeded())), decision.draw(seeded()), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == pytest.approx(other.tolist(), rel=0.01)


def test_intervals_of_groups_are_those_of_each_group_alone():
    """The same decisions with the same randomness, group after group; the repr hides the rest."""
    problem = Problem((F(1, 2),), FLOATS, "add-remove", method="auto", grows=True)
    plan = IntervalPlan.of(problem, Wanted(F(19, 20)), F(1))
    groups = groups_of([list(range(300)), list(range(50, 900))])
    decision = GroupIntervals(plan, groups, np.array([310, 800]), True)
    view, driver = GroupsView(groups, np.arange(2), FLOATS), Draw(seeded())
    alone = [driver.run(plan.program(view.alone(k), True, size)) for k, size in enumerate((310, 800))]
    assert decision.draw(seeded()) == [(one.value, one.ends) for one in alone]
    assert decision.cost() == plan.parts()["answer"]
    assert repr(decision) == "GroupIntervals(2 groups, data hidden)"
