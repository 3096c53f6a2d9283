"""One-sided intervals of extremes: they hold for every data set, and the answer lies inside."""

import math
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.accounting.terms import Terms
from nobounds.ask import minimum as asked_minimum
from nobounds.counting.histogram import Histogram
from nobounds.engines.memory.arrays import column
from nobounds.ladders.frame import Frame
from nobounds.mechanisms.halting import Law
from nobounds.ranks.intervals.interval import Wanted
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_extremes
from nobounds.ranks.view import walk_of

RNG = np.random.default_rng(1)
SHAPES = {
    "normal": RNG.normal(50, 9, 900),
    "one far out": np.append(RNG.normal(0, 1, 899), 1e9),
    "two clusters": np.repeat([0.0, 1e6], 450),
    "all the same": np.full(900, 7.0),
    "the centre is the largest": np.append(np.zeros(200), np.full(700, 5.0)),
    "heavy": RNG.pareto(0.5, 900),
}


def route_to(q, level, **options):
    """The plan for an extreme, and its walk for 900 records."""
    terms = Terms.of(options.pop("epsilon", None), options.pop("rho", None), options.pop("neighbors", "add-remove"))
    wanted = Wanted.checked(level, "sample", True)
    plan = plan_extremes(column([1.0]).public(False), terms, Options.of(options), (q,), wanted)
    return plan.routes(900)[0]


@pytest.mark.parametrize("options", [{"epsilon": 0.3}, {"epsilon": 2}, {"epsilon": 60}, {"rho": 0.1}])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("q", [0, 1])
def test_without_records_a_walk_halts_as_seldom_as_it_must(q, neighbors, options):
    """By its exact law; and one record less would be too few, unless it is the only one."""
    route = route_to(Fraction(q), 0.95, neighbors=neighbors, **options)
    empty = Histogram(route.ladder, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    law = Law(walk_of(empty, Fraction(q), route, "exponential"))
    halted = 1 - float(law.tail([law.length - 1])[0])
    assert halted <= 0.05
    assert route.drop == -1 or halted >= 0.05 * math.exp(-float(route.eps2) - 0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_end_holds_by_its_exact_law_in_any_frame(shape):
    """Whatever the frame is, right or wrong, the chance of an end above the largest record is what the level leaves."""
    data, q = SHAPES[shape], Fraction(1)
    for frame in (Frame(float(np.median(data)), 3), Frame(0.0, -20), Frame(1e5, 40), Frame(-3.0, 0)):
        route = route_to(q, 0.9, epsilon=1).within(frame)
        walk = walk_of(Histogram.of([(data, None)], route.placed), q, route, "exponential")
        largest = int(route.placed.rungs(np.array([data.max()]))[0])
        before = min(max(route.start - largest, 0), walk.length - 1)
        assert 1 - float(Law(walk).tail([before])[0]) <= 0.1


@pytest.mark.medium
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled
def test_intervals_hold_and_have_the_answer_inside(shape):
    """In 99% of runs, and both ends together."""
    data, noise = SHAPES[shape], random.Random(seed_of(1))
    held = 0
    for _ in range(40):
        release = nb.bounds(data, epsilon=3, interval=0.99, rng=noise)
        (_, high), (low, _) = release.intervals
        assert release.value[0] <= high
        assert release.value[1] >= low
        held += bool(low <= data.max() and high >= data.min())
    assert held >= fewest(40, 0.99)


def test_a_public_bound_is_the_other_end():
    """And a release says "at least", comes back from JSON, and needs no more than its epsilon."""
    data = SHAPES["normal"]
    release = nb.maximum(data, epsilon=1, interval=0.95, rng=random.Random(1))
    assert release.interval[1] == math.inf
    assert "at least" in str(release)
    assert release.parameters["interval"]["guarantee"] is True
    assert nb.Release.from_json(release.to_json()) == release
    assert nb.maximum(data, epsilon=1, interval=0.95, upper=120).interval[1] == 120
    assert nb.minimum(data, epsilon=1, interval=0.95, lower=0).interval[0] == 0
    assert nb.quantile(data, 1, epsilon=1, interval=0.95, rng=random.Random(1)).interval == release.interval


@pytest.mark.parametrize("wrong", [{"noise": "gumbel"}, {"beta": 2}, {"interval": 2}])
def test_what_cannot_be_combined_is_refused(wrong):
    """From the keywords alone."""
    with pytest.raises(ValueError):
        nb.maximum([1.0], **{"epsilon": 1, "interval": 0.95, **wrong})


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["minimum", "maximum", "bounds", "agg", "groups"])
def test_infinite_records_make_no_error(statistic):
    """Where all numbers of the rung at an end are infinite, the answer and its end are those of the range of floats."""
    normal = np.random.default_rng(1).normal(0, 10, 20_000)
    data = np.concatenate([np.full(200, -math.inf), normal, np.full(200, math.inf)])
    table, most = nb.Table({"x": data, "g": ["a"] * len(data)}), np.finfo(float).max
    calls = {
        "agg": lambda **options: table.agg(asked_minimum("x", interval=0.9), **options)["minimum(x)"],
        "groups": lambda **options: table.group_by("g", keys=["a"]).minimum("x", interval=0.9, **options),
    }
    for seed in range(5):
        call = calls.get(statistic) or partial(getattr(nb, statistic), data, interval=0.9)
        release = call(epsilon=1, rng=random.Random(seed))
        values = np.ravel(release.values if statistic == "groups" else release.value)
        ends = np.reshape(release.intervals, (-1, 2))
        assert all(low <= value <= high for value, (low, high) in zip(values, ends, strict=True))
        assert all(1e300 < abs(value) <= most for value in values)
        assert not any(low == math.inf or high == -math.inf for low, high in ends)
        str(release), release.to_json()
