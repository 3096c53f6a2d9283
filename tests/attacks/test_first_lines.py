"""The first line of a CSV file may be a record: until it is stated to be a header, no door tells of it."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app
from nobounds.cli.complete import columns as completed
from nobounds.studio.layouts import Layout
from nobounds.studio.sources import Source

FIRST = {  # of a file without a header: neighbours, which differ by their first record
    "no record more": "",
    "the name that is asked for": "Ann,37\n",
    "that name twice": "Ann,Ann\n",
    "more fields": "Ann,37,1\n",
    "another delimiter": '"Ann";Ann;1;2;3\n',
    "not well-formed": '"Ann"x,37\n',
    "the mark of another encoding": b"\xff\xfeAnn,37\n",
}
SPEND = ["--epsilon", "1"]
FOLDER = ["--folder", "."]
COMMANDS = [
    ["mean", "a.csv", "--column", "Ann", *SPEND],
    ["mean", "a.csv", "--column", "Ann", "--type", "Ann=number", *SPEND],
    ["mean", "a.csv", "b.csv", "--column", "Ann", *SPEND],
    ["mean", "a.csv", "--column", "Ann", "--delimiter", ",", *SPEND],
    ["mean", "a.csv", "--column", "Ann", "--schema", "schema.json", *SPEND],
    ["mean", "--sql", "select Ann from 'a.csv'", *FOLDER, "--column", "Ann", *SPEND],
    ["mean", "--sql", "select Ann from 'a.csv'", *FOLDER, "--rows-of", "result", "--column", "Ann", *SPEND],
    ["sql", "select private_mean(Ann) from 'a.csv'", *FOLDER, *SPEND],
    ["count", "a.csv", "--unit", "Ann", "--rows-per-unit", "1", *SPEND],
    ["count", "a.csv", "--by", "Ann", "--delta", "0.01", *SPEND],
    ["count", "a.csv", "--where", "Ann > 1", *SPEND],
    ["describe", "a.csv", *SPEND],
    ["agg", "a.csv", "--ask", "mean(Ann)", *SPEND],
    ["info", "a.csv"],
    ["plan", "describe", "a.csv", "--n", "100", *SPEND],
]
CALLS = {
    "a table": lambda path: nb.Table(path).mean("Ann", epsilon=1),
    "a count of rows": lambda path: nb.Table(path).count(epsilon=1),
    "a schema": lambda path: nb.Table(path, schema={"Ann": "number"}).columns,
    "a dialect": lambda path: nb.Table(path, csv=nb.Csv(delimiter=",")).columns,
    "both": lambda path: nb.Table(path, schema=nb.Schema({"Ann": "number"}, csv=nb.Csv(decimal="."))).columns,
    "several files": lambda path: nb.Table([path, path.with_name("b.csv")]).columns,
    "a statement": lambda path: nb.sql("select private_mean(Ann) from a", {"a": path}, epsilon=1),
    "a file of a statement": lambda path: nb.sql("select private_mean(Ann) from 'a.csv'", {}, folder=".", epsilon=1),
    "a file of a query": lambda path: nb.Table.sql({}, "select Ann from 'a.csv'", folder=".").columns,
    "the studio": lambda path: Layout(types=(("Ann", ""),)).columns(Source("file", path)),
    "completion": lambda path: completed(SimpleNamespace(params={"files": [path]}, args=[]), "A"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a schema, where neighbouring files are written."""
    monkeypatch.chdir(tmp_path)
    nb.Schema({"Ann": "number"}).save(tmp_path / "schema.json")
    return tmp_path


def neighbours(folder):
    """Each of the neighbouring files in its turn."""
    (folder / "b.csv").write_text("Bob,41\n" * 300)
    for first in FIRST.values():
        start = first if isinstance(first, bytes) else first.encode()
        (folder / "a.csv").write_bytes(start + b"Bob,41\n" * 300)
        yield folder / "a.csv"


@pytest.mark.medium
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_tells_of_the_first_line(words, folder):
    """Whatever stands in the first record, the command is refused in the same words, which name what to state."""
    ran = [CliRunner().invoke(app, words) for _ in neighbours(folder)]
    assert {(each.exit_code, each.stdout) for each in ran} == {(2, "")}
    (said,) = {each.stderr for each in ran}
    assert "--header yes" in said


@pytest.mark.parametrize("door", CALLS)
def test_no_call_tells_of_the_first_line(door, folder):
    """Nor does the library, the studio or the completion of the shell."""
    outcomes = set()
    for path in neighbours(folder):
        try:
            outcomes.add(json.dumps(CALLS[door](path)))
        except (ValueError, TypeError, OSError) as error:
            outcomes.add(f"{error}")
    (said,) = outcomes
    assert "csv=nb.Csv(header=True)" in said or said == "[]"


def test_without_a_header_columns_have_the_names_of_the_schema(folder):
    """Be these numbers; then whatever the first record is, the same columns are answered."""
    schema = {"1": "text", "2": "number"}
    for path in neighbours(folder):
        table = nb.Table(path, csv=nb.Csv(header=False), schema=schema)
        assert table.columns == {"1": "text", "2": "number"}
        assert abs(table.count("2", epsilon=50).value - 300) < 5
        words = ["mean", "a.csv", "--header", "no", "--type", "1=text", "--type", "2=number", "--column", "2"]
        assert CliRunner().invoke(app, [*words, *SPEND]).exit_code == 0
        with pytest.raises(ValueError, match=r"^column 'Ann' is not in the table; the columns are '.', '.'$"):
            table.mean("Ann", epsilon=1)
        said = CliRunner().invoke(app, [*words[:-1], "Ann", *SPEND]).stderr
        assert "column 'Ann' is not in the table; the columns are " in said
