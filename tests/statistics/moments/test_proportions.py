"""Proportions: which columns have one, and answers from few rows."""

import random

import numpy as np
import pytest

import nobounds as nb
from nobounds.engines.memory.arrays import column
from nobounds.statistics.moments.proportions import require_boolean


@pytest.mark.parametrize("data", [np.array([1.0, 0.0]), np.array([1, 0]), np.array(["2020-01-01"], dtype="M8[D]")])
def test_a_column_of_another_type_has_no_proportion(data):
    """Numbers and dates are refused by their type, with the remedy."""
    with pytest.raises(TypeError, match="needs a boolean column"):
        require_boolean(column(data).facts)
    require_boolean(column(np.array([True, False])).facts)


def test_a_list_has_elements_of_no_declared_type():
    """True and False in a list are answered, and what is missing does not count."""
    release = nb.proportion([True] * 300 + [None] * 500 + [False] * 100, epsilon=20, rng=random.Random(1))
    assert release.value == pytest.approx(0.75, abs=0.01)


def test_nothing_is_known_of_a_few_rows():
    """The interval is from 0 to 1 then, and the answer None with what would do; without marks it is answered."""
    few = np.array([True, False])
    release = nb.proportion(few, epsilon=0.1, rng=random.Random(1))
    assert release.value is None and release.reason == "too few rows" and release.parameters["needed"]["rows"] > 2
    shown = nb.proportion(few, epsilon=0.1, marks=False, rng=random.Random(1))
    assert 0 <= shown.value <= 1 and shown.interval == (0.0, 1.0)
