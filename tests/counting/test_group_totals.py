"""Sums of groups: exact, the same in any order, and one record changes one of them by no more than the width."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.counting.group_totals import fitting, group_totals
from nobounds.counting.lattice import Lattice, totals

floats = st.floats(allow_nan=False, allow_infinity=True, width=64) | st.floats(-100, 100)
ends = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6)) | st.tuples(st.floats(-10, 10), st.floats(1e-3, 10))
lattices = st.builds(
    lambda clip, integral: Lattice.of(Fraction(clip[0]), Fraction(clip[0]) + Fraction(clip[1]), integral),
    ends,
    st.booleans(),
)


def near(lattice):
    """Records at and beside the ends of a lattice, half-way between steps, and anywhere."""
    step = lattice.step
    low, high = float(lattice.low * step), float((lattice.low + lattice.width) * step)
    halves = [(k + 0.5) * float(step) for k in (-2, -1, 0, 1, lattice.low, lattice.low + lattice.width)]
    marks = [
        x for mark in (low, high, *halves) for x in (mark, np.nextafter(mark, np.inf), np.nextafter(mark, -np.inf))
    ]
    return st.sampled_from(list(map(float, marks))) | st.floats(low, high) | floats


def chunk(rows):
    """The groups and the records of some rows."""
    groups = np.array([group for group, _ in rows], dtype=np.int32)
    return groups, np.array([x for _, x in rows], dtype=np.float64)


@pytest.mark.medium
@settings(deadline=None)
@given(st.data(), lattices)
def test_totals_are_those_of_fractions(data, lattice):
    """Each record, clipped and rounded to a step, half to even, adds up in its group; -1 is no group."""
    rows = data.draw(st.lists(st.tuples(st.integers(-1, 3), near(lattice)), max_size=30))
    counts, (sums,) = group_totals([chunk(rows)], 4, (lattice.steps,))
    low, high = lattice.low, lattice.low + lattice.width

    def steps(x):
        return low if x == -np.inf else high if x == np.inf else min(max(round(Fraction(x) / lattice.step), low), high)

    assert sums.tolist() == [sum(steps(x) - low for own, x in rows if own == group) for group in range(4)]
    assert counts.tolist() == [sum(own == group for own, _ in rows) for group in range(4)]


@pytest.mark.medium
@settings(deadline=None)
@given(st.data(), lattices, st.lists(st.integers(0, 60), max_size=4), st.integers(0, 2**32))
def test_neither_the_order_nor_the_chunks_matter(data, lattice, cuts, seed):
    """The totals of one group are those of `lattice.totals` on its records."""
    rows = data.draw(st.lists(st.tuples(st.integers(0, 2), near(lattice)), max_size=60))
    whole = group_totals([chunk(rows)], 3, (lattice.steps,))
    mixed = [rows[k] for k in np.random.default_rng(seed).permutation(len(rows))]
    places = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = group_totals([chunk(mixed[a:b]) for a, b in pairwise(places)], 3, (lattice.steps,))
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])
    for group in range(3):
        own = np.array([x for each, x in rows if each == group])
        assert totals([own], lattice.steps) == [whole[0][group], whole[1][0][group]]


@pytest.mark.medium
@settings(deadline=None, max_examples=200)
@given(st.data(), lattices)
def test_one_record_changes_one_sum_by_no_more_than_the_width(data, lattice):
    """By a whole number from 0 to the width of the clip, wherever the record lies, and no other group at all."""
    rows = data.draw(st.lists(st.tuples(st.integers(0, 3), near(lattice)), max_size=20))
    group, x = data.draw(st.tuples(st.integers(0, 3), near(lattice)))
    counts, (before,) = group_totals([chunk(rows)], 4, (lattice.steps,))
    more, (after,) = group_totals([chunk([*rows, (group, x)])], 4, (lattice.steps,))
    change = after - before
    assert 0 <= change[group] <= lattice.width
    assert np.array_equal(np.flatnonzero(more - counts), [group])
    assert not np.delete(change, group).any()


def test_the_width_is_reached():
    """A record at either end of the clip changes the sum by 0 and by the width."""
    lattice = Lattice.of(Fraction(-2), Fraction(6), integral=False)
    for x, change in [(-2.0, 0), (-np.inf, 0), (6.0, lattice.width), (np.inf, lattice.width)]:
        assert group_totals([chunk([(0, x)])], 1, (lattice.steps,))[1][0].tolist() == [change]


@pytest.mark.medium
@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**62)), max_size=6), max_size=6))
def test_sums_beyond_64_bits_are_exact(parts):
    """They go on as whole numbers of Python, and chunks that fit none the less count too."""
    chunks = ((np.array([g for g, _ in rows], dtype=np.int32), np.array([x for _, x in rows])) for rows in parts)
    _, (sums,) = group_totals(chunks, 3, (lambda values: values.astype(np.int64),))
    assert [int(each) for each in sums] == [sum(x for rows in parts for g, x in rows if g == k) for k in range(3)]
    assert fitting(sums.astype(object)).dtype == (object if max(map(int, sums)) >= 2**62 else np.int64)


def test_some_sums_do_go_beyond_64_bits():
    """The case that the last test is about does occur."""
    most = np.full(4, 2**62)
    _, (sums,) = group_totals([(np.zeros(4, dtype=np.int32), most)], 1, (lambda values: values,))
    assert sums.dtype == object
    assert sums[0] == 2**64
