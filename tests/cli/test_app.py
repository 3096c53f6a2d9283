"""The command line: right answers at a huge epsilon, an honest total, plain errors, and nothing private in them."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.shell import SURE, answer, run, value

COMMANDS = ["quantile", "maximum", "minimum", "bounds"]


@pytest.mark.medium
def test_quantiles_are_right_at_a_huge_epsilon(people):
    """Each --q is answered, in the order asked, to the precision of the ladder; one alone is a plain quantile."""
    got = answer("quantile", people, "--column", "income", "--q", "0.99", "--q", "0.5", *SURE)
    assert [release["statistic"] for release in got["releases"]] == ["quantiles"]
    assert got["releases"][0]["parameters"]["q"] == ["99/100", "1/2"]
    assert got["releases"][0]["value"] == pytest.approx([2980, 2000], rel=0.02)
    one = answer("quantile", people, "--column", "income", "--q", "0.99", *SURE)["releases"][0]
    assert one["statistic"] == "quantile" and one["value"] == pytest.approx(2980, rel=0.02)


@pytest.mark.medium
def test_extremes_are_right_at_a_huge_epsilon(people):
    """The maximum, the minimum and both bounds are near the true ones."""
    assert answer("maximum", people, "--column", "income", *SURE)["releases"][0]["value"] == pytest.approx(
        3000, rel=0.02
    )
    assert answer("minimum", people, "--column", "income", *SURE)["releases"][0]["value"] == pytest.approx(
        1001, rel=0.02
    )
    low, high = answer("bounds", people, "--column", "income", *SURE)["releases"][0]["value"]
    assert (low, high) == pytest.approx((1001, 3000), rel=0.02)


def test_parquet_gives_the_same_answer_as_csv(people, tmp_path):
    """One column in two formats has one median."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"income": np.arange(1001, 3001)}), path)
    words = ["--column", "income", "--q", "0.5", "--resolution", "1", *SURE]
    values = [value("quantile", file, *words) for file in (path, people)]
    assert values == pytest.approx([2000, 2000], abs=2)


def test_epsilon_is_the_total(people):
    """Three quantiles at a total of 0.1 cost 0.1 together."""
    words = ["--q", "0.25", "--q", "0.5", "--q", "0.75", "--epsilon", "0.1"]
    got = answer("quantile", people, "--column", "income", *words)
    assert got["loss"]["epsilon"] == got["releases"][0]["loss"]["epsilon"] == 0.1
    assert answer("bounds", people, "--column", "income", "--epsilon", "0.1")["loss"]["epsilon"] == 0.1


def test_options_reach_the_library(people):
    """Public bounds clamp the answer, and the neighbour relation is the one asked for."""
    words = [
        "--column",
        "income",
        "--upper",
        "1500",
        "--lower",
        "-5",
        "--neighbors",
        "swap",
        "--noise",
        "laplace",
        *SURE,
    ]
    got = answer("maximum", people, *words)
    assert 1400 <= got["releases"][0]["value"] <= 1500
    assert got["loss"]["neighbors"] == "swap"
    coarse = value("maximum", people, "--column", "income", "--lower", "0", "--beta", "1.5", *SURE)
    assert coarse == pytest.approx(3000, rel=0.5)


def test_the_table_names_statistic_q_value_and_cost(people):
    """People read a row for each answer, and below it the total in plain words, with no colour codes in a pipe."""
    words = ["--q", "0.5", "--q", "0.9", "--resolution", "1", "--epsilon", "1000"]
    result = run("quantile", people, "--column", "income", *words)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0] == ["statistic", "q", "value", "cost"]
    first, second = lines[2:4]
    assert [first[0], *first[1:2], *first[3:]] == ["quantiles", "0.5", "epsilon", "1000"]
    assert [second[0], *second[2:]] == ["0.9", "together"]
    assert [float(each.replace(",", "")) for each in (first[2], second[1])] == pytest.approx([2000, 2800], rel=0.02)
    assert "Total privacy loss: epsilon 1000 " in result.stdout
    assert "one row added or removed" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_table_of_bounds_has_both_ends(people):
    """Two numbers make one value, and there is no q."""
    result = run("bounds", people, "--column", "income", "--resolution", "1", "--neighbors", "swap", *SURE)
    assert "q" not in result.stdout.splitlines()[0].split() + result.stdout.splitlines()[1].split()
    low, high = next(line.split()[1:4:2] for line in result.stdout.splitlines() if line.startswith("bounds"))
    assert tuple(float(end.replace(",", "")) for end in (low, high)) == pytest.approx((1001, 3000), rel=0.05)
    assert "one row replaced by another" in result.stdout


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--column", "wage"],
            "column 'wage' is not in the table; the columns are 'name', 'income'",
        ),
        (["--epsilon", "much"], "epsilon must be a finite number, got --epsilon much"),
        (["--epsilon", "0"], "epsilon"),
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "nan"], "epsilon"),
        (["--neighbors", "cousins"], "neighbors"),
        (["--noise", "pink"], "noise"),
        (["--beta", "1"], "beta"),
        (["--resolution", "fine"], "resolution"),
        (["--lower", "3", "--upper", "2"], "lower"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_option_is_one_plain_line(people, command, words, message):
    """A user's error goes to stderr as one line that names the parameter, with exit code 2 and no output."""
    q = ["--q", "0.5"] if command == "quantile" else []
    spend = [] if "--epsilon" in words else ["--epsilon", "1"]
    result = run(command, people, "--column", "income", *spend, *q, *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file_and_a_wrong_q_are_plain_errors(people):
    """No file and no such quantile end with exit code 2 and say so."""
    missing = run("maximum", people.with_name("nobody.csv"), "--column", "income", "--epsilon", "1")
    wrong = run("quantile", people, "--column", "income", "--q", "1.5", "--epsilon", "1")
    assert (missing.exit_code, wrong.exit_code) == (2, 2)
    assert "nobody.csv" in missing.stderr
    assert wrong.stderr.startswith("Error: q must")


def test_an_unplanned_error_shows_nothing_private(people, monkeypatch):
    """If the library breaks, the command tells the kind of exception and not its message."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("income 2718")

    monkeypatch.setattr("nobounds.tables.table.quantile", broken)
    result = run("quantile", people, "--column", "income", "--q", "0.5", "--epsilon", "1")
    assert result.exit_code == 1
    assert "RuntimeError" in result.stderr
    assert "2718" not in result.stderr + result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    """Each command's help shows a line to copy, and every option."""
    text = run(command, "--help").stdout
    assert f"nobounds {command} " in text and "--column income" in text
    for option in ["column", "epsilon", "lower", "upper", "resolution", "neighbors", "beta", "noise", "json"]:
        assert f"--{option}" in text


@pytest.mark.medium
@pytest.mark.parametrize("module", ["nobounds", "nobounds.cli"])
def test_the_version_is_that_of_the_package(module):
    """As a module, too, `nobounds --version` prints the name and the version."""
    result = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.split()[0] == "nobounds"
    assert result.stdout.split()[1][0].isdigit()


@pytest.mark.medium
@pytest.mark.parametrize(("library", "command"), [("typer", "count"), ("rich", "audit")])
def test_without_its_libraries_the_command_says_what_to_install(library, command):
    """With typer or rich missing, a command that needs it names the extra to install and exits with code 1."""
    words = ["nobounds", command, "--help"]
    code = f"import sys; sys.modules[{library!r}] = None; from nobounds.cli.__main__ import main; "
    code += f"sys.argv = {words}; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"Error: the nobounds command needs {library}: pip install 'nobounds[all]'\n"


@pytest.mark.medium
def test_rho_is_a_total_as_well(people):
    """With --rho every command costs at most that rho, nearly all of it, and says so."""
    for words in (
        ["quantile", "--q", "0.5"],
        ["quantile", "--q", "0.5", "--q", "0.9"],
        ["maximum"],
        ["sum"],
        ["mean"],
        ["count"],
    ):
        command, *more = words
        got = answer(command, people, "--column", "income", *more, "--rho", "0.5")
        assert 0.4995 < got["loss"]["rho"] <= 0.5
    assert "rho 0.5 (zCDP)" in run("mean", people, "--column", "income", "--rho", "0.5").stdout
    assert "rho 0.5 (zCDP)" in run("describe", people, "--header", "yes", "--rho", "0.5").stdout


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "give --epsilon or --rho, got neither"),
        (["--epsilon", "1", "--rho", "1"], "got both"),
        (
            ["--epsilon", "1", "--q", "0.9", "--beta", "1.1"],
            "several --q cannot be combined with --beta, --noise, --method or --interval",
        ),
        (
            ["--epsilon", "1", "--q", "0.9", "--method", "walk"],
            "several --q cannot be combined with --beta, --noise, --method or --interval",
        ),
    ],
)
def test_what_cannot_be_asked_together_is_named(people, words, error):
    """One line says what to leave out or to add."""
    result = run("quantile", people, "--column", "income", "--q", "0.5", *words)
    assert result.exit_code == 2
    assert error in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.medium
def test_a_budget_file_is_charged_by_every_command(people, tmp_path):
    """Each command spends from the file, names what it asked, and is refused when nothing is left."""
    ledger, column = tmp_path / "people.budget", ["--column", "income"]
    assert run("budget", "create", ledger, "--epsilon", "7").exit_code == 0
    spend = ["--epsilon", "1", "--budget", ledger]
    runs = [
        ["quantile", "--q", "0.5"],
        ["quantile", "--q", "0.5", "--q", "0.9"],
        ["bounds"],
        ["sum"],
        ["mean"],
        ["count"],
    ]
    for command, *more in runs:
        assert run(command, people, *column, *more, *spend).exit_code == 0
    assert run("describe", people, "--header", "yes", *spend).exit_code == 0
    shown = json.loads(run("budget", "show", ledger, "--json").stdout)
    assert shown["remaining"] == 0 and len(shown["charges"]) == 7
    assert shown["charges"][0]["what"] == "quantile 1/2 of income"
    assert shown["labels"] == ["people.csv"]
    refused = run("mean", people, *column, *spend)
    assert refused.exit_code == 3 and "nothing is left of epsilon 7." in refused.stderr
    assert refused.stdout == ""


def test_nothing_is_read_if_the_budget_is_not_there(people, tmp_path):
    """A missing budget file is one line, before the data are opened."""
    result = run("mean", tmp_path / "none.csv", "--column", "x", "--epsilon", "1", "--budget", tmp_path / "no.budget")
    assert result.exit_code == 2 and "no.budget" in result.stderr


def test_describe_charges_before_records_are_read(people, tmp_path):
    """A file that breaks off is charged for, as it is by the other commands."""
    broken, ledger = tmp_path / "people.csv.gz", tmp_path / "people.budget"
    broken.write_bytes(gzip.compress(people.read_bytes())[:-2000])
    assert run("budget", "create", ledger, "--epsilon", "2").exit_code == 0
    for command in (["describe", broken, "--header", "yes"], ["sum", broken, "--column", "income"]):
        assert run(*command, "--epsilon", "1", "--budget", ledger).exit_code != 0
    assert json.loads(run("budget", "show", ledger, "--json").stdout)["remaining"] == 0


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["mean", "--column", "income"], "mean"),
        (["bounds", "--column", "income"], "bounds"),
        (["describe", "--header", "yes"], "describe"),
        (["sum", "--column", "income", "--by", "income", "--keys", "1001,7"], "sum"),
    ],
)
def test_out_writes_what_is_printed(people, tmp_path, words, name):
    """The same answer as CSV, as Parquet and as JSON that explain and Python read, by the end of the file's name."""
    for suffix in ("csv", "json", "parquet"):
        path = tmp_path / f"result.{suffix}"
        done = run(words[0], people, *words[1:], "--epsilon", "1", "--json", "--out", path)
        assert done.exit_code == 0, done.stderr
        (printed,) = (found := json.loads(done.stdout)).get("releases", [found])
        if suffix == "json":
            assert json.loads(path.read_text()) == printed
            assert run("explain", path).exit_code == 0
            continue
        frame = pd.read_csv(path) if suffix == "csv" else pd.read_parquet(path)
        values = frame[{"sum": "sum"}.get(name, "value")].dropna().tolist()
        if name == "describe":
            found = [x for column in printed["columns"].values() for x in column["values"].values()]
        else:
            found = printed["values"] if name == "sum" else np.ravel(printed["value"]).tolist()
        assert values == [x for x in found if x is not None]


@pytest.mark.medium
def test_out_never_replaces_what_is_read(people, tmp_path):
    """Neither the data, by whatever name, nor the budget; nothing is charged, and the files stay as they are."""
    ledger, link = tmp_path / "team.json", tmp_path / "link.csv"
    assert run("budget", "create", ledger, "--epsilon", "2").exit_code == 0
    link.symlink_to(people)
    before = people.read_bytes(), ledger.read_bytes()
    for out in (people, link, ledger):
        done = run("mean", people, "--column", "income", "--epsilon", "1", "--budget", ledger, "--out", out)
        assert done.exit_code == 2 and "would replace" in done.stderr
    assert run("budget", "export", ledger, "--out", ledger).exit_code == 2
    (tmp_path / "new.csv").mkdir()
    assert run("count", people, "--epsilon", "1", "--out", tmp_path / "new.csv").exit_code == 2
    assert (people.read_bytes(), ledger.read_bytes()) == before


@pytest.mark.medium
def test_several_columns_are_written_below_each_other(tmp_path):
    """With their names; values of several types are texts in Parquet."""
    path, days = tmp_path / "people.parquet", pa.array(np.arange(3000), pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"a": np.arange(3000), "b": np.arange(3000) / 2, "day": days}), path)
    for names, text in (("ab", False), (("a", "day"), True)):
        for suffix in ("csv", "parquet", "json"):
            out = tmp_path / f"out.{suffix}"
            columns = [word for name in names for word in ("--column", name)]
            done = run("maximum", path, *columns, "--epsilon", "5", "--json", "--out", out)
            printed = json.loads(done.stdout)
            if suffix == "json":
                assert json.loads(out.read_text()) == printed
                continue
            frame = pd.read_csv(out) if suffix == "csv" else pd.read_parquet(out)
            assert frame["column"].tolist() == list(names)
            values = [release["value"] for release in printed["releases"]]
            assert frame["value"].tolist() == (list(map(str, values)) if text else values)


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(people, tmp_path, monkeypatch):
    """By its type or its folder; if writing fails later, the answer that was paid for is printed all the same."""
    words = ["count", people, "--epsilon", "1", "--budget", tmp_path / "b", "--out"]
    (folder := tmp_path / "folder.csv").mkdir()
    assert run("budget", "create", tmp_path / "b", "--epsilon", "3").exit_code == 0
    for wrong, message in (
        (tmp_path / "x.txt", "must end in .csv, .json, .parquet"),
        (tmp_path / "no" / "x.csv", "exist"),
        (tmp_path, "must end in"),
        (folder, "cannot be a folder"),
    ):
        refused = run(*words, wrong)
        assert refused.exit_code == 2 and message in refused.stderr and refused.stdout == ""
    assert json.loads(run("budget", "show", tmp_path / "b", "--json").stdout)["remaining"] == 3
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    failed = run(*words, tmp_path / "x.csv")
    assert failed.exit_code == 2 and "the budget was charged" in failed.stderr and "Total privacy loss" in failed.stdout
