"""Private statistics as attributes: the answers of a Table, through the same door."""

import random

import pandas as pd
import polars as pl
import pytest

import nobounds as nb
import nobounds.pandas
import nobounds.polars
from nobounds.tables.accessors import FrameAccessor, SeriesAccessor

DATA = {"pay": list(range(3000)), "name": [f"p{i % 1500}" for i in range(3000)]}
FRAMES = {"pandas": pd.DataFrame(DATA), "polars": pl.DataFrame(DATA), "lazy": pl.LazyFrame(DATA)}


def rng():
    return random.Random(7)


@pytest.mark.medium
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_answers_as_its_table_does(frame):
    """The same seed gives the same answer: summaries, statistics of columns, groups and filters."""
    table = nb.Table(frame)
    assert isinstance(frame.nb, FrameAccessor)
    assert frame.nb.describe(epsilon=1, rng=rng()).to_dict() == table.describe(epsilon=1, rng=rng()).to_dict()
    for ask in (
        lambda t: t.quantile("pay", 0.5, epsilon=1, rng=rng()),
        lambda t: t.where("pay < 1000").mean("pay", epsilon=1, rng=rng()),
        lambda t: t.group_by("name", keys=["p1"]).count(epsilon=1, rng=rng()),
    ):
        assert ask(frame.nb).to_json() == ask(table).to_json()


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_options_are_those_of_a_table(frame):
    """A unit and a budget, which is charged."""
    budget = nb.Budget(epsilon=1, unit="name")
    release = frame.nb(unit="name", rows_per_unit=2, budget=budget).count(epsilon=0.25)
    assert release.loss.unit == "name" and budget.remaining == 0.75
    with pytest.raises(nb.BudgetExceeded):
        frame.nb(unit="name", rows_per_unit=2, budget=budget).count(epsilon=1)
    with pytest.raises(TypeError):
        frame.nb(cost=1)


@pytest.mark.medium
@pytest.mark.parametrize("series", [FRAMES["pandas"]["pay"], FRAMES["polars"]["pay"]], ids=["pandas", "polars"])
def test_a_series_answers_as_a_column_does(series):
    """Each statistic of a column without naming it; a budget is charged."""
    table, budget = nb.Table({"pay": series}), nb.Budget(epsilon=2)
    assert isinstance(series.nb, SeriesAccessor)
    assert series.nb.median(epsilon=1, rng=rng()).value == table.median("pay", epsilon=1, rng=rng()).value
    assert series.nb.quantile(0.9, epsilon=1, rng=rng()).value == table.quantile("pay", 0.9, epsilon=1, rng=rng()).value
    assert series.nb(budget=budget).maximum(epsilon=0.5).parameters["column"] == "pay" and budget.remaining == 1.5
    assert list(series.nb.describe(epsilon=1).columns) == ["pay"]
    assert {"median", "sum", "describe"} <= set(dir(series.nb)) and "where" not in dir(series.nb)
    with pytest.raises(AttributeError, match="a series has no private where"):
        _ = series.nb.where


def test_a_series_without_a_name_is_value():
    """As in `nobounds.describe`."""
    for series in (pd.Series([1, 2] * 500), pl.Series([1, 2] * 500)):
        assert series.nb.count(epsilon=1).parameters["column"] == "value"


def test_a_frame_that_changed_is_read_anew():
    """pandas keeps the attribute of a frame, but no table is kept in it."""
    frame = pd.DataFrame({"a": range(100)})
    assert list(frame.nb.columns) == ["a"]
    frame["b"] = 1.5
    assert list(frame.nb.columns) == ["a", "b"]
