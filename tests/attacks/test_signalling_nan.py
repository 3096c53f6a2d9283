"""A NaN whose bits signal an invalid operation makes no warning: one would tell of the record that has them."""

import random
import warnings

import numpy as np
import pytest

import nobounds as nb

SIGNALLING = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)[0]
STATISTICS = {
    "sum": nb.sum,
    "mean": nb.mean,
    "median": nb.median,
    "maximum": nb.maximum,
    "std": nb.std,
    "count": nb.count,
    "quantiles": lambda data, **options: nb.quantiles(data, [0.1, 0.5], **options),
    "ratio": lambda data, **options: nb.ratio(data, data, **options),
    "histogram": lambda data, **options: nb.histogram(data, edges=[0, 50, 100], **options),
    "describe": lambda data, **options: nb.describe({"x": data}, **options),
    "grid": lambda data, **options: nb.mean(data, resolution=1, **options),
    "median on a grid": lambda data, **options: nb.median(data, resolution=1, **options),
}


def with_a_nan(n):
    data = np.random.default_rng(0).normal(50, 10, n)
    data[5] = SIGNALLING
    return data


def test_the_nan_signals():
    """numpy warns of this record, if nobody tells it not to."""
    with pytest.warns(RuntimeWarning, match="invalid"):
        np.subtract(with_a_nan(100), 1.0)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("n", [300, 20_000])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_no_statistic_warns(statistic, n, neighbors):
    """With few records and with many, on both relations."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        STATISTICS[statistic](with_a_nan(n), epsilon=1, neighbors=neighbors, rng=random.Random(1))
