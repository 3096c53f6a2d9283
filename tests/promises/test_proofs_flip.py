"""docs/proofs/flip.md: the sensitivity of distances, permute-and-flip as an algorithm, ranges, and far rungs."""

import math
from fractions import Fraction as F
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from nobounds.auditing.audit import audit
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.runs import Runs
from nobounds.ranks.route import rank_sensitivity

FOUR = Ladder.uniform(0, 4, 4)  # a rung below 0, one for each unit, and one above 4


def distances(data, q):
    """The distance of q n from [records below, records below or in], by counting; exact."""
    rungs = FOUR.rungs(np.array(data, dtype=float))
    every = range(FOUR.first, FOUR.last + 1)
    spans = [(int((rungs < r).sum()), int((rungs <= r).sum())) for r in every]
    return [max(F(0), low - q * len(data), q * len(data) - high) for low, high in spans]


@pytest.mark.parametrize("q", [F(0), F(1, 4), F(1, 2), F(9, 10), F(1)], ids=str)
def test_one_record_moves_distances_by_the_sensitivity_at_most(q):
    """Over all data sets of up to four records: max(q, 1-q) for one more, 1 for one that moves; both are reached."""
    spots = (0.5, 1.5, 2.5, 3.5)
    added, moved = F(0), F(0)
    for size in range(4):
        for rest in combinations_with_replacement(spots, size):
            plain, more = distances(rest, q), [distances((*rest, x), q) for x in spots]
            added = max([added, *(abs(a - b) for d in more for a, b in zip(plain, d, strict=True))])
            moved = max([moved, *(abs(a - b) for c in more for d in more for a, b in zip(c, d, strict=True))])
    assert added == rank_sensitivity(q, "add-remove") == max(q, 1 - q)
    assert moved <= 1 and (moved == 1 or not 0 < q < 1)


@pytest.mark.parametrize("q", [F(1, 3), F(1, 2), F(1)], ids=str)
def test_the_law_is_that_of_the_algorithm_of_mckenna_and_sheldon(q):
    """Rungs in random order, each kept with probability exp(-rate (distance - least)), over all 720 orders."""
    data, rate = [0.5, 0.5, 1.5, 3.5, 3.5], F(2, 3)
    found = distances(data, q)
    heads = [math.exp(-float(rate * (d - min(found)))) for d in found]
    law, orders = np.zeros(len(found)), list(permutations(range(len(found))))
    for order in orders:
        left = 1.0
        for rung in order:  # the nearest one is surely kept when its turn comes
            law[rung] += left * heads[rung] / len(orders)
            left *= 1 - heads[rung]
    runs = Runs.of(Histogram.of([np.array(data)], FOUR), q, rate)
    assert np.exp(flip_law(runs).log_pmf()) == pytest.approx(law, rel=1e-9)


def test_permute_and_flip_has_a_wider_range_than_the_exponential_mechanism():
    """On three rungs, for the same epsilon 1: 1.27 for the one, at most 1 for the other, over the same pairs."""
    rungs, q = Ladder.of([1, 2, 3]), F(1, 2)

    def widest(law):
        def of(data):
            return law(Runs.of(Histogram.of([np.array(data, dtype=float)], rungs), q, F(1))).log_pmf()

        return audit(of, (0.5, 1.5, 2.5), 4, "add-remove").eta

    assert 1.27 < widest(flip_law) <= 2
    assert 0.8 < widest(weighted_law) <= 1 + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("law", [flip_law, weighted_law])
@pytest.mark.parametrize("rungs", [100, 10**5])
def test_far_empty_rungs_win_with_at_most_their_number_times_an_exponential(law, rungs):
    """N exp(-rate q n) for the rungs below all records; and no less than a thousandth of it."""
    ladder, n, q, rate = Ladder.uniform(0, rungs + 10, rungs + 10), 60, F(1, 2), F(1, 2)
    data = np.linspace(rungs + 1, rungs + 9, n)
    found = law(Runs.of(Histogram.of([data], ladder), q, rate))
    below = 1 - float(found.tail([rungs])[0])
    limit = rungs * math.exp(-float(rate * q * n))
    assert limit / 1000 <= below <= limit * (1 + 1e-9)
