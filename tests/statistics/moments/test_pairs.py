"""Ratios, weighted means, covariances and correlations: right without noise, intervals that hold, in all engines."""

import random
from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.counting.scan import joined

RNG = np.random.default_rng(3)
N = 6000
X = RNG.normal(1000, 3, N)
Y = 2 * X + RNG.normal(0, 3, N)
W = RNG.exponential(2, N)
ROWS = {"x": X, "y": Y, "w": W, "who": np.arange(N) % 3000}


def truth_of(statistic, x, y):
    """What a statistic is without privacy."""
    if statistic == "ratio":
        return x.sum() / y.sum()
    if statistic == "weighted_mean":
        return np.average(x, weights=y)
    return (np.cov(x, y, ddof=0) if statistic == "covariance" else np.corrcoef(x, y))[0, 1]


COLUMNS = {"ratio": ("y", "w"), "weighted_mean": ("x", "w"), "covariance": ("x", "y"), "correlation": ("x", "y")}
TRUTHS = {name: truth_of(name, *(ROWS[column] for column in columns)) for name, columns in COLUMNS.items()}
each = pytest.mark.parametrize("statistic", COLUMNS)


def seeded(seed=1):
    return random.Random(seed)


def released(statistic, rows=ROWS, **options):
    """A release of two columns in memory."""
    return getattr(nb, statistic)(*(rows[name] for name in COLUMNS[statistic]), rng=seeded(), **options)


@each
@pytest.mark.parametrize("spent", [{"epsilon": 10**5}, {"rho": 10**8}], ids=str)
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_with_hardly_any_noise_it_is_right(statistic, spent, neighbors):
    """To two thousandths of the truth; JSON gives the release back."""
    release = released(statistic, neighbors=neighbors, **spent)
    assert release.value == pytest.approx(TRUTHS[statistic], rel=2e-3)
    assert nb.Release.from_json(release.to_json()) == release


@each
def test_a_row_with_a_missing_record_is_missing_in_both_columns(statistic):
    """Whatever its other record is."""
    more = {name: np.append(column, np.full(2000, 1e6)) for name, column in ROWS.items()}
    more["w"][N:] = more["y"][N:] = np.nan
    assert released(statistic, more, epsilon=10**5).value == pytest.approx(TRUTHS[statistic], rel=2e-3)


@pytest.mark.medium
@each
@pytest.mark.sampled
def test_the_interval_holds(statistic):
    """For data without a tail, where clipping changes nothing: in 95% of runs."""
    inside = []
    for seed in range(40):
        x, w, more = np.random.default_rng(seed_of(seed)).random((3, 3000))
        columns = (x, x + more) if statistic in ("covariance", "correlation") else (x, w)
        low, high = getattr(nb, statistic)(*columns, epsilon=2, rng=seeded(seed), marks=False).interval
        inside.append(low <= truth_of(statistic, *columns) <= high)
    assert sum(inside) >= 35  # 34 or fewer have a chance of 0.014 at 95%


@each
def test_too_few_rows_are_not_answered(statistic):
    """The release says how many would do."""
    few = released(statistic, {name: column[:20] for name, column in ROWS.items()}, epsilon=0.5)
    assert (few.value, few.reason) == (None, "too few rows")
    assert few.parameters["needed"]["rows"] > 100


@each
def test_a_table_has_them_for_units_and_for_some_rows(statistic):
    """The release names both columns, and its explanation both clips."""
    table = nb.Table(ROWS, unit="who", rows_per_unit=2).where("x > 0")
    release = getattr(table, statistic)(*COLUMNS[statistic], epsilon=10**5, rng=seeded())
    assert release.value == pytest.approx(TRUTHS[statistic], rel=2e-3)
    assert release.parameters["column"] == " and ".join(COLUMNS[statistic])
    assert release.parameters["rows_per_unit"] == 2
    assert "those of the first column to" in " ".join(nb.explain(release).text().split())


def tables(path):
    """The same rows in several engines."""
    frame = pd.DataFrame(ROWS)
    frame.to_csv(path / "rows.csv", index=False)
    pq.write_table(pa.table(ROWS), path / "rows.parquet", row_group_size=1000)
    yield nb.Table(frame)
    yield nb.Table(pl.DataFrame(ROWS))
    yield nb.Table(pl.LazyFrame(ROWS))
    yield nb.Table(pa.table(ROWS))
    yield nb.Table(path / "rows.parquet")
    yield nb.Table(path / "rows.csv", csv=nb.Csv(header=True))


def test_every_engine_gives_the_same_answer(tmp_path):
    """With the same noise, to the last bit."""
    answers = {table.weighted_mean("x", "w", epsilon=1, rng=seeded()).value for table in tables(tmp_path)}
    assert len(answers) == 1


def test_chunks_of_different_lengths_are_joined_row_by_row():
    """The rows of two columns that are read in different pieces."""
    values = np.arange(10.0)
    parts = joined([values[:3], values[3:9], values[9:]], [values[:7], values[7:]], np.subtract)
    assert np.concatenate(list(parts)).tolist() == [0.0] * 10


def test_types_decide_what_makes_sense():
    """A ratio of durations to numbers is a duration, that of dates is refused; a correlation has no unit."""
    spans = np.rint(X).astype("m8[s]")
    days = np.datetime64("2024-01-01") + np.rint(X).astype("m8[D]")
    assert isinstance(nb.ratio(spans, W, epsilon=10**5, rng=seeded()).value, timedelta)
    assert isinstance(nb.ratio(spans, spans, epsilon=10**5, rng=seeded()).value, float)
    assert nb.correlation(days, Y, epsilon=10**4, rng=seeded()).value == pytest.approx(TRUTHS["correlation"], abs=0.03)
    with pytest.raises(TypeError, match="sum of values of type date"):
        nb.ratio(days, W, epsilon=1)
    with pytest.raises(TypeError, match="take correlation"):
        nb.covariance(X, days, epsilon=1)
    with pytest.raises(TypeError, match="weights must be numbers"):
        nb.weighted_mean(X, days, epsilon=1)
    with pytest.raises(ValueError, match="same length"):
        nb.ratio(X, W[:5], epsilon=1)


def test_an_interquartile_range_lies_between_two_quartiles():
    """Its interval holds for both; of dates it is a duration, and the quartiles are dates."""
    release = nb.iqr(X, epsilon=2, interval=0.95, of="sample", rng=seeded())
    truth = float(np.subtract(*np.quantile(X, [0.75, 0.25])))
    assert release.interval[0] <= truth <= release.interval[1] < 2 * truth
    low, high = release.parameters["quartiles"]
    assert release.value == high - low == pytest.approx(truth, rel=0.1)
    days = nb.iqr(np.datetime64("2024-01-01") + (np.arange(N) % 100).astype("m8[D]"), epsilon=5, rng=seeded())
    assert abs(days.value - timedelta(days=50)) <= timedelta(days=2)
    assert days.parameters["quartiles"][0].startswith("2024-01-")
    assert nb.Release.from_json(days.to_json()) == days
    assert "interquartile range" in nb.explain(days).text()


@pytest.mark.medium
def test_forecasts_know_statistics_of_two_columns():
    """An error that more rows lower; for very many rows it is refused."""
    for statistic in (*COLUMNS, "iqr"):
        few, many = (
            nb.plan(statistic, data="uniform", n=n, epsilon=2, quick=True).rows[0].value_error for n in (1000, 9000)
        )
        assert many < few
        assert nb.rows_needed(statistic, epsilon=1) > 100
    with pytest.raises(ValueError, match="up to 131,072 records"):
        nb.plan("ratio", data="uniform", n=10**6, epsilon=1)


@each
@pytest.mark.parametrize("scale", [1e-320, 5e-324, 1e300, 1.7e308])
def test_no_number_is_too_large_or_too_small(statistic, scale):
    """Nothing warns or overflows, and what comes out is finite; infinite records are clipped."""
    data = np.append(scale * np.linspace(-1, 1, 400), [np.inf, -np.inf, 0.0])
    release = getattr(nb, statistic)(data, data[::-1], epsilon=100, rng=seeded(), marks=False)
    assert np.isfinite(release.value)


BOUNDS = {
    "ratio": ((0, 0), (3000, 30)),
    "weighted_mean": ((900, 0), (1100, 20)),
    "covariance": ((980, 1960), (1020, 2040)),
}
BOUNDS["correlation"] = BOUNDS["covariance"]


@each
def test_stated_bounds_are_for_each_column(statistic):
    """A pair, and a mapping by name, give one answer; the clips lie within the bounds."""
    names, (low, high) = COLUMNS[statistic], BOUNDS[statistic]
    table, data = nb.Table(ROWS), [ROWS[name] for name in COLUMNS[statistic]]
    pairs = getattr(nb, statistic)(*data, lower=low, upper=high, epsilon=1, rng=seeded())
    named = getattr(table, statistic)(
        *names,
        lower=dict(zip(names, low, strict=True)),
        upper=dict(zip(names, high, strict=True)),
        epsilon=1,
        rng=seeded(),
    )
    assert named.value == pairs.value and pairs.parameters["clips"] == named.parameters["clips"]
    for (first, last), least, most in zip(pairs.parameters["clips"], low, high, strict=True):
        assert least <= first < last <= most
    assert pairs.value == pytest.approx(TRUTHS[statistic], rel=0.2)


def test_one_bound_is_for_both_columns_and_bounds_of_others_are_refused():
    """A number for both, and the errors."""
    for given in (0, (0, 0), [0, 0]):
        release = nb.covariance(X, Y, lower=given, epsilon=1, rng=seeded())
        assert all(first >= 0 for first, _ in release.parameters["clips"])
    table = nb.Table(ROWS)
    for given, words in (({"w": 0}, "two columns"), ((0, 0, 0), "pair"), ("far", "lower")):
        with pytest.raises((ValueError, TypeError), match=words):
            table.covariance("x", "y", lower=given, epsilon=1)


@pytest.mark.medium
def test_true_bounds_help_and_loose_ones_do_not_harm():
    """The median error of a covariance over 200 runs, with tight bounds, none, and 500 times as wide ones."""
    errors = {}
    for name, (low, high) in {"tight": ((985, 1970), (1015, 2030)), "none": (None, None), "loose": (-1e4, 1e4)}.items():
        runs = [nb.covariance(X, Y, lower=low, upper=high, epsilon=1, rng=seeded(k)).value for k in range(200)]
        errors[name] = np.median(np.abs(np.array(runs, dtype=float) - TRUTHS["covariance"]))
    assert errors["tight"] < 1.1 * errors["none"] and errors["loose"] < 1.2 * errors["none"]


@pytest.mark.medium
@pytest.mark.sampled
def test_a_ratio_far_from_zero_is_as_accurate_as_its_means():
    """At 1000 with a standard deviation of 3, errors are far below those of sums that are clipped around 0."""
    other = RNG.normal(1000, 3, N)
    runs = [nb.ratio(X, other, epsilon=1, rng=seeded(seed_of(k))) for k in range(40)]
    errors = [abs(release.value - X.sum() / other.sum()) for release in runs]
    assert np.median(errors) < 5e-5  # a sum clipped around 0 has noise of 1000 / 3000 epsilon, a few 1e-4 of it
    held = [release.interval[0] <= X.sum() / other.sum() <= release.interval[1] for release in runs]
    assert sum(held) >= fewest(40, 0.95)


def test_an_interval_of_clipped_records_says_so():
    """In print, in JSON, in HTML and in the explanation."""
    release = nb.covariance(X, Y, epsilon=1, rng=seeded())
    assert "for the clipped records" in str(release) and "for the clipped records" in release._repr_html_()
    assert release.parameters["interval"] == {"level": 0.95, "of": "clipped records"}
    assert "of the clipped records" in str(nb.explain(release)).replace("\n  ", " ")
    assert "clipped records" not in str(nb.ratio(X, Y, epsilon=1, rng=seeded()))
