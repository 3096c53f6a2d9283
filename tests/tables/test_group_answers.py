"""The numbers of groups: their type follows from what is released, not from how it was added up."""

import numpy as np
import pytest

from nobounds.tables.group_answers import _fitting, _scaled


@pytest.mark.parametrize("numbers", [[1, 2, 3], [-(2**62), 5], [2**63 - 1]])
def test_numbers_that_fit_are_of_64_bits_however_they_were_added(numbers):
    """As 64-bit numbers, or as Python's."""
    for added in (np.array(numbers), np.array(numbers, dtype=object)):
        released = _fitting(added)
        assert released.dtype == np.int64 and released.tolist() == numbers


def test_numbers_that_do_not_fit_are_whole():
    """And nothing wraps around; steps are scaled exactly."""
    assert _fitting(np.array([2**63, 1], dtype=object)).tolist() == [2**63, 1]
    assert _scaled(np.array([3, -5]), 62, integral=True).tolist() == [3 * 2**62, -5 * 2**62]
    assert _scaled(np.array([3, -5]), -1, integral=False).tolist() == [1.5, -2.5]
    assert _scaled(np.array([2**61]), 1000, integral=False).tolist() == [np.finfo(float).max]
