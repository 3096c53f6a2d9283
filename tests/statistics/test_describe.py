"""A private summary: right numbers at a huge epsilon, an honest split, and no shape that depends on a record."""

import json
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support.laws import adult

import nobounds as nb
from nobounds.release.shares import COUNT_SHARE, RANKS, STATISTICS

SURE = 1e6
RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "income": RNG.lognormal(10, 1, 4000),
        "age": RNG.integers(18, 90, 4000),
        "change": RNG.normal(0, 3, 4000),
        "member": RNG.random(4000) < 0.3,
        "name": ["x"] * 4000,
    }
)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_all_numbers_are_right_at_a_huge_epsilon(neighbors):
    """Count, mean and standard deviation, quantiles and extremes of four kinds of columns."""
    described = nb.describe(PEOPLE, epsilon=SURE, neighbors=neighbors)
    for name in ("income", "age", "change", "member"):
        column, values = PEOPLE[name].astype(float), described[name].values
        spread = column.std()
        assert values["count"] == 4000
        assert values["mean"] == pytest.approx(column.mean(), abs=0.01 * spread)
        assert values["std"] == pytest.approx(column.std(), rel=0.02)
        for rank, q in RANKS.items():
            assert values[rank] == pytest.approx(column.quantile(float(q), interpolation="lower"), abs=0.02 * spread)
        reach = column.max() - column.median(), column.median() - column.min()
        assert column.max() <= values["max"] + 1e-9 or values["max"] >= column.max() - 0.15 * reach[0]
        assert values["max"] <= column.max() + 0.15 * reach[0] + 1e-9
        assert column.min() - 0.15 * reach[1] - 1e-9 <= values["min"] <= column.min() + 0.15 * reach[1] + 1e-9


def test_columns_that_are_not_numbers_are_listed_as_skipped():
    """By their type, which is public; integers have resolution 1 for the same reason."""
    described = nb.describe(PEOPLE, epsilon=1)
    assert described.skipped == {"name": "text"} or described.skipped == {"name": "object"}
    assert list(described.columns) == ["income", "age", "change", "member"]
    assert all(isinstance(described["age"].values[name], int) for name in ("min", "50%", "max"))


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("epsilon", [0.1, 1, 7])
def test_the_costs_of_all_numbers_add_up_to_no_more_than_epsilon(neighbors, epsilon):
    """And to epsilon exactly, but for counts that are public."""
    described = nb.describe(PEOPLE, epsilon=epsilon, neighbors=neighbors)
    spent = sum(cost for summary in described.columns.values() for cost in summary.costs.values())
    public = sum(
        float(COUNT_SHARE * Fraction(str(epsilon))) / 4
        for name in described.columns
        if neighbors == "swap" and PEOPLE[name].dtype.kind in "biu"
    )
    assert spent == pytest.approx(epsilon - public)
    assert described.loss.epsilon == epsilon
    assert sum(SHARES.values()) == 1
    assert f"{float(COUNT_SHARE):.0%}".replace("%", " %") in described.split_in_words()


def test_the_numbers_of_a_column_are_in_order():
    """At any epsilon: minimum, quantiles and maximum never cross, and the mean lies between the extremes."""
    for epsilon in (0.01, 0.1, 1):
        for summary in nb.describe(PEOPLE, epsilon=epsilon).columns.values():
            ordered = [summary.values[name] for name in ("min", *RANKS, "max")]
            assert ordered == sorted(ordered)
            assert summary.values["min"] <= summary.values["mean"] <= summary.values["max"]
            assert summary.values["std"] >= 0


@pytest.mark.parametrize("n", [0, 1, 5, 20])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_small_tables_answer_and_say_how_little_is_known(n, neighbors):
    """The intervals of mean and standard deviation are infinite where there are too few rows for the epsilon."""
    described = nb.describe(PEOPLE.head(n), epsilon=0.5, neighbors=neighbors)
    for name in ("income", "age", "change"):
        assert list(described[name].values) == list(STATISTICS)
        assert described[name].intervals["mean"] == (-np.inf, np.inf)
    assert json.loads(described.to_json())["columns"]["income"]["intervals"]["mean"] == [None, None]


def test_the_same_table_has_the_same_description_from_every_source(tmp_path):
    """Frames of pandas, polars and Arrow and a dict of columns, with the same seed."""
    import polars as pl
    import pyarrow as pa

    table = {"pay": PEOPLE["income"].to_numpy(), "change": PEOPLE["change"].to_numpy()}
    sources = [table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)]
    found = [nb.describe(source, epsilon=1, rng=random.Random(3)).to_dict() for source in sources]
    assert all(other == found[0] for other in found)


def test_text_columns_of_a_csv_file_are_found_out_privately(tmp_path):
    """A CSV file tells no types: the private counts tell the columns that hold hardly any numbers."""
    path = tmp_path / "people.csv"
    PEOPLE[["income", "name", "age"]].to_csv(path, index=False)
    described = nb.Table(path, csv=nb.Csv(header=True)).describe(epsilon=2)
    assert list(described.columns) == ["income", "age"]
    assert described.skipped == {"name": "hardly any numbers"}


def test_public_facts_may_be_given_for_each_column():
    """Bounds and resolution by name; a name that is not there is an error before anything is spent."""
    bounded = nb.describe(PEOPLE, epsilon=1, lower={"income": 0}, resolution={"income": 100})
    assert bounded["income"].values["min"] >= 0
    assert bounded["income"].values["50%"] % 100 == 0
    with pytest.raises(ValueError, match="'wage', which is not a numeric column"):
        nb.describe(PEOPLE, epsilon=1, lower={"wage": 0})


def test_a_description_is_readable():
    """As text it has a line for each column, the split and the total."""
    text = str(nb.describe(PEOPLE, epsilon=1))
    for word in ("income", "50%", "skipped: name", "quantiles 45 %", "Total: epsilon 1"):
        assert word in text


@pytest.mark.medium
def test_the_standard_deviation_of_real_data_is_accurate():
    """Ages and weekly hours, epsilon 1 for both columns: mean within 0.5 %, standard deviation within 2 %."""
    described = nb.describe(adult(), epsilon=1, rng=random.Random(8))
    for name, data in adult().items():
        assert described[name].values["mean"] == pytest.approx(data.mean(), rel=0.005)
        assert described[name].values["std"] == pytest.approx(data.std(), rel=0.02)


def test_neighbouring_tables_have_descriptions_of_one_shape():
    """Columns, statistics and what has an interval do not depend on a record."""
    table = pd.DataFrame({"x": [1.0, 2.0, np.nan] * 100})
    for other in (table.iloc[1:], table.assign(x=table["x"].where(table.index > 0, 1e300)), table.fillna(np.inf)):
        shapes = [
            {name: (list(summary.values), list(summary.intervals), list(summary.costs)) for name, summary in d.items()}
            for d in (nb.describe(frame, epsilon=1).columns for frame in (table, other))
        ]
        assert shapes[0] == shapes[1]
