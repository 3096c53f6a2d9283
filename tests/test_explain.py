"""Releases in plain words: numbers that hold, rounded to the safe side, for every JSON that the library writes."""

import json
import math
import random
from fractions import Fraction as F
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import nobounds as nb
from nobounds.baselines import emq_quantile
from nobounds.cli.app import app
from nobounds.explaining.expected import Made
from nobounds.explaining.explain import explain, paragraphs
from nobounds.explaining.protection import chance_up, factor_up, guess, meaning
from nobounds.explaining.reading import parsed
from nobounds.spending import Spending

X = np.random.default_rng(0).lognormal(10, 1, 3000)
TABLE = {"who": np.arange(3000) // 3, "town": np.arange(3000) % 4, "pay": X}


def table(**how):
    return nb.Table(TABLE, unit="who", rows_per_unit=3, **how)


def seeded(k=1):
    return random.Random(k)


MADE = {
    "quantile": lambda: nb.quantile(X, 0.9, epsilon=1, rng=seeded()),
    "quantile by rho": lambda: nb.quantile(X, 0.5, rho=0.1, rng=seeded()),
    "stated rows": lambda: nb.quantile(X, 0.5, epsilon=1, rows=3000, lower=0, rng=seeded()),
    "own ladder": lambda: nb.quantile(X, 0.5, epsilon=1, ladder=nb.Ladder.geometric(2), rng=seeded()),
    "quantiles": lambda: nb.quantiles(X, [0.75, 0.25], epsilon=1, rng=seeded()),
    "maximum": lambda: nb.maximum(X, epsilon=1, rng=seeded()),
    "minimum": lambda: nb.minimum(X, epsilon=1, neighbors="swap", rng=seeded()),
    "bounds": lambda: nb.bounds(X, epsilon=1, rng=seeded()),
    "sum": lambda: table().sum("pay", epsilon=1, rng=seeded()),
    "mean under swap": lambda: nb.mean(X, rho=0.1, neighbors="swap", rng=seeded()),
    "mean of few": lambda: nb.mean(X[:9], epsilon=1, rng=seeded()),
    "count": lambda: nb.count(X, epsilon=1, rng=seeded()),
    "public count": lambda: nb.count(np.arange(9), epsilon=1, neighbors="swap", rng=seeded()),
    "vector": lambda: nb.vector_mean(np.ones((300, 3)), epsilon=1, delta=1e-6, rng=seeded()),
    "rows per unit": lambda: table().suggest_rows_per_unit(epsilon=1, rng=seeded()),
    "describe": lambda: nb.describe({"pay": X, "name": ["x"] * 3000}, epsilon=1, rng=seeded()),
    "describe by rho": lambda: table().describe(rho=0.1, rng=seeded()),
    "groups": lambda: table().group_by("town", keys=[0, 1]).sum("pay", epsilon=1, rng=seeded()),
    "chosen groups": lambda: table().group_by("town", delta=1e-6).quantile("pay", 0.5, epsilon=1, rng=seeded()),
    "means of groups": lambda: table().group_by("town", keys=[0]).mean("pay", epsilon=1, rng=seeded()),
    "counts of groups": lambda: table().group_by("town", "who", delta=1e-6).count(epsilon=0.1, rng=seeded()),
    "forecast": lambda: nb.plan("quantile", q=0.5, n=100, data="uniform", epsilon=2, lower=0, upper=1),
    "baseline": lambda: emq_quantile(X, 0.5, epsilon=1, lower=0, upper=1e6, rng=np.random.default_rng(1)),
}


def words(found, **how):
    """All sentences in one line."""
    return " ".join(" ".join(lines) for _, lines in paragraphs(found, **{"sizes": (), **how}))


@pytest.mark.parametrize("name", MADE)
def test_every_release_is_explained(name):
    """Of all that the library writes there are paragraphs of whole sentences, as text and as Markdown."""
    found = paragraphs(parsed(written(name)), sizes=())
    headings = [heading for heading, _ in found]
    assert headings[-1] == "What is not promised"
    if name != "forecast":
        assert headings[:3] == ["What was asked and answered", "Who is protected", "What was spent"]
    for _, lines in found:
        assert lines and all(line.endswith((".", ":")) and line.isprintable() for line in lines)


FACTS = {
    "quantile": [
        "90 % quantile",
        "factor of at most 2.72",
        "7.39 (twice the epsilon)",
        "0.05 (5 %) went into learning",
    ],
    "quantile by rho": ["the median", "of the rho, 0.00111 (1 %)"],
    "stated rows": ["a lower bound of 0, about 3,000 records"],
    "sum": ["the sum of the column pay", "Each who is protected, with all", "at most 3 rows are used", "clipped"],
    "mean under swap": ["replaced by any other row", "rho 0.1 of zero-concentrated", "delta 1e-06", "1 in 1,000,000"],
    "mean of few": ["too few records", "Do not rely on it"],
    "public count": ["It is exact"],
    "vector": ["the mean of rows of 3 numbers", "Euclidean norm"],
    "rows per unit": ["95 % quantile of the column rows per who"],
    "describe": ["pay: count", "0.1 (10 %) went into the counts", "Left out: name"],
    "groups": ["for each group by town", "named by the asker as public"],
    "chosen groups": ["0.25 (25 %) went into choosing which groups", "3.72e-06"],
    "forecast": ["Nothing was spent", "For epsilon 2: off by"],
    "baseline": ["it is not for release"],
}


@pytest.mark.parametrize("name", FACTS)
def test_what_a_release_says_is_in_its_words(name):
    """Whom it protects, what it cost and on what, and how it can be wrong."""
    text = words(parsed(written(name)))
    for fact in FACTS[name]:
        assert fact.lower() in text.lower()


def test_what_was_spent_on_the_parts_is_what_was_spent():
    """The parts of an epsilon, or of a rho, add up to it, for a unit as well."""
    for name in ("quantile", "quantile by rho", "quantiles", "bounds", "sum", "count", "describe", "describe by rho"):
        release = MADE[name]()
        told, loss = release.parameters, release.loss
        assert sum(told["split"].values()) == pytest.approx(getattr(loss, told["spending"]), rel=1e-9)
    chosen = MADE["chosen groups"]().parameters["split"]
    assert sum(chosen.values()) == pytest.approx(1) and chosen["keys"] == 0.25


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1 / 3, 1.0, 2.5, 10.0, 33.3, 200.0])
def test_factors_are_rounded_up_and_not_far(epsilon):
    """A factor is at least e to the power of epsilon, and within one percent of it."""
    text = float(factor_up(epsilon).replace(",", ""))
    assert math.exp(epsilon) <= text <= 1.01 * math.exp(epsilon)


def test_chances_are_rounded_up():
    """One in so many is at least the chance."""
    assert chance_up(1e-6) == "1 in 1,000,000" and chance_up(0.3) == "1 in 3" and chance_up(3e-7) == "1 in 3,333,333"


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_a_guess_is_right_at_most_so_often(epsilon, delta):
    """Randomised response that tells all with probability delta reaches the bound (Kairouz, Oh and Viswanath 2015)."""
    loss = nb.PrivacyLoss(epsilon, math.inf, math.inf, "add-remove", "row", delta)
    truth = delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    assert truth <= guess(loss) <= truth + 1e-12


@pytest.mark.parametrize("rho", [1e-4, 0.1, 1.0, 8.0, 50.0])
def test_a_guess_against_gaussian_noise_is_right_at_most_so_often(rho):
    """Gaussian noise of this rho lets guesses be right as often as its exact law says, which is no more."""
    truth = NormalDist().cdf(math.sqrt(2 * rho) / 2)
    assert truth <= guess(nb.PrivacyLoss.zcdp(rho)) <= min(1.0, 0.5 + 1.5 * (truth - 0.5))


def test_a_loss_without_limit_says_so():
    """Huge losses have no overflow, and a plain word."""
    text = " ".join(meaning(nb.PrivacyLoss.pure(10**9)))
    assert "no limit in practice" in text and "promises little" in text and "100 %" in text


def test_places_are_those_of_the_planner():
    """The places that are told for a shape are the rank errors that plan forecasts."""
    one = Made("quantile", (F(1, 2),), Spending(F(1), False), "add-remove", {}, 20_000.0, F(1, 2))
    low, high = one.rank_errors(1000)
    assert 0.9 * low <= nb.plan("quantile", q=0.5, n=1000, data="lognormal", epsilon=1).rows[0].rank_error <= 1.1 * high
    text = words(nb.quantile(X, 0.5, epsilon=1, rng=seeded()).to_dict(), n=1000)
    assert "among 1,000 records" in text


def test_as_many_records_lie_outside_a_clip_as_is_told():
    """Sums of uniform, lognormal and Pareto data leave so many outside as the forecast says, within its range."""
    made = Made("sum", (), Spending(F(1), False), "add-remove", {}, 0.0, F(1))
    low, high = made.outside(3000)
    outside = []
    for k in range(40):
        data = np.random.default_rng(k).lognormal(0, 1, 3000)
        ends = nb.sum(data, epsilon=1, rng=seeded(k)).parameters["clip"]
        outside.append(np.count_nonzero((data < ends[0]) | (data > ends[1])))
    assert low <= np.mean(outside) <= 1.2 * high


def test_what_was_not_worked_out_is_not_told():
    """Candidates of one's own have no forecast, and are explained all the same."""
    assert "was not worked out" in words(MADE["own ladder"]().to_dict(), n=1000)


def test_several_releases_have_a_total(tmp_path):
    """What the command line prints has one release; several are explained one by one, and then together."""
    one, other = MADE["count"](), MADE["quantile"]()
    found = {"releases": [one.to_dict(), other.to_dict()], "loss": (one.loss + other.loss).to_dict()}
    headings = [heading for heading, _ in paragraphs(found, sizes=())]
    assert headings[0].startswith("Release 1: ") and headings[-1] == "All together: What was spent"
    alone = {"releases": [one.to_dict()], "loss": one.loss.to_dict()}
    assert paragraphs(alone, sizes=()) == paragraphs(one.to_dict(), sizes=())


def test_a_budget_is_told_charge_by_charge(tmp_path):
    """The limit, each charge with its time and cost, what is left, and what all of it means."""
    path = tmp_path / "people.budget"
    invoke("budget", "create", path, "--epsilon", "3")
    empty = invoke("budget", "show", path, "--json").stdout
    assert "Nothing was charged to it yet." in str(explain(empty))
    nb.mean(X, epsilon=0.5, budget=nb.Budget(path=path))
    text = words(parsed(invoke("budget", "show", path, "--json").stdout))
    assert "may cost epsilon 3 together" in text and "UTC: mean, for epsilon 0.5." in text
    assert "What is left is epsilon 2.5" in text and "at most 1.65" in text


def invoke(*given, **how):
    return CliRunner().invoke(app, [str(word) for word in given], **how)


BAD = {
    "no JSON": ("people.csv", "this is not JSON"),
    "NaN": ('{"statistic": "count", "value": NaN}', "this is not JSON"),
    "a list": ("[1, 2]", "no object"),
    "deep": ("[" * 100_000, "this is no"),
    "something else": ('{"verdict": "holds", "rows": []}', "none that explain knows"),
    "no loss": ('{"statistic": "count", "value": 1}', "none that explain knows"),
    "a loss of nothing": (
        '{"statistic": "count", "value": 1, "loss": {"unit": "row"}}',
        "must have an epsilon or a rho",
    ),
    "a text for a number": (
        '{"statistic": "count", "value": "many", "loss": {"epsilon": 1}}',
        "value must be a number",
    ),
    "digits": ('{"statistic": "count", "value": ' + "9" * 5000 + "}", "this is not JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_one_plain_line(name, tmp_path):
    """A file that is no release is refused in a line that says what explain takes, with exit status 2."""
    text, message = BAD[name]
    path = tmp_path / "release.json"
    path.write_text(text)
    result = invoke("explain", path)
    assert result.exit_code == 2 and not result.stdout
    assert result.stderr.startswith("Error: ") and message in result.stderr and result.stderr.count("\n") == 1


def test_files_that_cannot_be_read_are_one_plain_line(tmp_path, monkeypatch):
    """None, a folder, bytes that are no text, and more than a release can have."""
    path = tmp_path / "release.json"
    assert "there is no file" in invoke("explain", path).stderr
    assert "is no file" in invoke("explain", tmp_path).stderr
    path.write_bytes(b"\xff\xfe\x00PAR1")
    assert "is no text" in invoke("explain", path).stderr
    monkeypatch.setattr("nobounds.cli.explain.MOST_BYTES", 5)
    assert "is no release" in invoke("explain", path).stderr


def test_the_command_reads_files_and_the_standard_input(tmp_path):
    """The same words from both, and as Markdown."""
    path = tmp_path / "release.json"
    path.write_text(MADE["count"]().to_json())
    result = invoke("explain", path)
    assert result.exit_code == 0 and result.stdout.startswith("What was asked and answered\n  Asked for: the number")
    assert invoke("explain", "-", input=path.read_text()).stdout == result.stdout
    assert invoke("explain", path, "--markdown").stdout.startswith("## What was asked and answered\n\n- Asked for")
    assert invoke("explain", path, "--n", "0").exit_code == 2


LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.just("\x1b[2J"),
    st.just([]),
    st.just({}),
)


def leaves(found, path=()):
    """Where the values of an object are."""
    for name, value in found.items() if isinstance(found, dict) else enumerate(found):
        yield (*path, name)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, name))


@given(st.sampled_from(sorted(set(MADE) - {"own ladder"})), st.data())
@settings(deadline=None, max_examples=150)
def test_a_damaged_release_is_explained_or_refused_in_words(name, data):
    """Whatever stands in one of its places: an explanation that a terminal shows as it is, or a plain error."""
    found = json.loads(written(name))
    *way, last = data.draw(st.sampled_from(list(leaves(found))))
    inner = found
    for step in way:
        inner = inner[step]
    inner[last] = data.draw(LEAF)
    if data.draw(st.booleans()) and isinstance(inner, dict):
        inner["\x1b[2J"] = inner.pop(last)
    try:
        text = explain_quickly(found)
    except (ValueError, TypeError) as error:
        text = str(error).replace("\x1b", "")  # the command line escapes what is in an error
    assert all(line.isprintable() for line in text.split("\n"))


def explain_quickly(found):
    return "\n".join(line for _, lines in paragraphs(found, sizes=()) for line in lines)


WRITTEN: dict[str, str] = {}


def written(name):
    """The JSON of a release, made once."""
    if name not in WRITTEN:
        WRITTEN[name] = MADE[name]().to_json()
    return WRITTEN[name]
