"""What forecasts are made of: thin data sets that stand for whole ones, truths, and the search for an epsilon."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.accounting.spending import Spending
from nobounds.planning.families import Shape
from nobounds.planning.forecasters import PAIRED, TRUTHS, Forecaster, pair
from nobounds.planning.needed import MOST, smallest
from nobounds.planning.samples import ALL, Sample, Sampling

VALUES = np.sort(np.random.default_rng(4).normal(50, 2, 4000))
SAMPLE = Sample(VALUES, np.ones(4000, dtype=np.int64))
# The second of two columns is the sum of the first and an independent one; weights are independent.
TRUE = {
    "count": 4000,
    "sum": VALUES.sum(),
    "mean": VALUES.mean(),
    "std": VALUES.std(),
    "variance": VALUES.var(),
    "iqr": float(np.subtract(*np.quantile(VALUES, [0.75, 0.25]))),
    "proportion": 0.5,
}
TRUE_OF_PAIRS = {
    "ratio": 0.5,
    "weighted_mean": VALUES.mean(),
    "covariance": VALUES.var(),
    "correlation": 0.5**0.5,
}


def sample_of(data):
    """A data set as a sample, each value with its number of records."""
    return Sample(*np.unique(np.asarray(data, dtype=float), return_counts=True))


@pytest.mark.medium
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.fractions(0, 1), st.floats(-5, 5))
def test_a_sample_has_the_quantiles_and_ranks_of_its_records(data, q, answer):
    """With repeated values and without."""
    sample = sample_of(data)
    assert sample.quantile(float(q)) == pytest.approx(np.quantile(data, float(q)), abs=1e-9)
    below, up_to = sum(x < answer for x in data), sum(x <= answer for x in data)
    expected = max(below - float(q) * len(data), float(q) * len(data) - up_to, 0)
    assert sample.rank_errors(np.array([answer]), float(q))[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 1000, ALL, ALL + 1, 100_000, 10**9])
@pytest.mark.parametrize("ranks", [(0.5,), (0.0, 1.0), (0.25, 0.2501, 0.75)])
def test_a_fresh_data_set_has_all_its_records(n, ranks):
    """In order, n in all, and near the quantiles of its shape; and the same number gives the same one."""
    sampling = Sampling(Shape.of("uniform"), n, ranks)
    for sample in (sampling.fresh(1), sampling.typical()):
        assert sample.total == n and np.all(np.diff(sample.values) >= 0) and sample.counts.min() > 0
        assert len(sample.values) <= 20_000
        assert abs(sample.quantile(0.5) - 0.5) < 4 / np.sqrt(n) + 0.01
    assert np.array_equal(sampling.fresh(3).values, sampling.fresh(3).values)


@pytest.mark.medium
def test_the_numbers_below_a_window_vary_as_they_should():
    """The records below the median of the shape have the variance n / 4, also where most are not drawn one by one."""
    sampling = Sampling(Shape.of("uniform"), 40_000, (0.5,))
    below = [int(s.counts[s.values < 0.5].sum()) for s in map(sampling.fresh, range(400))]
    assert np.mean(below) == pytest.approx(20_000, abs=5 * 100 / 20)
    assert np.var(below) == pytest.approx(10_000, rel=0.35)


@given(st.floats(2e-6, 18), st.floats(0.5, 2))
def test_the_smallest_number_is_found_whatever_the_quick_look_says(place, wrong):
    """It will do, it has three digits, and 6% less will not do."""
    found = smallest(lambda x: x >= place * wrong, lambda x: x >= place)
    assert found is not None and place <= found <= 1.06 * place
    assert float(f"{float(found):.3g}") == float(found)


def test_no_number_is_found_where_none_will_do():
    """None up to the most that is tried; and what always does is the least."""
    assert smallest(lambda x: True, lambda x: False) is None
    assert smallest(lambda x: False, lambda x: False) is None
    assert smallest(lambda x: False, lambda x: x == MOST) == MOST
    assert smallest(lambda x: True, lambda x: True) == F(1, 10**6)


def test_samples_of_floats_are_smoothed_and_others_are_not():
    """Whole numbers, gridded and mostly tied records stay themselves; floats are resampled between their ends."""
    u = (np.arange(5000) + 0.5) / 5000
    floats = np.sort(np.random.default_rng(1).normal(size=500))
    smooth = Shape.of(floats).at(u)
    assert len(np.unique(smooth)) == 5000 and floats[0] <= smooth[0] and smooth[-1] <= floats[-1]
    assert np.quantile(smooth, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(floats, [0.1, 0.5, 0.9]), abs=0.05)
    for shape in (Shape.of(np.arange(7)), Shape.of(floats, resolution=1e-9), Shape.of(np.round(floats, 1))):
        values = shape.at(u)
        assert len(np.unique(values)) <= 500 and np.all(np.diff(values) >= 0)
    assert Shape.of("lognormal", resolution="0.5").at(u) * 2 == pytest.approx(np.rint(Shape.of("lognormal").at(u) * 2))


def forecaster(statistic, n=4000):
    return Forecaster.of(statistic, (), n, Shape.of(VALUES), {"neighbors": "add-remove", "interval": None})


@pytest.mark.parametrize("statistic", TRUE)
def test_the_truth_is_that_of_the_sample(statistic):
    """As numpy has it."""
    assert TRUTHS[statistic](SAMPLE) == pytest.approx(TRUE[statistic], rel=1e-9)


@pytest.mark.parametrize("statistic", PAIRED)
def test_the_truth_is_that_of_two_columns(statistic):
    """Within what the chance of another order leaves."""
    assert TRUTHS[statistic](SAMPLE) == pytest.approx(TRUE_OF_PAIRS[statistic], rel=0.1)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", [*sorted(set(TRUE) - {"count"}), *PAIRED, "median", "bounds"])
def test_with_next_to_no_noise_there_is_next_to_no_error(statistic):
    """Each statistic is asked for as its function wants it."""
    errors = forecaster(statistic).errors(Spending(F(2000), False), 3)
    assert errors.most <= 0.05 * abs(forecaster(statistic).typical()[0])


@pytest.mark.parametrize("statistic", ["std", "iqr", "proportion", "median", "sum", *PAIRED])
def test_what_is_not_answered_is_off_by_a_useless_answer(statistic):
    """Five records at a small epsilon carry nothing."""
    few = forecaster(statistic, 5)
    useless = few.useless(few.sampling.typical())
    assert few.errors(Spending(F(1, 10**4), False), 3).median == pytest.approx(useless)


def test_very_many_records_of_two_columns_are_refused():
    """They are made record by record."""
    with pytest.raises(ValueError, match="up to 131,072 records"):
        pair(Sample(np.array([1.0]), np.array([1 << 18])))
