"""Releases in plain words: numbers that hold, rounded to the safe side, for every JSON that the library writes."""

import json
import math
import random
import re
from fractions import Fraction as F
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import nobounds as nb
from nobounds.accounting.spending import Spending
from nobounds.cli.app import app
from nobounds.explaining.expected import ErrorModel
from nobounds.explaining.explain import explain, paragraphs
from nobounds.explaining.protection import chance_up, factor_up, guess, meaning
from nobounds.explaining.reading import parsed
from nobounds.ranks.tuning import TUNING
from nobounds.research.baselines import emq_quantile

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
    "forecast": lambda: nb.plan("quantile", q=0.5, n=1000, data="uniform", epsilon=2, lower=0, upper=1),
    "planned summary": lambda: nb.plan_describe(7, rows=500, epsilon=1),
    "baseline": lambda: emq_quantile(X, 0.5, epsilon=1, lower=0, upper=1e6, rng=np.random.default_rng(1)),
}


def words(found, **how):
    """All sentences in one line."""
    return " ".join(" ".join(lines) for _, lines in paragraphs(found, **{"sizes": (), **how}))


@pytest.mark.medium
@pytest.mark.parametrize("name", MADE)
def test_every_release_is_explained(name):
    """Of all that the library writes there are paragraphs of whole sentences, as text and as Markdown."""
    found = paragraphs(parsed(written(name)), sizes=())
    headings = [heading for heading, _ in found]
    assert headings[-1] == "What is not promised"
    if name not in ("forecast", "planned summary"):
        assert headings[:3] == ["What was asked and answered", "Who is protected", "What was spent"]
    for _, lines in found:
        assert lines and all(line.endswith((".", ":")) and line.isprintable() for line in lines)


FACTS = {
    "quantile": [
        "90% quantile",
        "factor of at most 2.72",
        "7.39 (twice the epsilon)",
        f"{float(TUNING.size_share)} (",
        "went into learning",
    ],
    "quantile by rho": ["the median", "of the rho, 0.0025", "went into learning", "the ends of its interval"],
    "stated rows": ["a lower bound of 0, about 3,000 records"],
    "sum": ["the sum of the column pay", "Each who is protected, with all", "at most 3 rows are used", "clipped"],
    "mean under swap": ["replaced by any other row", "rho 0.1 of zero-concentrated", "delta 1e-06", "1 in 1,000,000"],
    "mean of few": ["too few rows"],
    "public count": ["It is exact"],
    "vector": ["the mean of rows of 3 numbers", "Euclidean norm"],
    "rows per unit": ["95% quantile of the column rows per who"],
    "describe": ["pay: count", "0.1 (10%) went into the counts", "Left out: name"],
    "groups": ["for each group by town", "named by the asker as public"],
    "chosen groups": ["0.25 (25%) went into choosing which groups", "3.72e-06"],
    "forecast": ["Nothing was spent", "For epsilon 2: off by"],
    "baseline": ["it is not for release"],
}


@pytest.mark.medium
@pytest.mark.parametrize("name", FACTS)
def test_what_a_release_says_is_in_its_words(name):
    """Whom it protects, what it cost and on what, and how it can be wrong."""
    text = words(parsed(written(name)))
    for fact in FACTS[name]:
        assert fact.lower() in text.lower()


@pytest.mark.medium
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


def told_factor(epsilon):
    """The factor that is told of an epsilon."""
    sentence = next(line for line in meaning(nb.PrivacyLoss.pure(epsilon)) if "is in the data by a factor" in line)
    assert sentence.startswith("For anyone who knows all the other rows, or whose beliefs about them do not depend on")
    return float(sentence.split("at most ")[1].split()[0])


def odds(prior, epsilon, answer):
    """How a count with geometric noise changes the odds of whether Bob is in, for beliefs {(bob, others): chance}."""
    before, after = [0.0, 0.0], [0.0, 0.0]
    for (bob, others), chance in prior.items():
        before[bob] += chance
        after[bob] += chance * math.exp(-epsilon * abs(answer - bob - others))
    return (after[1] / after[0]) / (before[1] / before[0])


@pytest.mark.medium
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9), st.floats(0.01, 0.99), st.integers(-20, 40))
def test_odds_change_as_is_told_for_whom_it_is_told(others, believed, answer):
    """Where beliefs about the other rows do not hang on Bob, an answer changes the odds by at most the factor."""
    prior = {(bob, k): (believed if bob else 1 - believed) * p for bob in (0, 1) for k, p in enumerate(others)}
    for epsilon in (0.1, 1.0, 3.0):
        assert (
            1 / told_factor(epsilon) <= odds(prior, epsilon, answer) * (1 + 1e-9) <= told_factor(epsilon) * (1 + 2e-9)
        )


@pytest.mark.medium
def test_odds_change_more_for_those_who_believe_that_rows_go_together():
    """With Bob there are 200 others, without him there is nobody: then a count tells it, and the limits say so."""
    assert odds({(1, 200): 0.5, (0, 0): 0.5}, 1.0, 200) > 1e80 > told_factor(1.0)
    for name in set(MADE) - {"forecast", "planned summary"}:
        text = words(parsed(written(name)))
        assert "is linked to many others" in text and "do not depend on this one" in text
        assert "whatever somebody" not in text.lower()


def test_units_are_told_as_units():
    """Who is protected as a unit is told of with all of its rows, and so are the others."""
    text = " ".join(meaning(nb.PrivacyLoss.pure(1, unit="who")))
    assert "knows all rows of the others" in text and "whether one who is in the data" in text and "row " not in text
    swap = " ".join(meaning(nb.PrivacyLoss.pure(1, neighbors="swap")))
    assert "do not depend on this one" in swap and "odds between two things" in swap and "twice" not in swap


@pytest.mark.parametrize(("epsilon", "delta", "told"), [(20, 1e-6, None), (1, 0.3, None), (1, 1e-6, "3.72e-06")])
def test_no_delta_from_1_on_is_promised(epsilon, delta, told):
    """(1 + e^epsilon) delta is told for two things that a row may say, unless it promises nothing."""
    text = " ".join(meaning(nb.PrivacyLoss.approximate(epsilon, delta)))
    assert ("nothing is promised" in text) == (told is None) and (told is None or f"delta {told})" in text)


@pytest.mark.parametrize("rho", [0.001, 0.1, 8.0, 50.0])
def test_two_things_that_a_row_may_say_have_four_times_the_rho(rho):
    """Gaussian noise of twice the sensitivity keeps to the epsilon that is told, at delta 1e-6, and nearly needs it."""
    sentence = next(line for line in meaning(nb.PrivacyLoss.zcdp(rho)) if "four times the rho" in line)
    epsilon, mu, law = float(sentence.split("power of epsilon ")[1].split(")")[0]), math.sqrt(8 * rho), NormalDist()

    def delta(epsilon):
        return law.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * law.cdf(-mu / 2 - epsilon / mu)

    assert delta(epsilon) <= 1e-6 < delta(0.8 * epsilon)


def test_nothing_spent_changes_nothing():
    """At epsilon 0, or rho 0, the factor is 1 and a guess is right half of the time; no more is told, nor less."""
    for loss in (nb.PrivacyLoss.pure(0), nb.PrivacyLoss.zcdp(0)):
        text = " ".join(meaning(loss))
        assert "at most 1 (" in text and "at most 50% of" in text and "wrong at least 50%." in text
    assert factor_up(0.001) == "1.0011" and guess(nb.PrivacyLoss.pure(1e-9)) > 0.5


def test_a_loss_without_limit_says_so():
    """Huge losses have no overflow, and a plain word."""
    text = " ".join(meaning(nb.PrivacyLoss.pure(10**9)))
    assert "no limit in practice" in text and "promises little" in text and "100%" in text


@pytest.mark.medium
def test_places_are_those_of_the_planner():
    """The places that are told for a shape are the rank errors that plan forecasts."""
    one = ErrorModel("quantile", (F(1, 2),), Spending(F(1), False), "add-remove", {}, 20_000.0, F(1, 2))
    low, high = one.rank_errors(1000)
    planned = nb.plan("quantile", q=0.5, n=1000, data="lognormal", epsilon=1).rows[0].rank_error
    assert 0.75 * low <= planned <= 1.33 * high
    text = words(nb.quantile(X, 0.5, epsilon=1, rng=seeded()).to_dict(), n=1000)
    assert "among 1,000 records" in text


def test_what_was_not_worked_out_is_not_told():
    """Candidates of one's own have no forecast, and are explained all the same."""
    assert "was not worked out" in words(MADE["own ladder"]().to_dict(), n=1000)


def test_an_open_end_is_told_as_what_it_is():
    """Where nothing was learned of the error it is said, and else what the range is for."""
    few = words(nb.median(X[:100], epsilon=1, rng=seeded()).to_dict())
    assert "could not be learned from the records" in few
    heavy = words(nb.sum(X[:200], epsilon=1, rng=seeded()).to_dict())
    assert "too many may lie beyond the bounds" in heavy and "in the range above" not in heavy
    many = words(nb.mean(X, epsilon=1, rng=seeded()).to_dict())
    assert "The mean of the population that the records are a sample of: 23,000 to 46,000, at 95%." in many
    assert "That assumes: " in many and "What that changed is in the range above." in many


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


def test_what_was_charged_is_within_the_limit_that_is_told(tmp_path):
    """The limit and its delta are rounded up as charges are, and what is left is rounded down."""
    path = tmp_path / "people.budget"
    nb.count(X, epsilon=1.2345641, budget=nb.Budget(epsilon="1.2345649", path=path))
    text = words(parsed(invoke("budget", "show", path, "--json").stdout))
    assert "may cost epsilon 1.23457 together" in text and "for epsilon 1.23457 together" in text
    assert "What is left is epsilon 8e-07;" in text
    found = {"epsilon": 1, "delta": 1.0000001e-6, "charges": [], "remaining": 1}
    assert "at delta 1.00001e-06 together" in words(found)


def test_who_charged_what_and_why_is_told(tmp_path):
    """Label, author and note of a charge stand beside it, safe on a terminal."""
    path = tmp_path / "people.budget"
    noted = nb.Budget(epsilon=3, path=path).noted("annual \x1b[2Jreport", author="Ada", label="visits.csv")
    nb.count(X, epsilon=0.5, budget=noted)
    text = words(parsed(invoke("budget", "show", path, "--json").stdout))
    assert "count, for epsilon 0.5 (from visits.csv; by Ada; note: 'annual " in text and "\x1b" not in text


def test_a_description_is_of_the_columns_that_were_asked_for():
    """What is told of one column does not claim to be about all."""
    text = words(nb.Table({"pay": X, "age": X}).describe(["age"], epsilon=1, rng=seeded()).to_dict())
    assert "a summary of the columns below" in text and "1 column was answered" in text and "every" not in text


def test_lists_of_releases_do_not_nest():
    """A list in a list is refused at once, however many there are in it."""
    one = {"releases": [MADE["quantile"]().to_dict()] * 2, "loss": nb.PrivacyLoss.pure(2).to_dict()}
    for many in (1, 20):
        with pytest.raises(ValueError, match="releases must have releases in it"):
            explain({"releases": [one] * many, "loss": one["loss"]})


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


@pytest.mark.medium
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
    monkeypatch.setattr("nobounds.cli.commands.explain.MOST_BYTES", 5)
    assert "is no release" in invoke("explain", path).stderr


def test_the_command_reads_files_and_the_standard_input(tmp_path):
    """The same words from both, and as Markdown."""
    path = tmp_path / "release.json"
    path.write_text(MADE["count"]().to_json())
    result = invoke("explain", path)
    assert result.exit_code == 0 and result.stdout.startswith("What was asked and answered\n  Question: the number")
    assert invoke("explain", "-", input=path.read_text()).stdout == result.stdout
    assert invoke("explain", path, "--markdown").stdout.startswith("## What was asked and answered\n\n- Question")
    assert invoke("explain", path, "--n", "0").exit_code == 2


def as_written():
    """JSON of every kind, by its name."""
    found = {name: json.loads(written(name)) for name in MADE}
    spent = [json.loads(written(name))["loss"] for name in ("count", "vector")]
    charges = [{"when": "2026-01-31T12:00:00+00:00", "what": "a count", "loss": loss} for loss in spent]
    found["budget"] = {"epsilon": 3, "delta": 1e-6, "unit": "row", "neighbors": "add-remove", "remaining": 0.5}
    found["budget"] |= {"charges": charges, "spent": spent[1]}
    found["several"] = {"releases": [found["count"], found["quantile"]], "loss": spent[0]}
    return found


HUGE, TINY = [10**400, -(10**400), 1e308, -1e308, 1.7976931348623157e308, 10**20, "1e400"], [5e-324, 1e-300, "1e-900"]
HOSTILE = [
    *HUGE,
    *TINY,
    None,
    True,
    -1,
    math.nan,
    math.inf,
    "",
    "\x1b[2J",
    [],
    [None, None],
    [10**400, 1],
    {},
    {"a": None},
]


@pytest.mark.medium
@pytest.mark.parametrize("name", [*MADE, "budget", "several"])
def test_a_hostile_value_in_any_place_is_refused_in_words(name):
    """Of every kind of JSON, with any one value replaced: an explanation without inf and nan, or an error in words."""
    found = as_written()[name]
    explained, asked = 0, 0
    for *way, last in list(leaves(found)):
        inner = found
        for step in way:
            inner = inner[step]
        before = inner[last]
        for value in HOSTILE:
            inner[last], asked = value, asked + 1
            try:
                text = explain_quickly(found)
            except (ValueError, TypeError) as error:
                assert "must" in str(error) or "explain" in str(error)
            else:
                explained += 1
                assert way[:1] == ["keys"] or not {"inf", "nan"} & set(re.findall(r"\w+", text)), (way, last, value)
        inner[last] = before
    assert 0 < explained < asked


@pytest.mark.medium
@pytest.mark.parametrize("q", [5e-324, 1e-300, 1 - 2**-53])
def test_forecasts_for_hostile_ranks_are_finite(q):
    """The forecasts too have no overflow, and no warning."""
    found = MADE["quantile"]().to_dict()
    found["parameters"]["q"] = q
    assert not {"inf", "nan"} & set(re.findall(r"\w+", words(found, n=100)))


LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, 5e-324, 1e308]),
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


DAMAGED = [name for name in (*MADE, "budget", "several") if name != "own ladder"]
DAMAGE = st.sampled_from(DAMAGED).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(list(leaves(as_written()[name]))), LEAF, st.booleans())
)


def damaged(name, place, value, renamed=None):
    """The JSON with one of its values replaced, and the name of that value too, if `renamed` says so."""
    found = as_written()[name]
    *way, last = place
    inner = found
    for step in way:
        inner = inner[step]
    inner[last] = value
    if renamed is not None and isinstance(inner, dict):
        inner[renamed] = inner.pop(last)
    return found


def said(found):
    """The explanation, or the error that stands in for it, as a Python program sees them: nothing escapes it later."""
    try:
        return explain_quickly(found)
    except (ValueError, TypeError) as error:
        assert "\n" not in str(error)
        return str(error)


@pytest.mark.medium
@given(DAMAGE)
@example(("chosen groups", ("by", 0), "\x1f", False))  # the error named the key column as it stood in the file
@example(("quantile", ("parameters", "split", "size"), "", True))
@settings(deadline=None, max_examples=150)
def test_a_damaged_release_is_explained_or_refused_in_words(damage):
    """Whatever stands in one of its places: an explanation that a terminal shows as it is, or a plain error."""
    name, place, value, renamed = damage
    text = said(damaged(name, place, value, "\x1b[2J" if renamed else None))
    assert all(line.isprintable() for line in text.split("\n"))


ODD = "\x1f\x1b[2J\n\x9b\u202e\u2028\ud800"


@pytest.mark.medium
@pytest.mark.parametrize("name", DAMAGED)
def test_nothing_is_shown_that_a_terminal_obeys(name):
    """Of every kind of JSON, odd characters in any place, as a value, in a list, as a name: all lines are printable."""
    found = as_written()[name]
    seen = 0
    for place in leaves(found):
        for damage in ((ODD,), ([ODD],), ({ODD: ODD},), ({ODD: 1},), (value_at(found, place), ODD)):
            text = said(damaged(name, place, *damage))
            assert all(line.isprintable() for line in text.split("\n")), (place, damage)
            seen += ascii(ODD)[1:7] in text
    assert seen > 3


@pytest.mark.medium
@pytest.mark.parametrize("place", [("by", 0), ("keys", "town", 0), ("loss", "unit"), ("statistic",), ("parameters",)])
def test_the_command_shows_nothing_that_a_terminal_obeys(place, tmp_path):
    """So does the command, as text, as Markdown and in errors, on the file and on its name."""
    path = tmp_path / "odd\x1b[2J.json"
    path.write_text(json.dumps(damaged("chosen groups", place, ODD)))
    for how in ((), ("--markdown",), ("--n", ODD.replace("\ud800", ""))):
        result = invoke("explain", path, *how)
        shown = result.stdout + result.stderr
        assert shown and all(line.isprintable() for line in shown.split("\n"))


def value_at(found, place):
    for step in place:
        found = found[step]
    return found


def explain_quickly(found):
    return "\n".join(line for _, lines in paragraphs(found, sizes=()) for line in lines)


WRITTEN: dict[str, str] = {}


def written(name):
    """The JSON of a release, made once."""
    if name not in WRITTEN:
        WRITTEN[name] = MADE[name]().to_json()
    return WRITTEN[name]


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_a_median_is_answered_from_the_rows_that_are_named(epsilon):
    """The number that plans name for a number without an interval."""
    words = " ".join(str(nb.explain(nb.median(range(3000), epsilon=epsilon, rng=random.Random(1)))).split())
    named = int(re.search(r"About ([0-9,]+) records are enough for one in 95%", words)[1].replace(",", ""))
    assert (
        named == nb.plan("median", n=9, data="uniform", epsilon=epsilon, interval=None, quick=True).rows[0].rows_needed
    )


OLD = {  # a median of a version before, in short
    "schema": 1,
    "kind": "release",
    "statistic": "median",
    "value": 47.0,
    "loss": {"epsilon": 1.0, "rho": 0.5, "eta": None, "neighbors": "add-remove", "unit": "row", "delta": 0.0},
    "parameters": {
        "ladder": "float-bits",
        "bits": 8,
        "method": "auto",
        "spending": "epsilon",
        "split": {"size": 0.025, "answer": 0.975},
        "rung": {"percentiles": [49.1, 50.8], "low": 46.9, "high": 47.1, "level": 0.95},
    },
}


def test_releases_of_versions_before_are_read():
    """With what they say of themselves, and without a forecast of how they were made."""
    text = words(OLD, n=1000)
    assert "The answer: 47." in text and "between the percentiles 49.1 and 50.8 of the records" in text
    assert "was not worked out" in text and "are enough for one" not in text
    few = {**OLD, "value": None, "reason": "too few rows", "parameters": {**OLD["parameters"], "needed": {"rows": 250}}}
    assert "too few rows" in words(few) and "250 rows" in words(few)
