"""Counts of the values of a column: public and private values, the most frequent ones, and how many there are."""

import random
from datetime import date

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.chance import seed_of
from support.csv_files import headed

import nobounds as nb
from nobounds.release.grouped import GroupedRelease

MUCH = 10**6  # then there is next to no noise
CITIES = ["oslo"] * 400 + ["rome"] * 250 + ["bern"] * 100 + ["graz"] * 2


def exact(release):
    """Keys and counts."""
    return dict(release)


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (CITIES, ["rome", "oslo", "nowhere"]),
        (np.array([7, 7, 8, 9]), [8, 7, 1]),
        (np.array([True, False, True]), [True, False]),
        (pd.Series([date(2024, 1, 1)] * 3 + [date(2024, 2, 1)], dtype="date32[pyarrow]"), [date(2024, 1, 1)]),
        (pl.Series("day", [date(2024, 1, 1), None, date(2024, 2, 1)]), [date(2024, 2, 1), date(1999, 1, 1)]),
        (pd.Series(["a", "b", "a", None], dtype="category"), ["a", "z"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["b"]),
    ],
    ids=["list", "integers", "booleans", "dates of pandas", "dates of polars", "categories", "a dictionary"],
)
def test_public_values_are_counted_in_their_order(column, keys):
    """Text, whole numbers, booleans and dates; a value that no row has gets a count as well, and others get none."""
    release = nb.value_counts(column, keys=keys, epsilon=MUCH)
    listed = column.to_pylist() if isinstance(column, pa.Array) else list(column)
    assert release.groups == keys
    assert release.values.tolist() == [sum(key == one for one in listed) for key in keys]
    assert GroupedRelease.from_json(release.to_json()) == release


def test_all_engines_count_the_same(tmp_path):
    """A frame, a file of each kind and a relation give one answer to one seed."""
    frame = pl.DataFrame({"city": CITIES, "who": [i % 300 for i in range(len(CITIES))]})
    frame.write_csv(tmp_path / "c.csv")
    pq.write_table(frame.to_arrow(), tmp_path / "c.parquet")
    connection = duckdb.connect()
    sources = [
        frame,
        frame.to_pandas(),
        frame.lazy(),
        frame.to_arrow(),
        headed(tmp_path / "c.csv"),
        tmp_path / "c.parquet",
    ]
    sources.append(connection.from_arrow(frame.to_arrow()))
    for ask in (
        lambda table: exact(table.value_counts("city", keys=["rome", "oslo"], epsilon=1, rng=random.Random(1))),
        lambda table: exact(table.top_k("city", 2, delta=1e-3, epsilon=2, rng=random.Random(1))),
        lambda table: table.count_distinct("city", epsilon=1, rng=random.Random(1)).value,
    ):
        first, *others = (ask(nb.Table(source)) for source in sources)
        assert all(other == first for other in others)


def test_the_values_of_an_enum_are_public_if_the_user_says_so():
    """They come from the type, also of a lazy frame and in a view; categories that come from records are refused."""
    kind = pl.Enum(["low", "high", "never"])
    frame = pl.DataFrame({"risk": pl.Series(["low", "high", "low"], dtype=kind), "x": [1, 2, 3]})
    for table in (nb.Table(frame), nb.Table(frame.lazy()), nb.Table(frame).where("x > 0")):
        counts = table.value_counts("risk", keys="enum", epsilon=MUCH)
        assert exact(counts) == {"low": 2, "high": 1, "never": 0}
    for column in (
        pl.Series(["low"], dtype=pl.Categorical),
        pd.Series(["low"], dtype="category"),
        pa.array(["low"]).dictionary_encode(),
        ["low"],
    ):
        with pytest.raises(TypeError, match="come from records"):
            nb.value_counts(column, keys="enum", epsilon=1)
    with pytest.raises(ValueError, match="neither"):
        nb.value_counts(frame["risk"], epsilon=1)


def test_a_computed_column_has_no_enum():
    """A formula that takes the name of an Enum column does not take its values."""
    frame = pl.DataFrame({"risk": pl.Series(["low"], dtype=pl.Enum(["low"]))})
    with pytest.raises(TypeError, match="Enum"):
        nb.Table(frame).with_columns(risk="'high'").value_counts("risk", keys="enum", epsilon=1)


def test_the_most_frequent_values_come_first():
    """Of public values and of those that are chosen; fewer than k if there are not as many."""
    public = nb.top_k(CITIES, 2, keys=["graz", "oslo", "bern", "rome"], epsilon=MUCH)
    assert exact(public) == {"oslo": 400, "rome": 250} and public.groups == ["oslo", "rome"]
    chosen = nb.top_k(CITIES, 9, delta=1e-6, epsilon=1, rng=random.Random(3))
    assert chosen.groups == ["oslo", "rome", "bern"]
    assert chosen.loss.delta == 1e-6
    assert nb.top_k(["a"], 3, delta=1e-9, epsilon=1).groups == []
    for k in (0, 1.5, True, -1):
        with pytest.raises(ValueError, match="k must be a whole number from 1"):
            nb.top_k(CITIES, k, keys=["oslo"], epsilon=1)


@pytest.mark.medium
@pytest.mark.sampled
def test_intervals_hold_for_the_values_that_are_shown():
    """The one of fifty empty values that noise lifts to the top is inside its interval 95% of the time or more often.

    With intervals for single values it would be so half of the time.
    """
    keys = [f"v{i}" for i in range(50)]
    held, single = 0, 0
    for seed in range(200):
        release = nb.top_k(np.array(["other"]), 1, keys=keys, epsilon=1, rng=random.Random(seed_of(seed)))
        (low, _), (count,) = release.intervals[0], release.values
        held += low <= 0
        single += count - 3 <= 0
    assert held >= 184
    assert single < 130


@pytest.mark.parametrize(
    ("unit", "column", "given", "number"),
    [
        ({"unit": "who"}, None, {}, 60),  # no rows_per_unit: each unit counts once
        ({"unit": "who"}, "who", {}, 60),
        ({}, "page", {}, 90),
        ({"unit": "who", "rows_per_unit": 100}, "page", {}, 90),
        ({"unit": "who", "rows_per_unit": 1}, "page", {"values_per_unit": 100}, 90),
    ],
)
def test_distinct_units_and_values_are_counted(unit, column, given, number):
    """Once each, and missing ones not at all."""
    who = [None if i % 97 == 0 else i % 60 for i in range(970)]
    page = [None if i % 89 == 0 else i % 90 for i in range(970)]
    frame = pl.DataFrame({"who": who, "page": page})
    release = nb.Table(frame, **unit).count_distinct(column, epsilon=10**7, **given)
    assert release.value == number and release.interval[0] <= number <= release.interval[1]
    assert release.loss.unit == unit.get("unit", "row")


def test_of_each_unit_at_most_so_many_values_are_used():
    """One user with all pages changes the number by `values_per_unit`; the release says that values are left out."""
    frame = pl.DataFrame({"who": ["a"] * 50, "page": list(range(50))})
    table = nb.Table(frame, unit="who", rows_per_unit=50)
    release = table.count_distinct("page", values_per_unit=3, epsilon=MUCH)
    assert release.value == 3 and release.parameters["values_per_unit"] == 3
    assert "at most 3 values count; the other values are left out" in str(release)
    assert "at most 3 values count" in nb.explain(release).text(400)
    noisy = [table.count_distinct("page", values_per_unit=3, epsilon=1).parameters["noise_scale"], 3.0]
    assert noisy[0] == noisy[1]


@pytest.mark.parametrize(
    ("unit", "column", "given", "message"),
    [
        ({}, None, {}, "needs a table with a unit"),
        ({}, "page", {"values_per_unit": 2}, "needs a table with a unit"),
        ({"unit": "who"}, "page", {}, "needs rows_per_unit"),
        ({"unit": "who"}, None, {"values_per_unit": 2}, "a unit counts once"),
        ({}, "nothing", {}, "not in the table"),
    ],
)
def test_what_cannot_be_bounded_is_refused(unit, column, given, message):
    """Before anything is charged."""
    table = nb.Table({"who": np.array([1]), "page": np.array([2])}, **unit)
    with pytest.raises(ValueError, match=message):
        table.count_distinct(column, epsilon=1, **given)
