"""The commands about units, and a summary that is planned and not made: what they print and charge."""

import json
from pathlib import Path

import pytest
from support.shell import with_header
from typer.testing import CliRunner, Result

import nobounds as nb
from nobounds.cli.app import app


def run(*words: object) -> Result:
    """The result of one command."""
    return CliRunner().invoke(app, with_header(*words))


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A file in which each of 600 users has four rows."""
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["user,paid", *(f"u{k % 600},{k % 7}" for k in range(2400))]) + "\n")
    return path


def test_the_share_of_rows_left_out(visits: Path):
    """A share with an interval, as JSON."""
    result = run("left-out", visits, "--unit", "user", "--rows-per-unit", 2, "--epsilon", 1, "--json")
    (release,) = json.loads(result.stdout)["releases"]
    low, high = release["intervals"][0]
    assert release["statistic"] == "rows_left_out" and low <= release["value"] <= high
    assert abs(release["value"] - 0.5) < 0.15
    assert release["parameters"]["kept_rows"] == 2


def test_answers_with_a_unit_say_which_rows_count(visits: Path):
    """A sentence below the answer, for single answers, summaries and groups."""
    unit = ["--unit", "user", "--rows-per-unit", 2, "--epsilon", 1, "--header", "yes"]
    sentence = "Of each user at most 2 rows count; the other rows are left out."
    assert sentence in run("count", visits, *unit).stdout
    assert sentence in run("describe", visits, "--column", "paid", *unit).stdout
    grouped = run("count", visits, "--by", "paid", "--delta", "1e-6", *unit).stdout
    assert sentence in grouped and "units to be shown" in grouped


def test_a_dry_run_reads_no_record_and_charges_nothing(visits: Path, tmp_path: Path):
    """It is the plan for the columns of the schema; the budget stays whole, and bad records do not matter."""
    budget = tmp_path / "budget.json"
    nb.Budget(epsilon=1, path=budget)
    before = budget.read_bytes()
    options = ["--header", "yes", "--epsilon", 1, "--dry-run", "--rows", 2400, "--json"]
    result = run("describe", visits, *options, "--budget", budget)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == nb.plan_describe(2, rows=2400, epsilon=1).to_dict()
    assert budget.read_bytes() == before
    visits.write_text("user,paid\n")
    assert run("describe", visits, *options).stdout == result.stdout


def test_a_dry_run_needs_a_number_of_rows(visits: Path):
    """It is not read from the file; and a summary does not take it."""
    result = run("describe", visits, "--header", "yes", "--epsilon", 1, "--dry-run")
    assert result.exit_code == 2 and "--rows" in result.output
    assert run("describe", visits, "--header", "yes", "--epsilon", 1, "--rows", 10).exit_code == 2


@pytest.mark.medium
def test_rows_and_groups_per_unit_are_suggested(visits: Path):
    """The options to use, below a table of what others would do; of four rows each four are used."""
    words = ["suggest", visits, "--unit", "user", "--by", "paid", "--epsilon", 5, "--header", "yes"]
    shown = run(*words).stdout
    assert "--unit user --rows-per-unit 4 --groups-per-unit 4\n" in shown and "rows left out" in shown
    (release,) = json.loads(run(*words, "--json").stdout)["releases"]
    assert release["value"] == [4, 4] and release["loss"]["unit"] == "user"
    few = run("suggest", visits, "--unit", "user", "--epsilon", 0.001)
    assert few.exit_code == 0 and "too few rows" in few.stdout


def test_the_number_of_units_needs_no_limit_of_their_rows(visits: Path):
    """One more unit changes it by 1; the number of values in another column needs a limit, and is refused."""
    assert " 600 " in run("count-distinct", visits, "--unit", "user", "--epsilon", 100).stdout
    refused = run("count-distinct", visits, "--unit", "user", "--column", "paid", "--epsilon", 1)
    assert refused.exit_code == 2 and "--unit needs --rows-per-unit" in refused.stderr


def test_options_that_two_commands_share_stand_under_the_heading_of_each():
    """--delta is about groups where there is --by, and about values where these are counted."""
    for command, heading in (("mean", "Answers by group:"), ("value-counts", "Which values are counted:")):
        section = run(command, "--help").stdout.split(heading)[1].split("\n\n")[0]
        assert "--delta" in section and "--groups-per-unit" in section


def test_no_option_is_proposed_where_there_is_no_answer(visits: Path):
    """With too few units for the epsilon no number of rows is named."""
    shown = run("rows-per-unit", visits, "--unit", "user", "--epsilon", 0.01).stdout
    assert "--rows-per-unit" not in shown
    assert "--unit user --rows-per-unit 4" in run("rows-per-unit", visits, "--unit", "user", "--epsilon", 5).stdout
