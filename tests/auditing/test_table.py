"""The table of the audit: every claim holds, tight ones are reached, planted bugs are caught, exit codes tell."""

import json
from dataclasses import replace

import planted_bugs
import pytest
from support.lockstep_cases import NOT_RUN
from support.shell import audit as run

import nobounds as nb
from nobounds.auditing import table
from nobounds.auditing.cases import NEAR, Case, ClaimRow, Worst, most, shown
from nobounds.auditing.claims import numbers, releases, streams, vectored, walks
from nobounds.cli.commands.audit import in_words

CASES = table.all_cases("quick")
AS_THEY_RUN = [case for part in (streams, numbers, vectored, releases) for case in part.cases() if case.quick]


def name(case: Case) -> str:
    return "-".join((case.mechanism, case.setting, case.noise, case.neighbors, case.unit)).replace(" ", "_")


def holds(case):
    rows = case.rows()
    assert rows
    assert [row.verdict for row in rows] == ["holds"] * len(rows)
    assert all(NEAR <= row.ratio <= 1 + 1e-9 for row in rows if row.kind == "tight")


@pytest.mark.medium
@pytest.mark.parametrize("case", [case for case in CASES if name(case) not in set(map(name, AS_THEY_RUN))], ids=name)
def test_every_claim_of_the_quick_table_holds(case):
    """No claim is exceeded, and a tight one is reached to 2%."""
    holds(case)


@pytest.mark.medium
@pytest.mark.parametrize("case", AS_THEY_RUN, ids=name)
def test_every_claim_of_code_as_it_runs_holds(case):
    """So it is for every statistic by the program that releases it, and for loops and samplers."""
    assert case in CASES or name(case) in set(map(name, CASES))
    holds(case)


@pytest.mark.medium
def test_the_quick_table_is_a_part_of_the_full_one():
    """It has every mechanism of the full table, with all noises, relations and units of the cost table."""
    full = table.all_cases()
    assert {case.mechanism for case in full} == {case.mechanism for case in CASES}
    assert len(full) > 250
    assert {case.noise for case in walks.cases()} == {"exponential", "laplace", "gumbel"}


@pytest.mark.medium
@pytest.mark.parametrize("case", list(planted_bugs.cases()), ids=name)
def test_planted_bugs_are_caught(case):
    """Each shows more than the right mechanism claims; even noise that is 5% too small."""
    assert {row.verdict for row in case.rows()} == {"EXCEEDED"}


def few(monkeypatch, cases):
    monkeypatch.setattr(table, "all_cases", lambda which: tuple(cases))
    monkeypatch.setattr("nobounds.cli.commands.audit.all_cases", lambda which: tuple(cases))


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
    [(1.0, "holds", 0), (0.99, "holds", 0), (0.9, "loose", 1), (1.01, "EXCEEDED", 1), (float("inf"), "EXCEEDED", 1)],
)
def test_the_exit_status_is_the_verdict(monkeypatch, observed, verdict, code):
    """0 if all claims hold and are reached, 1 if one is exceeded or loose; the table and the JSON name it."""
    few(monkeypatch, [made(observed)])
    result = run("--processes", 1)
    assert result.exit_code == code, result.stderr
    assert verdict in result.stdout
    assert "{2 x 1} | {2}" in result.stdout
    result = run("--processes", 1, "--json")
    assert result.exit_code == code
    (row,) = json.loads(result.stdout)["rows"]
    assert row["verdict"] == verdict and (row["x"], row["y"]) == ("{2 x 1}", "{2}")


def test_a_planted_bug_that_is_missed_is_an_error(monkeypatch, capsys):
    """The exit status of `make planted` is 1 if the audit lets one pass, and 0 if it catches all."""
    monkeypatch.setattr(planted_bugs, "PLANTED", {"a bug": None})
    monkeypatch.setattr(planted_bugs, "is_found", lambda bug: True)
    monkeypatch.setattr(planted_bugs, "cases", lambda: [made(2.0, "bound")])
    assert planted_bugs.main() == 0
    monkeypatch.setattr(planted_bugs, "cases", lambda: [made(2.0, "bound"), made(1.0, "bound")])
    assert planted_bugs.main() == 1
    assert "2 planted bugs: 1 caught, 1 missed." in capsys.readouterr().out
    monkeypatch.setattr(planted_bugs, "cases", lambda: [made(2.0, "bound")])
    monkeypatch.setattr(planted_bugs, "is_found", lambda bug: False)
    assert planted_bugs.main() == 1
    assert "1 bugs in programs: 0 caught, 1 missed. a bug" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--quick", "--mine", "nobounds:AboveThreshold"],
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


@pytest.mark.medium
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
    row = ClaimRow("m", "s", "n", "swap", "row", "epsilon", 1.0, 1.5, "bound", "{}", "{1}", "")
    assert in_words([row]) == ["1 claim: 1 exceeded.", "EXCEEDED: m (s, n, swap)"]


def test_words_do_not_say_that_loose_claims_are_reached():
    """They name the loose ones, and the least ratio as it is."""
    row = ClaimRow("m", "s", "n", "swap", "row", "epsilon", 1.0, 0.5, "tight", "{}", "{1}", "")
    words = in_words([row, replace(row, observed=1.0)])
    assert words[1:] == [
        "2 are tight: the least ratio is 0.500.",
        "1 are looser than they should be.",
        "loose: m (s, n, swap)",
    ]
    assert "reached" in " ".join(in_words([replace(row, observed=1.0)]))


@pytest.mark.parametrize("observed", [float("nan"), -1.0, float("-inf")])
def test_an_audit_that_saw_nothing_is_an_error(observed):
    """A loss that is negative or not a number is a mistake of the audit, and never a claim that holds."""
    with pytest.raises(ArithmeticError, match="saw no epsilon"):
        made(observed).rows()
    with pytest.raises(ArithmeticError, match="saw no epsilon"):
        replace(made(1.0), look=list).rows()


def test_every_public_statistic_is_audited_as_it_is_released():
    """Each public function and mechanism that reads data has a case that runs its own program."""
    audited = {case.mechanism.split(",")[0].split(" by ")[0].replace(" ", "_") for case in releases.cases()}
    assert set(nb.__all__) - NOT_RUN <= audited | {name.removeprefix("Table.") for name in audited}
