"""What is asked of the studio is what the library does, and the code that it gives does the same again."""

import json
import shlex
import subprocess
import sys
from fractions import Fraction

import pytest
from support.studio import people

import nobounds as nb
from nobounds.cli.app import app
from nobounds.studio.asks import STATISTICS, Ask, Guess, Origin, forecast, parts

KNOWN = {"lower": "0", "upper": "1e7", "resolution": "1"}
ASKS = [
    Ask("describe", ("income", "age"), "4", lower="0", resolution="income=0.01, age=1"),
    Ask("describe", (), "4"),
    Ask("quantile", ("income",), "0.5", q=("0.9",), **KNOWN),
    Ask("quantiles", ("income",), "1", q=("0.25", "0.5"), lower="0"),
    Ask("maximum", ("age",), "1"),
    Ask("minimum", ("age",), "1", lower="-5"),
    Ask("bounds", ("age",), "1"),
    Ask("sum", ("income",), "0.3", "rho"),
    Ask("mean", ("age",), "1", upper="120"),
    Ask("count", (), "1"),
    Ask("count", ("age",), "1"),
]


@pytest.fixture
def origin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people("it's people.parquet")
    nb.Budget(epsilon=100, delta=1e-6, path="a budget")
    return Origin(("it's people.parquet",), tmp_path / "a budget", "user_id", 2)


@pytest.mark.medium
@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: f"{ask.statistic}-{len(ask.columns)}")
def test_the_code_and_the_command_make_such_a_release_again(ask, origin, capsys):
    """Run as they are, both give a release with the parameters and the loss of the first one, and charge it again."""
    first = ask.release(origin.table(nb.Budget(path=origin.budget)))
    namespace = {}
    exec(ask.python(origin), namespace)
    capsys.readouterr()
    words = shlex.split(ask.shell(origin))
    assert words[0] == "nobounds"
    assert app([*words[1:], "--json"], standalone_mode=False) in (0, None)
    printed = json.loads(capsys.readouterr().out)
    plain = printed["releases"][0] if "releases" in printed else printed
    for again in (namespace["release"].to_dict(), plain):
        assert again["loss"] == first.to_dict()["loss"]
        assert again["statistic"] == first.to_dict()["statistic"]
        assert again["parameters"].keys() == first.to_dict()["parameters"].keys()
    charges = nb.Budget(path=origin.budget).history
    assert len(charges) == 3 and len({charge.loss for charge in charges}) == 1


@pytest.mark.medium
def test_what_is_stated_about_a_csv_file_is_in_the_code_and_the_command(tmp_path):
    """Such a file is read again as it was: the script and the command state its marks, its types and its header."""
    rows = "".join(f"'{k}';{k % 60},5;n\n" for k in range(300))
    (tmp_path / "people.csv").write_text("# made by hand\nuser_id;age;note\n" + rows)
    csv = nb.Csv(header=True, decimal=",", quote="'", comment="#", missing=("n", "a b"), newlines_in_fields=False)
    origin = Origin(("people.csv",), tmp_path / "b", "user_id", 1, csv=csv, schema={"age": "number", "note": "text"})
    nb.Budget(epsilon=100, path=tmp_path / "b")
    ask = Ask("describe", (), "9")
    script = [sys.executable, "-c", ask.python(origin)]
    command = ["sh", "-c", ask.shell(origin).replace("nobounds", f"{sys.executable} -m nobounds.cli", 1)]
    for words in (script, command):
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "age" in run.stdout
    assert len(nb.Budget(path=tmp_path / "b").history) == 2


def test_every_statistic_is_tried_above():
    """The list above names every statistic that the studio offers."""
    assert {ask.statistic for ask in ASKS} == set(STATISTICS)


@pytest.mark.medium
def test_a_hostile_name_stays_a_name(tmp_path):
    """Quotes, newlines and commands in names do not get out of the code or of the command."""
    name = "x'); import os; os.remove('canary') #\n$(rm canary)`rm canary`\""
    origin = Origin((name,), tmp_path / name.replace("/", ""))
    ask = Ask("quantile", (name,), "1", q=("0.5",))
    (tmp_path / "canary").touch()
    failed = subprocess.run(
        [sys.executable, "-c", ask.python(origin)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert failed.returncode != 0 and "SyntaxError" not in failed.stderr
    echoed = ask.shell(origin).replace("nobounds", "true", 1)
    subprocess.run(["sh", "-c", echoed], cwd=tmp_path, check=True)
    assert (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    ("fields", "columns", "said"),
    [
        ({}, (), "choose a statistic"),
        ({"statistic": "mean", "amount": ""}, ("a",), "say how much epsilon"),
        ({"statistic": "mean", "amount": "1"}, (), "choose a column"),
        ({"statistic": "mean", "amount": "1"}, ("a", "b"), "one column"),
        ({"statistic": "quantile", "amount": "1"}, ("a",), "which quantile"),
        ({"statistic": "quantile", "amount": "1", "q": "0.1 0.2"}, ("a",), "several quantiles"),
        ({"statistic": "mean", "amount": "-1"}, ("a",), "epsilon must be greater than 0"),
        ({"statistic": "mean", "amount": "one"}, ("a",), "epsilon must be a finite number"),
        ({"statistic": "mean", "amount": "1", "spending": "euros"}, ("a",), "epsilon or rho"),
        ({"statistic": "mean", "amount": "1", "lower": "9" * 5000}, ("a",), "too long"),
    ],
)
def test_what_is_missing_or_wrong_is_said_in_words(fields, columns, said):
    """An ask that cannot be served is refused with the reason."""
    with pytest.raises(ValueError, match=said):
        Ask.of(fields, columns)


@pytest.mark.parametrize("spending", ["epsilon", "rho"])
def test_the_forecast_of_a_unit_is_that_of_its_share(spending):
    """With three rows a unit, each row gets a third of epsilon or a ninth of rho, as the release does."""
    whole, part = {"epsilon": ("3", "1"), "rho": ("0.9", "0.1")}[spending]
    guess = Guess("1000", "normal")
    shared = forecast(Ask("count", (), whole, spending), guess, Origin(("x",), None, "user", 3))
    alone = forecast(Ask("count", (), part, spending), guess, Origin(("x",), None))
    assert shared.rows == alone.rows
    assert alone.rows[0] == nb.plan("count", n=1000, data="normal", **{spending: part}).rows[0]


def test_the_parts_of_a_summary_are_within_its_cost():
    """The parts that are forecast come to what the summary costs, but for the standard deviation's share."""
    ask, origin = Ask("describe", ("a", "b"), "1"), Origin(("x",), None, "user", 3)
    for n, names in (("100", 1), ("500", 2), ("1500", 3), ("3000", 4), ("30000", 4)):
        found = parts(ask, 2, Guess(n, "normal"), origin)
        spent = 2 * sum(Fraction(part.amount) for part in found.values())
        assert len(found) == names and (spent == 1 or (n in ("100", "30000") and spent < 1))


@pytest.mark.medium
@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: f"{ask.statistic}-{len(ask.columns)}")
def test_everything_that_is_offered_can_be_forecast(ask):
    """At once, and for every part of a summary."""
    guess, origin = Guess("200", "normal", "3"), Origin(("x",), None)
    each = parts(ask, 2, guess, origin) if ask.statistic == "describe" else {"whole": ask}
    for part in each.values():
        found = forecast(part, guess, origin, quick=True)
        assert 0 <= found.rows[0].median_error <= found.rows[0].error_95
