"""Forecasts of counts of bins, values and distinct units, beside the errors of seeded releases."""

import random

import numpy as np
import pytest

import nobounds as nb
from nobounds.planning.plan import plan

AGES = np.arange(4000) % 40
EDGES = [5, 10, 15, 20, 25, 30, 35]
SHARES = np.arange(1, 8) / 8
UNITS = nb.Table({"user": np.repeat(np.arange(2000), 2), "age": AGES}, unit="user", rows_per_unit=2)
ROUNDS = 200
SEEDED = [
    (lambda e, rng: nb.histogram(AGES, edges=EDGES, rng=rng, **e).values - 500, "histogram", {"edges": EDGES}),
    (lambda e, rng: nb.cdf(AGES, points=np.array(EDGES) - 1, rng=rng, **e).values - SHARES, "cdf", {"points": EDGES}),
    (
        lambda e, rng: nb.value_counts(AGES // 5, keys=range(8), rng=rng, **e).values - 500,
        "value_counts",
        {"groups": 8},
    ),
]


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.1}], ids=["epsilon", "rho"])
@pytest.mark.parametrize(("released", "statistic", "options"), SEEDED, ids=["bins", "cdf", "values"])
def test_counts_err_as_forecast(released, statistic, options, spent):
    """The mean error of 200 releases is the forecast, and no more than 5% of errors are beyond the 95%."""
    rng = random.Random(1)
    errors = np.abs(np.concatenate([released(spent, rng) for _ in range(ROUNDS)]).astype(float))
    row = plan(statistic, n=len(AGES), **options, **spent).rows[0]
    assert errors.mean() == pytest.approx(row.value_error, rel=0.1)
    assert (errors > row.error_95).mean() <= 0.07
    assert (errors > row.median_error).mean() <= 0.55


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("spent", [{"epsilon": 2}, {"rho": 0.5}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("options", [{"edges": [10, 30]}, {"bins": 10}], ids=["public", "private"])
def test_the_95_percent_are_the_half_interval_of_the_release(options, spent, neighbors):
    """Whether edges are public or chosen, under both relations."""
    release = nb.histogram(AGES, **options, **spent, neighbors=neighbors, rng=random.Random(1))
    row = plan("histogram", n=len(AGES), **options, **spent, neighbors=neighbors).rows[0]
    assert row.error_95 == release.parameters["half_interval"]


@pytest.mark.parametrize("statistic", ["value_counts", "top_k"])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_values_of_units_are_counted_as_forecast(statistic, delta):
    """The half interval of the release, and how many units a value needs to be shown."""
    keys = {"delta": delta} if delta else {"keys": list(range(40))}
    k = (3,) if statistic == "top_k" else ()
    release = getattr(UNITS, statistic)("age", *k, **keys, epsilon=2, rng=random.Random(1))
    row = plan(statistic, n=4000, groups=40, delta=delta, rows_per_unit=2, epsilon=2).rows[0]
    assert row.units == release.parameters.get("units_to_show")
    shown = release.parameters["interval"].get("together", 40)
    assert shown == 40, "all values have 100 rows, and are kept"
    assert row.error_95 == release.parameters["half_interval"]


def test_the_rows_of_a_unit_share_its_epsilon():
    """The half interval of a histogram is that of the release."""
    release = UNITS.histogram("age", edges=EDGES, epsilon=1, rng=random.Random(1))
    row = plan("histogram", edges=EDGES, rows_per_unit=2, epsilon=1).rows[0]
    assert row.error_95 == release.parameters["half_interval"] == 6


@pytest.mark.parametrize("spent", [{"epsilon": 0.5}, {"rho": 0.02}], ids=["epsilon", "rho"])
def test_distinct_values_are_counted_as_forecast(spent):
    """Units count once, and values of a unit as often as it may have them."""
    for column, rows in ((None, None), ("age", 2)):
        release = UNITS.count_distinct(column, rng=random.Random(6), **spent)
        row = plan("count_distinct", rows_per_unit=rows, **spent).rows[0]
        assert release.interval[0] > 0 and row.error_95 == (release.interval[1] - release.interval[0]) / 2


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_distinct_units_of_groups_are_counted_as_forecast(delta):
    """The half interval of the release, and the units that a group needs to be shown."""
    keys = {"delta": delta} if delta else {"keys": [0, 1]}
    table = UNITS.with_columns(even="age % 2")
    release = table.group_by("even", **keys, groups_per_unit=2).count_distinct(epsilon=2, rng=random.Random(1))
    row = plan("count_distinct", groups=2, delta=delta, rows_per_unit=2, epsilon=2).rows[0]
    assert row.error_95 == release.parameters["half_interval"]
    assert row.units == release.parameters.get("units_to_show")


def test_a_histogram_of_groups_gets_what_the_choice_of_keys_leaves():
    """Three quarters of epsilon, and n is the number of records in a group."""
    grouped = plan("histogram", edges=EDGES, n=8000, groups=10, delta=1e-6, epsilon=1)
    alone = plan("histogram", edges=EDGES, n=800, epsilon=0.75)
    assert grouped.rows[0].value_error == alone.rows[0].value_error and grouped.typical == alone.typical == (100.0,)
    assert "in each of 10 groups" in grouped.title()


def test_a_forecast_of_counts_is_said_in_words():
    """Parts of a count, percentage points of a share, and what is missing."""
    assert "is off by 0.851 on average (0.34% of 250" in str(plan("histogram", edges=[1, 2, 3], n=1000, epsilon=1))
    assert "percentage points" in str(plan("cdf", points=[1, 2, 3], n=1000, epsilon=1))
    assert "all are in one bin" in str(plan("histogram", n=100, epsilon=1))
    assert "shares are mostly not answered" in str(plan("cdf", points=[1], n=5, epsilon=1))
    assert "units to show a value" in str(plan("value_counts", groups=4, delta=1e-6, epsilon=1))
    for statistic, options in (("value_counts", {}), ("cdf", {"n": 100})):
        explained = str(nb.explain(plan(statistic, epsilon=1, **options)))
        assert "the same for all data" in explained.replace("\n  ", " ")


def test_an_epsilon_for_an_error_of_counts():
    """It has that error; with a delta, counts choose keys themselves, and the same epsilon pays for both."""
    public, private = (plan("value_counts", value_error=5, groups=10, delta=delta) for delta in (None, 1e-6))
    assert public.rows[0].value_error == pytest.approx(5, rel=0.02)
    assert private.epsilon == pytest.approx(public.epsilon, rel=0.02)
    units = {"groups": 10, "rows_per_unit": 20, "groups_per_unit": 1}  # keys are chosen before they are counted
    both = [plan("value_counts", epsilon=2, delta=delta, **units).rows[0].value_error for delta in (None, 1e-6)]
    assert both[1] == pytest.approx(both[0] / 0.4, rel=0.02)


def test_the_rows_for_an_error_of_counts():
    """With that many rows the forecast has the error, and with fewer it has not."""
    for options in ({"edges": EDGES}, {"bins": 500}):
        rows = nb.rows_needed("histogram", epsilon=1, relative_error=0.01, **options)
        for n, reached in ((rows, True), (rows - 100, False)):
            planned = plan("histogram", n=n, epsilon=1, **options)
            assert (planned.rows[0].value_error <= 0.01 * planned.typical[0]) is reached
    rows = nb.rows_needed("cdf", points=EDGES, epsilon=1, value_error=0.001)
    assert plan("cdf", points=EDGES, n=rows, epsilon=1).rows[0].value_error == pytest.approx(0.001, rel=0.01)
    assert nb.rows_needed("histogram", edges=EDGES, epsilon=1) == 1 < nb.rows_needed("histogram", epsilon=1)
    least = plan("value_counts", groups=7, delta=1e-6, epsilon=1).rows[0].units
    assert nb.rows_needed("value_counts", groups=7, delta=1e-6, epsilon=1) == 7 * least


@pytest.mark.parametrize(
    ("statistic", "options", "words"),
    [
        ("histogram", {"data": "normal"}, "data is not for a forecast of histogram"),
        ("value_counts", {"edges": [1]}, "edges is not for"),
        ("histogram", {"edges": [1], "bins": 5}, "got both"),
        ("histogram", {"edges": 5}, "edges must be a list"),
        ("cdf", {"points": [1]}, "cdf needs n"),
        ("top_k", {}, "top_k needs groups"),
        ("count_distinct", {"groups": 3, "neighbors": "swap"}, "add-remove"),
        ("value_counts", {"neighbors": "swap"}, "needs neighbors='add-remove'"),
        ("mean", {"n": 10}, "data must be given"),
        ("mean", {"n": 10, "data": "normal", "bins": 4}, "bins is for histogram and cdf"),
    ],
)
def test_what_is_not_for_counts_is_refused(statistic, options, words):
    """With the name of the option."""
    with pytest.raises((ValueError, TypeError), match=words):
        plan(statistic, epsilon=1, **options)
    if statistic != "mean" and "neighbors" not in options and "points" not in options:
        with pytest.raises((ValueError, TypeError), match=words):
            nb.rows_needed(statistic, epsilon=1, **options)
