"""What is free about a rung: it holds by exact laws, whatever the data and the frame are."""

import random
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.counting.second_look import Counts
from nobounds.noise.source import random_source
from nobounds.ranks.intervals.rung import CHANCE, rung
from nobounds.ranks.law import AnswerLaw
from nobounds.statistics.searched import planned

RNG = np.random.default_rng(1)
SHAPES = {
    "smooth": np.repeat(RNG.normal(50, 9, 40), 25),
    "all the same": np.full(1000, 7.0),
    "two clusters": np.repeat([-1.0, 1e6], 500),
    "two clusters, uneven": np.append(np.full(490, 3.0), np.full(510, 3.0001)),
    "a heap at the quantile": np.concatenate([np.full(300, 1.0), np.full(650, 2.0), np.full(50, 9.0)]),
    "heavy": np.repeat(RNG.pareto(0.5, 40), 25),
    "far from 0": np.repeat(1e9 + RNG.normal(0, 1, 40), 25),
    "tiny": np.repeat(RNG.normal(0, 1e-200, 40), 25),
    "huge": np.repeat(RNG.normal(0, 1e200, 40), 25),
    "zeros and few": np.append(np.zeros(930), RNG.lognormal(3, 1, 70)),
    "one far out": np.append(np.full(999, 5.0), 1e300),
    "whole numbers": np.repeat(np.arange(40.0), 25),
}


def miss(data, question, route, last):
    """The exact probability that what is said of the rung is false; that is constant between the places tried."""
    law, turn = last.law(), 1 if route.up else -1
    rungs = np.unique(route.placed.rungs(data)).tolist()
    near = {turn * (at - route.start) + k for at in rungs for k in (0, 1)} | {0}
    near |= {cut + k for cut in getattr(route, "cuts", ()) for k in (0, 1)}
    places = np.array(sorted(place for place in near if 0 <= place < law.length))
    tails = law.tail(np.append(places, law.length))
    missed = 0.0
    for place, mass in zip(places.tolist(), (tails[:-1] - tails[1:]).tolist(), strict=True):
        value = question.value_at(route, place)
        said = rung(question, route, place, len(data), value) if mass > 1e-9 else None
        if said is not None:
            first, last_one = said["percentiles"]
            low = -np.inf if said["low"] is None else said["low"]
            high = np.inf if said["high"] is None else said["high"]
            below, up_to = 100 * np.mean(data < low), 100 * np.mean(data <= high)
            missed += mass * (below > last_one or up_to < first)
    return missed


@pytest.mark.medium
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_what_is_said_of_a_rung_holds_by_exact_laws(shape, neighbors):
    """For a choice, a choice under the prior and walks; with few records and with more."""
    data, drawn = SHAPES[shape], random_source(random.Random(1))
    for q, epsilon in ((0.5, 2), (0.5, 0.2), (0.95, 2), (0.05, 0.5), (1, 1)):
        question = planned(data, (F(str(q)),), epsilon=epsilon, rows=1000, neighbors=neighbors)
        counts = Counts.of(lambda: [(data, None)], question.ladder)
        for _, route, last in AnswerLaw.sampled(question, counts, drawn, 2).lasts:
            assert miss(data, question, route, last) <= CHANCE


@pytest.mark.medium
@pytest.mark.parametrize("data", [np.full(1000, -7.123456789), np.full(1000, 1234567.0)], ids=["fractions", "whole"])
def test_a_walk_that_starts_beyond_all_records_says_nothing_false(data):
    """The centre may be a number above all records: a walk up from there halts at once."""
    for q, epsilon in ((0.95, 0.5), (0.95, 0.3)):
        question = planned(data, (F(str(q)),), epsilon=epsilon, rows=1000, neighbors="swap")
        counts = Counts.of(lambda: [(data, None)], question.ladder)
        for _, route, last in AnswerLaw.sampled(question, counts, random_source(random.Random(2)), 1).lasts:
            assert route.start not in (route.ladder.first, route.ladder.last)
            assert miss(data, question, route, last) <= CHANCE
