"""Answers of SQL statements: the same, seeded, as those of the Python API on the same table."""

import random
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nobounds as nb
from nobounds.ask import STATISTICS, Ask, columns_of
from nobounds.tables.sql.query import query_stream
from nobounds.tables.sql.shelf import Shelf, is_declared

N = 600
_RNG = np.random.default_rng(4)
DATA = {
    "fare": _RNG.lognormal(2, 1, N).round(2),
    "tip": _RNG.integers(0, 9, N),
    "borough": _RNG.choice(["Bronx", "Queens", "Kings"], N),
    "rider": _RNG.integers(0, 200, N),
}
KEYS = ["Bronx", "Queens"]


def in_sqlite():
    connection = sqlite3.connect(":memory:")
    pd.DataFrame(DATA).to_sql("taxis", connection, index=False)
    return connection


def in_duckdb():
    connection = duckdb.connect()
    connection.register("taxis", pd.DataFrame(DATA))
    return connection


@pytest.fixture
def sources(tmp_path):
    """The same table in many places."""
    pl.DataFrame(DATA).write_parquet(tmp_path / "taxis.parquet")
    return {
        "dict": {"taxis": DATA},
        "pandas": {"taxis": pd.DataFrame(DATA)},
        "polars": {"taxis": pl.DataFrame(DATA)},
        "arrow": {"taxis": pa.table(DATA)},
        "parquet": {"taxis": tmp_path / "taxis.parquet"},
        "duckdb": in_duckdb(),
        "sqlite": in_sqlite(),
    }


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "arrow", "parquet", "duckdb", "sqlite"])
def test_the_answers_are_those_of_the_table_wherever_it_is(kind, sources):
    """Groups, a condition and units, from one statement."""
    statement = """
        select borough, private_median(fare), private_mean(tip), private_count(*)
        from taxis where fare > 3 and borough <> 'Kings' group by borough
    """
    unit = {"unit": "rider", "rows_per_unit": 3}
    answers = nb.sql(statement, sources[kind], epsilon=40, keys=KEYS, rng=random.Random(1), **unit)
    table = nb.Table(sources["polars"]["taxis"], **unit).where("fare > 3 and borough <> 'Kings'")
    expected = table.group_by("borough", keys=KEYS).agg(
        "median(fare)", "mean(tip)", "count()", epsilon=40, rng=random.Random(1)
    )
    assert answers.loss == expected.loss and list(answers) == list(expected)
    for name in answers:
        found, wanted = answers[name].values.tolist(), expected[name].values.tolist()
        assert found == (pytest.approx(wanted, rel=0.2) if kind == "sqlite" else wanted)  # which has no types
    assert "rows_of" not in answers.parameters and answers.parameters["where"] == expected.parameters["where"]


NUMBERS = ["fare", "tip", "fare + tip", "fare / tip", "abs(tip - 4)", "coalesce(fare, 0)", "floor(fare)", "-tip"]
CONDITIONS = ["fare > 3", "tip between 1 and 7", "borough in ('Bronx', 'Kings')", "fare / tip < 9", "not tip = 2"]


@st.composite
def asks(draw):
    """A statistic, as SQL and as text with columns by name."""
    statistic = draw(st.sampled_from([name for name in STATISTICS if name != "proportion"]))
    least = 0 if statistic == "count" else columns_of(statistic)
    columns = draw(st.lists(st.sampled_from(NUMBERS), min_size=least, max_size=columns_of(statistic), unique=True))
    numbers = ["0.25", "0.75"] if statistic == "quantiles" else ["0.9"] if statistic == "quantile" else []
    written = draw(st.sampled_from(["private_{}", "PRIVATE_{}", "Private_{}"])).format(statistic)
    return f"{written}({', '.join([*columns, *numbers])})", Ask(statistic, tuple(columns), tuple(numbers))


@st.composite
def statements(draw):
    """A statement with what it means: conditions, statistics, and the column of groups."""
    chosen = draw(st.lists(asks(), min_size=1, max_size=3, unique_by=lambda pair: pair[1].name))
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), max_size=2, unique=True))
    by = draw(st.sampled_from([None, "borough"]))
    gap = draw(st.sampled_from([" ", "\n", " /* ; drop table taxis */ ", " -- limit 1\n"]))
    inner = draw(st.booleans())
    listed = ", ".join([*([by] if by else []), *(text for text, _ in chosen)])
    where = f"{gap}where {' and '.join(f'({each})' for each in conditions)}" if conditions else ""
    source = f"(select * from taxis{where}) as t" if inner else f"taxis{where}"
    group = f"{gap}group by {draw(st.sampled_from(['borough', '1']))}" if by else ""
    return (
        f"select{gap}{listed}{gap}from {source}{group}{draw(st.sampled_from(['', ';', ' ; --']))}",
        chosen,
        conditions,
        by,
    )


@pytest.mark.medium
@settings(max_examples=60, deadline=None)
@given(statements(), st.booleans())
def test_accepted_statements_give_the_answers_of_the_python_api(meant, database):
    """Bit for bit, with the same seed."""
    statement, chosen, conditions, by = meant
    frame = pl.DataFrame(DATA)
    options = {"keys": KEYS} if by else {}
    answers = nb.sql(statement, in_duckdb() if database else {"taxis": frame}, rho=3, rng=random.Random(5), **options)
    table = nb.Table(frame)
    for condition in conditions:
        table = table.where(condition)
    computed = {name for _, ask in chosen for name in ask.columns if name not in DATA}
    table = table.with_columns(**{name: name for name in computed}) if computed else table
    whole = table.group_by("borough", keys=KEYS) if by else table
    expected = whole.agg(*(ask for _, ask in chosen), rho=3, rng=random.Random(5))
    assert str(answers) == str(expected) and answers.to_json() == expected.to_json()


WORDS = (
    "select from where group by having taxis fare tip private_mean private_count ( ) , * ; and or not 3 'x' join on as"
)


@pytest.mark.medium
@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=14))
def test_words_in_any_order_are_answered_or_refused(words):
    """Nothing else is raised, and the words of a refusal are those for an empty table."""
    outcomes = []
    for frame in (pl.DataFrame(DATA), pl.DataFrame(DATA).clear()):
        try:
            nb.sql(" ".join(["select private_mean ( fare ) from taxis", *words]), {"taxis": frame}, epsilon=1)
            outcomes.append("answered")
        except (ValueError, TypeError) as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_aliases_name_the_answers():
    """Of statistics, of numbers that a statistic has several of, and of groups; the split as well."""
    statement = """
        select borough as town, private_mean(fare) as pay, private_bounds(tip) as ends,
            private_quantiles(fare, 0.2, 0.8)
        from taxis group by borough
    """
    answers = nb.sql(statement, {"taxis": DATA}, epsilon=1, keys=KEYS)
    fares = ["quantile(fare, 0.2)", "quantile(fare, 0.8)"]
    assert list(answers) == ["pay", "ends minimum(tip)", "ends maximum(tip)", *fares] and answers.by == ("town",)
    assert set(answers.parameters["split"]) >= {"pay", "ends"} and answers["pay"].by == ("town",)
    assert "pay" in str(nb.explain(answers.to_json())) and nb.Answers.from_json(answers.to_json()).by == ("town",)


def test_one_statement_is_one_charge():
    """Of all statistics together, for the unit, with the name of the data."""
    budget = nb.Budget(epsilon=2)
    statement = "select private_mean(fare), private_count() from taxis"
    nb.sql(statement, {"taxis": DATA}, epsilon=1.5, unit="rider", rows_per_unit=2, budget=budget, label="taxis")
    (charge,) = budget.history
    assert charge.loss.epsilon == 1.5 and charge.loss.unit == "rider" and charge.label == "taxis"
    with pytest.raises(nb.BudgetExceeded):
        nb.sql(statement, {"taxis": DATA}, epsilon=1.5, unit="rider", rows_per_unit=2, budget=budget)


def test_parameters_are_checked():
    """In plain words."""
    statement = "select private_mean(fare) from taxis"
    for options, why in (
        ({"keys": KEYS}, "for a statement with group by"),
        ({"rows_of": "people"}, "rows_of must be 'source' or 'result'"),
        ({"unit": "nobody"}, "the unit 'nobody' must be a column"),
        ({"public_tables": ["nobody"]}, "there is no table 'nobody'"),
    ):
        with pytest.raises(ValueError, match=why):
            nb.sql(statement, {"taxis": DATA}, epsilon=1, **options)
    with pytest.raises(TypeError, match="public_tables must be a list"):
        nb.sql(statement, {"taxis": DATA}, epsilon=1, public_tables="zones")
    with pytest.raises(TypeError, match="a dict of tables by name, or a connection"):
        nb.sql(statement, DATA["fare"], epsilon=1)
    assert is_declared("result") and not is_declared("source")


def test_a_join_gives_the_answers_of_the_joined_table():
    """Also under swap, where rows without a partner are missing records."""
    towns = pl.DataFrame({"name": ["Bronx", "Queens"], "toll": [1.5, 2.5]})
    statement = "select private_sum(toll), private_mean(fare) from taxis join towns on borough = name"
    frame = pl.DataFrame(DATA)
    whole = frame.join(towns, left_on="borough", right_on="name", how="left", coalesce=False, maintain_order="left")
    for neighbors in ("add-remove", "swap"):
        same = {"epsilon": 1, "rng": random.Random(2)}
        answers = nb.sql(
            statement, {"taxis": frame, "towns": towns}, public_tables=["towns"], neighbors=neighbors, **same
        )
        same["rng"] = random.Random(2)
        table = nb.Table(whole, neighbors=neighbors).where("name is not null")
        expected = table.agg("sum(toll)", "mean(fare)", **same)
        assert str(answers) == str(expected)


def test_a_join_keeps_columns_apart_whose_names_look_like_those_of_others():
    """A public table may have a column that is called as another one of it is written."""
    trips = {"zone": [1, 2] * 500, "fare": [3.0, 4.0] * 500, "zones.toll": [5.0, 6.0] * 500}
    zones = {"id": [1, 2], "fare": [10.0, 20.0], "zones.fare": [30.0, 50.0], "toll": [70.0, 90.0]}
    columns = {"trips.fare": 3.5, "zones.fare": 15, 'zones."zones.fare"': 40, '"zones.toll"': 5.5, "zones.toll": 80}
    for column, mean in columns.items():
        statement = f"select private_mean({column}, lower => 0, upper => 100) as m from trips join zones on zone = id"
        answers = nb.sql(statement, {"trips": trips, "zones": zones}, epsilon=50, public_tables=["zones"])
        assert answers["m"].value == pytest.approx(mean, abs=0.5)


def test_rows_of_a_query_are_a_table():
    """Its columns are those of the select, computed here; and under swap the number of rows stays public."""
    connection = in_duckdb()
    table = nb.Table.sql(connection, "select fare * 2 as twice, borough as town from taxis where tip > 2")
    assert table.columns == {"twice": "number", "town": "text"}
    same = nb.Table(pl.DataFrame(DATA)).where("tip > 2").with_columns(twice="fare * 2")
    assert (
        table.mean("twice", epsilon=1, rng=random.Random(1)).value
        == same.mean("twice", epsilon=1, rng=random.Random(1)).value
    )
    stream = query_stream(connection, "select fare from taxis where tip > 2", "source", masked=True)
    assert stream.rows() == N and Shelf(connection).open is not None


def test_csv_files_of_a_folder_are_read_as_stated(tmp_path):
    """By a statement and by a query of rows, and with the tables of a dict; the dialect is for CSV files alone."""
    pl.DataFrame(DATA).write_csv(tmp_path / "taxis.csv", separator=";")
    pl.DataFrame(DATA).write_parquet(tmp_path / "taxis.parquet")
    where = {"folder": tmp_path, "csv": nb.Csv(header=True, delimiter=";")}
    for data in ({}, {"other": tmp_path / "taxis.csv"}, duckdb.connect()):
        for name in ("taxis.csv", "taxis.parquet"):
            answers = nb.sql(f"select private_count(tip) from '{name}'", data, epsilon=1e6, **where)
            assert round(answers["count(tip)"].value) == N
            table = nb.Table.sql(data, f"select tip, borough as town from '{name}'", **where)
            assert list(table.columns) == ["tip", "town"] and round(table.count(epsilon=1e6).value) == N
    with pytest.raises(ValueError, match="the database reads what it holds"):
        nb.Table.sql(duckdb.connect(), "select 1 as x", rows_of="result", csv=nb.Csv(header=True))
