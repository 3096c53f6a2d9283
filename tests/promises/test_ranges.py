"""Answers stay within what is public: bounds that are stated, and counts and spreads that are not negative."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nobounds as nb

KEYS = ["a", "b", "none"]


def check(value, bar, low, high):
    """The value lies in the range, and so does its interval, which holds the value, unless nothing is known of it."""
    if value is None:
        return
    assert low <= value <= high
    if bar is not None and tuple(bar) != (-math.inf, math.inf):
        assert low <= bar[0] <= value <= bar[1] <= high


@st.composite
def data(draw):
    """Records between bounds, and options with one or both of them; hardly any epsilon, so that noise is large."""
    low, high = draw(st.sampled_from([(0, 50), (-50, 0), (-7, 3), (1000, 1001)]))
    number, seed = draw(st.sampled_from([0, 3, 40, 800])), draw(st.integers(0, 2**32))
    records = np.random.default_rng(seed).integers(low, high, number, endpoint=True)
    ends = draw(st.sampled_from([(low, high), (low, None), (None, high)]))
    options = {"lower": ends[0], "upper": ends[1], "resolution": draw(st.sampled_from([None, 1]))}
    options |= {
        "epsilon": draw(st.sampled_from([0.02, 0.3, 2])),
        "rng": random.Random(seed),
        "marks": draw(st.booleans()),
    }
    return records if draw(st.booleans()) else records.astype(float), options


def ranges(options):
    """The range of records, and of their sums."""
    low = -math.inf if options["lower"] is None else options["lower"]
    high = math.inf if options["upper"] is None else options["upper"]
    return (low, high), (0 if low >= 0 else -math.inf, 0 if high <= 0 else math.inf)


@pytest.mark.medium
@settings(max_examples=40)
@given(data(), st.sampled_from(["add-remove", "swap"]))
def test_answers_stay_within_stated_bounds(case, neighbors):
    """Sums of records of one sign have that sign; means, quantiles and extremes lie between the bounds."""
    records, options = case
    (low, high), summed = ranges(options)
    options |= {"neighbors": neighbors}
    total = nb.sum(records, **options)
    check(total.value, total.interval, *summed)
    for release in (
        nb.mean(records, **options),
        nb.quantile(records, 0.5, **options),
        nb.minimum(records, interval=0.9, **options),
        nb.maximum(records, interval=0.9, **options),
    ):
        check(release.value, release.interval, low, high)
    for value in (nb.bounds(records, **options).value or ()) + nb.quantiles(records, [0.01, 0.9], **options).value:
        check(value, None, low, high)
    count = nb.count(records, epsilon=options["epsilon"], rng=options["rng"], neighbors=neighbors)
    check(count.value, count.interval, 0, math.inf)
    summary = nb.describe({"x": records}, **{name: each for name, each in options.items() if name != "marks"})["x"]
    for name, value in summary.values.items():
        spread = (0, math.inf) if name in ("count", "std") else (low, high)
        check(value, summary.intervals.get(name), *spread)


@pytest.mark.medium
@settings(max_examples=15)
@given(data())
def test_groups_stay_within_stated_bounds(case):
    """Likewise for each group."""
    records, options = case
    bounds, summed = ranges(options)
    table = nb.Table({"x": records, "k": np.array(KEYS[:2] * len(records))[: len(records)].astype(str)})
    groups = table.group_by("k", keys=KEYS)
    asked = {"sum": summed, "mean": bounds, "minimum": bounds, "maximum": bounds}
    for statistic, (low, high) in asked.items():
        release = getattr(groups, statistic)("x", **options)
        for value, bar in zip(release.values.tolist(), release.bars, strict=True):
            check(value, bar, low, high)
    counts = groups.count("x", epsilon=options["epsilon"], rng=options["rng"])
    for value, bar in zip(counts.values.tolist(), counts.bars, strict=True):
        check(value, bar, 0, math.inf)


def test_a_sum_that_noise_would_make_negative_is_zero():
    """Of records that are not negative, in the value and at the low end of its interval; without a bound it is not."""
    groups = nb.Table({"x": np.arange(2000) % 50, "k": ["a"] * 2000}).group_by("k", keys=["a", "none"])
    options = {"epsilon": 0.5, "marks": False}
    stated = [groups.sum("x", lower=0, rng=random.Random(k), **options) for k in range(8)]
    assert any(release["none"] == 0 == release.intervals[1, 0] for release in stated)
    assert min(groups.sum("x", rng=random.Random(k), **options)["none"] for k in range(8)) < 0
