"""Answers by way of a private scale, audited for what they claim and drawn as their law says; the size under swap."""

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.laws import answer_law

import nobounds as nb
from nobounds.auditing.audit import audit
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Halt
from nobounds.mechanisms.halting import Law
from nobounds.programs.law import paths
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import FlipRoute, Route, Scaled
from nobounds.ranks.scale import Scale
from nobounds.ranks.tuning import OCTAVES, TUNING
from nobounds.ranks.view import View

LADDER = Ladder.float_bits(0).limited(F(-16), F(16))
MISSING = math.nan


# Steps of an octave at every size, and scales up to 16, so that laws are short; nothing else changes.
SHORT = replace(TUNING, fine_bits=0, least_bits=0, most_bits=0, octaves=OCTAVES.limited(None, F(16)))


def asked(q, relation, rows=None, method="auto"):
    """The plan for one quantile at epsilon 2, on the short ladder."""
    return Question.of(Problem((q,), LADDER, relation, rows=rows, method=method, grows=True, tuning=SHORT), F(2))


def live(question, tilt=0):
    """The question with one scaled route and the last resort, a larger scale, and sizes of a few records."""
    scaled = [route for route in question.routes[0] if isinstance(route, Scaled)]
    first = replace(scaled[-1], scale=Scale(F(1, 3), F(1, 3), octaves=SHORT.octaves), at_least=1)
    if tilt:
        first = replace(first, then=replace(first.then, tilt=tilt))
    return replace(question, routes=((first, replace(question.routes[0][-1], at_least=0)),))


def answers(question, route, part, log_chance):
    """The answers along one route and their log-probabilities."""
    masses, never = part.log_pmf() + log_chance, isinstance(part, Law)
    values = [float(question.value_at(route, k)) for k in range(part.length)]
    return zip([*values, float(question.value_at(route, None))] if never else values, masses, strict=True)


def exactly(decision):
    """The outcomes of a decision, exact also where they are improbable: those of a walk by their logs."""
    if not isinstance(decision, Halt):
        return decision.outcomes()
    positions, logs = decision.log_pmf()
    return zip(positions, np.exp(logs).tolist(), strict=True)


def log_law(question, data):
    """Log-probabilities of all answers, over all ways through the program."""
    view = View(Counts.of(lambda: [np.array(data, dtype=float)], question.ladder))
    total = {}
    for chance, route in paths(lambda: question.route(0, view), outcomes=exactly):
        law = route.last(question.qs[0], question.problem, view).law()
        for value, mass in answers(question, route, law, math.log(chance)):
            total[value] = np.logaddexp(total.get(value, -np.inf), mass)
    return total


@pytest.mark.medium
@pytest.mark.parametrize(
    ("relation", "q", "method", "kind", "tilt"),
    [
        ("add-remove", F(1, 2), "auto", FlipRoute, 0),
        ("add-remove", F(1, 2), "exponential", FlipRoute, 0),
        ("add-remove", F(1, 4), "auto", Route, 0),
        ("add-remove", F(1, 4), "auto", Route, 2),
        ("add-remove", F(3, 4), "auto", Route, 2),
        ("swap", F(1, 2), "auto", FlipRoute, 0),
        ("swap", F(1, 4), "exponential", FlipRoute, 0),
        ("swap", F(1, 4), "walk", Route, 0),
    ],
    ids=str,
)
def test_a_scale_and_what_follows_cost_what_they_say(relation, q, method, kind, tilt):
    """Over all neighbouring data sets of up to two records of both signs (or missing), with size and scale live."""
    rows = 4000 if relation == "swap" else None
    question = live(asked(q, relation, rows, method), tilt)
    scaled = question.routes[0][0]
    assert isinstance(scaled.then, kind)
    spots = (-3.0, 0.0, 0.5, 5.0, *((MISSING,) if relation == "swap" else ()))
    seen = {}

    def law(data):
        seen[data] = log_law(question, data)
        assert math.fsum(math.exp(mass) for mass in seen[data].values()) == pytest.approx(1)
        return np.array([seen[data].get(value, -np.inf) for value in outcomes])

    outcomes = sorted(log_law(question, (0.5,)))
    found = audit(law, spots, 2, relation, least=1 if relation == "swap" else 0)
    assert {value for masses in seen.values() for value in masses} == set(outcomes)
    claimed = question.cost()
    assert 0.4 < found.epsilon <= float(claimed.epsilon) + 1e-9
    assert found.eta <= float(claimed.eta) + 1e-9
    assert scaled.cost(q, relation, True).epsilon > scaled.scale.cost(relation, True).epsilon


@pytest.mark.medium
def test_the_law_of_an_answer_mixes_the_scales():
    """The law that promises are tested with is the mixture over all scales, answer by answer."""
    question = live(asked(F(1, 2), "add-remove"))
    data = (-3.0, 0.5, 5.0, 5.0)
    wanted = log_law(question, data)
    counts = Counts.of(lambda: [np.array(data)], question.ladder)
    values, masses = AnswerLaw.of(question, counts, least=1e-15).pmf(-20, 20)
    assert masses.sum() == pytest.approx(1)
    assert masses == pytest.approx([math.exp(wanted[value]) for value in values.tolist()], abs=1e-12)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_answers_by_way_of_a_scale_follow_their_law(neighbors):
    """Ten bands of the law of the median catch their share of 600 answers by chi-square; twice the epsilon does not."""
    rng = np.random.default_rng(11)
    data = rng.normal(1, 2, 2000)
    answers = np.array([nb.quantile(data, 0.5, epsilon=0.5, neighbors=neighbors, rng=rng).value for _ in range(800)])
    cuts = np.unique(np.quantile(answers[:200], np.linspace(0, 1, 11)[1:-1]))
    counted = np.histogram(answers[200:], [-np.inf, *np.nextafter(cuts, np.inf), np.inf])[0]
    for epsilon, agrees in ((0.5, True), (1, False)):
        law = answer_law(data, 0.5, least=1e-5, epsilon=epsilon, neighbors=neighbors)
        expected = -np.diff([1.0, *(law.above(cut) for cut in cuts), 0.0])
        p = stats.chisquare(counted, expected * 600 / expected.sum()).pvalue
        assert (p > 1e-9) if agrees else (p < 1e-9)


@pytest.mark.medium
@pytest.mark.parametrize("rows", [4, 4000])
@pytest.mark.parametrize("q", [F(1, 20), F(1, 2)], ids=str)
def test_a_record_that_moves_does_not_pay_for_the_size(q, rows):
    """Under swap with missing records the total is epsilon, and a moved record is charged for the routes alone."""
    question = Question.of(Problem((q,), Ladder.float_bits(8), "swap", rows=rows, method="auto", grows=True), F(1))
    assert question.cost().epsilon <= 1
    routes = [route.cost(q, "swap", True).kinds for route in question.routes[0]]
    moved, added = question.cost().kinds
    for side in (0, 1):
        assert moved[side] == max(kinds[0][side] for kinds in routes)
        assert added[side] == max(kinds[-1][side] for kinds in routes) + question.size.epsilon
    assert question.size.epsilon == 0 if rows == 4 else 0 < question.size.epsilon <= F(25, rows)
