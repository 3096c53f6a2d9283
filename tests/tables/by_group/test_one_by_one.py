"""Groups that are answered one after the other: the same answers as each group has alone, on every engine."""

import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.purse import Purse

import nobounds as nb

RNG = np.random.default_rng(5)
N = 3000
ROWS = pd.DataFrame(
    {
        "city": np.array(["x", "y", "z"])[RNG.choice(3, N, p=[0.6, 0.39, 0.01])],
        "who": np.arange(N) // 2,
        "fare": RNG.lognormal(2, 1, N).round(2),
        "age": RNG.integers(18, 90, N),
    }
)
KEYS = ["x", "y", "nobody"]
SURE = {"epsilon": 50_000, "marks": False}


@pytest.fixture(params=["pandas", "polars", "arrow", "duckdb", "csv", "parquet", "view"])
def table(request, tmp_path):
    """The same rows by each engine."""
    if request.param == "csv":
        ROWS.to_csv(tmp_path / "rows.csv", index=False)
        schema = {"city": "text", "who": "integer", "fare": "number", "age": "integer"}
        return nb.Table(tmp_path / "rows.csv", csv=nb.Csv(header=True), schema=schema)
    if request.param == "parquet":
        ROWS.to_parquet(tmp_path / "rows.parquet")
        return nb.Table(tmp_path / "rows.parquet")
    if request.param == "view":
        return nb.Table(ROWS).where("age > 0")
    made = {
        "pandas": lambda: ROWS,
        "polars": lambda: pl.from_pandas(ROWS).lazy(),
        "arrow": lambda: pl.from_pandas(ROWS).to_arrow(),
        "duckdb": lambda: duckdb.sql("select * from ROWS"),
    }
    return nb.Table(made[request.param]())


def test_each_group_is_answered_as_if_it_were_alone(table):
    """At a huge epsilon the quantiles are those of the records of each group, whichever engine has read them."""
    answers = table.group_by("city", keys=KEYS).quantiles("fare", [0.5, 0.9], **SURE)
    for city in ("x", "y"):
        fares = np.sort(ROWS.fare[ROWS.city == city])
        for q in (0.5, 0.9):
            value = answers[f"quantile(fare, {q})"][city]
            below, at_most = np.searchsorted(fares, [value * 0.999, value * 1.001]) / len(fares)
            assert below - 0.01 <= q <= at_most + 0.01


def test_a_summary_by_group_has_the_statistics_of_each_group():
    """Count, mean and median of each column; where there are too few rows, a reason instead."""
    answers = nb.Table(ROWS).group_by("city", keys=[*KEYS, "z"]).describe(["age"], epsilon=3, rng=random.Random(1))
    ages = ROWS.age[ROWS.city == "x"]
    assert answers["count(age)"]["x"] == pytest.approx(len(ages), abs=60)
    assert answers["mean(age)"]["x"] == pytest.approx(ages.mean(), abs=3)
    assert answers["50%(age)"]["x"] == pytest.approx(ages.median(), abs=5)
    place = answers["mean(age)"].place("z")
    assert answers["mean(age)"]["z"] is None
    assert answers["mean(age)"].reasons[place] == "too few rows"
    assert list(answers["mean(age)"].counts) == answers["count(age)"].values.tolist()


def test_bounds_and_medians_by_group():
    """By name; the median is that of `quantile`."""
    groups = nb.Table(ROWS).group_by("city", keys=KEYS)
    answers = groups.bounds("age", interval=0.95, epsilon=5, rng=random.Random(1))
    assert set(answers) == {"minimum(age)", "maximum(age)"}
    assert answers["minimum(age)"]["x"] <= 22 and answers["maximum(age)"]["x"] >= 85
    assert answers["maximum(age)"]["nobody"] is None
    same = [
        dict(ask(rng=random.Random(3), epsilon=1))
        for ask in (lambda **o: groups.median("age", **o), lambda **o: groups.quantile("age", 0.5, **o))
    ]
    assert same[0] == same[1]


def test_spreads_and_proportions_by_group():
    """Each group within a clip of its own; a proportion is of a boolean column, which may be computed."""
    table = nb.Table(ROWS).with_columns(old="age >= 60")
    groups = table.group_by("city", keys=KEYS)
    ages = ROWS.age[ROWS.city == "x"]
    assert groups.std("age", epsilon=20, rng=random.Random(1))["x"] == pytest.approx(ages.std(), rel=0.05)
    assert groups.variance("age", epsilon=20, rng=random.Random(1))["x"] == pytest.approx(ages.var(), rel=0.1)
    shares = groups.proportion("old", epsilon=2, rng=random.Random(1))
    assert shares["x"] == pytest.approx((ages >= 60).mean(), abs=0.02) and shares["nobody"] is None
    with pytest.raises(TypeError, match="boolean"):
        groups.proportion("age", epsilon=1)


def test_a_condition_by_group_hides_no_column():
    """A condition is a boolean column of its own, and the budget keeps its text."""
    purse = Purse()
    table = nb.Table({"condition": ["bad", "good"] * 500, "age": range(1000)}, budget=purse)
    shares = table.group_by("condition", keys=["good", "bad"]).proportion("age < 250", epsilon=50)
    assert list(shares.values) == pytest.approx([0.25, 0.25], abs=0.02)
    assert [purpose for _, purpose in purse.charged] == ["proportion of age < 250 by condition"]
    with pytest.raises(TypeError, match="a condition must be true or false"):
        table.group_by("condition", keys=["good"]).proportion("age + 1", epsilon=1)


def test_bins_and_values_by_group():
    """A count for each key and bin, or value; with edges that are chosen privately each group has its own."""
    groups = nb.Table(ROWS).group_by("city", keys=KEYS)
    counts = groups.histogram("age", edges=[30, 60], epsilon=50, rng=random.Random(1))
    assert counts.by == ("city", "from", "to") and len(counts) == 9
    ages = ROWS.age[ROWS.city == "y"]
    assert counts["y", 30, 60] == pytest.approx(ages.between(30, 59).sum(), abs=3)
    assert counts["nobody", 30, 60] == pytest.approx(0, abs=3)
    shares = groups.cdf("age", points=[30, 60], epsilon=50, rng=random.Random(1))
    assert shares["y", 60] == pytest.approx((ages <= 60).mean(), abs=0.01)
    assert len(groups.histogram("fare", epsilon=5)) > 6
    for name in ("histogram", "cdf"):  # of whole numbers, though there are too few rows for edges in one group
        bins = getattr(groups, name)("age", epsilon=5, rng=random.Random(1))
        assert {type(key[-1]) for key in bins.groups} <= {int, type(None)} and len(bins) > 4
    ones = nb.Table(ROWS).with_columns(old="age >= 60").group_by("city", keys=KEYS)
    table = ones.value_counts("old", keys=[True, False], epsilon=50, rng=random.Random(1))
    assert table["y", True] == pytest.approx((ages >= 60).sum(), abs=3) and len(table) == 6
    with pytest.raises(ValueError, match="needs keys"):
        ones.value_counts("old", epsilon=1)
    assert len(nb.Table(ROWS[:5]).group_by("city", delta=1e-9).histogram("age", edges=[30], epsilon=0.1)) == 0


def test_two_columns_by_group():
    """The rows of a group in both columns belong together; ranges and ratios too, alone and in one request."""
    groups = nb.Table(ROWS.assign(twice=ROWS.age * 2 + 1.0)).group_by("city", keys=KEYS)
    ages = ROWS.age[ROWS.city == "x"]
    assert groups.correlation("age", "twice", epsilon=50, rng=random.Random(1))["x"] == pytest.approx(1, abs=0.05)
    ratios = groups.ratio("age", "twice", epsilon=50, rng=random.Random(1))
    assert ratios["x"] == pytest.approx(ages.sum() / (2 * ages + 1).sum(), rel=0.05) and ratios["nobody"] is None
    answers = groups.agg("iqr(age)", "covariance(age, twice)", "mean(age)", epsilon=50, rng=random.Random(1))
    assert answers["iqr(age)"]["x"] == pytest.approx(36, abs=4)
    assert answers["covariance(age, twice)"]["x"] == pytest.approx(2 * ages.var(), rel=0.1)


def test_there_is_one_charge_and_it_comes_first():
    """For all groups, as for one; what is wrong is refused before it."""
    purse = Purse()
    groups = nb.Table(ROWS, budget=purse).group_by("city", keys=KEYS)
    groups.describe(["age", "fare"], epsilon=1)
    ((loss, purpose),) = purse.charged
    assert loss.epsilon == 1 and purpose == "describe age, fare by city"
    for wrong in (
        lambda: groups.quantiles("fare", [2], epsilon=1),
        lambda: groups.bounds("fare", lower=3, upper=1, epsilon=1),
        lambda: groups.describe(["age"], lower={"nothing": 0}, epsilon=1),
        lambda: nb.Table(ROWS, budget=purse).group_by("who", keys=range(20_000)).describe(["age"], epsilon=1),
    ):
        with pytest.raises(ValueError, match=r"between 0 and 1|lower|nothing|10,000 keys"):
            wrong()
    assert len(purse.charged) == 1


@pytest.mark.medium
def test_keys_and_units():
    """Keys are chosen once, with a delta; of a unit at most `rows_per_unit` rows count in all groups together."""
    groups = nb.Table(ROWS, unit="who", rows_per_unit=1).group_by("city", delta=1e-6)
    answers = groups.describe(["age"], epsilon=4, rng=random.Random(1))
    assert answers.groups == sorted(answers.groups) and {"x", "y"} <= set(answers.groups)
    assert answers.loss.delta == 1e-6 and answers.loss.epsilon == 4 and answers.loss.unit == "who"
    assert sum(answers["count(age)"].values.tolist()) == pytest.approx(N / 2, abs=100)


def test_answers_by_group_come_back():
    """As JSON, text and frames: a row for each group."""
    answers = nb.Table(ROWS).group_by("city", keys=KEYS).describe(["age"], epsilon=1)
    back = nb.Answers.from_json(answers.to_json())
    assert back.to_dict() == answers.to_dict() and str(back) == str(answers)
    frame = answers.to_pandas()
    assert frame.city.tolist() == KEYS
    assert {"mean(age)", "mean(age) low", "mean(age) reason", "count(age)"} <= set(frame.columns)
    assert list(answers.to_polars()["city"]) == KEYS


def test_no_group_may_be_shown():
    """Then there are no rows, and the names are the same."""
    answers = nb.Table(ROWS[:5]).group_by("city", delta=1e-9).quantiles("fare", [0.1, 0.5], epsilon=0.1)
    assert answers.groups == [] and len(answers) == 2
    assert nb.Answers.from_json(answers.to_json()).to_arrow().num_rows == 0
    assert "No group is shown" in str(answers)
