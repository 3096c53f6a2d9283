"""A private summary: right numbers at a huge epsilon, an honest split, and no shape that depends on a record."""

import itertools
import json
import random

import numpy as np
import pandas as pd
import pytest
from support.chance import seed_of
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
    assert isinstance(described["age"].values["50%"], int)
    assert all(isinstance(nb.describe(PEOPLE, epsilon=9)["age"].values[name], int) for name in ("min", "50%", "max"))


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("epsilon", [0.2, 1, 7])
def test_the_costs_of_all_numbers_add_up_to_no_more_than_epsilon(neighbors, epsilon):
    """And to epsilon exactly, but for counts that are public."""
    described = nb.describe(PEOPLE, epsilon=epsilon, neighbors=neighbors)
    spent = sum(cost for summary in described.columns.values() for cost in summary.costs.values())
    answered = [name for name, summary in described.columns.items() if summary.values["50%"] is not None]
    counted = 4 if neighbors == "add-remove" else 2
    assert len(answered) == 4 and spent == pytest.approx(epsilon)
    assert sum(described.parameters["split"].values()) == pytest.approx(spent)
    assert described.parameters["split"]["counts"] == pytest.approx(float(COUNT_SHARE) * epsilon * counted / 4)
    assert described.loss.epsilon == epsilon


def test_columns_that_cannot_carry_a_median_leave_their_share_to_the_others():
    """With 4000 rows, and 3 records in another column, the first gets all that is left after the counts."""
    few = np.where(np.arange(4000) < 3, 1.0, np.nan)
    described = nb.describe({"pay": PEOPLE["income"].to_numpy(), "few": few}, epsilon=0.5, rng=random.Random(1))
    assert described["few"].values["50%"] is None and described["few"].costs["50%"] == 0
    assert sum(described["pay"].costs.values()) == pytest.approx(0.5 * (1 - float(COUNT_SHARE) / 2))
    assert nb.describe({"few": few}, epsilon=0.5, rng=random.Random(1)).loss.epsilon == 0.5


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.5}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_the_more_rows_the_more_statistics_are_answered(neighbors, spent):
    """One after the other; what is not answered is None, has a reason and costs nothing."""
    seen = []
    for rows in (5, 100, 200, 400, 1000, 4000):
        summary = nb.describe({"x": PEOPLE["income"].head(rows)}, neighbors=neighbors, **spent)["x"]
        shown = {name for name in STATISTICS if summary.values[name] is not None}
        assert {name: "too few rows" for name in STATISTICS if name not in shown} == summary.reasons
        assert all(summary.costs[name] == 0 for name in summary.reasons)
        seen.append(shown)
    assert seen[0] == {"count"} and seen[-1] == set(STATISTICS)
    assert all(fewer <= more for fewer, more in itertools.pairwise(seen))


@pytest.mark.medium
def test_a_table_of_many_columns_has_counts_and_medians():
    """Seven columns of 1,000 rows: the median of each is right, where equal shares for all would be wrong."""
    rng = np.random.default_rng(2)
    table = {f"c{k}": rng.lognormal(k, 1, 1000) for k in range(7)}
    described = nb.describe(table, epsilon=1, rng=random.Random(4))
    for name, column in table.items():
        low, high = np.quantile(column, [0.35, 0.65])
        assert low <= described[name].values["50%"] <= high


def test_the_numbers_of_a_column_are_in_order():
    """At any epsilon: minimum, quantiles and maximum never cross, and the mean lies between the extremes."""
    for epsilon in (0.01, 0.1, 1):
        for summary in nb.describe(PEOPLE, epsilon=epsilon).columns.values():
            values = {name: value for name, value in summary.values.items() if value is not None}
            ordered = [values[name] for name in ("min", *RANKS, "max") if name in values]
            assert ordered == sorted(ordered)
            assert "max" not in values or "mean" not in values or values["min"] <= values["mean"] <= values["max"]
            assert values.get("std", 0) >= 0


@pytest.mark.parametrize("n", [0, 1, 5, 20])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_small_tables_answer_and_say_how_little_is_known(n, neighbors):
    """The mean and the standard deviation are None where there are too few rows for the epsilon."""
    described = nb.describe(PEOPLE.head(n), epsilon=0.5, neighbors=neighbors)
    for name in ("income", "age", "change"):
        assert list(described[name].values) == list(STATISTICS)
        assert described[name].values["mean"] is None and described[name].reasons["std"] == "too few rows"
        assert described[name].intervals["mean"] == (-np.inf, np.inf)
    written = json.loads(described.to_json())["columns"]["income"]
    assert written["values"]["mean"] is None and written["intervals"]["mean"] == [None, None]
    assert nb.Description.from_json(described.to_json()) == described
    assert "Empty cells: too few rows for the epsilon" in str(described)


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
    bounded = nb.describe(PEOPLE, epsilon=4, lower={"income": 0}, resolution={"income": 100})
    assert bounded["income"].values["min"] >= 0
    assert bounded["income"].values["50%"] % 100 == 0
    with pytest.raises(ValueError, match="'wage', which is not a numeric column"):
        nb.describe(PEOPLE, epsilon=1, lower={"wage": 0})


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_quartiles_of_moments_within_one_hour_are_near_it(neighbors):
    """Seconds since 1970 lie a million spreads from 0, where the rung of the median may hold all records."""
    moments = np.datetime64("2024-03-05T09:00:00") + RNG.integers(0, 3600, 4000).astype("m8[s]")
    for seed in range(10):
        values = nb.describe({"at": moments}, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(seed)))[
            "at"
        ].values
        for name in ("25%", "50%", "75%"):
            assert abs(np.datetime64(values[name]) - np.datetime64("2024-03-05T09:30")) < np.timedelta64(2, "h")


def test_a_description_is_readable():
    """As text it has a line for each column, the split and the total."""
    text = str(nb.describe(PEOPLE, epsilon=1))
    for word in ("income", "50%", "skipped: name", "counts 10%", "Total: epsilon 1"):
        assert word in text


def test_a_printed_description_has_its_intervals():
    """Beside each number, in the words of the notebook and of the explanation; and says what they are."""
    described = nb.describe(PEOPLE, epsilon=4, rng=random.Random(3))
    text, explained = str(described), str(nb.explain(described)).replace("\n  ", " ")
    for name in ("income", "age"):
        for statistic in ("count", "mean", "std"):
            assert f"{described.said(name, statistic)} {described.margin(name, statistic)}" in text
        assert described.margin(name, "std") in explained
    assert "Ranges are 95% intervals" in text and "Ranges are 95% intervals" in described._repr_html_()


@pytest.mark.medium
def test_the_standard_deviation_of_real_data_is_accurate():
    """Ages and weekly hours, epsilon 1 for both columns: mean within 0.5%, standard deviation within 5%."""
    described = nb.describe(adult(), epsilon=1, rng=random.Random(8))
    for name, data in adult().items():
        assert described[name].values["mean"] == pytest.approx(data.mean(), rel=0.005)
        assert described[name].values["std"] == pytest.approx(data.std(), rel=0.05)


def test_neighbouring_tables_have_descriptions_of_one_shape():
    """Columns, statistics and what has an interval do not depend on a record."""
    table = pd.DataFrame({"x": [1.0, 2.0, np.nan] * 100})
    for other in (table.iloc[1:], table.assign(x=table["x"].where(table.index > 0, 1e300)), table.fillna(np.inf)):
        shapes = [
            {name: (list(summary.values), list(summary.intervals), list(summary.costs)) for name, summary in d.items()}
            for d in (nb.describe(frame, epsilon=1).columns for frame in (table, other))
        ]
        assert shapes[0] == shapes[1]


def test_columns_of_unequal_lengths_have_their_own_rows_under_swap():
    """The mean of a long column does not depend on a short one before it."""
    columns = {"a": np.arange(10), "b": np.arange(2000)}
    summary = nb.describe(columns, epsilon=20, neighbors="swap", rng=random.Random(1)).columns["b"]
    assert summary.values["mean"] == pytest.approx(999.5, rel=0.1)


@pytest.mark.medium
def test_means_that_are_shown_have_intervals_that_hold():
    """Hardly any mean lies outside three times its interval."""
    off, shown = 0, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table = {"a": rng.lognormal(3, 0.8, 3000), "b": rng.normal(1000, 10, 3000), "c": 1 + rng.pareto(2.5, 3000)}
        for name, summary in nb.describe(table, epsilon=2, rng=random.Random(seed)).columns.items():
            mean, (low, high) = summary.values["mean"], summary.intervals["mean"]
            if mean is not None:
                shown += 1
                off += not mean - 3 * (mean - low) <= table[name].mean() <= mean + 3 * (high - mean)
    assert shown >= 12
    assert off <= 1
