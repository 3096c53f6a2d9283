"""The command line: right answers at a huge epsilon, an honest total, plain errors, and nothing private in them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from nobounds.cli.app import app

COMMANDS = ["quantile", "maximum", "minimum", "bounds"]
SURE = ["--epsilon", "1e6"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A CSV file with the incomes 1001 to 3000, shuffled."""
    incomes = np.random.default_rng(1).permutation(np.arange(1001, 3001))
    path = tmp_path / "people.csv"
    path.write_text("name,income\n" + "".join(f"x,{income}\n" for income in incomes))
    return path


def run(*words: object) -> Result:
    """The result of one run of the command."""
    return CliRunner().invoke(app, [str(word) for word in words])


def answer(*words: object) -> dict:
    """The JSON object that a run of the command prints."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def value(*words: object) -> float | list[float]:
    """The value of the first release that a run of the command prints."""
    return answer(*words)["releases"][0]["value"]


def test_quantiles_are_right_at_a_huge_epsilon(people):
    """Each --q is answered, in order, to the precision of the ladder."""
    got = answer("quantile", people, "--column", "income", "--q", "0.5", "--q", "0.99", *SURE)
    assert [release["statistic"] for release in got["releases"]] == ["quantile", "quantile"]
    assert [release["value"] for release in got["releases"]] == pytest.approx([2000, 2980], rel=0.02)


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
    """Three quantiles at a total of 0.1 cost at most 0.1 together, to the last digit, and nearly all of it."""
    words = ["--q", "0.25", "--q", "0.5", "--q", "0.75", "--epsilon", "0.1"]
    got = answer("quantile", people, "--column", "income", *words)
    assert 0.1 * (1 - 1e-12) < got["loss"]["epsilon"] <= 0.1
    assert [release["loss"]["epsilon"] for release in got["releases"]] == pytest.approx([0.1 / 3] * 3, rel=1e-12)
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
    rows = [line for line in lines if line[0] == "quantile"]
    assert [row[1] for row in rows] == ["0.5", "0.9"]
    assert [float(row[2]) for row in rows] == pytest.approx([2000, 2800], rel=0.02)
    assert [row[3:] for row in rows] == [["epsilon", "500"]] * 2
    assert "Total privacy loss: epsilon 1000 " in result.stdout
    assert "one row added or removed" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_table_of_bounds_has_both_ends(people):
    """Two numbers make one value, and there is no q."""
    result = run("bounds", people, "--column", "income", "--resolution", "1", "--neighbors", "swap", *SURE)
    assert "q" not in result.stdout.splitlines()[0].split() + result.stdout.splitlines()[1].split()
    low, high = next(line.split()[1:4:2] for line in result.stdout.splitlines() if line.startswith("bounds"))
    assert (float(low), float(high)) == pytest.approx((1001, 3000), rel=0.02)
    assert "one row replaced by another" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "wage"], "column 'wage' is not in the file (see its first line)"),
        (["--epsilon", "much"], "epsilon must be a finite number, got epsilon='much'"),
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
    result = run(command, people, "--column", "income", "--epsilon", "1", *q, *words)
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

    monkeypatch.setattr("nobounds.quantile", broken)
    result = run("quantile", people, "--column", "income", "--q", "0.5", "--epsilon", "1")
    assert result.exit_code == 1
    assert "RuntimeError" in result.stderr
    assert "2718" not in result.stderr + result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    """Each command's help shows a line to copy, and every option."""
    text = run(command, "--help").stdout
    assert f"nobounds {command} people.csv --column income" in text
    for option in ["column", "epsilon", "lower", "upper", "resolution", "neighbors", "beta", "noise", "json"]:
        assert f"--{option}" in text


def test_the_version_is_that_of_the_package():
    """`nobounds --version` prints the name and the version."""
    result = subprocess.run(
        [sys.executable, "-m", "nobounds.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.split()[0] == "nobounds"
    assert result.stdout.split()[1][0].isdigit()


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_without_its_libraries_the_command_says_what_to_install(library):
    """With typer or rich missing, the command names the extra to install and exits with code 1."""
    code = f"import sys; sys.modules[{library!r}] = None; from nobounds.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"Error: the nobounds command needs {library}: pip install 'nobounds[all]'\n"
