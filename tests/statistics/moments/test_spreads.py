"""Medians, standard deviations, variances and proportions as they are released: types, intervals, marks and JSON."""

import math
import random
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from support.chance import fewest, seed_of
from support.everyday import DATA, drawn
from support.purse import Purse

import nobounds as nb

relations = pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
spent = pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
RNG = np.random.default_rng(5)
AGES = RNG.integers(18, 78, 6000)
DAYS = np.datetime64("2024-01-01") + AGES.astype("m8[D]")


def seeded():
    return random.Random(7)


def test_a_median_is_the_quantile_at_a_half():
    """With the same noise it is the same number, interval and cost."""
    median = nb.median(AGES, epsilon=1, interval=0.95, rng=seeded())
    quantile = nb.quantile(AGES, 0.5, epsilon=1, interval=0.95, rng=seeded())
    assert (median.value, median.intervals, median.loss) == (quantile.value, quantile.intervals, quantile.loss)
    assert median.statistic == "median"


def test_a_standard_deviation_is_the_root_of_the_variance():
    """With the same noise, and so are the ends of their intervals."""
    std, variance = (statistic(AGES, epsilon=1, rng=seeded()) for statistic in (nb.std, nb.variance))
    assert std.value**2 == pytest.approx(variance.value)
    assert [end**2 for end in std.interval] == pytest.approx(list(variance.interval))
    assert std.interval[0] <= AGES.std() <= std.interval[1]


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("low", [0, 6])
def test_spreads_of_two_whole_numbers_hold(low, neighbors):
    """The mean lies half a step from the centre of the squares, so its noise moves the variance as theirs does.

    At least 54 of 60 hold; by the noise of the squares alone about half of them did.
    """
    flags, rng = low + np.arange(1000) % 2, seeded()
    held = 0
    for _ in range(60):
        first, last = nb.std(flags, epsilon=1, neighbors=neighbors, rng=rng).interval
        held += first <= 0.5 <= last
    assert held >= 54


def test_spreads_near_the_ends_of_the_floats_hold_and_can_be_printed():
    """A variance beyond the floats has no upper end, its root is a float all the same, and no range is infinite."""
    far = np.array([1e300, -1e300] * 1500)
    std, variance = (statistic(far, epsilon=1, rng=seeded()) for statistic in (nb.std, nb.variance))
    assert std.interval[0] <= 1e300 <= std.interval[1] and std.value == pytest.approx(1e300, rel=0.1)
    assert variance.interval[1] == np.inf
    covariance = nb.covariance(far, far, epsilon=8, rng=seeded())
    assert np.isfinite(covariance.value) and covariance.interval[1] == np.inf and str(covariance)
    for wide in ({}, {"interval": 0.95}):
        release = nb.iqr(np.array([1.7e308, -1.7e308] * 1500), epsilon=1, rng=seeded(), **wide)
        assert np.isfinite(release.value) and str(release)
        assert all(low <= release.value <= high for low, high in release.intervals)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["std", "variance"])
@relations
@spent
@pytest.mark.sampled
def test_a_spread_is_near_the_truth_and_its_interval_holds(name, spent, neighbors):
    """Of 1,000 rows for the rows; the tail of lognormal numbers may be cut off, and then the upper end is open."""
    near = held = 0
    for column in DATA:
        for k in range(15):
            data = drawn(column, 1000, seed_of(k)).astype(float)
            release = getattr(nb, name)(data, neighbors=neighbors, rng=random.Random(seed_of(k)), **spent)
            low, high = release.interval
            true = data.std() if name == "std" else data.var()
            held += low <= true <= high
            near += column != "ages" or abs(release.value - true) < 0.25 * true
            assert 0 <= low <= release.value <= high
    assert held >= fewest(60, 0.95)
    assert near >= fewest(60, 0.97)


@relations
@spent
@pytest.mark.parametrize("statistic", [nb.std, nb.variance], ids=["std", "variance"])
def test_no_spread_is_no_error(statistic, spent, neighbors):
    """Equal records, none and missing ones: next to nothing, or no answer with a reason; JSON keeps both."""
    for data in ([], [3.5], np.full(500, np.nan), np.full(5000, 7.25), np.zeros(5000), [math.inf] * 500):
        release = statistic(data, neighbors=neighbors, rng=random.Random(1), **spent)
        assert nb.Release.from_json(release.to_json()) == release
        if release.value is None:
            assert (release.reason, release.interval) == ("too few rows", (0, math.inf))
        elif math.isfinite(np.max(data, initial=0)):
            assert 0 <= release.value < 1e-3 and release.interval[0] <= 0


@pytest.mark.parametrize("statistic", [nb.std, nb.variance], ids=["std", "variance"])
@relations
def test_stated_bounds_close_the_upper_end(statistic, neighbors):
    """Of ages from 0 to 120."""
    release = statistic(AGES, epsilon=1, lower=0, upper=120, neighbors=neighbors, rng=seeded())
    assert release.interval[1] < 4 * release.value


@pytest.mark.parametrize("statistic", [nb.std, nb.variance], ids=["std", "variance"])
@relations
@spent
def test_a_spread_costs_what_was_asked_for(statistic, spent, neighbors):
    """Charged before the data are read; the interval costs nothing."""
    purse = Purse()
    release = statistic(AGES, neighbors=neighbors, budget=purse, rng=seeded(), **spent)
    assert [loss for loss, _ in purse.charged] == [release.loss]
    ((measure, amount),) = spent.items()
    assert getattr(release.loss, measure) == amount == pytest.approx(math.fsum(release.parameters["split"].values()))
    bare = statistic(AGES, neighbors=neighbors, interval=None, rng=seeded(), **spent)
    assert (bare.value, bare.intervals) == (release.value, ())
    with pytest.raises(RuntimeError, match="spent"):
        statistic(AGES, neighbors=neighbors, budget=Purse(refuses=True), **spent)


def test_the_spread_of_dates_is_a_duration():
    """In days, whatever the unit of the type is; a clip is in dates; JSON gives the duration back."""
    std = nb.std(DAYS, epsilon=5, rng=seeded())
    assert isinstance(std.value, timedelta)
    assert std.value / timedelta(days=1) == pytest.approx(AGES.std(), rel=0.05)
    assert std.parameters["type"] == "duration"
    assert nb.Release.from_json(std.to_json()) == std
    text = nb.explain(std).text()
    assert "the standard deviation" in text
    assert "those below 2024-" in text
    spans = nb.std(AGES.astype("m8[h]"), epsilon=5, rng=seeded())
    assert spans.value / timedelta(hours=1) == pytest.approx(AGES.std(), rel=0.05)


def test_decimals_have_a_standard_deviation_and_a_variance():
    """The first is a decimal with more digits, the second a number."""
    money = pa.array([Decimal(int(age)) / 4 for age in AGES], pa.decimal128(12, 2))
    assert float(nb.std(money, epsilon=5, rng=seeded()).value) == pytest.approx(AGES.std() / 4, rel=0.05)
    assert isinstance(nb.variance(money, epsilon=5, rng=seeded()).value, float)


def test_what_makes_no_sense_is_refused_by_type():
    """A variance of dates has no unit, and a share needs booleans."""
    with pytest.raises(TypeError, match="take std"):
        nb.variance(DAYS, epsilon=1)
    with pytest.raises(TypeError, match="boolean column"):
        nb.proportion(AGES, epsilon=1)


def test_a_proportion_of_a_list():
    """What is nearer to 1 than to 0 is true; None is missing."""
    release = nb.proportion([True] * 30 + [0] * 10 + [None] * 50, epsilon=50, rng=seeded())
    assert release.value == pytest.approx(0.75, abs=0.01)
    assert "holds for every data set" in nb.explain(release).text()


def test_a_proportion_of_a_table():
    """By a boolean column or by a condition, for units too; the release states the condition."""
    data = {"late": AGES > 40, "age": AGES, "who": np.arange(6000) % 3000}
    for table in (nb.Table(data), nb.Table(data, unit="who", rows_per_unit=2), nb.Table(data, neighbors="swap")):
        by_column = table.proportion("late", epsilon=5, rng=seeded())
        by_condition = table.proportion("age > 40", epsilon=5, rng=seeded())
        assert by_condition.parameters["column"] == "age > 40"
        for release in (by_column, by_condition):
            assert release.value == pytest.approx(np.mean(AGES > 40), abs=0.01)
    with pytest.raises(TypeError, match="true or false"):
        nb.Table(data).proportion("age + 1", epsilon=1)
    with pytest.raises(ValueError, match="not in the table"):
        nb.Table(data).proportion("agee > 1", epsilon=1)


def test_forecasts_know_the_new_statistics():
    """An error that more rows lower, and a number of rows."""
    few, many = (nb.plan("std", data="normal", n=n, epsilon=1, quick=True).rows[0].value_error for n in (1000, 8000))
    assert many < few / 2
    share = nb.plan("proportion", data="normal", n=1000, epsilon=1, quick=True)
    assert share.rows[0].value_error < 0.01
    assert nb.rows_needed("std", epsilon=1) > nb.rows_needed("std", epsilon=2) > 10
    assert nb.rows_needed("median", epsilon=1) == nb.rows_needed("quantile", q=0.5, epsilon=1)
