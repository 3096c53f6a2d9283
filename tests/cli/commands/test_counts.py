"""The commands that count the values of a column, from a file to a table or JSON."""

import json

import pytest
from support.shell import with_header
from typer.testing import CliRunner

from nobounds.cli.app import app


def run(*words):
    """The result of one command."""
    return CliRunner().invoke(app, with_header(*words))


@pytest.fixture
def visits(tmp_path):
    """A file of 800 visits by 100 users to 4 pages."""
    path = tmp_path / "visits.csv"
    path.write_text("user,page\n" + "".join(f"u{i % 100},p{i % 4}\n" for i in range(800)))
    return str(path)


def test_values_are_counted(visits):
    """Public values in their order; as CSV, too."""
    asked = ("value-counts", visits, "--header", "yes", "--column", "page", "--keys", "p1,none", "--epsilon", 1000)
    assert [line.split()[:2] for line in run(*asked).stdout.splitlines()[2:4]] == [["p1", "200"], ["none", "0"]]
    assert run(*asked, "--csv").stdout.splitlines()[1].startswith("p1,200,")


def test_the_most_frequent_values_are_shown(visits):
    """Values that are chosen privately, no more than --k of them."""
    asked = ("top-k", visits, "--column", "page", "--k", 3, "--delta", 1e-6, "--epsilon", 4, "--json")
    release = json.loads(run(*asked).stdout)
    assert len(release["values"]) == 3 and release["statistic"] == "top_k"


def test_distinct_units_and_values_are_counted(visits):
    """Units by default, or the values in a column."""
    units = run("count-distinct", visits, "--unit", "user", "--rows-per-unit", 1, "--epsilon", 1000, "--json")
    assert json.loads(units.stdout)["releases"][0]["value"] == 100
    pages = run("count-distinct", visits, "--column", "page", "--epsilon", 1000)
    assert "count_distinct" in pages.stdout and " 4 " in pages.stdout


@pytest.fixture
def people(tmp_path):
    """A file of 2,000 ages from 20 to 69."""
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "".join(f"{20 + i % 50}\n" for i in range(2000)))
    return str(path)


def test_bins_are_shown_in_words(people):
    """Public edges, with the open bins; and shares up to points as CSV, where nothing is missing."""
    shown = run(
        "histogram", people, "--header", "yes", "--column", "age", "--edges", "30, 50", "--epsilon", 1000
    ).stdout
    assert [line.rsplit(maxsplit=4)[:2] for line in shown.splitlines()[2:5]] == [
        ["below 30", "400"],
        ["30 to 50", "800"],
        ["50 or more", "800"],
    ]
    lines = run("cdf", people, "--column", "age", "--points", "29,49", "--epsilon", 1e6, "--csv").stdout.splitlines()
    assert [line.split(",")[0] for line in lines] == ["up_to", "29.0", "49.0"]
    assert abs(float(lines[2].split(",")[1]) - 0.6) < 1e-3


def test_edges_are_chosen_without_bounds(people):
    """As JSON; most records lie between the edges."""
    release = json.loads(run("histogram", people, "--column", "age", "--bins", 8, "--epsilon", 2, "--json").stdout)
    assert release["parameters"]["edges"] == "private" and 3 <= len(release["values"]) <= 8
    assert sum(release["values"][1:-1]) > 1500


@pytest.mark.parametrize("given", [(), ("--keys", "p1", "--delta", "1e-6")])
def test_values_are_public_or_chosen(visits, given):
    """One of the two must be given."""
    result = run("value-counts", visits, "--column", "page", "--epsilon", 1, *given)
    assert result.exit_code == 2
    assert "give --keys or --keys-file (public), or --delta" in result.stderr


def test_bins_are_counted_by_group(visits):
    """A count or a share for each key and bin; --csv needs no --by, as before."""
    path = visits.replace("visits", "rooms")
    with open(path, "w") as file:
        file.write("room,age\n" + "".join(f"{'ab'[i % 2]},{i % 100}\n" for i in range(2000)))
    by = (path, "--header", "yes", "--column", "age", "--by", "room", "--keys", "b,a", "--epsilon", 1000)
    lines = run("histogram", *by, "--edges", "50", "--csv").stdout.splitlines()
    assert [line.split(",")[:4] for line in lines[1:]] == [
        ["b", "", "50.0", "500"],
        ["b", "50.0", "", "500"],
        ["a", "", "50.0", "500"],
        ["a", "50.0", "", "500"],
    ]
    shares = json.loads(run("cdf", *by, "--points", "49", "--json").stdout)
    assert shares["values"] == pytest.approx([0.5, 0.5], abs=0.01) and shares["statistic"] == "cdf"
    assert "give --json or --csv, got both" in run("cdf", *by, "--points", "49", "--json", "--csv").stderr
    assert "--keys needs --by" in run("cdf", path, "--column", "age", "--keys", "a", "--epsilon", 1).stderr
