"""Rows of a query's result: releases say that these are what is protected, and not rows of the tables underneath."""

import json
import random
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.csv_files import headed
from support.shell import run

import nobounds as nb
from nobounds.explaining.explain import explain, paragraphs

DATA = {"who": np.arange(600) // 3, "town": np.arange(600) % 4, "pay": np.arange(600) * 1.5}
NOT_COVERED = (
    "or one row of the tables underneath, can change several rows of the result "
    "(by a join, an aggregate, a window, a limit or distinct), that is not covered."
)


@pytest.fixture
def connections(tmp_path):
    """The table in DuckDB and in SQLite."""
    frame = pd.DataFrame(DATA)
    with duckdb.connect(config={"python_enable_replacements": False}) as duck:
        duck.register("sales", frame)
        lite = sqlite3.connect(tmp_path / "sales.db")
        frame.to_sql("sales", lite, index=False)
        yield {"duckdb": duck, "sqlite": lite}
        lite.close()


def queries(connections):
    """Everything that is computed when it is read."""
    query = "select who, town, pay from sales"
    return {
        **{
            name: lambda c=each, **how: nb.Table.sql(c, query, rows_of="result", **how)
            for name, each in connections.items()
        },
        "relation": lambda **how: nb.Table(connections["duckdb"].sql(query), **how),
        "lazy frame": lambda **how: nb.Table(pl.LazyFrame(DATA), **how),
        "stream": lambda **how: nb.Table(pa.table(DATA).to_reader(), **how),
    }


TABLES = {
    "dict": lambda folder: DATA,
    "pandas": lambda folder: pd.DataFrame(DATA),
    "polars": lambda folder: pl.DataFrame(DATA),
    "arrow": lambda folder: pa.table(DATA),
    "csv": lambda folder: headed(written(folder)),
    "query of rows": lambda folder: selected(folder),
}


def selected(folder):
    """A row of the result is a row of the table."""
    connection = duckdb.connect(config={"python_enable_replacements": False})
    connection.register("sales", pd.DataFrame(DATA))
    connection.execute("create view v as select who, town, pay from sales where pay >= 0")
    return nb.Table.sql(connection, "select who, town, pay * 1 as pay from v")


def written(folder):
    pd.DataFrame(DATA).to_csv(folder / "sales.csv", index=False)
    return folder / "sales.csv"


STATISTICS = {
    "quantile": lambda table: table.quantile("pay", 0.5, epsilon=1),
    "quantiles": lambda table: table.quantiles("pay", [0.2, 0.5], epsilon=1),
    "maximum": lambda table: table.maximum("pay", epsilon=1),
    "sum": lambda table: table.sum("pay", rho=1),
    "mean": lambda table: table.mean("pay", epsilon=1),
    "count": lambda table: table.count(epsilon=1),
    "count of a column": lambda table: table.count("pay", epsilon=1),
    "describe": lambda table: table.describe(["pay"], epsilon=1),
    "by groups": lambda table: table.group_by("town", delta=1e-6).quantile("pay", 0.5, epsilon=1),
    "counts": lambda table: table.group_by("town", delta=1e-6).count(epsilon=1),
    "means": lambda table: table.group_by("town", delta=1e-6).mean("pay", epsilon=1),
}


@pytest.mark.medium
@pytest.mark.parametrize("name", ["duckdb", "sqlite", "relation", "lazy frame", "stream"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_releases_of_a_query_say_that_their_rows_are_those_of_its_result(statistic, name, connections):
    """In JSON, in the printed loss and in the explanation, for each statistic and each kind of query."""
    release = STATISTICS[statistic](queries(connections)[name]())
    found = json.loads(release.to_json())
    assert found["parameters"]["rows_of"] == "query result" and found["loss"]["unit"] == "row"
    assert "per row of the query result" in str(release)
    text = words(found)
    assert "Each single row of the result of a query is protected" in text
    assert f"The protection is for one row of the query's result. If one person, {NOT_COVERED}" in text


@pytest.mark.medium
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_releases_of_a_table_do_not(statistic, name, tmp_path):
    """A table as it is stored, or in memory, has rows of its own."""
    data = TABLES[name](tmp_path)
    release = STATISTICS[statistic](data if isinstance(data, nb.Table) else nb.Table(data))
    assert "rows_of" not in release.parameters and "per row" in str(release) and "query" not in str(release)
    assert "query" not in words(json.loads(release.to_json()))


def words(found):
    return " ".join(line for _, lines in paragraphs(found, sizes=()) for line in lines)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["duckdb", "sqlite", "relation", "lazy frame"])
def test_with_a_unit_the_rows_that_it_has_in_the_result_are_protected(name, connections):
    """The unit stays what it is called, and what a query has done with its rows is told."""
    table = queries(connections)[name](unit="who", rows_per_unit=3)
    for release in (
        table.mean("pay", epsilon=1),
        table.group_by("town", delta=1e-6).count(epsilon=1),
        table.suggest_rows_per_unit(epsilon=1),
    ):
        assert release.parameters["rows_of"] == "query result" and release.loss.unit == "who"
        assert "per who" in str(release) and "per row" not in str(release)
        text = words(json.loads(release.to_json()))
        assert "Each who is protected, with all of its rows in the result of a query together" in text
        assert "The protection is for the rows that one who has in the result." in text and NOT_COVERED in text


def test_a_lazy_frame_or_a_stream_that_is_described_is_a_query():
    """The function has no Table, and says the same."""
    assert nb.describe(pl.LazyFrame(DATA), epsilon=1).parameters["rows_of"] == "query result"
    assert nb.describe(pa.table(DATA).to_reader(), epsilon=1).parameters["rows_of"] == "query result"
    for data in (DATA, pd.DataFrame(DATA), pl.DataFrame(DATA), pa.table(DATA), DATA["pay"]):
        assert "rows_of" not in nb.describe(data, epsilon=1).parameters


def test_rows_of_a_result_and_of_a_table_are_one_unit_to_a_budget(connections):
    """What they are rows of is told in the release; a budget for rows pays for both, as before."""
    budget = nb.Budget(epsilon=2, unit="row")
    nb.Table(DATA, budget=budget).count(epsilon=1)
    nb.Table.sql(connections["sqlite"], "select * from sales", budget=budget).count(epsilon=1)
    assert [charge.loss.unit for charge in budget.history] == ["row", "row"] and budget.remaining == 0


@pytest.mark.medium
@pytest.mark.parametrize(
    "query",
    [
        "select pay from 'sales.csv'",
        "select town, sum(pay) as pay from 'sales.csv' group by town",
        "select a.pay from 'sales.csv' a join 'sales.csv' b using (who)",
        "select distinct pay from 'sales.csv' limit 100",
        "select avg(pay) over (partition by town) as pay from 'sales.csv'",
    ],
)
def test_the_command_says_so_of_any_query(query, tmp_path, monkeypatch):
    """With --json, in the sentence on the loss, and in the explanation of what it printed."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    typed = ("--type", "pay=number", "--folder", ".")
    declared = ("--rows-of", "result")
    asked = ("mean", "--sql", query, *declared, *typed, "--column", "pay", "--epsilon", "1")
    printed = run(*asked, "--json").stdout
    assert json.loads(printed)["releases"][0]["parameters"]["rows_of"] == "query result"
    assert "for query results that differ by one row added or removed." in run(*asked).stdout
    assert NOT_COVERED in " ".join(str(explain(printed, n=1000)).split())
    described = run("describe", "--sql", query, *declared, *typed, "--epsilon", "1")
    assert "for query results that differ" in described.stdout
    refused = run("describe", "--sql", query, *typed, "--epsilon", "1")
    assert refused.exit_code == (0 if query == "select pay from 'sales.csv'" else 2)
    unit = ("count", "sales.csv", "--epsilon", "1", "--unit", "who", "--rows-per-unit", "3")
    assert "for data sets that differ by one who with all its rows added or removed." in run(*unit).stdout


def test_the_help_says_what_a_row_is():
    """So does the help of --rows-of."""
    told = " ".join(run("mean", "--help").stdout.replace("│", " ").split())
    assert "What --sql protects. source: a row of the table;" in told
    assert "result: a row of the query's result" in told and "can spread one person over several rows" in told


def test_all_releases_together_say_so_if_one_does(connections):
    """Of several releases the sentence on all of them takes the weaker protection."""
    table = nb.Table(DATA).count(epsilon=1, rng=random.Random(1))
    query = nb.Table.sql(connections["sqlite"], "select * from sales", rows_of="result").count(
        epsilon=1, rng=random.Random(1)
    )
    for pair, said in (((table, query), True), ((table, table), False)):
        both = {"releases": [each.to_dict() for each in pair], "loss": (pair[0].loss + pair[1].loss).to_dict()}
        (lines,) = (
            lines for heading, lines in paragraphs(both, sizes=()) if heading == "All together: Who is protected"
        )
        assert ("row of the result of a query" in lines[0]) is said


def test_what_is_no_result_of_a_query_is_refused_in_words():
    """A file may say anything of its rows; `explain` knows one thing."""
    found = nb.Table(DATA).count(epsilon=1).to_dict()
    for odd in ("a table", "", 7, ["query result"], "\x1b[2J"):
        found["parameters"]["rows_of"] = odd
        with pytest.raises(ValueError, match=r"^parameters.rows_of must be (query result|a text), got ") as refused:
            paragraphs(found, sizes=())
        assert str(refused.value).isprintable()
