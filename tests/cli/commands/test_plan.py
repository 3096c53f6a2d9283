"""The plan command: a table, a sentence, a picture and JSON of what nobounds.plan forecasts, and plain errors."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner, Result

from nobounds.cli.commands.plan import plan as command
from nobounds.planning.plan import plan

MEDIAN = ["quantile", "--q", "0.5", "--n", "800", "--family", "lognormal"]


def run(*words: object) -> Result:
    """The result of one run of the command."""
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(command)
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.medium
def test_a_forecast_is_a_table_and_a_sentence():
    """A row for each epsilon, with the numbers of nobounds.planning.plan, and sentences on epsilon 1."""
    result = run(*MEDIAN, "--epsilon", "0.5", "--epsilon", "1")
    assert result.exit_code == 0, result.stderr
    title, _, head, _, *rows, _, words, simulated = result.stdout.splitlines()
    forecast = plan("quantile", q=0.5, n=800, data="lognormal", epsilon=[0.5, 1])
    assert title == "Errors to expect: quantile (q = 1/2) of 800 records (lognormal)"
    assert head.split() == ["epsilon", "rank", "error", "value", "error", "median", "95%", "rows", "needed"]
    assert [row.split() for row in rows] == [list(row) for row in zip(*forecast.columns().values(), strict=True)]
    assert [words, simulated] == forecast.sentences()
    assert words.startswith("For epsilon 1 the answer is off by ")


@pytest.mark.medium
def test_json_is_the_forecast():
    """One object, as to_dict gives it; numbers mean what they say."""
    result = run("mean", "--n", "200", "--family", "uniform", "--rho", "0.1", "--upper", "1", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == plan("mean", n=200, data="uniform", rho="0.1", upper="1").to_dict()


def test_an_epsilon_is_found():
    """With an error that will do, the row is the epsilon that it needs."""
    found = json.loads(run("count", "--n", "1000", "--family", "normal", "--value-error", "2", "--json").stdout)
    assert found["rows"][0]["epsilon"] == plan("count", n=1000, data="normal", value_error=2).epsilon
    assert found["rows"][0]["value_error"] <= 2


@pytest.mark.medium
def test_a_public_sample_is_read_from_a_file(tmp_path: Path):
    """A column of a CSV file; its length is the default number of records."""
    path = tmp_path / "public.csv"
    path.write_text("\n".join(["pay", *map(str, np.random.default_rng(1).lognormal(size=250))]))
    found = json.loads(run("sum", "--sample", path, "--column", "pay", "--epsilon", "1", "--json").stdout)
    assert found["parameters"] == {"n": 250, "data": "public sample", "neighbors": "add-remove"}


@pytest.mark.medium
def test_forecasts_say_that_they_are_simulated():
    """More than one --q is for quantiles."""
    result = run("quantiles", "--q", "0.2", "--q", "0.8", "--n", "100", "--family", "uniform", "--epsilon", "1")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("These are simulated releases")


@pytest.mark.medium
def test_a_picture_is_drawn(tmp_path: Path):
    """Into the file that is named."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "plan.png"
    assert run("count", "--n", "100", "--family", "uniform", "--plot", path).exit_code == 0
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["mode", "--n", "9", "--family", "normal"], "statistic must be one of quantile, "),
        (["sum", "--n", "9"], "give --family or --sample, got neither"),
        (["sum", "--n", "9", "--family", "normal", "--sample", "x.csv"], "give --family or --sample, got both"),
        (["sum", "--sample", "x.csv"], "--sample needs --column"),
        (["sum", "--sample", "x.csv", "--column", "x"], "x.csv"),
        (["sum", "--n", "9", "--family", "normal", "--column", "x"], "--column is for a --sample"),
        (["sum", "--n", "9", "--family", "cauchy"], "data must be one of uniform, "),
        (["sum", "--n", "many", "--family", "normal"], "n must be a finite number, got n='many'"),
        (["sum", "--family", "normal"], "n must be given"),
        (["sum", "--n", "9", "--family", "normal", "--epsilon", "0"], "epsilon must be greater than 0"),
        (["sum", "--n", "9", "--family", "normal", "--rank-error", "1"], "rank_error is for quantiles and extremes"),
        (["sum", "--n", "9", "--family", "normal", "--neighbors", "both"], "neighbors must be one of"),
        (["quantile", "--n", "9", "--family", "normal"], "quantile needs q"),
        (["quantile", "--q", "0.1", "--q", "0.2", "--n", "9", "--family", "normal"], "quantile takes one --q, got 2"),
        (["count", "--n", "9", "--family", "normal", "--plot", "plan.gif"], "a plot's name must end in .png"),
    ],
    ids=" ".join,
)
def test_errors_are_one_line(words: list[str], text: str):
    """A user's error is one line on stderr and exit code 2."""
    result = run(*words)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("Error: ") and text in result.stderr and result.stderr.count("\n") == 1


def test_a_summary_is_planned_from_a_number_of_columns_or_a_schema(tmp_path: Path):
    """For a file its names and types are read, and no record: a file without records has the same plan."""
    counted = json.loads(run("describe", "--columns", "2", "--rows", "1000", "--epsilon", "1", "--json").stdout)
    path = tmp_path / "people.csv"
    path.write_text("age,income\n")
    refused = run("describe", path, "--rows", "1000", "--epsilon", "1")
    assert refused.exit_code == 2 and "nobounds describe with --header yes and --dry-run" in refused.stderr
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [], "income": []}, schema=pa.schema({"age": "double", "income": "double"})), path)
    assert json.loads(run("describe", path, "--rows", "1000", "--epsilon", "1", "--json").stdout) == counted
    words = run("describe", path, "--rows", "1000", "--epsilon", "1").stdout
    assert "Answered in each column: count, 50%" in words and "nothing was spent" in words


def test_rows_are_counted_for_an_answer_and_for_an_error():
    """A sentence, or JSON with the number."""
    assert run("rows", "quantile", "--q", "0.5", "--epsilon", "1").stdout.startswith(
        "About 240 rows are needed to answer the quantile with an interval, 95% of the time."
    )
    options = ["--relative-error", "0.1", "--family", "uniform", "--epsilon", "1", "--json"]
    assert json.loads(run("rows", "count", *options).stdout)["rows_needed"] < 20


def test_groups_are_planned():
    """Each group's error, and the units that it needs to be shown."""
    options = ["--groups", "10", "--n", "1000", "--delta", "1e-6", "--family", "uniform", "--epsilon", "1"]
    assert "units per group are needed at this epsilon and delta" in run("count", *options).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["describe", "--epsilon", "1", "--rows", "10"], "a file or --columns"),
        (["describe", "--epsilon", "1", "--columns", "3"], "--rows"),
        (["rows", "--epsilon", "1"], "statistic"),
        (["count", "--n", "10", "--family", "normal", "--percentiles", "1"], "plan rows"),
    ],
)
def test_plans_of_summaries_and_rows_are_refused_in_words(words: list[str], message: str):
    """The error names what is missing."""
    result = run(*words)
    assert result.exit_code != 0
    assert message in result.stderr


def test_counts_are_planned_in_the_shell():
    """Without a family; the numbers are those of nobounds.planning.plan."""
    result = run("histogram", "--edges", "20,40,60", "--n", "1000", "--epsilon", "1", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == plan("histogram", edges=[20, 40, 60], n=1000, epsilon=1).to_dict()
    words = run("value-counts", "--groups", "9", "--delta", "1e-6", "--epsilon", "1").stdout
    assert "units per value are needed" in words
    rows = run("rows", "cdf", "--points", "1,2,3", "--value-error", "0.01", "--epsilon", "1").stdout
    assert "About 98 rows are needed" in rows
