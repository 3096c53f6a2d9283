"""Distinct units and values of a whole table: what a unit may change, and what the release says of it."""

import random

import pytest

import nobounds as nb
from nobounds.tables.distinct import distinct_units, distinct_values

DATA = {"who": [i % 40 for i in range(400)], "shop": [f"s{i % 25}" for i in range(400)]}
TABLE = nb.Table(DATA, unit="who", rows_per_unit=5)._opened


def test_units_count_once_whatever_their_rows():
    """The noise is that of one row, and no bound on rows is stated."""
    release = distinct_units(TABLE, {"epsilon": 10**6})
    assert release.value == 40 and release.parameters["noise_scale"] == 1e-6
    assert "rows_per_unit" not in release.parameters and "values_per_unit" not in release.parameters


@pytest.mark.parametrize(("most", "bound"), [(None, 5), (2, 2)])
def test_values_of_a_unit_share_its_epsilon(most, bound):
    """The noise grows with the values that a unit may have, and the release says how many that are."""
    release = distinct_values(TABLE, "shop", {"epsilon": 10**6, "values_per_unit": most, "rng": random.Random(1)})
    assert release.parameters["values_per_unit"] == bound and release.parameters["noise_scale"] == bound / 10**6
    assert 10 < release.value <= 25


def test_fewer_values_of_a_unit_leave_values_out():
    """One unit with ten values of its own, of which three may count."""
    alone = nb.Table({"who": ["one"] * 10, "v": [f"v{i}" for i in range(10)]}, unit="who", rows_per_unit=10)
    assert alone.count_distinct("v", values_per_unit=3, epsilon=10**6).value == 3


def test_what_is_missing_is_said():
    """A unit, or a column."""
    rows = nb.Table(DATA)._opened
    with pytest.raises(ValueError, match="needs a table with a unit"):
        distinct_units(rows, {"epsilon": 1})
    with pytest.raises(ValueError, match="values_per_unit needs a table with a unit"):
        distinct_values(rows, "shop", {"epsilon": 1, "values_per_unit": 2})
