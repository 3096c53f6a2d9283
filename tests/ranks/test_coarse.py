"""The centre and the scale from coarse counts: drawn by the same laws as from all records, with fewer passes."""

import random
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import nobounds as nb
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.ranks import view as views
from nobounds.ranks.framing import Around, FrameRule
from nobounds.ranks.problem import Problem
from nobounds.ranks.view import View

DRAWS = 3000
rng = np.random.default_rng(1)
DATA = {
    "smooth": (Ladder.float_bits(3), rng.lognormal(3, 0.8, 3000)),
    "far from 0": (Ladder.float_bits(8), 1e6 + rng.normal(0, 0.5, 3000)),
    "whole numbers": (Ladder.grid(1, 3), rng.poisson(300, 3000).astype(float)),
    "a heap": (Ladder.float_bits(4), np.where(rng.random(3000) < 0.4, 0, rng.normal(0, 5, 3000))),
    "within bounds": (Ladder.float_bits(4).limited(F(0), F(30)), rng.normal(10, 15, 3000)),
    "with infinities": (Ladder.float_bits(2), np.append(rng.normal(0, 1, 2990), [np.inf] * 7 + [np.nan] * 3)),
}
every = pytest.mark.parametrize("name", DATA)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(views, "MANY", 0)


def rule_of(ladder: Ladder, n: int) -> FrameRule:
    """Few nats, so that many rungs and octaves may be chosen."""
    problem = Problem((F(1, 2),), ladder, "add-remove", True, grows=True)
    problem = replace(problem, tuning=replace(problem.tuning, center_bits=9, prior_floor=-200))
    return FrameRule.of(problem, F(6, n), F(6, n))


def statistic(decision, law, first: int, edges: np.ndarray, seed: int) -> tuple[float, int]:
    """The chi-square of draws against an exact law between edges, and its degrees of freedom."""
    source = random.Random(seed).getrandbits
    draws = np.array([decision.draw(source) for _ in range(DRAWS)]) - first
    expected = -np.diff(np.concatenate([[1.0], law.tail(edges), [0.0]])) * DRAWS
    seen = np.histogram(draws, np.concatenate([[-1.0], edges - 0.5, [2.0**60]]))[0]
    some = expected > 5
    rest = expected[~some].sum()
    chi = float(((seen - expected)[some] ** 2 / expected[some]).sum())
    return chi + ((seen[~some].sum() - rest) ** 2 / rest if rest > 5 else 0.0), int(some.sum())


def accepts(chi: float, freedom: int) -> bool:
    """A chi-square that is larger once in far more than 10^9 times is none of this law."""
    return chi < freedom + 7 * (2 * max(freedom, 1)) ** 0.5 + 25


@pytest.mark.slow
@every
def test_draws_from_coarse_counts_have_the_exact_laws(name):
    """Those of the exponential mechanism on the counts of all records; and a law 30% off is told apart."""
    ladder, data = DATA[name]
    rule, view = rule_of(ladder, len(data)), View(Counts.of(lambda: [data], ladder))
    center = view.center(rule.center, lambda: None)
    assert center.bounded is not None
    law = center.law()
    first = int(law.runs.starts[0])
    passed = np.cumsum(law.masses)
    edges = np.unique([law.runs.starts[np.searchsorted(passed, k / 20)] - first for k in range(1, 20)])
    assert accepts(*statistic(center, law, first, edges[edges > 0], 5))
    middle = rule.centers(int(law.runs.starts[np.searchsorted(passed, 0.5)]))
    around = Around(middle, rule.unit, *rule.bounds)
    scale = view.spread(around, F(6, len(data)), lambda: None)
    assert scale.bounded is not None
    octaves = np.arange(1, scale.law().length)
    assert accepts(*statistic(scale, scale.law(), int(scale.runs.starts[0]), octaves, 6))
    other = views.HistogramView.spread(view, around, F(6 * 13, 10 * len(data)), lambda: None)
    if name == "smooth":
        assert not accepts(*statistic(scale, other.law(), int(scale.runs.starts[0]), octaves, 6))


@every
def test_bounds_hold_for_every_rung(name):
    """The exact distance of each rung lies between the bounds, and after a look it is the bound."""
    ladder, data = DATA[name]
    rule, view = rule_of(ladder, len(data)), View(Counts.of(lambda: [data], ladder))
    center = view.center(rule.center, lambda: None)
    middle = rule.centers(int(center.runs.starts[np.argmin(center.runs.distances())]))
    scale = view.spread(Around(middle, rule.unit, *rule.bounds), F(6, len(data)), lambda: None)
    for decision in (center, scale):
        bounded, runs = decision.bounded(), decision.runs
        for run in range(0, len(runs.starts), max(len(runs.starts) // 60, 1)):
            rung, exact = int(runs.starts[run]), runs.distance(run) + runs.least
            assert bounded.distance(rung) <= exact <= bounded.distance(rung) + bounded.spread(rung)
            if bounded.spread(rung) and run % 3 == 0:
                assert bounded.finer(rung).distance(rung) == exact


def test_after_a_few_looks_all_records_are_counted():
    """However the records lie, a draw ends."""
    ladder, data = DATA["far from 0"]
    rule, view = rule_of(ladder, len(data)), View(Counts.of(lambda: [data], ladder))
    bounded = view.center(rule.center, lambda: None).bounded()
    for _ in range(6):
        if not bounded.more.any():
            break
        bounded = bounded.finer(int(bounded.runs.starts[np.argmax(bounded.more)]))
    assert not bounded.more.any()


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_answers_are_as_good(neighbors):
    """A median of skewed data, from coarse counts."""
    data = np.random.default_rng(3).lognormal(3, 0.8, 20_000)
    for seed in range(5):
        value = nb.quantile(data, 0.5, epsilon=1, neighbors=neighbors, rng=random.Random(seed)).value
        assert abs(np.mean(data < value) - 0.5) < 0.01
