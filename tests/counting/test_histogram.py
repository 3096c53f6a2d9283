"""Histograms: the count of every rung, whatever way the records come in."""

import math
import tracemalloc
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import nobounds.counting.histogram
import nobounds.counting.scan
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder, float_bounds

NAN, INF = math.nan, math.inf
EDGES = Ladder.of([-2, -1, 0, 0.5, 3, 1000])
LADDERS = {
    "float-bits 8": Ladder.float_bits(8),
    "float-bits 51": Ladder.float_bits(51),
    "grid": Ladder.grid(0.25),
    "limited grid": Ladder.grid(1).limited(-5, 12),
    "edges": EDGES,
}
every = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
few = settings(max_examples=60, deadline=None)
records = st.lists(st.floats() | st.integers(-20, 20).map(lambda i: i / 4), max_size=60).map(np.array)


def brute_force(values, ladder: Ladder) -> dict[int, int]:
    """One record at a time, NaN left out."""
    return dict(Counter(int(ladder.rungs(np.array([value]))[0]) for value in values if not math.isnan(value)))


def table(histogram: Histogram) -> dict[int, int]:
    assert np.all(np.diff(histogram.rungs) > 0)
    assert np.all(histogram.counts > 0)
    return dict(zip(histogram.rungs.tolist(), histogram.counts.tolist(), strict=True))


def cut(values: np.ndarray, at: list[int]) -> list[np.ndarray]:
    return np.split(values, sorted(min(place, len(values)) for place in at))


@pytest.mark.medium
@every
@few
@given(values=records)
def test_counts_are_those_of_a_count_one_by_one(ladder, values):
    """Each occupied rung, in order, with the number of records that are on it."""
    assert table(Histogram.of([values], ladder)) == brute_force(values, ladder)


@pytest.mark.medium
@every
@few
@given(values=records, at=st.lists(st.integers(0, 60), max_size=5), seed=st.integers(0, 2**32))
def test_order_and_chunking_do_not_matter(ladder, values, at, seed):
    """Any permutation in any chunks, empty ones too, has the same histogram."""
    mixed = np.random.default_rng(seed).permutation(values)
    assert table(Histogram.of(iter(cut(mixed, at)), ladder)) == table(Histogram.of([values], ladder))


@pytest.mark.medium
@every
@few
@given(values=records, at=st.lists(st.integers(0, 60), min_size=2, max_size=2))
def test_histograms_of_parts_add_up(ladder, values, at):
    """The sum of the parts' histograms is the histogram of the whole, in any order of adding."""
    a, b, c = (Histogram.of([part], ladder) for part in cut(values, at))
    whole = table(Histogram.of([values], ladder))
    assert table(a + b + c) == table(c + (b + a)) == whole


@pytest.mark.medium
@every
@few
@given(values=records, at=st.lists(st.integers(0, 60), max_size=4), dense=st.integers(1, 40), chunk=st.integers(1, 9))
def test_dense_and_sparse_counting_agree(ladder, values, at, dense, chunk):
    """However few rungs a table may span, and however small the steps, the counts are the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nobounds.counting.histogram, "_SPARSE", dense)
        patch.setattr(nobounds.counting.scan, "CHUNK", chunk)
        found = table(Histogram.of(cut(values, at), ladder))
    assert found == brute_force(values, ladder)


@pytest.mark.medium
@every
@few
@given(
    values=records,
    at=st.lists(st.integers(0, 60), max_size=4),
    many=st.integers(0, 60),
    weights=st.booleans(),
    waiting=st.sampled_from([1, 1 << 10, 1 << 21]),
)
def test_counting_by_leading_bits_agrees(ladder, values, at, many, weights, waiting):
    """After however many values leading bits are counted instead of rungs, in any number of octaves: they agree."""
    chunks = [(part, np.ones(len(part), dtype=np.int64)) if weights else part for part in cut(values, at)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nobounds.counting.histogram, "_MANY", many)
        patch.setattr(nobounds.counting.histogram, "_EACH", 1 << 20)
        patch.setattr(nobounds.counting.histogram, "_ALL", 2 * many)
        patch.setattr(nobounds.counting.histogram, "_WAITING", waiting)
        found = table(Histogram.of(chunks, ladder))
    assert found == brute_force(values, ladder)


@pytest.mark.parametrize("bits", [8, 51])
def test_wide_spans(bits):
    """Values from -1e308 to 1e308, more than a step holds and nearly all on rungs of their own at 51 bits."""
    ladder = Ladder.float_bits(bits, floor=-1022)
    rng = np.random.default_rng(3)
    values = rng.choice([-1.0, 1.0], 100_000) * 10.0 ** rng.uniform(-307, 308, 100_000)
    values = np.concatenate([values, values[:1000], [0.0, 1e308, -1e308]])
    rungs, counts = np.unique(ladder.rungs(values), return_counts=True)
    found = Histogram.of(np.array_split(values, 7), ladder)
    assert np.array_equal(found.rungs, rungs)
    assert np.array_equal(found.counts, counts)
    if bits == 51:
        assert len(rungs) > 99_000
        assert rungs[-1] - rungs[0] > nobounds.counting.histogram._WAITING


def test_narrow_chunks_far_apart():
    """Chunks that are narrow each, but further from each other than a dense table spans, all count."""
    ladder = Ladder.float_bits(51)
    chunks = [np.full(10, 1e-200), np.full(20, 1.0), np.full(30, 1e200), np.full(40, 1.0 + 1e-9), np.full(5, 1e-200)]
    assert table(Histogram.of(chunks, ladder)) == brute_force(np.concatenate(chunks), ladder)


# --- the rule for odd records -------------------------------------------------------------------------------------


@every
def test_missing_records_are_counted_nowhere(ladder):
    """NaN, of any bit pattern, changes neither the counts nor the size."""
    odd = np.array([0xFFF8000000000000, 0x7FF0000000000001], dtype=np.uint64).view(np.float64)
    values = np.array([1.0, NAN, 2.0, -NAN, 2.0])
    with_missing = Histogram.of([np.concatenate([values, odd])], ladder)
    assert table(with_missing) == table(Histogram.of([np.array([1.0, 2.0, 2.0])], ladder))
    assert with_missing.total == 3


@every
def test_infinities_go_to_the_ends(ladder):
    """Minus infinity is on the first rung, infinity on the last."""
    assert table(Histogram.of([np.array([INF, -INF, INF])], ladder)) == {ladder.first: 1, ladder.last: 2}


def test_records_outside_the_bounds_go_to_the_ends():
    """With bounds -5 and 12 a record of 1e9 is on the rung of 12, and -1e9 on that of -5."""
    ladder = LADDERS["limited grid"]
    outside = Histogram.of([np.array([1e9, -1e9, 12.6, -5.6])], ladder)
    assert table(outside) == table(Histogram.of([np.array([12.0, -5.0, 12.0, -5.0])], ladder)) == {-5: 2, 12: 2}


def test_minus_zero_is_zero():
    """-0.0 and 0.0 are on one rung."""
    for ladder in LADDERS.values():
        assert list(table(Histogram.of([np.array([0.0, -0.0])], ladder)).values()) == [2]


@pytest.mark.parametrize("chunks", [[], [np.zeros(0)], [np.zeros(0), np.full(3, NAN), np.zeros(0)]])
@every
def test_no_records(chunks, ladder):
    """No chunks, empty chunks and only missing records all give the empty histogram, which adds nothing."""
    empty = Histogram.of(chunks, ladder)
    assert (table(empty), empty.total, empty.below(0)) == ({}, 0, 0)
    some = Histogram.of([np.array([1.0, 2.0])], ladder)
    assert table(empty + some) == table(some + empty) == table(some)
    assert table(empty + empty) == {}


# --- the value itself ---------------------------------------------------------------------------------------------


@pytest.mark.medium
@every
@few
@given(values=records, at=st.floats(allow_nan=False))
def test_below_and_total_are_counts_of_records(ladder, values, at):
    """below(r) is the number of records on lower rungs than r, and total of all that are not missing."""
    histogram = Histogram.of([values], ladder)
    known = values[~np.isnan(values)]
    rung = int(ladder.rungs(np.array([at]))[0])
    assert histogram.total == len(known)
    assert histogram.below(rung) == int(np.sum(ladder.rungs(known) < rung))
    assert np.array_equal(histogram.up_to, np.cumsum(histogram.counts))


@every
def test_repr_shows_no_counts(ladder):
    """Histograms of different data print alike, and name the ladder only."""
    one = Histogram.of([np.array([1.0, 7.5, 7.5])], ladder)
    other = Histogram.of([np.full(123, -3.0)], ladder)
    assert repr(one) == repr(other) == str(one)
    assert repr(one) == f"Histogram({ladder.describe()}, counts hidden)"


@pytest.mark.parametrize(
    "other", [Ladder.float_bits(9), Ladder.grid(1), Ladder.float_bits(8).limited(0, None), Ladder.of([1, 2])]
)
def test_histograms_on_different_ladders_do_not_add(other):
    """Adding histograms whose ladders differ, be it in an end only, is refused in words that show no data."""
    a = Histogram.of([np.array([1.0, 2.0])], Ladder.float_bits(8))
    b = Histogram.of([np.array([1.0, 2.0])], other)
    with pytest.raises(ValueError, match=r"^only histograms on the same ladder can be added$"):
        a + b


def test_histograms_on_equal_ladders_add():
    """Two parts of the data may be counted on ladders made separately from the same edges."""
    a, b = (Histogram.of([np.array([float(x)])], Ladder.of([0, 1, 2, 3])) for x in (0.5, 1.5))
    assert table(a + b) == {1: 1, 2: 1}


def test_adding_changes_neither_part():
    """A sum is a new histogram."""
    a, b = (Histogram.of([np.array([1.0, x])], Ladder.grid(1)) for x in (2.0, 3.0))
    before = table(a), table(b)
    a + b
    assert (table(a), table(b)) == before


@few
@given(values=records, octave=st.integers(-50, 200), bounds=st.sampled_from([(None, None), (0, None), (-3, 7)]))
def test_coarse_counts_say_the_wider_rungs_of_scaled_records(values, octave, bounds):
    """As if each record had been divided by the power of two and counted on the wider ladder."""
    fine, wide = Ladder.float_bits(8, -100).limited(*bounds), Ladder.float_bits(3, -40)
    low, high = float_bounds(fine)
    scaled = np.ldexp(np.clip(values, low, high), -octave)
    assert table(Histogram.of([values], fine).scaled(octave, wide)) == table(Histogram.of([scaled], wide))


def peak_of(size: int, ladder: Ladder) -> int:
    """Peak memory in bytes of counting `size` lognormal values that are made chunk by chunk."""
    rng = np.random.default_rng(1)
    chunks = (np.exp(3 * rng.standard_normal(30_000)) for _ in range(size // 30_000))
    tracemalloc.start()
    histogram = Histogram.of(chunks, ladder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert histogram.total == size
    return peak


@pytest.mark.medium
@pytest.mark.parametrize("ladder", [Ladder.float_bits(8), Ladder.float_bits(14), Ladder.grid(0.01, 11)])
def test_memory_does_not_grow_with_the_data(ladder):
    """Counting 4,500,000 values takes at most 60 MB, and about what 1,500,000 take, in compiled code or not."""
    few, many = peak_of(1_500_000, ladder), peak_of(4_500_000, ladder)
    assert many < 60e6
    assert many < 1.5 * few
