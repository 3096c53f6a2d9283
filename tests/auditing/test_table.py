"""The table of the audit: every claim holds, tight ones are reached, planted bugs are caught, exit codes tell."""

import json
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import planted_bugs
import pytest
from nobounds.auditing.scripted import (
    divergence_between,
    gaussian_within,
    geometric_within,
    laplace_within,
    loss_between,
    scripted_law,
)
from support.shell import audit as run

from nobounds.auditing import table
from nobounds.auditing.cases import NEAR, Case, ClaimRow, Worst, most, shown
from nobounds.auditing.claims import numbers, streams, vectored, walks
from nobounds.auditing.divergences import rho_between
from nobounds.cli.commands.audit import in_words
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise import additive

CASES = table.all_cases("quick")
SCRIPTED = [case for part in (streams, numbers, vectored) for case in part.cases() if case.quick]
MEAN = next(case for case in SCRIPTED if (case.mechanism, case.setting) == ("mean", "epsilon 3, from 0 to 1"))


def name(case: Case) -> str:
    return "-".join((case.mechanism, case.setting, case.noise, case.neighbors, case.unit)).replace(" ", "_")


def holds(case):
    rows = case.rows()
    assert rows
    assert [row.verdict for row in rows] == ["holds"] * len(rows)
    assert all(NEAR <= row.ratio <= 1 + 1e-9 for row in rows if row.kind == "tight")


@pytest.mark.medium
@pytest.mark.parametrize("case", [case for case in CASES if name(case) not in set(map(name, SCRIPTED))], ids=name)
def test_every_claim_of_the_quick_table_holds(case):
    """No claim is exceeded, and a tight one is reached to 2 %."""
    holds(case)


@pytest.mark.medium
@pytest.mark.parametrize("case", [case for case in SCRIPTED if case is not MEAN], ids=name)
def test_every_claim_of_code_as_it_runs_holds(case):
    """So it is for counts, sums, means, vectors, loops and samplers with scripted noise, by all that they release."""
    assert case in CASES or name(case) in set(map(name, CASES))
    holds(case)


@pytest.mark.medium
def test_a_mean_tells_noisy_numbers_alone():
    """Its noise scale and interval depend on no exact number of records: they are a part of what is audited."""
    holds(MEAN)


@pytest.mark.medium
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


@pytest.mark.medium
@pytest.mark.parametrize("case", list(planted_bugs.cases()), ids=name)
def test_planted_bugs_are_caught(case):
    """Each shows more than the right mechanism claims; even noise that is 5 % too small."""
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
    monkeypatch.setattr(planted_bugs, "cases", lambda: [made(2.0, "bound")])
    assert planted_bugs.main() == 0
    monkeypatch.setattr(planted_bugs, "cases", lambda: [made(2.0, "bound"), made(1.0, "bound")])
    assert planted_bugs.main() == 1
    assert "2 planted bugs: 1 caught, 1 missed." in capsys.readouterr().out


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


# --- scripted noise -------------------------------------------------------------------------------------------------


def test_the_law_of_a_count_is_that_on_paper():
    """Also of no records, where all negative noise is one outcome; what is beyond the reach is all that is missing."""
    rate = 1.0
    for n in (0, 1, 5):
        found = scripted_law(lambda n=n: max(n + additive.discrete_laplace(F(1), None), 0), 30)
        p = {k: math.exp(log) for k, log in found.logs.items()}
        for k in range(1, 9):
            assert p[k] == pytest.approx(math.tanh(rate / 2) * math.exp(-rate * abs(k - n)), rel=1e-12)
        assert p[0] == pytest.approx(math.exp(-rate * n) / (1 + math.exp(-rate)), rel=1e-12)
        assert math.fsum(p.values()) + math.exp(found.beyond) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("rate", [F(1, 3), F(1), F(5)])
def test_noise_within_a_reach_and_beyond_it_is_all_of_it(rate):
    """The probabilities of all values and of those beyond sum to 1, for short reaches too."""
    for within, reach in ((laplace_within, 2), (geometric_within, 2), (gaussian_within, 1.5), (laplace_within, 9)):
        drawn = within(rate, reach)
        assert math.fsum(map(math.exp, [*drawn.logs, drawn.beyond])) == pytest.approx(1, abs=1e-8)


def test_losses_by_scripts_are_bounds_below_the_true_ones():
    """However short the reach, no loss is found that is not there; a long one finds all of it."""
    for reach in (0.5, 1, 2, 5, 30):
        x, y = (scripted_law(lambda n=n: n + additive.discrete_laplace(F(1), None), reach) for n in (0, 1))
        epsilon, eta = loss_between(x, y)
        assert epsilon <= 1 + 1e-12 and eta <= 2 + 1e-12
    assert epsilon == pytest.approx(1) and eta == pytest.approx(2)
    for reach in (1, 3, 80):
        x, y = (scripted_law(lambda n=n: n + additive.discrete_gaussian(F(1), None), reach) for n in (0, 1))
        assert divergence_between(x, y) <= 0.5 + 1e-9
    assert divergence_between(x, y) == pytest.approx(0.5)


def test_what_only_one_of_two_can_release_is_seen():
    """An outcome that is impossible on the other side is a loss beyond all claims, for a pure one and for rho."""
    sure, noisy = (scripted_law(release, 30) for release in (lambda: 0, lambda: additive.discrete_laplace(F(1), None)))
    assert loss_between(sure, noisy) == (math.inf, math.inf)
    assert divergence_between(sure, noisy) == math.inf
    x, y = (scripted_law(lambda n=n: n + additive.discrete_gaussian(F(1), None), 20) for n in (0, 101))
    assert divergence_between(x, y) > 100
    log_p, log_q = np.array([0.0, -np.inf, -np.inf]), np.log(np.array([0.5, 0.5, 1e-300]))
    assert rho_between(log_p, log_q) == math.inf and rho_between(log_p, log_p) == 0


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("queries", [(0,), (-1, 0), (3, -2, 0, 1)], ids=str)
def test_the_loop_and_the_sampler_have_the_law_on_paper(noise, queries):
    """AboveThreshold as it is called, and the sampler of walks as it runs, halt by the exact law: all three are one."""
    on_paper = Law(Walk.of(list(queries), F(0), eps1=F(1), eps2=F(1), noise=noise)).pmf()
    loop = streams.called_law(lambda: streams.CoarseAboveThreshold(0, epsilon=2, monotonic=True, noise=noise), queries)
    walk = streams.walk_law(noise, F(1), F(1), F(1), queries)
    for k in range(len(queries) + 1):
        halted = (k,) if k < len(queries) else ()
        assert math.exp(loop.logs[halted]) == pytest.approx(on_paper[k], abs=1e-12)
        assert math.exp(walk.logs[k]) == pytest.approx(on_paper[k], abs=1e-7)
    assert max(loop.beyond, walk.beyond) < math.log(1e-6)


def test_gumbel_walks_are_sampled_by_the_law_on_paper():
    """The sampler of Gumbel noise has one variable, and halts by the exact law."""
    queries = (3, -2, 0, 1)
    on_paper = Law(Walk.of(list(queries), F(0), eps1=F(1), eps2=F(1), noise="gumbel")).pmf()
    walk = streams.walk_law("gumbel", F(1), F(1), F(1), queries)
    assert [math.exp(walk.logs[k]) for k in range(5)] == pytest.approx(on_paper.tolist(), abs=1e-7)


@pytest.mark.medium
@pytest.mark.parametrize("times", [F(1), F(1, 4), F(9, 10)])
def test_vectors_have_the_rho_of_their_variance(times):
    """The rho of the noise on a sum of vectors goes by one over its variance; what the clip costs is added."""
    whole, found = (
        max(one.value for one in vectored.vectors_seen("vector_sum", "add-remove", F(1, 2), t)) for t in (F(1), times)
    )
    clip = float(vectored.watched("vector_sum", "add-remove", F(1, 2), ((3.0, 4.0),)).clip)
    assert found - clip == pytest.approx((whole - clip) / float(times))
