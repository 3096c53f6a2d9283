"""Floats go between Arrow and numpy by their buffers, with the values that pyarrow converts them to."""

import numpy as np
import pyarrow as pa
import pytest

from nobounds.engines.memory.arrow_floats import arrow_floats, floats_in

NUMBERS = [1.5, None, float("inf"), -0.0, None, 2.0, float("nan"), 8.0, None, 1e-320]


@pytest.mark.parametrize("records", [NUMBERS, [1.0, 2.0], [None, None], []])
def test_nulls_become_nan_and_other_numbers_stay(records):
    """Arrays, slices of them and chunks have the numbers of pyarrow's own conversion."""
    array = pa.array(records, pa.float64())
    chunked = pa.chunked_array([array, array[1:], array[:0]], pa.float64())
    for some in (array, array[1:], array[3:7], array[:0], chunked, chunked[2:], pa.chunked_array([], pa.float64())):
        expected = some.to_numpy(zero_copy_only=False) if isinstance(some, pa.Array) else some.to_numpy()
        np.testing.assert_array_equal(floats_in(some), expected)


def test_floats_become_an_arrow_array():
    """Contiguous or not, and without any nulls."""
    values = np.arange(10.0)
    for some in (values, values[::3], values[:0]):
        assert arrow_floats(some, pa).equals(pa.array(some))
