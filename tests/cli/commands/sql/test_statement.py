"""The command for one SQL statement, on files and on databases."""

import json
import sqlite3

import pandas as pd
import pytest
from support.shell import run

N = 2000
PEOPLE = pd.DataFrame(
    {"income": [k % 90 * 100.5 for k in range(N)], "region": ["north", "south"] * (N // 2), "user": range(N)}
)
PEOPLE["zone"] = PEOPLE.index % 4
SURE = ["--epsilon", "1e6"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """People in a CSV file, in Parquet and in SQLite, and zones that are public."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    PEOPLE.to_parquet("people.parquet")
    pd.DataFrame({"id": range(4), "side": ["east", "west"] * 2}).to_csv("zones.csv", index=False)
    connection = sqlite3.connect("people.db")
    PEOPLE.to_sql("people", connection, index=False)
    connection.execute("create view sums as select region, sum(income) as income from people group by region")
    connection.commit()
    connection.close()
    return tmp_path


def answered(*words):
    done = run("sql", *words, *([] if "--database" in words else ["--folder", "."]), *SURE, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["answers"]


@pytest.mark.medium
@pytest.mark.parametrize(
    "source", ["'people.csv'", "people.csv", '"people.parquet"', "people --database people.db"], ids=str
)
def test_a_table_is_a_file_or_in_a_database(source, folder):
    """With a condition, groups with public keys, and an alias."""
    table, *more = source.split(" ", 1)
    statement = f"select region, private_count() as n from {table} where income >= 4500 group by region"
    found = answered(statement, *(more[0].split() if more else []), "--keys", "north,south")["n"]
    kept = PEOPLE[PEOPLE.income >= 4500].region.value_counts()
    assert found["keys"] == {"region": ["north", "south"]} and found["values"] == [kept["north"], kept["south"]]


@pytest.mark.medium
def test_units_public_tables_and_budgets(folder):
    """A statement is one charge, with the name of the file that is protected."""
    run("budget", "create", "a.budget", "--epsilon", "1e7")
    statement = "select side, private_count() from 'people.csv' join 'zones.csv' on zone = id group by side"
    words = [statement, "--public-table", "zones.csv", "--keys", "east,west", "--unit", "user", "--rows-per-unit", "1"]
    assert answered(*words, "--budget", "a.budget")["count()"]["values"] == [N / 2, N / 2]
    (charge,) = json.loads(run("budget", "show", "a.budget", "--json").stdout)["charges"]
    assert charge["label"] == "people.csv" and charge["what"] == "agg count() by side where id is not null"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["select avg(income) from 'people.csv'"], "write private_mean"),
        (["select private_mean(income) from 'people.csv' limit 1"], "limit is not allowed"),
        (["select private_mean(income) from 'nobody.csv'"], "no file is named nobody.csv"),
        (["select private_mean(income) from sums", "--database", "people.db"], "--rows-of result"),
        (["select region, private_count() from 'people.csv' group by region"], "group by needs --keys"),
        (["select private_count() from 'people.csv'", "--keys", "a"], "with group by"),
        (["selec"], "one select"),
        (
            [
                "select private_count() from 'zones.csv' a join './zones.csv' b on a.id = b.id",
                "--public-table",
                "./zones.csv",
            ],
            "self-join",
        ),
    ],
    ids=str,
)
def test_what_is_refused_is_one_line(words, why, folder):
    """With the reason, and nothing is printed."""
    done = run("sql", *words, *([] if "--database" in words else ["--folder", "."]), *SURE)
    assert done.exit_code == 2 and done.stdout == "" and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.medium
def test_rows_of_a_view_are_declared(folder):
    """Then the loss is for one row of the result, and the answer says so."""
    words = ["select private_mean(income) from sums", "--database", "people.db", "--rows-of", "result"]
    assert "query results that differ" in run("sql", *words, *SURE).stdout
