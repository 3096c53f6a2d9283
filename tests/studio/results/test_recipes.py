"""The script, the command and the notebook ask the same again, and no name gets out of them."""

import json
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import nbformat
import pytest
from support.studio import people

import nobounds as nb
from nobounds.ask import Ask
from nobounds.cli.app import app
from nobounds.studio.layouts import Layout
from nobounds.studio.questions import Question
from nobounds.studio.results.recipes import Recipe, ask_text
from nobounds.studio.sources import Source, database_source

CSV = {"header": ["yes"], "decimal": [","], "missing": ["n, a b"]}
QUESTIONS = {
    "alone": {"count": ["yes"], "ask": ["mean:income", "percentiles:age"], "positive": ["income"]},
    "filtered": {"ask": ["median:age"], "where": ["age >= 30 and region = 'north'"]},
    "grouped": {"ask": ["sum:income"], "by1": ["region"], "keys": ["north, south"]},
    "crossed": {"count": ["yes"], "by1": ["region"], "keys": ["north"], "by2": ["age"], "keys2": ["18, 19"]},
    "unlisted": {"count": ["yes"], "by1": ["region"], "names": ["unknown"]},
    "zcdp": {"ask": ["mean:age"], "level": ["other"], "amount": ["0.5"], "spending": ["rho"]},
}


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people("it's people.parquet")
    nb.Budget(epsilon=100, delta=1e-4, path="a budget")
    source = Source("file", tmp_path / "it's people.parquet")

    def made(question, **layout):
        stated = Layout(**layout)
        asked = Question.of(question, stated.columns(source), stated.unit)
        return Recipe(source, stated, asked, tmp_path / "a budget")

    return made


@pytest.mark.medium
@pytest.mark.parametrize("layout", [{}, {"unit": "user_id", "rows_per_unit": 2}], ids=["rows", "units"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_script_and_the_command_ask_the_same_again(name, layout, recipe, capsys):
    """Run as they are, both give answers with the loss and the names of the first ones, and charge them again."""
    made = recipe(QUESTIONS[name], **layout)
    with made.source.opened(budget=nb.Budget(path=made.budget), **made.layout.options) as table:
        first = made.question.answers(table)
    namespace = {}
    exec(made.python(), namespace)
    capsys.readouterr()
    words = shlex.split(made.shell())
    assert words[0] == "nobounds" and app([*words[1:], "--json"], standalone_mode=False) in (0, None)
    printed = json.loads(capsys.readouterr().out)
    for again in (namespace["answers"].to_dict(), printed):
        assert again["loss"] == first.to_dict()["loss"]
        assert list(again["answers"]) == list(first)
    charges = nb.Budget(path=made.budget).history
    assert len({(charge.what, charge.loss, charge.label) for charge in charges}) == 1 and len(charges) == 3


@pytest.mark.medium
def test_what_is_stated_about_a_csv_file_is_stated_again(tmp_path):
    """The script and the command have its marks, its types and the format of its dates."""
    path = tmp_path / "people.csv"
    path.write_text("who;age;born\n" + "".join(f"w{k};{k % 60},5;{k % 28 + 1}.12.1990\n" for k in range(3000)))
    nb.Budget(epsilon=100, path=tmp_path / "b")
    source, fields = Source("file", path), CSV | {"column": ["born"], "type": ["date"], "dates": ["%d.%m.%Y"]}
    layout = Layout.of(source, fields)
    question = Question.of({"ask": ["median:age", "median:born"]}, layout.columns(source))
    made = Recipe(source, layout, question, tmp_path / "b")
    script = [sys.executable, "-c", made.python()]
    command = ["sh", "-c", made.shell().replace("nobounds", f"{sys.executable} -m nobounds.cli", 1)]
    for words in (script, command):
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "1990-12-" in run.stdout
    assert len(nb.Budget(path=tmp_path / "b").history) == 2


@pytest.mark.medium
def test_databases_are_opened_again(tmp_path):
    """A file of DuckDB or SQLite by its path, and a server by the environment."""
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("create table t as select i % 90 + 0.5 as x from range(3000) r(i)")
    with sqlite3.connect(tmp_path / "b.sqlite") as connection:
        connection.execute("create table t (x real)")
        connection.executemany("insert into t values (?)", [(k % 90 + 0.5,) for k in range(3000)])
    connection.close()
    for name in ("a.duckdb", "b.sqlite"):
        budget = tmp_path / f"{name}.budget"
        nb.Budget(epsilon=100, path=budget)
        made = Recipe(
            Source("database", tmp_path / name, "t"),
            Layout(),
            Question.of({"ask": ["mean:x"]}, {"x": "number"}),
            budget,
        )
        exec(made.python(), {})
        command = made.shell().replace("nobounds", f"{sys.executable} -m nobounds.cli", 1)
        subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=True)
        assert {charge.label for charge in nb.Budget(path=budget).history} == {f"t ({name})"}
    for scheme in ("postgresql", "mariadb"):
        remote = database_source(f"{scheme}://me:secret@host/db", "t")
        made = Recipe(remote, Layout(), Question.of({"ask": ["mean:x"]}, {"x": "number"}), tmp_path / "b")
        assert "secret" not in made.python() + made.shell() + made.notebook()
        assert "DATABASE_URL" in made.python() and '"$DATABASE_URL"' in made.shell()


@pytest.mark.medium
def test_a_server_is_opened_again(tmp_path, mariadb, monkeypatch):
    """The script and the command for a table of MariaDB run, with a connection string of no driver."""
    with mariadb.begin() as connection:
        connection.exec_driver_sql("create or replace table again (x double)")
        connection.exec_driver_sql("insert into again select seq %% 90 + 0.5 from seq_1_to_3000")
    url = mariadb.url.set(drivername="mysql").render_as_string(hide_password=False)
    monkeypatch.setenv("DATABASE_URL", url)
    nb.Budget(epsilon=100, path=tmp_path / "b")
    made = Recipe(
        database_source(url, "again"), Layout(), Question.of({"ask": ["mean:x"]}, {"x": "number"}), tmp_path / "b"
    )
    exec(made.python(), {})
    command = made.shell().replace("nobounds", f"{sys.executable} -m nobounds.cli", 1)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=True)
    assert [charge.label for charge in nb.Budget(path=tmp_path / "b").history] == ["again (MariaDB)"] * 2


@pytest.mark.medium
def test_a_hostile_name_stays_a_name(tmp_path):
    """Quotes, newlines and commands in names do not get out of the script or of the command."""
    name = "x'); import os; os.remove('canary') #\n$(rm canary)`rm canary`\""
    source = Source("file", tmp_path / f"{name.replace('/', '')}.parquet")
    question = Question((Ask("mean", (name,)),), "1", where=name, by=(name,), keys=((name,),))
    made = Recipe(source, Layout(unit=name, rows_per_unit=1), question, Path(name))
    (tmp_path / "canary").touch()
    failed = subprocess.run(
        [sys.executable, "-c", made.python()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert failed.returncode != 0 and "SyntaxError" not in failed.stderr
    echoed = made.shell().replace("nobounds", "true", 1)
    subprocess.run(["sh", "-c", echoed], cwd=tmp_path, check=True)
    assert (tmp_path / "canary").exists()


def test_the_notebook_is_a_notebook(recipe):
    """Valid, with the lines of the script in it."""
    made = recipe(QUESTIONS["alone"])
    notebook = nbformat.reads(made.notebook(), as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert "nb.Table(" in code and "answers.explain()" in code


@pytest.mark.parametrize(
    "ask", [Ask("count"), Ask("quantile", ('a, "b"',), ("0.9",), (("lower", "0"), ("interval", "0.95")))]
)
def test_a_statistic_as_text_is_read_back(ask):
    """With its options, and whatever its column is called."""
    assert Ask.parse(ask_text(ask)) == ask
