"""Compiled counts: the same as those of numpy, rung by rung, whatever the records."""

import math
import sys
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import nobounds.counting.compiled
import nobounds.counting.kernels
from nobounds.counting.compiled import LeadingCounts
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder

pytest.importorskip("llvmlite")

LADDERS = {
    "float-bits 0": Ladder.float_bits(0),
    "float-bits 3": Ladder.float_bits(3, -40),
    "float-bits 8": Ladder.float_bits(),
    "float-bits 9, all floats": Ladder.float_bits(9, -1022),
    "limited float-bits": Ladder.float_bits().limited(Fraction(-3), Fraction(1, 7)),
    "grid 0": Ladder.grid(1, 0),
    "cents": Ladder.grid(0.01),
    "quarters": Ladder.grid(0.25, 9),
    "small grid": Ladder.grid("1e-300", 8),
    "limited grid": Ladder.grid(1).limited(Fraction(-5), Fraction(12)),
}
every = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
few = settings(max_examples=60, deadline=None)

ODD = np.array([0xFFF8000000000000, 0x7FF0000000000001, 0xFFF0000000000001, 1, 2**52 - 1], dtype=np.uint64)
special = [0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**-100, 5e-324, sys.float_info.min, sys.float_info.max]
special += ODD.view(np.float64).tolist()
edges = st.tuples(st.integers(-3000, 3000), st.sampled_from([0.005, 0.01, 0.5, 0.25, 2.0**-101])).map(math.prod)
near = edges.flatmap(lambda x: st.sampled_from([x, math.nextafter(x, -math.inf), math.nextafter(x, math.inf)]))
records = st.lists(st.floats() | st.sampled_from(special) | near, max_size=60).map(lambda x: np.array(x, dtype=float))


def at_once(patch: pytest.MonkeyPatch) -> None:
    """Compile at the first record."""
    patch.setattr(nobounds.counting.kernels, "LEAST", 0)
    patch.setattr(nobounds.counting.kernels, "WORTH", 0)


def numpy_histogram(values: np.ndarray, ladder: Ladder) -> Histogram:
    """Few records, which are never counted in compiled code."""
    assert len(values) < nobounds.counting.compiled._MANY
    return Histogram.of([values], ladder)


def compiled_histogram(values: np.ndarray, ladder: Ladder) -> Histogram:
    """The same in compiled code, however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nobounds.counting.compiled, "_MANY", 0)
        at_once(patch)
        assert list(LeadingCounts(ladder.map).left([values])) == []
        return Histogram.of([values], ladder)


def assert_equal(one: Histogram, other: Histogram) -> None:
    assert np.array_equal(one.rungs, other.rungs)
    assert np.array_equal(one.counts, other.counts)


@pytest.mark.medium
@every
@few
@given(values=records)
def test_compiled_counts_are_those_of_numpy(ladder, values):
    """Rung by rung and count by count, odd records and edges of grids included."""
    assert_equal(compiled_histogram(values, ladder), numpy_histogram(values, ladder))


@pytest.mark.medium
@every
def test_many_records_with_missing_ones(ladder):
    """Blocks with and without missing records, and a last one that is not full."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal(100_003) * 10.0 ** rng.uniform(-5, 5, 100_003)
    values[rng.integers(0, 50_000, 300)] = math.nan
    assert_equal(compiled_histogram(values, ladder), numpy_histogram(values, ladder))


@pytest.mark.medium
@few
@given(values=records.filter(len), full=st.integers(2, 9))
def test_entries_do_not_overflow(values, full):
    """Tables that could overflow are put away in time: here after a few records instead of 2**32."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nobounds.counting.compiled, "_FULL", full)
        found = compiled_histogram(values, LADDERS["float-bits 8"])
    assert_equal(found, numpy_histogram(values, LADDERS["float-bits 8"]))


@pytest.mark.parametrize("values", [np.arange(10.0)[::2], np.arange(5.0).astype(">f8"), np.arange(5, dtype=np.float32)])
def test_other_arrays_are_left_to_numpy(values, monkeypatch):
    """Strides, byte orders and types that would need kernels of their own, and values with counts, are passed on."""
    monkeypatch.setattr(nobounds.counting.compiled, "_MANY", 0)
    at_once(monkeypatch)
    weighted = (np.ones(3), np.ones(3, dtype=np.int64))
    assert len(list(LeadingCounts(LADDERS["cents"].map).left([values, weighted]))) == 2
    assert len(list(LeadingCounts(Ladder.of([0, 1, 2]).map).left([np.ones(3)]))) == 1


def test_arrays_that_cannot_be_written_to():
    """A read-only array needs no kernel of its own."""
    values = np.arange(1000.0)
    values.flags.writeable = False
    assert_equal(compiled_histogram(values, LADDERS["cents"]), numpy_histogram(values, LADDERS["cents"]))
