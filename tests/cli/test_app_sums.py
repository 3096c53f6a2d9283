"""The commands for sums, means, counts and whole tables: right at a huge epsilon, readable, plain in their errors."""

import json

import numpy as np
import pytest
from support.shell import SURE, answer, run


def test_sum_mean_and_count_are_right_at_a_huge_epsilon(people):
    """Of the incomes 1001 to 3000; the release has the clip and an interval around the value."""
    for command, truth in (("sum", 2000.5 * 2000), ("mean", 2000.5), ("count", 2000)):
        release = answer(command, people, "--column", "income", *SURE)["releases"][0]
        ((low, high),) = release["intervals"]
        assert release["value"] == pytest.approx(truth, rel=0.01)
        assert low <= release["value"] <= high
        assert command == "count" or release["parameters"]["clip"][1] >= 2900


def test_the_table_of_a_mean_says_what_its_range_is(people):
    """The clip and the interval are columns."""
    text = run("mean", people, "--column", "income", "--epsilon", "1").stdout
    assert " 95% interval " in text and "for the noise" not in text and "…" not in text
    assert "clip" in text
    few = people.with_name("few.csv")
    few.write_text("income\n5\n7\n")
    declared = ["--type", "income=number"]
    assert "too few rows" in run("mean", few, "--column", "income", "--epsilon", "1", *declared).stdout
    assert "too few numbers" in run("mean", few, "--column", "income", "--epsilon", "1").stdout
    assert " of its values are numbers; how many others are left out is unknown." in " ".join(text.split())


def test_describe_shows_every_column_and_what_each_number_cost(people):
    """A row for each statistic and a column for each data column; text columns are named as skipped."""
    text = run("describe", people, "--header", "yes", "--epsilon", "1").stdout
    lines = text.splitlines()
    assert "Private summary of people.csv" in lines[0]
    assert "income" in lines[2] and "epsilon" in lines[2]
    for statistic in ("count", "mean", "std", "min", "5%", "25%", "50%", "75%", "95%", "max"):
        assert any(line.split()[:1] == [statistic] for line in lines)
    assert "Skipped: name (hardly any numbers)." in text
    assert "Total privacy loss: epsilon 1 " in text
    assert "…" not in text


def test_a_wide_table_is_shown_in_parts(tmp_path, monkeypatch):
    """Columns that do not fit beside each other go below, and none is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"quite_a_long_name_{i}" for i in range(7)]
    path = tmp_path / "wide.csv"
    rows = np.random.default_rng(2).normal(1e6, 1, (400, 7))
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    text = run("describe", path, "--header", "yes", "--epsilon", "1").stdout
    assert all(name in text for name in names)
    table = [line for line in text.splitlines() if not line.startswith(("Epsilon", "Total"))]
    assert max(map(len, table)) <= 80


def test_describe_as_json_is_the_description(people):
    """Machines get every value, interval and cost, and the total loss."""
    result = run(
        "describe", people, "--header", "yes", "--column", "income", "--json", "--resolution", "income=1", *SURE
    )
    found = json.loads(result.stdout)
    assert found["columns"]["income"]["values"]["50%"] == pytest.approx(2000, abs=2)
    assert found["loss"]["epsilon"] == 1e6
    assert set(found["columns"]["income"]) == {"values", "intervals", "costs", "reasons"}


@pytest.mark.medium
def test_describe_draws_a_picture(people, tmp_path):
    """--plot writes a PNG; a name that cannot be drawn into is refused before anything is spent."""
    target = tmp_path / "out.png"
    assert run("describe", people, "--header", "yes", "--epsilon", "1", "--plot", target).exit_code == 0
    assert target.read_bytes()[:4] == b"\x89PNG"
    for wrong in (tmp_path / "out.txt", tmp_path / "nowhere" / "out.png"):
        result = run("describe", people, "--header", "yes", "--epsilon", "1", "--plot", wrong)
        assert result.exit_code == 2
        assert result.stdout == ""


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "wage"], "column 'wage' is not in the table; the columns are"),
        (["--epsilon", "0"], "epsilon"),
        (["--lower", "wage=0"], "'wage', which is not a numeric column"),
        (["--lower", "1", "--lower", "2"], "lower must be one number for all columns, or NAME=NUMBER"),
        (["--resolution", "fine"], "resolution"),
        (["--neighbors", "cousins"], "neighbors"),
    ],
)
def test_a_wrong_option_of_describe_is_one_plain_line(people, words, message):
    """Errors go to stderr as one line, with exit code 2 and no output."""
    result = run("describe", people, "--header", "yes", "--epsilon", "1", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["sum", "mean", "count", "describe"])
def test_help_has_an_example(command):
    """Each command's help shows a line to copy."""
    assert f"nobounds {command} " in run(command, "--help").stdout


@pytest.mark.medium
def test_dates_durations_and_decimals_are_typed_and_shown(tmp_path):
    """A bound is a date, answers are values of the type, and JSON is explained."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    number = range(2000)
    table = {
        "day": pa.array(number, pa.int32()).cast(pa.date32()),
        "at": pa.array(number).cast(pa.timestamp("s", "Europe/Berlin")),
        "took": pa.array(number).cast(pa.duration("s")),
        "paid": pa.array(number).cast(pa.decimal128(21, 2)),
    }
    path = tmp_path / "typed.parquet"
    pq.write_table(pa.table(table), path)
    at_once = ["--epsilon", "1e6"]
    median = run("quantile", path, "--column", "day", "--q", "0.5", "--lower", "1970-01-01", *at_once)
    assert "1972-09-2" in median.output
    assert "1,999,000" in run("sum", path, "--column", "paid", *at_once).output
    described = run("describe", path, *at_once).output
    assert "1972-09-2" in described and "+01:00" in described and "± " in described
    (tmp_path / "mean.json").write_text(run("mean", path, "--column", "at", *at_once, "--json").stdout)
    assert "1970-01-01 01:16:" in run("explain", tmp_path / "mean.json").output
    refused = run("sum", path, "--column", "day", *at_once)
    assert refused.exit_code != 0 and "a sum of values of type date makes no sense" in refused.output


def test_spreads_medians_and_proportions_are_right_at_a_huge_epsilon(people):
    """Of the incomes 1001 to 3000; a proportion takes a condition."""
    for command, truth in (("median", 2000), ("std", 577.35), ("variance", 577.35**2)):
        release = answer(command, people, "--column", "income", *SURE)["releases"][0]
        assert release["value"] == pytest.approx(truth, rel=0.01)
    share = answer("proportion", people, "--condition", "income > 2500", *SURE)["releases"][0]
    assert share["value"] == pytest.approx(0.25, abs=0.001)
    assert "clip" in run("std", people, "--column", "income", "--epsilon", "1").stdout


def test_statistics_of_two_columns_have_commands(people):
    """Of the incomes 1001 to 3000 with themselves."""
    two = {"ratio": ("--numerator", "--denominator", 1), "weighted-mean": ("--column", "--weights", 2167.17)}
    two |= {"covariance": ("--x", "--y", 577.35**2), "correlation": ("--x", "--y", 1)}
    for command, (first, second, truth) in two.items():
        release = answer(command, people, first, "income", second, "income", *SURE)["releases"][0]
        assert release["value"] == pytest.approx(truth, rel=0.01)
    text = run("correlation", people, "--x", "income", "--y", "income", "--epsilon", "5").stdout
    assert "Clipped: the first column to" in text
    release = answer("iqr", people, "--column", "income", "--interval", "0.9", *SURE)["releases"][0]
    assert release["value"] == pytest.approx(1000, rel=0.01)
