"""docs/proofs/choice.md: what a choice costs, that the cost is nearly reached, and that cells do not change its law."""

import random
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from nobounds.auditing.audit import audit
from nobounds.core.prior import key_of
from nobounds.counting.order import Order
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.choice import Choice, choice_cost, sensitivity

SPOTS = (-2.0, 1.0, 1.5, 300.0)
RELATIONS = ("add-remove", "swap")


def chosen(data, q, rate, cost=None):
    order = Order(column(np.array(data, dtype=float)).chunks, Ladder.float_bits())
    return Choice(order, q, rate, cost)


def law_at_spots(data, q, rate):
    """The log-probabilities of the spots, and of all numbers between two of them."""
    choice = chosen(data, q, rate)
    begin, end = choice.line.ends
    keys = [key_of(x) for x in SPOTS]
    cells = [(key, key) for key in keys] + [(a + 1, b - 1) for a, b in pairwise([begin - 1, *keys, end + 1])]
    first, last = (np.array(each) for each in zip(*sorted(cells), strict=True))
    return choice.log_masses(first, last)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("q", [F(1, 4), F(1, 2), F(9, 10)], ids=str)
def test_a_choice_costs_what_it_says(neighbors, q):
    """Over all pairs of up to six records, ties included: its epsilon and its range hold, and are nearly reached."""
    rate = 3 / sensitivity(q, neighbors)
    found = audit(lambda data: law_at_spots(data, q, rate), SPOTS, 6, neighbors, least=neighbors == "swap")
    cost = choice_cost(q, rate, neighbors)
    assert cost.epsilon == 3 and cost.eta == 3
    assert 0.75 * 3 < found.eta <= 3 + 1e-9 and found.epsilon <= 3 + 1e-9


@pytest.mark.parametrize("q", [F(1, 4), F(1, 2), F(9, 10)], ids=str)
def test_a_record_changes_losses_within_the_stated_ranges(q):
    """By max(q, 1 - q) on both sides if one is added, and by 1 on both sides if one is changed; both are reached."""
    rng = np.random.default_rng(0)
    added, moved = F(0), F(0)
    for _ in range(300):
        data = rng.choice(SPOTS, rng.integers(0, 6)).tolist()
        one, *others = ([loss((*data, x), q, z) for z in (-3, *SPOTS, 1.2, 400)] for x in SPOTS)
        none = [loss(data, q, z) for z in (-3, *SPOTS, 1.2, 400)]
        added = max([added, *(abs(a - b) for each in (one, *others) for a, b in zip(each, none, strict=True))])
        moved = max([moved, *(abs(a - b) for each in others for a, b in zip(each, one, strict=True))])
    assert added == max(q, 1 - q) == sensitivity(q, "add-remove") / 2
    assert moved == 1 == sensitivity(q, "swap") / 2


def loss(data, q, z):
    below, up_to = sum(x < z for x in data), sum(x <= z for x in data)
    return max(F(0), below - q * len(data), q * len(data) - up_to)


@pytest.mark.parametrize("rate", [F(1, 40), F(1, 2), F(3)], ids=str)
def test_cells_of_any_size_draw_from_the_same_law(rate):
    """At a small rate cells hold up to 40 records, and numbers are accepted; at a large one each is a number."""
    data = np.sort(np.concatenate([np.random.default_rng(2).lognormal(3, 1, 200), np.full(3, 20.0)]))
    choice = chosen(data, F(1, 2), rate)
    begin, end = choice.line.ends
    cuts = [key_of(x) for x in sorted({*data[10::20], *data[100:104], *data[96:106:3], 19.99, 20.0, 20.01})]
    edges = np.unique([*choice.whole.first, *(cut + 1 for cut in cuts)])  # each part lies in one cell of the law
    logs = choice.log_masses(edges, np.append(edges[1:] - 1, end))
    assert edges[0] == begin and np.exp(logs).sum() == pytest.approx(1)
    source = random.Random(3).getrandbits
    keys = np.array([choice.draw(source) for _ in range(2000)])
    parts = list(pairwise([begin - 1, *cuts, end]))
    counts = np.array([((keys > a) & (keys <= b)).sum() for a, b in parts])
    expected = len(keys) * np.array([np.exp(logs[(edges > a) & (edges <= b)]).sum() for a, b in parts])
    rare = expected < 5
    observed, wanted = ([*each[~rare], each[rare].sum() + 5] for each in (counts, expected))
    assert len(wanted) >= 3 and stats.chisquare(observed, wanted).pvalue > 1e-9
