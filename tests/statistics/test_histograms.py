"""Histograms and cumulative distributions: what is counted, what it costs, and that their numbers fit together."""

import random
from datetime import date

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.chance import seed_of
from support.csv_files import headed

import nobounds as nb
from nobounds.release.grouped import GroupedRelease

MUCH = 10**6  # then there is next to no noise
RNG = np.random.default_rng(4)
INCOMES = RNG.lognormal(10, 1, 5000)
AGES = RNG.integers(18, 90, 5000)


def test_a_histogram_has_the_counts_between_edges():
    """A record at an edge is in the bin above it; all below and all above are in bins of their own."""
    release = nb.histogram(np.array([0, 5, 5, 9, 10, 200, -3]), edges=[0, 5, 10], epsilon=MUCH)
    assert release.groups == [(None, 0), (0, 5), (5, 10), (10, None)]
    assert release.values.tolist() == [1, 1, 3, 2]
    again = GroupedRelease.from_json(release.to_json())
    assert again.to_json() == release.to_json() and str(again) == str(release)
    assert "below 0" in str(release) and "10 or more" in str(release)
    assert release.to_arrow().column_names == ["from", "to", "histogram", "low", "high"]


def test_a_cdf_has_the_shares_up_to_points():
    """A record at a point counts; shares rise from 0 to 1."""
    release = nb.cdf(np.array([0, 5, 5, 9, 10, 200, -3, 7]), points=[0, 5, 300], epsilon=MUCH)
    assert release.groups == [0, 5, 300]
    assert release.values.tolist() == pytest.approx([0.25, 0.5, 1.0], abs=1e-4)
    assert GroupedRelease.from_json(release.to_json()) == release


def test_missing_records_are_in_no_bin():
    """And infinite ones are in the open bins."""
    data = np.array([np.nan, np.inf, -np.inf, 3.0])
    assert nb.histogram(data, edges=[0, 5], epsilon=MUCH).values.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        ([date(2024, 1, 1), "2024-02-01"], "M8[D]"),
        (["2024-01-01", "2024-02-01 12:00"], "M8[s]"),
        (["1h", "30d"], "m8[s]"),
    ],
)
def test_edges_are_values_of_the_type(edges, kind):
    """Dates, moments and spans of time, which come back from JSON."""
    start = np.array("2024-01-15" if kind[0] == "M" else 5, dtype="M8[D]" if kind[0] == "M" else "m8[D]")
    release = nb.histogram(np.repeat(start.astype(kind), 50), edges=edges, epsilon=MUCH)
    assert release.values.tolist() == [0, 50, 0]
    again = GroupedRelease.from_json(release.to_json())
    assert kind[0] == "m" or again.to_json() == release.to_json()  # spans as keys come back as text
    assert again.values.tolist() == [0, 50, 0]


@pytest.mark.parametrize(
    "data", [INCOMES, AGES, RNG.normal(1000, 10, 5000), -INCOMES], ids=["tail", "ages", "far", "left"]
)
def test_edges_that_are_found_enclose_most_records(data):
    """No bounds are given: most records lie between round edges, and they are spread over several bins."""
    for seed in range(3):
        release = nb.histogram(data, epsilon=1, rng=random.Random(seed))
        inner = release.values[1:-1]
        assert len(release) <= 20 and inner.sum() > 0.8 * len(data)
        assert (inner > 100).sum() >= 4
        assert release.loss.epsilon == 1 and release.parameters["split"] == {"edges": 0.25, "noise": 0.75}


def test_too_few_rows_for_edges_are_said():
    """Then all records are in one bin, and a cumulative distribution has no points."""
    release = nb.histogram(INCOMES[:60], epsilon=1, rng=random.Random(1))
    assert release.groups == [(None, None)] and abs(release.values[0] - 60) < 20
    for text in (str(release), nb.explain(release).text(1000)):
        assert "Too few rows to find edges: about " in text
    assert len(nb.cdf(INCOMES[:60], epsilon=1, rng=random.Random(1))) == 0


def test_shares_of_next_to_nothing_are_not_answered():
    """They are marked, with a reason, instead of noise over noise."""
    release = nb.cdf([1.0] * 5, points=[0, 1, 2], epsilon=0.5, rng=random.Random(1))
    assert release.values.tolist() == [None] * 3 and set(release.reasons) == {"too few rows"}
    assert release.intervals.tolist() == [[0, 1]] * 3


def test_public_bounds_make_edges_public():
    """With both stated, no epsilon is spent on edges."""
    release = nb.histogram(AGES, bins=10, lower=0, upper=100, epsilon=1)
    assert release.parameters["edges"] == "public" and release.parameters["split"] == {"noise": 1.0}


@pytest.mark.sampled
def test_counts_fit_together():
    """None is negative, and they add up to the noisy total, which is right on average; cut off at 0 it is too large."""
    totals = []
    for seed in range(200):
        release = nb.histogram([1.0], edges=list(range(2, 40)), epsilon=1, rng=random.Random(seed_of(seed)))
        assert release.values.min() >= 0
        total = release.values.sum()
        assert total == release.parameters["total"]
        totals.append(total)
    assert np.mean(totals) < 5  # 39 bins of noise: about 14 if negative counts were cut off


@pytest.mark.medium
@pytest.mark.sampled
def test_intervals_of_counts_hold():
    """95% of the time, or hardly fewer."""
    edges, held = [20, 30, 40, 50, 60, 70], []
    truth = np.histogram(AGES, [-1, *edges, 1000])[0]
    for seed in range(100):
        low, high = nb.histogram(AGES, edges=edges, epsilon=0.5, rng=random.Random(seed_of(seed))).intervals.T
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) >= 0.945


def test_under_swap_a_record_may_leave_one_bin_for_another():
    """So there is twice the noise for the same epsilon, and twice the variance for the same rho."""
    scales = {
        (spent, neighbors): nb.histogram(AGES, edges=[50], neighbors=neighbors, **{spent: 1}).parameters["noise_scale"]
        for spent in ("epsilon", "rho")
        for neighbors in ("add-remove", "swap")
    }
    assert scales["epsilon", "swap"] == 2 * scales["epsilon", "add-remove"] == 2
    assert scales["rho", "swap"] ** 2 == pytest.approx(2 * scales["rho", "add-remove"] ** 2, rel=1e-3)


def test_all_engines_count_the_same(tmp_path):
    """A frame, files, and a relation, with units and without."""
    frame = pl.DataFrame({"age": AGES, "who": [i % 900 for i in range(len(AGES))]})
    frame.write_csv(tmp_path / "c.csv")
    pq.write_table(frame.to_arrow(), tmp_path / "c.parquet")
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    sources = [frame, frame.to_pandas(), headed(tmp_path / "c.csv"), tmp_path / "c.parquet", relation]
    for ask in (
        lambda table: table.histogram("age", edges=[30, 60], epsilon=1, rng=random.Random(1)).values.tolist(),
        lambda table: table.cdf("age", points=[30, 60], epsilon=1, rng=random.Random(1)).values.tolist(),
    ):
        first, *others = (ask(nb.Table(source)) for source in sources)
        assert all(other == first for other in others)
    bounded = nb.Table(frame, unit="who", rows_per_unit=2).histogram("age", edges=[50], epsilon=MUCH)
    assert bounded.values.sum() == 1800 and bounded.loss.unit == "who"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"edges": [1], "bins": 5}, "got both"),
        ({"bins": 2}, "from 4 to 1000"),
        ({"bins": 5.5}, "from 4 to 1000"),
        ({"edges": [1, 2], "lower": 0}, "lower and upper"),
        ({"edges": [2, 1]}, "rising order"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    """By the parameters alone, and nothing is charged."""
    budget = nb.Budget(epsilon=1)
    with pytest.raises(ValueError, match=message):
        nb.histogram(AGES, epsilon=1, budget=budget, **given)
    assert budget.remaining == 1
