"""Codes of keys: the places of public keys, numbers in order of appearance of others, and -1 for none."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.engines.rows.key_codes import KeyCodes

LEAST, MOST = -(2**63), 2**63 - 1
whole = st.integers(-20, 20) | st.sampled_from([LEAST, LEAST + 1, MOST - 1, MOST, 10**6])


@given(st.lists(whole, min_size=1, unique=True), st.lists(st.none() | whole), st.booleans())
def test_whole_numbers_have_the_places_of_public_keys(keys, rows, chunked):
    """Near to each other or far apart, at the ends of 64 bits too; missing numbers and others are in no group."""
    array = pa.array(rows, type=pa.int64())
    column = pa.chunked_array([array[:3], array[3:]]) if chunked else array
    codes = KeyCodes((pa.array(keys, type=pa.int64()),)).codes([column])
    assert codes.tolist() == [keys.index(row) if row in keys else -1 for row in rows]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.uint64(), pa.large_string()])
def test_other_types_have_places_too(kind):
    """A narrow type is not left on the way to a number for a missing key."""
    keys = pa.array([0, 3, 1]).cast(kind)
    rows = pa.array([3, None, 0, 7, 1, 100]).cast(kind)
    assert KeyCodes((keys,)).codes([rows]).tolist() == [1, -1, 0, -1, 2, -1]


@given(st.lists(st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from("ab")))))
def test_keys_that_are_read_have_numbers(batches):
    """The keys of the codes are those of the rows, whatever the batches; a missing part is a missing key."""
    codes, numbers = KeyCodes(), []
    for rows in batches:
        columns = [
            pa.array([row[0] for row in rows], pa.int64()),
            pa.array([row[1] for row in rows], pa.large_string()),
        ]
        numbers += codes.codes(columns).tolist()
    keys = codes.keys()
    names = list(zip(*(array.to_pylist() for array in keys), strict=True))
    assert len(set(names)) == len(names)
    for number, row in zip(numbers, (row for rows in batches for row in rows), strict=True):
        assert number == -1 if None in row else names[number] == row
    assert set(numbers) - {-1} == set(range(len(names)))


def test_codes_are_whole_numbers_of_64_bits():
    """Also of no rows."""
    assert KeyCodes((pa.array([1]),)).codes([pa.array([], pa.int64())]).dtype == np.int64
