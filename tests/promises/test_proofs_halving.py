"""docs/proofs/halving.md: what cuts cost along a path, what leaks when an end is open, and the law of draws."""

import random
from fractions import Fraction as F
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy import stats

from nobounds.accounting.loss import Neighbors
from nobounds.answers.many import cut_rate
from nobounds.answers.spent import Part
from nobounds.auditing.audit import audit
from nobounds.core.prior import key_of
from nobounds.counting.order import Order
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.choice import choice_cost
from nobounds.mechanisms.cut import Cut, Slice

NUMBERS, TAGS = 3, 3  # a universe of three numbers with tags of three values
PRIOR = np.array([0.2, 0.7, 0.1])
SPOTS = (0, 1, 2)


def node(records, low, high, q, rate, open_ends=()):
    """The law of (number, records below the pair) of a cut, averaged over the tags of the records."""
    numbers = [z for z in range(low, high + 1) if z not in open_ends or z in records]
    if not numbers:
        return {(low, 0): 1.0}
    pairs = [(z, tag) for z in numbers for tag in range(TAGS)]
    law = {}
    for tags in product(range(TAGS), repeat=len(records)):
        below = [sum(own < pair for own in zip(records, tags, strict=True)) for pair in pairs]
        weights = [PRIOR[z] * np.exp(-rate * abs(k - q * len(records))) for (z, _), k in zip(pairs, below, strict=True)]
        for (z, _), k, weight in zip(pairs, below, weights, strict=True):
            law[z, k] = law.get((z, k), 0) + weight / sum(weights) / TAGS ** len(records)
    return law


def tree(records, rates, *, leaky=False):
    """The log-law of a median and of both quartiles, after a cut of its own in each half."""
    law = np.zeros((NUMBERS,) * 3)
    for (middle, k), chance in node(records, 0, NUMBERS - 1, 0.5, rates[0]).items():
        open_ends = (middle,) if leaky else ()
        lower = node(records[:k], 0, middle, 0.5, rates[1], open_ends)
        upper = node(records[k:], middle, NUMBERS - 1, 0.5, rates[1], open_ends)
        for (a, _), x in lower.items():
            for (b, _), y in upper.items():
                law[middle, a, b] += chance * x * y
    with np.errstate(divide="ignore"):
        return np.log(law.ravel())


@pytest.mark.parametrize(("neighbors", "price"), [("add-remove", 2), ("swap", 4)])
def test_levels_add_up_along_a_path(neighbors: Neighbors, price):
    """Two levels of rate 1 at the median cost 2 under add-remove and 4 under swap, over all data of up to four."""
    found = audit(lambda data: tree(data, (1.0, 1.0)), SPOTS, 4, neighbors, least=neighbors == "swap")
    assert 0.4 * price < found.epsilon <= price + 1e-9


def test_an_end_that_counts_only_with_a_record_leaks_without_bound():
    """If the end of a slice is a candidate only where a record lies, one record makes impossible answers possible."""
    found = audit(lambda data: tree(data, (1.0, 1.0), leaky=True), SPOTS, 3, "add-remove")
    assert found.epsilon == np.inf


@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_a_level_costs_no_more_than_its_part(neighbors: Neighbors, zcdp):
    """The rate leaves room for one cut of a record that moves, and for two of one that changes its slice."""
    part = Part(F(1, 3), zcdp, neighbors)
    for q in (F(1, 10), F(1, 2), F(7, 9)):
        rate = cut_rate(part, q)
        within, once = (choice_cost(q, rate, each) for each in (neighbors, "add-remove"))
        costs = [within, once] if neighbors == "add-remove" else [within, once + once]
        amounts = [cost.rho if zcdp else cost.epsilon for cost in costs]
        assert F(999, 1000) * part.amount < max(amounts) <= part.amount


def cut(data, piece, q, rate):
    order = Order(column(np.array(data, dtype=float)).chunks, Ladder.float_bits())
    first, last = (key_of(float(x)) for x in piece)
    return Cut(order, Slice(0, len(data), first, last), q, rate, None)


def test_a_closed_slice_draws_its_ends_and_cuts_ties_by_tags():
    """From 1 to 4 with records at 2 only: the law of number and cut is that of the prior and of uniform tags."""
    rate, many = F(1, 2), 4
    one = cut([2.0] * many, (1, 4), F(1, 2), rate)
    prior, keys = one.order.line.prior, [key_of(float(x)) for x in (1, 2, 4)]
    source = random.Random(5).getrandbits
    drawn = [one.draw(source) for _ in range(4000)]
    outside = [prior.mass(keys[0], keys[0]), prior.mass(keys[0] + 1, keys[1] - 1)]
    beyond = [prior.mass(keys[1] + 1, keys[2] - 1), prior.mass(keys[2], keys[2])]
    away = np.exp(-float(rate) * many / 2)
    # The tags of the records cut the unit interval at random: all ranks of a pair at 2 are equally likely a priori.
    # What is left is the average of normalized weights over tags, which is drawn here.
    tags = np.diff(np.sort(np.random.default_rng(6).random((200_000, many)), axis=1), prepend=0, append=1, axis=1)
    at = tags * float(prior.mass(keys[1], keys[1])) * np.exp(-float(rate) * np.abs(np.arange(many + 1) - many / 2))
    rest = np.array([*map(float, outside), *map(float, beyond)]) * away
    whole = at.sum(axis=1) + rest.sum()
    chances = [*(weight * (1 / whole).mean() for weight in rest), *(at / whole[:, None]).mean(axis=0)]
    names = {keys[0]: 0, keys[2]: 3}
    places = [4 + k if key == keys[1] else names.get(key, 1 if key < keys[1] else 2) for key, k in drawn]
    wanted = np.array(chances) * len(drawn)
    assert wanted.min() > 3 and sum(chances) == pytest.approx(1)
    assert stats.chisquare(np.bincount(places, minlength=9), wanted * len(drawn) / wanted.sum()).pvalue > 1e-9


def test_records_below_a_drawn_pair_are_those_below_its_number_and_some_ties():
    """The cut lies between the records below the number and those at or below it, for all small data sets."""
    source = random.Random(7).getrandbits
    for data in combinations_with_replacement((1.0, 2.0, 3.0), 4):
        for _ in range(5):
            key, below = cut(data, (0, 4), F(1, 2), F(1)).draw(source)
            low, high = (sum(key_of(x) < key for x in data), sum(key_of(x) <= key for x in data))
            assert low <= below <= high
