"""Records by rank: what the order says is what numpy says of the sorted keys, however the records come."""

import random
from fractions import Fraction as F
from functools import reduce
from itertools import islice

import numpy as np
import pytest

from nobounds.core.prior import key_of
from nobounds.counting import order as order_module
from nobounds.counting.order import MOST, Order, line_of
from nobounds.counting.scan import Remote, read_once
from nobounds.ladders.ladder import Ladder

FLOATS = Ladder.float_bits(8)
LADDERS = {
    "floats": FLOATS,
    "bounded": FLOATS.limited(F(-2), F("7.3")),
    "positive": FLOATS.limited(F(1), None),
    "whole": Ladder.grid(1),
    "cents": Ladder.grid("0.01"),
    "bounded cents": Ladder.grid("0.01").limited(F(0), F(5)),
    "coarse": Ladder.grid(100),
}


class Parts(Remote):
    """Records on other machines: each part is scanned by itself, and only results are merged."""

    def __init__(self, parts):
        self.parts = parts

    def scan(self, part, merge):
        return reduce(merge, [part(iter([values])) for values in self.parts])


def records_of(values, form):
    """The same records as one chunk kept in order, as several, as distinct values with numbers, or elsewhere."""
    if form == "kept":
        return read_once(lambda: iter([values]))
    if form == "weighed":
        return lambda: iter([tuple(np.unique(values, return_counts=True)), values[:0]])
    parts = np.array_split(values, 3)
    return (lambda: Parts(parts)) if form == "remote" else lambda: iter(parts)


forms = pytest.mark.parametrize("form", ["kept", "chunks", "weighed", "remote"])
ladders = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)


def data(seed):
    """Ties, both signs, several sizes, infinities, tiny numbers and missing ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 300))
    values = rng.choice([1.0, 0.1, 1e4], n) * rng.normal(0.5, 2, n)
    values = np.where(rng.random(n) < 0.4, np.round(values), values)
    odd = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 5e-324, 1e308, -1e308, 7.3, 1 / 3], n)
    return np.where(rng.random(n) < 0.2, odd, values)


def sorted_keys(values, ladder):
    return np.sort(line_of(ladder).keys(values[~np.isnan(values)]))


def probes(keys, line, seed):
    """Keys of records, beside them, and anywhere else on the line."""
    source, (first, last) = random.Random(seed), line.ends
    near = [int(key) + step for key in keys[:: max(len(keys) // 8, 1)] for step in (-1, 0, 1)]
    return [
        first,
        last,
        *(key for key in near if first <= key <= last),
        *(source.randint(first, last) for _ in range(3)),
    ]


@pytest.mark.medium
@forms
@ladders
@pytest.mark.parametrize("seed", range(6))
def test_ranks_are_those_of_the_sorted_keys(seed, ladder, form):
    """The records below a number and at it, those between two ranks, and the number of all."""
    values = data(seed)
    keys, order = sorted_keys(values, ladder), Order(records_of(values, form), ladder)
    assert order.total == len(keys)
    for key in probes(keys, order.line, seed):
        assert order.ranks(key) == (np.searchsorted(keys, key), np.searchsorted(keys, key, side="right"))
    source = random.Random(seed)
    for _ in range(4):
        low, high = sorted(source.randint(-5, len(keys) + 5) for _ in range(2))
        found, counts = Order(records_of(values, form), ladder).between(low, high)
        assert np.repeat(found, counts).tolist() == keys[max(low, 0) : max(high, 0)].tolist()


def check_cells(cells, keys, line, low, high, each):
    """They cover the line, their ranks are right, and those around the ranks `low` to `high` have few records."""
    assert cells.first[0] == line.ends[0] and cells.last[-1] == line.ends[1]
    assert np.array_equal(cells.first[1:], cells.last[:-1] + 1) and np.all(cells.first <= cells.last)
    assert np.array_equal(cells.low, np.searchsorted(keys, cells.first))
    assert np.array_equal(cells.high, np.searchsorted(keys, cells.last, side="right"))
    touched = (cells.high > low) & (cells.low < high) & (cells.first < cells.last)
    assert np.all((cells.high - cells.low)[touched] <= 2 * each)


@pytest.mark.medium
@forms
@ladders
@pytest.mark.parametrize("seed", range(6))
def test_cells_cover_the_line_and_know_their_ranks(seed, ladder, form):
    """Whatever was looked at before; with 0 records in each, all numbers of a cell have the same ranks."""
    values, source = data(seed), random.Random(seed)
    keys, order = sorted_keys(values, ladder), Order(records_of(values, form), ladder)
    for each in (0, 1, 5, 40, 0):
        low, high = sorted(source.randint(-5, len(keys) + 5) for _ in range(2))
        check_cells(order.cells(low, high, each), keys, order.line, low, high, each)
    check_cells(order.cells(0, order.total, 0), keys, order.line, 0, len(keys), 0)


@pytest.mark.parametrize("form", ["chunks", "remote"])
def test_more_records_on_a_rung_than_are_read_at_once(form):
    """Rungs of very many records are split before their records are read one by one, those of equal ones too."""
    rng = np.random.default_rng(5)
    values = np.concatenate([1000 + rng.random(MOST + 20_000), np.full(MOST + 5, 1000.25), rng.normal(0, 1, 50)])
    keys, order = sorted_keys(values, FLOATS), Order(records_of(values, form), FLOATS)
    at = key_of(1000.25)
    assert order.ranks(at) == (np.searchsorted(keys, at), np.searchsorted(keys, at, side="right"))
    middle = len(keys) // 3
    found, counts = order.between(middle, middle + 500)
    assert np.repeat(found, counts).tolist() == keys[middle : middle + 500].tolist()
    check_cells(order.cells(middle, middle + 2000, 100), keys, order.line, middle, middle + 2000, 100)


@pytest.mark.parametrize("ladder", [FLOATS, Ladder.grid(1)], ids=["floats", "whole"])
def test_few_records_are_read_again(ladder, monkeypatch):
    """A rank of 300,000 records reads those of its own rung, and no others."""
    values, read = np.round(np.random.default_rng(6).lognormal(9, 2, 300_000), 1), []
    distinct = order_module.Distinct.__call__

    def counted(self, chunks):
        found = distinct(self, chunks)
        read.append(int(found[1].sum()))
        return found

    monkeypatch.setattr(order_module.Distinct, "__call__", counted)
    order = Order(lambda: iter(np.array_split(values, 4)), ladder)
    order.ranks(key_of(9000.0))
    assert 0 < sum(read) < 3000
    list(islice(order.between(150_000, 150_100), 1))
    assert sum(read) < 6000


def test_records_stay_hidden():
    """Its repr says nothing of them."""
    assert repr(Order(lambda: iter([np.array([4.25])]), FLOATS)) == "Order(hidden)"
