"""The clock rings by the law of AboveThreshold over all distances, and neighbours differ by its cost at most."""

import math
import random
from fractions import Fraction as F
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from support.laws import chi_square
from support.small import neighbours, order_of

from nobounds.core.line import Line
from nobounds.core.prior import float_of, key_of
from nobounds.exact import MAX
from nobounds.mechanisms.clock import BITS, Ring, at_distance, distance, fixed_cost, rungs_of, walk_cost, way_of
from nobounds.noise.discrete import Exponential, decide, geometric

WAY = way_of(0)
SMALL = [1.0, 2, 3, 5, 5, 8, 20, 21, 100]
MANY = np.random.default_rng(0).normal(0, 10, 3000).round(3)
WALKS = {
    "inward": (1, True, F(1, 4)),
    "outward": (1, False, F(1, 8)),
    "inward below": (-1, True, F(1, 4)),
    "outward below": (-1, False, F(1, 4)),
    "to a few": (1, True, F(0)),
    "on both sides": (0, True, F(0)),
    "to an extreme": (1, False, F(0)),
}
walks = pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)


def ring(data, walk, eps1=F(9, 10), eps2=F(4, 5), level=F(1, 50), center=4.0, **how):
    side, inward, tail = walk
    return Ring(order_of(data, **how), key_of(center), side, inward, tail, eps1, eps2, level, lambda: None)


def away_of(data, each):
    """The distances from the centre, on the side of the walk."""
    away = np.asarray(data, dtype=float) - float_of(each.center)
    return np.abs(away) if each.side == 0 else each.side * away


def law(data, each, edges):
    """The probabilities of halting between edges, in rungs, and last of never halting: Algorithm 1 step by step.

    The noise on the threshold is a lattice exponential; a stretch of weight w, all of whose distances have the query f,
    lets the walk pass with probability exp(-(w / level) exp(eps2 (f - noise))).
    """
    over, n = each.tail.denominator, len(data)
    stretches = list(pairwise(edges))[:: -1 if each.inward else 1]
    beyond = np.array([np.sum(away_of(data, each) >= distance(high - 1)) for _, high in stretches])
    queries = beyond - each.tail * n if each.inward else each.tail * n - beyond
    weights = np.array([float(F(WAY.up_to(high) - WAY.up_to(low), WAY.whole)) for low, high in stretches])
    rate, chances = float(each.eps1) / over, np.zeros(len(stretches) + 1)
    for noise in range(int(60 / rate)):
        with np.errstate(over="ignore"):
            speeds = np.exp(np.minimum(float(each.eps2) * (queries.astype(float) - noise / over), 500))
        passing = np.exp(-weights / float(each.level) * speeds)
        reached = np.concatenate([[1.0], np.cumprod(passing)])
        chances += -np.expm1(-rate) * np.exp(-rate * noise) * np.append(reached[:-1] * (1 - passing), reached[-1])
    return np.append(chances[:-1][::-1], chances[-1]) if each.inward else chances


def edges_of(data, each):
    """Where rungs begin that hold records, and the rungs after them; runs in between are cut in two."""
    away = away_of(data, each)
    rungs = rungs_of(away[away > 0])
    cuts = sorted({0, WAY.end, *rungs.tolist(), *(rungs + 1).tolist()})
    halves = [WAY.rung((WAY.up_to(a) + WAY.up_to(b)) // 2) for a, b in pairwise(cuts) if b - a > 2]
    return sorted({*cuts, *halves})


@pytest.mark.medium
@walks
@pytest.mark.parametrize("data", [SMALL, [], [4.0] * 5, [7.25]], ids=["small", "none", "centre", "one"])
def test_it_rings_as_often_as_its_law_says(data, walk):
    """Between all records and half-way between them, or never; from records that are kept and that are read again."""
    for how in ({}, {"chunks": 2}):
        each, source = ring(data, walk, **how), random.Random(1).getrandbits
        edges = edges_of(data, each)
        drawn = [each.draw(source) for _ in range(600)]
        places = [
            len(edges) - 1 if rung is None else int(np.searchsorted(edges, rung, side="right")) - 1 for rung in drawn
        ]
        expected = law(data, each, edges)
        assert expected.sum() == pytest.approx(1)
        assert chi_square(np.bincount(places, minlength=len(edges)), expected) > 1e-9


def test_draws_at_another_level_are_noticed():
    """The comparison sees a level that is two and a half times too large."""
    each, source = ring(SMALL, WALKS["outward"]), random.Random(1).getrandbits
    edges = edges_of(SMALL, each)
    places = [int(np.searchsorted(edges, each.draw(source) or 0, side="right")) - 1 for _ in range(1200)]
    wrong = law(SMALL, ring(SMALL, WALKS["outward"], level=F(1, 20)), edges)
    assert chi_square(np.bincount(places, minlength=len(edges)), wrong) < 1e-9


@walks
def test_the_law_of_the_audit_is_that_law(walk):
    """Also where records lie that improbable noise alone can reach."""
    each = ring(SMALL, walk)
    edges = edges_of(SMALL, each)
    expected = law(SMALL, each, edges)
    if each.inward:
        expected[:-1] = expected[:-1][::-1]
    audited = np.exp(each.log_chances(edges[::-1] if each.inward else edges))
    assert audited == pytest.approx(expected, rel=1e-8, abs=1e-25)


@pytest.mark.medium
@walks
@pytest.mark.parametrize("tail", [F(1, 20), F(1, 3), F(9, 10)], ids=str)
def test_records_that_are_not_looked_at_change_nothing(tail, walk):
    """From the same bits, a walk that looks at a window rings where one does that knows all records."""
    side, inward, fixed = walk
    each = ring(MANY, (side, inward, tail if fixed else fixed), F(1), F(1), F(math.exp(-3) / 36), center=0.5)
    for seed in range(150):
        rung, source = each.draw(random.Random(seed).getrandbits), random.Random(seed).getrandbits
        noise, e = geometric(each.eps1 / each.tail.denominator, source), Exponential(source)
        known = decide(lambda precision, noise=noise, e=e: each._in_balls(each.whole, noise, e, precision))
        assert known == (WAY.end if rung is None else rung)


@walks
def test_double_precision_decides_nothing_wrong(walk):
    """Where doubles decide at all, they say what certified bounds do."""
    each, decided = ring(MANY[:400], walk, F(1, 2), F(1, 2), F(math.exp(-3) / 36), center=0.5), 0
    runs = each.runs(0, 400)
    for seed in range(60):
        source = random.Random(seed).getrandbits
        noise, e = geometric(each.eps1 / each.tail.denominator, source), Exponential(source)
        rung = each._in_doubles(runs, noise, e)
        decided += rung is not None
        assert rung is None or rung == decide(partial(each._in_balls, runs, noise, e))
    assert decided > 50


EPSILONS = [(F(1), F(1)), (F(2), F(1, 2))]


def told(each, other, edges):
    """The log-ratios of all outcomes that are not too improbable."""
    one, two = (law.log_chances(edges[::-1] if law.inward else edges) for law in (each, other))
    known = np.minimum(one, two) > -200
    return one[known] - two[known]


def paired_edges(pair, walk):
    """The rungs of the records of both, each by itself, and what lies between them."""
    cuts = {0, 1, WAY.end - 1, WAY.end}
    for data in pair:
        away = away_of(data, ring(data, walk))
        for rung in rungs_of(away[away > 0]).tolist():
            cuts |= {rung - 1, rung, rung + 1, rung + 2}
    return sorted(cut for cut in cuts if 0 <= cut <= WAY.end)


def crowded(relation):
    """Neighbours of many records in few places: there, what a record changes tells most."""
    for behind, near, far in [(0, 0, 0), (0, 1, 8), (0, 30, 30), (0, 0, 30), (100, 0, 0)]:
        data = (3.0,) * behind + (5.0,) * near + (40.0,) * far
        for record in (5.0, 40.0):
            added = tuple(sorted((*data, record)))
            if relation == "add-remove":
                yield data, added
            else:
                yield from ((tuple(sorted((*data, other))), added) for other in (3.0, 5.0))


@pytest.mark.medium
@pytest.mark.parametrize("relation", ["add-remove", "swap"])
@pytest.mark.parametrize("eps", EPSILONS, ids=str)
@pytest.mark.parametrize("name", ["inward", "outward", "to a few", "on both sides", "to an extreme"])
def test_the_cost_holds_and_bites(name, eps, relation):
    """On all neighbours of up to three records, and of many, no rung tells more than epsilon; some tell all of it."""
    _, inward, tail = walk = WALKS[name]
    fixed = name in ("to a few", "on both sides")
    cost = fixed_cost(*eps, relation) if fixed else walk_cost(tail, inward, *eps, relation)
    most = widest = 0.0
    for pair in (*neighbours((4.0, 5.0, 40.0), 3, relation), *crowded(relation)):
        for level in (F(1, 10**12), F(1)):
            rings = [ring(data, walk, *eps, level) for data in pair]
            ratios = told(*rings, paired_edges(pair, walk))
            most, widest = max(most, np.abs(ratios).max()), max(widest, np.ptp(ratios))
    assert 0.99 * float(cost.epsilon) < most <= float(cost.epsilon) * (1 + 1e-9)
    assert widest <= float(cost.eta) * (1 + 1e-9)


def test_the_cost_of_a_fixed_number_is_too_little_for_a_part_of_the_records():
    """A part of the records is a number that moves with them: the audit notices that it costs more."""
    cost, eps = fixed_cost(F(1), F(1), "add-remove"), (F(1), F(1))
    walk = (1, True, F(1, 2))
    most = 0.0
    for pair in crowded("add-remove"):
        rings = [ring(data, walk, *eps, F(1, 10**6)) for data in pair]
        most = max(most, np.abs(told(*rings, paired_edges(pair, walk))).max())
    assert most > 1.05 * float(cost.epsilon)


def test_rungs_are_steps_of_a_65536th():
    """A distance lies on the rung of the largest step that is not above it; the weights of all add up."""
    away = np.concatenate([np.random.default_rng(1).lognormal(0, 50, 300), [2.0**-1022, 1.0, 1.5, MAX, np.inf]])
    for value, rung in zip(np.minimum(away, MAX).tolist(), rungs_of(away).tolist(), strict=True):
        assert distance(rung) <= value and (rung + 1 == WAY.end or value < distance(rung + 1))
    assert distance(int(rungs_of(np.array([1.0]))[0]) + (1 << BITS)) == 2
    for place in (0, 1, 12345, WAY.whole // 2, WAY.whole - 1):
        rung = WAY.rung(place)
        assert WAY.up_to(rung) <= place < WAY.up_to(rung + 1)
    assert WAY.up_to(WAY.end) == WAY.whole


def test_a_number_at_a_distance_stays_on_its_line():
    """Between the bounds; on a grid it is the next multiple that records may be on; beyond the floats, the largest."""
    grid, bounded = Line(F(1)), Line(None, F(-2), F(9))
    assert float_of(at_distance(grid, key_of(4.0), 1, 2.25)) == 7
    assert float_of(at_distance(grid, key_of(4.0), -1, 2.25)) == 1
    assert float_of(at_distance(grid, key_of(4.0), 1, 2.25, inward=False)) == 6
    assert float_of(at_distance(grid, key_of(4.0), -1, 2.25, inward=False)) == 2
    assert bounded.value(at_distance(bounded, key_of(4.0), 1, 1e9)) == 9
    assert bounded.value(at_distance(bounded, key_of(4.0), -1, 1e9)) == -2
    assert float_of(at_distance(Line(), key_of(1e308), 1, MAX)) == MAX


def test_records_stay_hidden():
    """The repr of a clock shows no record."""
    assert "7.25" not in repr(ring([7.25], WALKS["inward"]))
