"""docs/proofs/clock.md: what a clock costs, that splitting distances changes nothing, and that draws follow its law."""

import itertools
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from nobounds.auditing.audit import audit
from nobounds.core.prior import key_of
from nobounds.counting.order import Order
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.clock import Ring, distance, fixed_cost, rungs_of, walk_cost

SPOTS = (-0.5, 1.0, 8.0, 1e6)
FAR, NEAR = F(1, 5), F(7, 10)
E1, E2 = F(2), F(3)
WALKS = {  # name: tail, inward, cost
    "inward": (FAR, True, lambda n: walk_cost(FAR, True, E1, E2, n)),
    "the near end of an interval": (NEAR, True, lambda n: walk_cost(NEAR, True, E1, E2, n)),
    "outward": (F(0), False, lambda n: walk_cost(F(0), False, E1, E2, n)),
    "outward in a tail": (FAR, False, lambda n: walk_cost(FAR, False, E1, E2, n)),
    "to a fixed number of records": (F(0), True, lambda n: fixed_cost(E1, E2, n)),
}


def clock(data, tail, inward, side=1, level=F(1, 30), eps=(E1, E2)):
    order = Order(column(np.array(data, dtype=float)).chunks, Ladder.float_bits())
    return Ring(order, key_of(0.0), side, inward, tail, *eps, level, None)


def edges_of(ring, data):
    """The first rungs of all runs, with those around them, in the order of the visit."""
    at = rungs_of(np.abs(np.array([x for x in data if x], dtype=float))).tolist()
    kept = sorted({0, ring.way.end, *(edge for rung in at for edge in (rung, rung + 1))})
    return kept[::-1] if ring.inward else kept


@pytest.mark.parametrize("side", [1, 0])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("name", WALKS)
def test_a_clock_costs_what_it_says(name, neighbors, side):
    """Over all pairs of up to five records, with never as an outcome; at some level seven tenths are reached."""
    tail, inward, cost = WALKS[name]
    claim = cost(neighbors)
    worst = 0.0
    for level in (F(1, 10**9), F(1, 30), F(10**4)):

        def law(data, level=level):
            ring = clock(data, tail, inward, side, level)
            return ring.log_chances(edges_of(ring, SPOTS))

        found = audit(law, SPOTS, 5, neighbors, least=neighbors == "swap")
        assert found.epsilon <= claim.epsilon + 1e-6 and found.eta <= claim.eta + 1e-6
        worst = max(worst, found.epsilon / float(claim.epsilon))
    assert worst > 0.7


@pytest.mark.parametrize("inward", [True, False])
def test_splitting_and_joining_distances_changes_nothing(inward):
    """The chance to halt in a stretch is that of all its parts, also where no record lies between them."""
    data = [1.0, 1.0, 8.0, 1e6]
    ring = clock(data, FAR, inward)
    coarse = edges_of(ring, data)
    low, high = min(coarse), max(coarse)
    fine = sorted({*coarse, *np.random.default_rng(0).integers(low, high, 100).tolist()}, reverse=inward)
    parts = np.exp(ring.log_chances(fine))
    joined = np.add.reduceat(parts[:-1], [fine.index(edge) for edge in coarse[:-1]])
    assert [*joined, parts[-1]] == pytest.approx(np.exp(ring.log_chances(coarse)), rel=1e-9, abs=1e-15)
    assert parts.sum() == pytest.approx(1)


@pytest.mark.parametrize(("inward", "level"), [(True, F(1, 30)), (False, F(1, 200)), (True, F(20))])
def test_draws_follow_the_law(inward, level):
    """Of 3,000 draws over all distances of doubles, in stretches around 300 records, and never as one more outcome."""
    data = np.random.default_rng(1).lognormal(0, 1, 300)
    ring = clock(data, F(1, 20), inward, level=level, eps=(F(1, 3), F(1, 2)))
    coarse = edges_of(ring, np.unique(data))
    chances = np.exp(ring.log_chances(coarse))
    source = random.Random(4).getrandbits
    drawn = [ring.draw(source) for _ in range(3000)]
    rungs = np.array([-1 if rung is None else rung for rung in drawn])
    between = [(min(a, b), max(a, b)) for a, b in itertools.pairwise(coarse)]
    counts = np.array([*(((a <= rungs) & (rungs < b)).sum() for a, b in between), (rungs == -1).sum()])
    # Stretches are joined until 20 draws are expected in each.
    groups = np.minimum(chances.cumsum() * len(drawn) // 20, len(drawn) // 20 - 1).astype(int)
    observed, wanted = (np.bincount(groups, each) for each in (counts, chances * len(drawn)))
    some = wanted > 0
    assert some.sum() > 10 and stats.chisquare(observed[some], wanted[some]).pvalue > 1e-9


@pytest.mark.parametrize("data", [[], [1e-5], [1.0] * 5, [3.0, 1e6, 1e200]], ids=str)
def test_a_walk_halts_beyond_all_records_as_rarely_as_its_level_says(data):
    """Inward to a fixed number with 20 times the way for its level: in at most one of 20 runs, nearly reached."""
    ring = clock(data, F(0), True, level=F(20))
    edges = edges_of(ring, data)
    wrong = np.exp(ring.log_chances(edges))[0]
    assert wrong <= 1 / 20
    assert wrong > 1 / 200 or len(data) > 1


def test_octaves_weigh_what_decades_do():
    """An octave of distances weighs as a decade with its middle does, spread evenly over its length in logarithms."""
    way = clock([1.0], F(0), True).way
    at = [int(rungs_of(np.array([float(x)]))[0]) for x in (1, 2, 4, 1e6, 2e6)]
    assert [distance(rung) for rung in at[:3]] == [1.0, 2.0, 4.0]
    first, far = (way.up_to(b) - way.up_to(a) for a, b in ((at[1], at[2]), (at[3], at[4])))
    middles = [math.log10(2**1.5), math.log10(2**19.9)]
    laws = [1 / (6.25 + (k - 1.5) ** 2) for k in middles]
    assert first / far == pytest.approx(laws[0] / laws[1], rel=0.1)
    heaviest = max(way.each) * 2**16 / math.log(2)
    assert way.whole / heaviest == pytest.approx(36 / 2, rel=0.1)
