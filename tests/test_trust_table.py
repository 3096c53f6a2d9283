"""The table of the audit: every claim holds, tight ones are reached, planted bugs are caught, exit codes tell."""

import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner, Result

from nobounds.cli.audit import audit as command
from nobounds.cli.audit import in_words
from nobounds.trust import planted, table, walks
from nobounds.trust.cases import NEAR, Case, Row, Worst, most, shown

CASES = table.all_cases("quick")


def run(*words: object) -> Result:
    """The result of one run of the command."""
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(command)
    return CliRunner().invoke(app, [str(word) for word in words])


def name(case: Case) -> str:
    return "-".join((case.mechanism, case.setting, case.noise, case.neighbors, case.unit)).replace(" ", "_")


@pytest.mark.parametrize("case", CASES, ids=name)
def test_every_claim_of_the_quick_table_holds(case):
    """No claim is exceeded, and a tight one is reached to 2 %."""
    rows = case.rows()
    assert rows
    assert [row.verdict for row in rows] == ["holds"] * len(rows)
    assert all(NEAR <= row.ratio <= 1 + 1e-9 for row in rows if row.kind == "tight")


def test_the_quick_table_is_a_part_of_the_full_one():
    """It has every mechanism of the full table, with all noises, relations and units of the cost table."""
    full = table.all_cases()
    assert {case.mechanism for case in full} >= {case.mechanism for case in CASES}
    assert {case.mechanism.split(",")[0] for case in full} == {case.mechanism.split(",")[0] for case in CASES} | {
        "quantile by flip",
        "quantile by exponential",
    }
    assert len(full) > 250
    assert {case.noise for case in walks.cases()} == {"exponential", "laplace", "gumbel"}


@pytest.mark.parametrize("case", list(planted.cases()), ids=name)
def test_planted_bugs_are_caught(case):
    """Each shows more than the right mechanism claims; even noise that is 5 % too small."""
    assert {row.verdict for row in case.rows()} == {"EXCEEDED"}


def few(monkeypatch, cases):
    monkeypatch.setattr(table, "all_cases", lambda which: tuple(cases))
    monkeypatch.setattr("nobounds.cli.audit.all_cases", lambda which: tuple(cases))


def made(observed, kind="tight"):
    """A case that claims epsilon 1."""
    return Case(
        "made up",
        "for this test",
        "none",
        "swap",
        "row",
        lambda: {"epsilon": 1.0},
        lambda: [Worst("epsilon", observed, ((1.0, 1.0), (2.0,)))],
        tight=("epsilon",) if kind == "tight" else (),
    )


@pytest.mark.parametrize(
    ("observed", "verdict", "code"),
    [(1.0, "holds", 0), (0.99, "holds", 0), (0.9, "loose", 0), (1.01, "EXCEEDED", 1), (float("inf"), "EXCEEDED", 1)],
)
def test_the_exit_status_is_the_verdict(monkeypatch, observed, verdict, code):
    """0 if all claims hold, 1 if one is exceeded; the table and the JSON name it."""
    few(monkeypatch, [made(observed)])
    result = run("--processes", 1)
    assert result.exit_code == code, result.stderr
    assert verdict in result.stdout
    assert "{2 x 1} | {2}" in result.stdout
    result = run("--processes", 1, "--json")
    assert result.exit_code == code
    (row,) = json.loads(result.stdout)["rows"]
    assert row["verdict"] == verdict and (row["x"], row["y"]) == ("{2 x 1}", "{2}")


def test_a_planted_bug_that_is_missed_is_an_error(monkeypatch):
    """With --planted the exit status is 1 if the auditor lets one pass, and 0 if it names all."""
    few(monkeypatch, [made(2.0, "bound")])
    assert run("--planted", "--processes", 1).exit_code == 0
    few(monkeypatch, [made(2.0, "bound"), made(1.0, "bound")])
    result = run("--planted", "--processes", 1)
    assert result.exit_code == 1
    assert "2 planted bugs: 1 caught, 1 missed." in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--quick", "--planted"],
        ["--mine", "nothing"],
        ["--mine", "nobounds:nothing"],
        ["--mine", "no_such_file.py:make"],
        ["--mine", "no_such_module:make"],
        ["--mine", "nobounds:AboveThreshold", "--epsilon", "-1"],
        ["--mine", "nobounds:AboveThreshold", "--runs", "7"],
        ["--mine", "nobounds:AboveThreshold", "--confidence", "1"],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_usage_errors_exit_with_2(words):
    """In one line on stderr, and nothing on stdout."""
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_the_table_is_plain_when_piped(monkeypatch):
    """No escape sequences, no wrapped rows, and progress is not in it."""
    few(monkeypatch, [made(1.0), replace(made(1.0), setting="a long one " * 20)])
    out = run("--processes", 1).stdout
    assert "\x1b" not in out and "…" not in out
    assert sum("holds" in line for line in out.splitlines()) == 2
    assert "2 claims: none exceeded." in out


def test_two_processes_find_the_same():
    """Cases run in other processes give the rows they give here."""
    alone, together = (table.run("quick", processes) for processes in (1, 2))
    assert [next(together) for _ in range(3)] == [next(alone) for _ in range(3)]
    together.close()


def test_the_worst_of_each_measure_counts():
    """The largest value of each measure is kept with its own pair."""
    found = most([Worst("epsilon", 1.0, (1, 2)), Worst("range", 3.0, (3, 4)), Worst("epsilon", 2.0, (5, 6))])
    assert {measure: one.pair for measure, one in found.items()} == {"epsilon": (5, 6), "range": (3, 4)}


def test_data_sets_are_shown_as_people_read_them():
    """Equal records in a row are counted, and a missing one is called that."""
    assert shown((1.0, 1.0, float("nan"), None, (0, 0))) == "{2 x 1, 2 x missing, {2 x 0}}"
    assert shown(()) == "{}"


def test_words_say_what_is_exceeded():
    """The sentences name the broken claim."""
    row = Row("m", "s", "n", "swap", "row", "epsilon", 1.0, 1.5, "bound", "{}", "{1}", "")
    assert in_words([row]) == ["1 claim: 1 exceeded.", "EXCEEDED: m (s, n, swap)"]
