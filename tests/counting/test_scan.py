"""Few records are read once, and counted in order as they are in any other way."""

from fractions import Fraction

import numpy as np
import pytest

from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Histogram
from nobounds.counting.scan import FEW, InOrder, read_once
from nobounds.ladders.ladder import Ladder

LADDERS = [
    Ladder.float_bits(8),
    Ladder.float_bits(16),
    Ladder.grid(Fraction(1, 4)),
    Ladder.of([-1, 0.5, 2, 100]),
]
VALUES = np.round(np.random.default_rng(3).normal(2, 30, 700), 1)
VALUES[:4] = -0.0, 0.0, np.inf, -np.inf


def passes(values, chunk=None):
    """Records in chunks, and a list that grows with each pass."""
    made = []

    def records():
        made.append(1)
        return [values] if chunk is None else [values[k : k + chunk] for k in range(0, len(values), chunk)]

    return records, made


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: str(ladder.map)[:20])
@pytest.mark.parametrize("deviation", [None, Deviation(1.5, -20.0, 40.0, 3), Deviation(2.0, -np.inf, np.inf, 1)])
@pytest.mark.parametrize("missing", [False, True])
def test_counts_are_the_same_and_records_are_read_once(ladder, deviation, missing):
    """In order and as they come, with deviations and without, whether or not some are missing."""
    values = np.where(np.arange(700) % 9 == 0, np.nan, VALUES) if missing else VALUES
    records, made = passes(values)
    few = read_once(records)
    for _ in range(2):
        chunks = few()
        assert isinstance(chunks, InOrder) and "hidden" in repr(chunks)
        kept = Histogram.of(chunks, ladder) if deviation is None else Histogram.of_deviations(few(), deviation, ladder)
    plain = [values] if deviation is None else [deviation(values)]
    expected = Histogram.of([*plain, values[:0]], ladder)
    assert kept.rungs.tolist() == expected.rungs.tolist() and kept.counts.tolist() == expected.counts.tolist()
    assert len(made) == 1


def test_many_records_are_read_by_each_pass():
    """In one chunk or in several."""
    for chunk in (None, FEW // 2):
        records, made = passes(np.zeros(FEW + 1), chunk)
        few = read_once(records)
        assert [sum(map(len, few())) for _ in range(3)] == [FEW + 1] * 3 and len(made) == 3


def test_few_records_are_the_same_in_any_chunks():
    """In order, without missing ones, and as often as they occur."""
    values = np.array([3.0, np.nan, 1.0, 1.0, -np.inf, np.nan, 2.0])
    for chunks in ([values], np.array_split(values, 3), [np.unique(values, return_counts=True)], [values, values[:0]]):
        (kept,) = read_once(lambda chunks=chunks: iter(chunks))()
        assert kept.tolist() == [-np.inf, 1, 1, 2, 3]


def test_what_is_kept_does_not_change_with_the_data():
    """The records are copied, because a source may use its memory again."""
    values = np.arange(5.0)
    few = read_once(lambda: [values])
    list(few())
    values[:] = -1
    assert few()[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("spread", [3.0, 1e-9, 1e30])
@pytest.mark.parametrize("bits", [8, 16, 22])
def test_counts_of_tens_of_thousands_do_not_depend_on_the_table(spread, bits):
    """One table of all rungs in between, tables of octaves and sorted parts count alike; with weights as well."""
    drawn = np.random.default_rng(7)
    values = drawn.normal(0, 1, 40_000) * spread ** drawn.random(40_000)
    ladder = Ladder.float_bits(bits)
    rungs, counts = np.unique(ladder.rungs(values), return_counts=True)
    whole = Histogram.of([values, values[:0]], ladder)
    weighed = Histogram.of([(values, np.full(40_000, 3))], ladder)
    assert whole.rungs.tolist() == weighed.rungs.tolist() == rungs.tolist()
    assert whole.counts.tolist() == counts.tolist() and weighed.counts.tolist() == (3 * counts).tolist()
