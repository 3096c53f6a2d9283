"""Two columns of the same rows: a record that is missing in one of them is missing in both."""

import numpy as np
import pytest

from nobounds.counting.scan import first_of
from nobounds.engines.pairs import Pair

NAN = np.nan


def records(column):
    """All values of a column, with how often each counts."""
    parts = [(chunk, np.ones(len(chunk))) if isinstance(chunk, np.ndarray) else chunk for chunk in column.chunks()]
    return np.concatenate([np.repeat(values, np.asarray(counts, dtype=int)) for values, counts in parts])


def test_a_row_counts_if_it_has_both_records():
    """In the first column as in the second."""
    pair = Pair.of(np.array([1.0, NAN, 3.0, 4.0]), np.array([5.0, 6.0, NAN, 8.0]))
    for column, kept in ((pair.x, [1.0, 4.0]), (pair.y, [5.0, 8.0])):
        values = records(column)
        assert values[~np.isnan(values)].tolist() == kept
        assert len(values) == 4


def test_a_column_that_has_no_missing_records_may_have_some_in_a_pair():
    """So its size is not public under swap, unless neither can be missing."""
    whole, real = np.array([1, 2, 3]), np.array([1.0, NAN, 3.0])
    assert Pair.of(whole, real).x.facts.nullable and not Pair.of(whole, whole).x.facts.nullable


def test_columns_of_different_lengths_are_refused():
    """By their public lengths."""
    with pytest.raises(ValueError, match="the same length"):
        Pair.of([1.0, 2.0], [1.0])


def test_the_first_record_of_each_row_is_that_of_the_first_column():
    """A join is a function of both records of a row."""
    pair = Pair.of(np.array([1.0, 2.0]), np.array([10.0, 20.0]))
    sums, firsts = (np.concatenate(list(map(np.asarray, pair.records(join)()))) for join in (np.add, first_of))
    assert sums.tolist() == [11.0, 22.0] and firsts.tolist() == [1.0, 2.0]
