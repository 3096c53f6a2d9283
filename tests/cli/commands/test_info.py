"""The command info: names and types from public facts alone, and a schema to edit and to state again."""

import json
import random

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app

CSV = "id;pay;answer\n" + "".join(f"{k};{1000 + k % 700},5;{'yes' if k % 3 else 'no'}\n" for k in range(3000))


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_schema_is_saved_edited_and_stated(tmp_path, monkeypatch):
    """From a CSV file to a table of results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(CSV)
    shown = run("info", "survey.csv", "--header", "yes", "--decimal", ",", "--save", "survey.json")
    assert (
        shown.exit_code == 0 and "not declared" in shown.stdout and "state it by --schema survey.json" in shown.stdout
    )
    parts = json.loads((tmp_path / "survey.json").read_text())
    assert parts["columns"] == {"id": None, "pay": None, "answer": None} and parts["csv"]["decimal"] == ","
    parts["columns"] |= {"pay": "number", "answer": "boolean", "id": "text"}
    (tmp_path / "survey.json").write_text(json.dumps(parts))
    found = run("describe", "survey.csv", "--schema", "survey.json", "--epsilon", "5", "--json")
    described = json.loads(found.stdout)
    assert set(described["columns"]) == {"pay", "answer"} and described["skipped"] == {"id": "text"}
    assert abs(described["columns"]["answer"]["values"]["mean"] - 2 / 3) < 0.05
    again = run("info", "survey.csv", "--schema", "survey.json", "--type", "pay=money", "--json")
    assert json.loads(again.stdout)["columns"] == {"id": "text", "pay": "money", "answer": "boolean"}
    planned = run("plan", "describe", "survey.csv", "--schema", "survey.json", "--rows", "3000", "--epsilon", "1")
    assert planned.exit_code == 0 and "2 numeric columns" in planned.stdout


def test_names_of_a_csv_file_are_hidden_until_they_are_stated(tmp_path):
    """The first line may be a record."""
    (tmp_path / "a.csv").write_text("86421,Ann\n1,2\n")
    hidden = run("info", tmp_path / "a.csv")
    assert hidden.exit_code == 2 and "86421" not in hidden.output and "--header yes" in hidden.output
    assert run("info", tmp_path / "a.jsonl", "--type", "x=number").exit_code == 2  # no file
    (tmp_path / "a.jsonl").write_text('{"x": 1, "secret": 2}\n')
    assert "secret" not in run("info", tmp_path / "a.jsonl", "--type", "x=number").output
    assert "needs a schema" in run("info", tmp_path / "a.jsonl").output


@pytest.mark.medium
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow", "xlsx"])
def test_what_is_shown_depends_on_no_record(tmp_path, format):
    """Two files with the same schema and other records, or none: the same output, but for the file's name."""
    outputs = set()
    options = ["--type", "x=number", "--type", "s=text"] if format in ("csv", "jsonl", "xlsx") else []
    options += ["--header", "yes"] if format == "csv" else []
    for k, rows in enumerate((0, 1, 50)):
        folder = tmp_path / str(k)
        folder.mkdir()
        path, draw = folder / f"a.{format}", random.Random(k)
        xs = [draw.choice([None, draw.random() * 10 ** (9 * k)]) for _ in range(rows)]
        data = pa.table({"x": pa.array(xs, pa.float64()), "s": pa.array([str(x) for x in xs], pa.string())})
        if format == "csv":
            path.write_text("x,s\n" + "".join(f"{x},{x}\n" for x in xs))
        elif format == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()))
        elif format == "parquet":
            pq.write_table(data, path)
        elif format == "arrow":
            with pa.ipc.new_file(str(path), data.schema) as writer:
                writer.write_table(data)
        else:
            book = openpyxl.Workbook()
            for row in [["x", "s"], *zip(*data.to_pydict().values(), strict=True)]:
                book.active.append(row)
            book.save(path)
        shown = run("info", path, *options)
        assert shown.exit_code == 0
        schema = nb.Schema.from_json(json.loads(run("info", path, *options, "--json").stdout))
        table = nb.Table(path, schema=schema)
        outputs.add((shown.stdout, schema, str(table.columns)))
    assert len(outputs) == 1 and schema.types == {"x": "number", "s": "text"}


def test_excel_options_and_mistakes_are_one_line(tmp_path):
    """--sheet and --header-row; a wrong type, an unknown option of a schema."""
    book = openpyxl.Workbook()
    book.active.append(["made in May"])
    book.active.append(["x"])
    for k in range(500):
        book.active.append([k])
    book.create_sheet("empty")
    book.save(tmp_path / "a.xlsx")
    words = [tmp_path / "a.xlsx", "--type", "x=integer"]
    assert "several sheets" in run("mean", *words, "--column", "x", "--epsilon", "9").output
    sheet = ["--sheet", "Sheet", "--header-row", "2"]
    found = run("mean", *words, *sheet, "--column", "x", "--epsilon", "9", "--json")
    assert abs(json.loads(found.stdout)["releases"][0]["value"] - 249.5) < 10
    wrong = run("info", tmp_path / "a.xlsx", "--type", "x=float")
    assert wrong.exit_code == 2 and "the type of a column must be one of number" in wrong.output
    assert run("info", tmp_path / "a.xlsx", "--type", "x").exit_code == 2
