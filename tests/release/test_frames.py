"""Answers as data: numbers, formats, and frames of pandas, polars and Arrow that have every digit."""

import random
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.release.shares import STATISTICS

LOSS = nb.PrivacyLoss.pure(1)
N = 4000
X = np.random.default_rng(1).lognormal(10, 1, N)


def rng():
    return random.Random(1)


@pytest.fixture(scope="module")
def table():
    days = pa.array(np.arange(N) % 3000, pa.int32()).cast(pa.date32())
    return nb.Table({"statistic": X, "day": days, "k": [f"={i % 3}" for i in range(N)]})


@pytest.fixture(scope="module")
def described(table):
    return table.describe(["statistic", "day"], epsilon=1, rng=rng())


@pytest.fixture(scope="module")
def groups(table):
    return table.group_by("k", keys=["=0", "=1", "none"]).mean("statistic", epsilon=1, rng=rng())


def test_a_release_is_a_number():
    """A float, an integer where it is whole, and a text in any format of its type."""
    mean = nb.Release("mean", 31540.2837, LOSS, {}, ((31204.0, 31877.0),))
    assert float(mean) == 31540.2837 and f"{mean:.2f}" == "31540.28" and f"{mean:,.0f}" == "31,540"
    assert f"{mean}" == str(mean)
    assert int(nb.Release("count", 12, LOSS)) == 12 == int(nb.Release("sum", 12.0, LOSS))
    assert f"{nb.Release('maximum', date(2024, 2, 29), LOSS):%d.%m.%Y}" == "29.02.2024"
    assert int(nb.Release("sum", Decimal("7.00"), LOSS)) == 7


@pytest.mark.parametrize("cast", [float, int, lambda release: f"{release:.2f}"])
def test_what_is_not_one_number_is_refused(cast):
    """Nothing answered, several numbers, and for numbers a date; int refuses a fraction instead of cutting it."""
    with pytest.raises(ValueError, match="not answered: too few rows"):
        cast(nb.Release("mean", None, LOSS, reason="too few rows"))
    with pytest.raises(ValueError, match="has 2 numbers"):
        cast(nb.Release("bounds", (1, 2), LOSS))
    with pytest.raises((TypeError, ValueError)):
        int(nb.Release("mean", 2.5, LOSS))
    with pytest.raises(TypeError, match="is a date"):
        float(nb.Release("maximum", date(2024, 1, 1), LOSS, {"type": "date"}))


@pytest.mark.parametrize(
    ("release", "value"),
    [
        (nb.Release("count", 12, LOSS, {}, ((9.0, 15.0),)), 12),
        (nb.Release("mean", 0.1 + 0.2, LOSS, {}, ((-np.inf, 0.5),)), 0.1 + 0.2),
        (nb.Release("quantile", date(2024, 2, 29), LOSS, {"type": "date", "q": "1/2"}), date(2024, 2, 29)),
        (nb.Release("mean", datetime(2024, 2, 29, 1, 2, 3, 4), LOSS, {"type": "datetime"}), None),
        (nb.Release("sum", timedelta(seconds=1.5), LOSS, {"type": "duration"}), timedelta(seconds=1.5)),
        (nb.Release("sum", Decimal("12.34"), LOSS, {"type": "decimal(12,2)"}), Decimal("12.34")),
        (nb.Release("sum", 1 << 70, LOSS), float(1 << 70)),
    ],
)
def test_frames_have_the_value_itself(release, value):
    """In one row, in a type that fits, with its interval beside it."""
    value = release.value if value is None else value
    (row,) = release.to_arrow().to_pylist()
    assert row["value"] == value and row["statistic"] == release.statistic and row["reason"] is None
    assert (row["low"], row["high"]) == (release.interval or (None, None))
    assert release.to_polars().row(0, named=True)["value"] == value
    assert release.to_pandas().loc[0, "value"] == value
    assert list(release.to_pandas().columns) == list(release.to_polars().columns) == list(row)


def test_several_numbers_are_several_rows():
    """Quantiles by rank, bounds by their names; one that is not answered has a reason and no interval."""
    bars = ((1.0, 3.0), (-np.inf, np.inf))
    release = nb.Release("quantiles", (2, None), LOSS, {"q": ["1/2", "9/10"]}, bars, "too few rows")
    first, second = release.to_arrow().to_pylist()
    assert first == {"statistic": "quantiles", "q": 0.5, "value": 2, "low": 1, "high": 3, "reason": None}
    assert second == first | {"q": 0.9, "value": None, "low": None, "high": None, "reason": "too few rows"}
    assert nb.Release("bounds", (1, 2.5), LOSS).to_pandas()["statistic"].tolist() == ["minimum", "maximum"]
    assert nb.Release("vector_sum", (1.0, 2.0, 3.0), LOSS).to_pandas()["value"].tolist() == [1, 2, 3]


def test_groups_have_a_row_for_each_key(groups):
    """Keys, answers, ends, noisy rows and reasons, equal to those of the release."""
    frame = groups.to_pandas()
    assert frame["k"].tolist() == ["=0", "=1", "none"]
    assert frame["mean"].tolist()[:2] == groups.values.tolist()[:2] and pd.isna(frame["mean"][2])
    assert frame[["low", "high"]].to_numpy() == pytest.approx(groups.intervals)
    assert frame["rows"].tolist() == groups.counts.tolist() and frame["reason"][2] == groups.reasons[2]
    assert groups.to_polars().to_dicts() == groups.to_arrow().to_pylist()


def test_a_description_looks_like_that_of_pandas(described):
    """Statistics are the index, and columns those of the data; values keep their types."""
    frame = described.to_pandas()
    assert frame.index.tolist() == list(STATISTICS) and frame.columns.tolist() == ["statistic", "day"]
    for name in frame.columns:
        for statistic in STATISTICS:
            value = described[name].values[statistic]
            assert frame.loc[statistic, name] == value or (value is None and pd.isna(frame.loc[statistic, name]))
    assert frame["statistic"].dtype == np.float64


def test_a_description_in_arrow_has_texts_for_other_types(described):
    """A count and a date are in one column there; a name of ours gives way to one of the data."""
    frame = described.to_polars()
    assert frame.columns == ["private_statistic", "statistic", "day"]
    assert frame["private_statistic"].to_list() == list(STATISTICS)
    assert frame["statistic"].dtype == pl.Float64 and frame["day"].dtype == pl.String
    assert date.fromisoformat(frame["day"][1]) == described["day"].values["mean"]


def test_the_long_form_has_everything(described):
    """A row for each number with its interval, its reason and its cost."""
    numbers = nb.Description({"x": described["statistic"]}, {}, described.loss)
    for each in (described, numbers):
        frame = each.to_pandas(long=True)
        assert len(frame) == len(each.columns) * len(STATISTICS)
        for row in frame.itertuples():
            summary = each[row.column]
            assert row.cost == pytest.approx(summary.costs[row.statistic])
            bar, value = summary.intervals.get(row.statistic), summary.values[row.statistic]
            assert pd.isna(row.low) == (bar is None or pd.isna(row.low))
            if each is numbers:
                assert row.value == value and (bar is None or (row.low, row.high) == bar)
            else:
                assert row.value == str(each.kind(row.column).to_json(value))
    assert numbers.to_polars(long=True)["value"].dtype == pl.Float64
