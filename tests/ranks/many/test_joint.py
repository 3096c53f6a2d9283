"""All quantiles in one choice: what it costs on all small data sets, and when it is taken."""

import random
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from support.chance import seed_of
from support.joint import LADDER, Small, enumerated, stretches

import nobounds as nb
from nobounds.accounting.conversions import rho_from_range
from nobounds.auditing.evidence.places import ChosenPlaces
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.many.joint import JointRule, smallest_gap
from nobounds.ranks.problem import Problem

THIRDS, UNEVEN = (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 10), Fraction(1, 2))
SPOTS = (0.0, 2.0, 5.0, 7.0)


def rule(qs, neighbors, epsilon=Fraction(1), **more):
    return JointRule(Problem(qs, LADDER, neighbors, grows=True), False, epsilon, 1000, **more)


@cache
def law(data, qs, rate):
    """The log-probabilities of all places."""
    _, logs = enumerated(stretches(Small(data, qs, rate)))
    return logs - np.logaddexp.reduce(logs)


def data_sets(most):
    return [data for n in range(most + 1) for data in combinations_with_replacement(SPOTS, n)]


@pytest.mark.parametrize("qs", [THIRDS, UNEVEN, (Fraction(1, 2), Fraction(1, 2))])
def test_a_record_more_costs_epsilon_and_its_range(qs):
    """On all data sets of up to six records, and no less than 95% of it on some of 40."""
    made = rule(qs, "add-remove", Fraction(2))
    pairs = [
        (law(data, qs, made.rate), law(tuple(sorted((*data, x))), qs, made.rate))
        for data in data_sets(5)
        for x in SPOTS
    ]
    assert max(float(np.abs(p - q).max()) for p, q in pairs) <= made.cost().epsilon + 1e-9
    assert max(float((p - q).max() - (p - q).min()) for p, q in pairs) <= made.cost().eta + 1e-9


@pytest.mark.parametrize("qs", [THIRDS, UNEVEN])
def test_a_record_that_moves_costs_epsilon_and_one_that_turns_missing_leaves_room_for_the_size(qs):
    """On all data sets of up to five records."""
    made = rule(qs, "swap", Fraction(2), eps_size=Fraction(1, 10))
    moved, added = made.cost().kinds
    for data in data_sets(4):
        logs = [law(tuple(sorted((*data, x))), qs, made.rate) for x in SPOTS]
        ratios = [p - q for p in logs for q in logs]
        assert max(float(np.abs(ratio).max()) for ratio in ratios) <= max(moved) + 1e-9
        gone = [p - law(data, qs, made.rate) for p in logs]
        assert max(float(np.abs(ratio).max()) for ratio in gone) <= max(added) + 1e-9
    assert max(moved) <= 2
    assert max(added) + Fraction(1, 10) <= 2


@pytest.mark.parametrize(
    ("neighbors", "x", "y", "heavy"),
    [
        ("add-remove", (0, 0, 0, 5, 5, 5), (0, 0, 0, 3, 5, 5, 5), 7),
        ("swap", (1, 2, 3, 4, 5, 7), (0, 1, 2, 3, 4, 5), 6),
    ],
)
def test_the_cost_is_reached(neighbors, x, y, heavy):
    """Nearly all weight is where the record moves gaps away from their targets; elsewhere it moves them there."""
    made = rule(THIRDS, neighbors)
    prior = Prior(np.arange(8), np.where(np.arange(8) == heavy, 1 << 40, 1), np.zeros(8, dtype=np.int64), "heavy")
    one, other = (ChosenPlaces(stretches(Small(data, THIRDS, made.rate), prior), (0, 0)) for data in (x, y))
    ratio = max(abs(a.log_ratio(b, a.worst_outcome(b))) for a, b in ((one, other), (other, one)))
    assert 0.99 * made.cost().epsilon < ratio <= made.cost().epsilon + 1e-9


def test_costs_are_those_of_one_choice():
    """Epsilon in all under both relations; rho by the range."""
    nine = tuple(Fraction(k, 10) for k in range(1, 10))
    assert rule(nine, "add-remove").rate == Fraction(10, 36)
    assert rule(nine, "swap").rate == Fraction(1, 4)
    assert rule(nine, "swap", eps_size=Fraction(1, 10)).rate == Fraction(1, 4)
    assert rule(nine, "swap", eps_size=Fraction(1, 5)).rate == Fraction(4, 5) / Fraction(36, 10)
    assert float(rule(nine, "add-remove").cost().rho) == pytest.approx(float(rho_from_range(Fraction(1))))
    assert smallest_gap((Fraction(1, 2), Fraction(5, 8))) == Fraction(1, 8)


def test_one_choice_is_taken_where_it_is_better():
    """By the number of quantiles and of records beyond the outer ones; never on a ladder that the user fixes."""

    def taken(qs, neighbors, size, grows=True):
        problem = Problem(qs, LADDER, neighbors, grows=grows)
        return Halving(problem, False, SizeRule(Fraction(0), size), Fraction(1)).joint(size) is not None

    def evenly(many):
        return tuple(Fraction(k, many + 1) for k in range(1, many + 1))

    assert [taken(evenly(9), "swap", size) for size in (300, 630, 650, 10**6)] == [False, False, True, True]
    assert [taken(evenly(many), "swap", 10**5) for many in (2, 3, 39, 40)] == [True, True, True, False]
    assert [taken(evenly(many), "add-remove", 10**5) for many in (2, 3, 4, 19, 20)] == [True, False, True, True, False]
    assert not taken((Fraction(1, 2), Fraction(1)), "swap", 10**5)
    assert not taken(evenly(9), "swap", 10**5, grows=False)


@pytest.mark.parametrize(
    "options", [{}, {"resolution": 1}, {"lower": 0, "upper": 200}, {"resolution": "0.5", "upper": 120}]
)
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_quantiles_of_many_records_are_close(neighbors, options):
    """Whatever is stated, and in increasing order."""
    data = np.random.default_rng(seed_of(2)).normal(100, 5, 20_000)
    qs = [k / 10 for k in range(1, 10)]
    values = nb.quantiles(data, qs, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(1)), **options).value
    assert list(values) == sorted(values)
    step = float(options.get("resolution", 0))
    assert values == pytest.approx(np.quantile(data, qs), abs=0.1 + step)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_quantiles_of_many_records_are_as_close_at_any_location(neighbors):
    """Also where floats of a fixed precision could not tell the records apart; equal records are their value."""
    noise, qs = np.random.default_rng(seed_of(1)).normal(0, 1, 24_000), [k / 10 for k in range(1, 10)]
    for offset in (0.0, 17.3, -1234.5, 1.2345e6, -1.2345e11):
        data = offset + noise
        values = nb.quantiles(data, qs, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(1))).value
        assert np.abs(values - np.quantile(data, qs)).max() < 0.03
    for same in (np.pi, 1.2345678e11):
        data = np.full(24_000, same)
        values = nb.quantiles(data, qs, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(1))).value
        assert values == pytest.approx([same] * 9, rel=1e-6)


def test_a_frame_is_paid_for_from_the_epsilon_of_the_choice():
    """With the records that a frame takes; what is left and the frame cost as much as the choice alone."""
    qs = tuple(Fraction(k, 10) for k in range(1, 10))
    for neighbors, least in (("add-remove", 10_000), ("swap", 20_000)):
        problem = Problem(qs, Ladder.float_bits(8), neighbors, grows=True)
        made = Halving(problem, False, SizeRule(Fraction(0), least), Fraction(1))
        assert made.joint(least - 1).frame_rule is None
        frame = made.joint(least).frame_rule
        within = made.joint(least).within(Frame(3.0, 0), made.left - frame.epsilon)
        assert within.cost().epsilon + frame.epsilon == 1
        assert 0.98 < float(within.cost().epsilon) < 1


def test_ties_are_split_at_the_ranks_that_are_aimed_at():
    """All deciles of records on three numbers are these numbers."""
    data = np.repeat([3.0, 4.0, 900.0], [3500, 4000, 2500])
    values = nb.quantiles(data, [k / 10 for k in range(1, 10)], epsilon=5, rng=random.Random(1)).value
    assert values == (3, 3, 3, 4, 4, 4, 4, 900, 900)


def test_more_nats_than_places_have_bits_are_halved():
    """Places of the finest rungs fit into 64 bits, and above that many nats quantiles are found level by level."""
    data, qs = np.arange(1000.0) / 7, [0.2, 0.4, 0.6, 0.8]
    for options in ({"epsilon": 3}, {"epsilon": 5}, {"rho": 3}, {"epsilon": 5, "neighbors": "swap"}):
        rows = {} if "neighbors" in options else {"rows": 10**10}
        answers = nb.quantiles(data, qs, rng=random.Random(1), **rows, **options).value
        assert list(answers) == sorted(answers)
    assert nb.quantiles(data, qs, epsilon=1e8, rng=random.Random(1)).value == pytest.approx(
        np.quantile(data, qs), rel=0.1
    )
