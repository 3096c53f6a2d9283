"""A forecast is what happens: its errors are those of fresh releases on fresh data, and its inverse undoes it."""

import json
import math
import random
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import nobounds as nb
from nobounds.planning.families import Shape
from nobounds.planning.forecasters import DRAWS as DRAWN
from nobounds.planning.forecasters import Forecaster
from nobounds.planning.plan import EPSILONS, plan
from nobounds.planning.samples import Sampling

DRAWS = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "pareto": lambda rng, n: 1 + rng.pareto(2, n),
    "poisson": lambda rng, n: rng.poisson(10, n),
}


def rank_error(data, answer, q):
    """The distance of q n from [records below the answer, records below or at it]."""
    below, up_to = np.count_nonzero(data < answer), np.count_nonzero(data <= answer)
    return max(below - q * len(data), q * len(data) - up_to, 0.0)


TRUE = {"sum": np.sum, "mean": np.mean, "std": np.std}


@pytest.mark.medium
@pytest.mark.parametrize(
    ("statistic", "family", "n", "how"),
    [
        ("quantile", "lognormal", 1000, {"q": 0.5, "epsilon": 1}),
        ("quantile", "normal", 10_000, {"q": 0.9, "epsilon": 1}),
        ("median", "exponential", 1000, {"epsilon": 0.3, "neighbors": "swap"}),
        ("median", "poisson", 300, {"rho": 0.1, "interval": None}),
        ("quantiles", "lognormal", 1000, {"q": [0.25, 0.5, 0.75], "epsilon": 1}),
        ("maximum", "lognormal", 1000, {"epsilon": 1}),
        ("minimum", "uniform", 1000, {"epsilon": 1, "interval": None}),
        ("bounds", "lognormal", 1000, {"epsilon": 1}),
        ("sum", "exponential", 1000, {"epsilon": 1}),
        ("sum", "exponential", 1000, {"epsilon": 0.3, "neighbors": "swap"}),
        ("mean", "normal", 1000, {"rho": 0.1}),
        ("mean", "poisson", 1000, {"epsilon": 1}),
        ("std", "normal", 10_000, {"epsilon": 1}),
    ],
    ids=str,
)
def test_releases_err_as_predicted(statistic, family, n, how):
    """The mean error of 200 releases on fresh data is within 6 standard errors of both of the forecast."""
    rng, bits, found = np.random.default_rng([2, n]), random.Random(2), []
    options = {name: given for name, given in how.items() if name not in ("q", "interval") or statistic != "quantiles"}
    asked = [options.pop("q")] if "q" in options else [how["q"]] if "q" in how else []
    qs = {"maximum": [1], "minimum": [0], "bounds": [0, 1], "median": [0.5]}.get(statistic, np.atleast_1d(how.get("q")))
    useless = Forecaster.of(statistic, (), n, Shape.of(family), {}).useless
    for _ in range(200):
        data = DRAWS[family](rng, n)
        answer = getattr(nb, statistic)(data, *asked, rng=bits, **options).value
        if statistic in TRUE:
            cap = useless(Sampling(Shape.of(family), n, (0.0, 1.0)).typical())
            found.append(min(abs(answer - TRUE[statistic](data)), cap))
        else:
            found.append(np.mean([rank_error(data, x, q) for x, q in zip(np.atleast_1d(answer), qs, strict=True)]))
    forecast = plan(statistic, n=n, data=family, **how)
    row = forecast.rows[0]
    assert forecast.sampled
    predicted = row.value_error if statistic in TRUE else row.rank_error
    assert abs(np.mean(found) - predicted) <= 6 * np.std(found) * math.sqrt(1 / 200 + 1 / DRAWN)


@pytest.mark.parametrize(
    "spent", [{"epsilon": 0.1}, {"epsilon": 1}, {"epsilon": 3}, {"rho": 0.5}, {"rho": 0.001}], ids=str
)
def test_a_count_errs_as_its_noise(spent):
    """Its mean error is that of the discrete Laplace or Gaussian law."""
    size = math.sqrt(1 / (2 * spent["rho"])) if "rho" in spent else 1 / spent["epsilon"]
    errors = np.arange(10_000)
    weights = np.where(errors, 2, 1) * np.exp(-((errors / size) ** 2) / 2 if "rho" in spent else -errors / size)
    predicted = plan("count", n=10**6, data="uniform", **spent).rows[0]
    assert predicted.value_error == pytest.approx(weights @ errors / weights.sum(), rel=1e-3)
    assert predicted.rank_error is None
    nothing = plan("count", n=100, data="poisson", neighbors="swap", **spent).rows[0]
    assert nothing.value_error == nothing.error_95 == 0  # integers cannot be missing, so their number is public


@pytest.mark.medium
@pytest.mark.parametrize(("statistic", "asked"), [("quantile", {"q": 0.9}), ("maximum", {}), ("sum", {}), ("mean", {})])
@pytest.mark.parametrize("spending", ["epsilon", "rho"])
def test_more_epsilon_never_errs_more(statistic, asked, spending):
    """On a grid of fourfold steps the expected errors fall, or do not rise by more than chance."""
    grid = [0.01 * 4**k for k in range(5)]
    rows = plan(statistic, n=2000, data="lognormal", **asked, **{spending: grid}).rows
    for lines in ([row.rank_error for row in rows if row.rank_error is not None], [row.value_error for row in rows]):
        assert all(after <= 1.3 * before for before, after in pairwise(lines))


@pytest.mark.medium
@pytest.mark.parametrize(
    ("statistic", "asked", "wanted"),
    [
        ("quantile", {"q": 0.9}, {"rank_error": 10}),
        ("mean", {}, {"value_error": 0.05}),
        ("sum", {}, {"value_error": 20}),
        ("count", {}, {"value_error": 2}),
    ],
)
def test_the_inverse_undoes_the_forecast(statistic, asked, wanted):
    """The epsilon found has an expected error within the one given, and half of it does not."""
    ((name, most),) = wanted.items()
    forecast = plan(statistic, n=5000, data="exponential", **asked, **wanted)
    assert getattr(forecast.rows[0], name) <= most
    assert float(f"{forecast.epsilon:.3g}") == forecast.epsilon
    less = plan(statistic, n=5000, data="exponential", **asked, epsilon=0.5 * forecast.epsilon)
    assert getattr(less.rows[0], name) > most


@pytest.mark.medium
def test_a_family_has_a_scale_and_errors_follow_it():
    """Errors in value are multiplied by it, and ranks stay as they are, within what chance does to a forecast."""
    one, many = (plan("quantile", q=0.9, n=1000, data="normal", epsilon=1, scale=s).rows[0] for s in (1, 1000))
    assert many.rank_error == pytest.approx(one.rank_error, rel=0.3)
    assert many.value_error == pytest.approx(1000 * one.value_error, rel=0.3)


@pytest.mark.medium
def test_a_public_sample_is_as_good_as_its_family():
    """A sample of 4,000 predicts within a third what its family does for more records.

    Its length is the default for n.
    """
    sample = np.random.default_rng(3).lognormal(size=4000)
    by_sample = plan("quantile", q=0.5, data=sample, n=50_000, epsilon=0.5).rows[0]
    by_family = plan("quantile", q=0.5, data="lognormal", n=50_000, epsilon=0.5).rows[0]
    assert by_sample.rank_error == pytest.approx(by_family.rank_error, rel=0.33)
    assert by_sample.value_error == pytest.approx(by_family.value_error, rel=0.33)
    assert plan("count", data=sample, epsilon=1).parameters["n"] == 4000


@pytest.mark.medium
def test_size_costs_nothing():
    """A billion records have the rank error of ten thousand, and a trillion are forecast from a few thousand values."""
    few, many = (plan("quantile", q=0.5, n=n, data="lognormal", epsilon=1).rows[0].rank_error for n in (10**4, 10**9))
    assert many == pytest.approx(few, rel=0.33)
    assert len(Forecaster.of("mean", (), 10**12, Shape.of("normal"), {}).fresh(1).values) < 20_000


@pytest.mark.medium
def test_a_forecast_is_the_same_each_time():
    """Its seeds are fixed, for releases too."""
    for asked in ({"statistic": "sum"}, {"statistic": "quantiles", "q": [0.2, 0.8]}):
        one, other = (plan(**asked, n=100, data="uniform", epsilon=[0.5]) for _ in range(2))
        assert one == other


@pytest.mark.medium
def test_a_forecast_is_a_table_a_sentence_and_plain_values():
    """Nine rows by default, aligned; a sentence on epsilon 1; and JSON without gaps."""
    forecast = plan("quantile", q="0.5", n=500, data="exponential", scale=3)
    lines = str(forecast).splitlines()
    assert lines[0] == "quantile (q = 1/2) of 500 records (exponential, scale 3)"
    assert lines[1].split("  ")[0] == "epsilon" and len({len(line) for line in lines[1:11]}) == 1
    assert [line.split()[0] for line in lines[2:11]] == list(EPSILONS)
    assert lines[11].startswith("For epsilon 1 the answer is off by ") and "of 500 ranks" in lines[11]
    plain = json.loads(forecast.to_json())
    assert plain["rows"][5]["epsilon"] == 1 and plain["rows"][5]["rank_error"] == forecast.rows[5].rank_error
    assert plain["typical"] == [pytest.approx(3 * math.log(2), rel=1e-3)] and plain["sampled"]


@pytest.mark.medium
def test_the_picture_has_the_rows(tmp_path):
    """A panel of rank errors and one of errors in value, each line with the errors of its rows."""
    pytest.importorskip("matplotlib")
    forecast = plan("maximum", n=500, data="uniform", epsilon=[0.1, 1, 10])
    figure = forecast.plot()
    ranks, values = figure.axes
    assert ranks.get_lines()[0].get_ydata() == pytest.approx([row.rank_error for row in forecast.rows])
    drawn = {line.get_label(): line.get_ydata() for line in values.get_lines()}
    assert drawn["95%"] == pytest.approx([row.error_95 for row in forecast.rows])
    assert drawn["mean"] == pytest.approx([row.value_error for row in forecast.rows])
    figure.savefig(tmp_path / "forecast.png")
    assert len(plan("count", n=5, data="uniform", epsilon=1000, neighbors="swap").plot().axes) == 1


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        ({"statistic": "mode"}, ValueError, "statistic must be one of quantile, "),
        ({"data": "cauchy"}, ValueError, "data must be one of uniform, .*, or a public sample, got data='cauchy'"),
        ({"data": np.array(["a"])}, TypeError, "data must have an integer, float or boolean type"),
        ({"data": [math.nan]}, ValueError, "at least one number"),
        ({"data": [1.0, 2.0], "scale": 2}, ValueError, "scale is for the named families"),
        ({"data": [1e200]}, ValueError, "a sample of numbers within 1e.100"),
        ({"scale": 0}, ValueError, "scale must be greater than 0, got scale=0"),
        ({"scale": "1e-200"}, ValueError, "scale must be between 1e-100 and 1e.100"),
        ({"data": "poisson", "scale": 1e9}, ValueError, "scale must be at most 1e"),
        ({"n": None}, ValueError, "n must be given with data='normal'"),
        ({"n": 0}, ValueError, "n must be a whole number of records between 1 and 1e"),
        ({"n": 1.5}, ValueError, "n must be a whole number"),
        ({"q": None}, ValueError, "quantile needs q, for example q=0.5"),
        ({"q": 2}, ValueError, "q must be between 0 and 1, got q=2"),
        ({"q": [0.5]}, TypeError, "q must be a number"),
        ({"statistic": "quantiles"}, TypeError, "q must be a list"),
        ({"statistic": "quantiles", "q": []}, ValueError, "at least one number between 0 and 1"),
        ({"statistic": "sum"}, ValueError, "q is for quantile and quantiles, got q=0.5 for sum"),
        ({"epsilon": 0}, ValueError, "epsilon must be greater than 0"),
        ({"epsilon": []}, ValueError, "epsilon must have at least one number"),
        ({"rho": 1}, ValueError, "give epsilon .* or rho .*, got both"),
        ({"rank_error": 1}, ValueError, "give one of rank_error, value_error, epsilon and rho"),
        ({"epsilon": None, "rank_error": -1}, ValueError, "rank_error must be greater than 0"),
        ({"neighbors": "both"}, ValueError, "neighbors must be one of"),
        ({"lower": 2, "upper": 1}, ValueError, "upper must be greater than lower"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_errors_name_the_parameter_and_the_rule(asked, error, text):
    """A parameter that is wrong is named."""
    given = {"statistic": "quantile", "q": 0.5, "n": 100, "data": "normal", "epsilon": 1} | asked
    with pytest.raises(error, match=text):
        plan(**given)


@pytest.mark.medium
def test_an_error_that_cannot_be_reached_is_refused():
    """There is no epsilon for an error that is next to nothing, nor one in ranks for a sum."""
    with pytest.raises(ValueError, match=r"no epsilon up to 20 has an expected value_error of 1e-09 or less"):
        plan("sum", n=200, data="uniform", value_error=1e-9)
    with pytest.raises(ValueError, match="rank_error is for quantiles and extremes"):
        plan("sum", n=200, data="uniform", rank_error=1)
    with pytest.raises(ValueError, match="this one has 9 rows"):
        _ = plan("count", n=200, data="uniform").epsilon


@pytest.mark.parametrize(
    ("family", "law"),
    [
        ("uniform", stats.uniform()),
        ("normal", stats.norm()),
        ("lognormal", stats.lognorm(1)),
        ("exponential", stats.expon()),
        ("pareto", stats.pareto(2)),
        ("poisson", stats.poisson(10)),
    ],
)
def test_families_have_the_quantiles_they_state(family, law):
    """The quantile functions are those of scipy, far into the tails."""
    u = np.array([1e-12, 1e-6, 0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9])
    assert Shape.of(family).at(u) == pytest.approx(law.ppf(u), rel=2e-5, abs=1e-6)


@pytest.mark.parametrize(("statistic", "options"), [("mean", {}), ("quantile", {"q": 0.9}), ("iqr", {})])
def test_a_forecast_says_when_there_will_be_no_answer(statistic, options):
    """With fewer records than an answer or an interval needs, it says so and how many do; with enough it does not."""
    row = nb.plan(statistic, n=30, data="lognormal", epsilon=1, quick=True, **options).rows[0]
    assert row.rows_needed == nb.rows_needed(statistic, epsilon=1, **options) > 30
    few, enough = (
        nb.plan(statistic, n=n, data="lognormal", epsilon=1, quick=True, **options) for n in (30, row.rows_needed)
    )
    lacked = "no interval" if statistic == "quantile" else "too few rows for an answer"
    sentence = f"mostly has {lacked} for epsilon 1: about {row.rows_needed:,} are needed for one 95% of the time."
    assert sentence in str(few) and sentence not in str(enough)
    assert few.to_dict()["rows"][0]["rows_needed"] == row.rows_needed
    assert f"mostly {lacked} (about" in " ".join(str(nb.explain(few)).split())


@pytest.mark.medium
def test_an_interval_costs_a_number_a_part_of_epsilon():
    """Without one the error of a median is smaller, the plan says so, and a median needs fewer rows."""
    both, alone = (nb.plan("median", n=3000, data="normal", epsilon=1, **how) for how in ({}, {"interval": None}))
    assert alone.rows[0].rank_error < 0.8 * both.rows[0].rank_error
    assert alone.rows[0].rows_needed < both.rows[0].rows_needed
    assert alone.parameters["interval"] is None and "interval" not in both.parameters


def test_counts_are_always_answered():
    """So a forecast of them has no number of rows for an answer."""
    planned = nb.plan("count", n=10, data="lognormal", epsilon=1)
    assert planned.rows[0].rows_needed is None and "rows needed" not in str(planned)
