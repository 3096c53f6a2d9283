"""Intervals of quantiles: how often they hold, where an end is infinite, and what is released."""

import math
import random

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.ranks.intervals.ends import Spread, binomial_reach, calibrated
from nobounds.ranks.intervals.interval import Wanted

RUNS = 60


def runs(draw, n, q, seed=1, **options):
    """Samples and their releases."""
    rng, noise = np.random.default_rng(seed), random.Random(seed)
    for _ in range(RUNS):
        rows = draw(rng, n)
        yield rows, nb.quantile(rows, q, rng=noise, **options)


def normal(rng, n):
    return rng.normal(0.5, 5, n)


def ages(rng, n):
    return np.rint(rng.normal(40, 12, n)).astype(np.int64)


@pytest.mark.parametrize("draw", [normal, ages])
@pytest.mark.parametrize("of", ["population", "sample"])
def test_calibrated_intervals_hold(draw, of):
    """At least 50 of 60 runs, which has a probability below 1e-5 at 95% otherwise; the point lies inside."""
    truth = 0.5 if draw is normal else 40
    held = 0
    for rows, release in runs(draw, 600, 0.5, epsilon=1, interval=0.95, of=of):
        (low, high), target = release.interval, truth if of == "population" else np.sort(rows)[299]
        assert low <= release.value <= high
        held += bool(low <= target <= high)
    assert held >= 50


def test_guaranteed_intervals_hold_and_are_wider():
    """No run of 60 misses, and each is wider than the calibrated one of the same data."""
    pairs = zip(
        runs(normal, 2000, 0.5, epsilon=1, interval=0.95),
        runs(normal, 2000, 0.5, epsilon=1, interval=0.95, guarantee=True),
        strict=True,
    )
    for (_, narrow), (_, wide) in pairs:
        low, high = wide.interval
        assert low <= 0.5 <= high
        assert high - low > narrow.interval[1] - narrow.interval[0]


def test_an_end_with_few_rows_beyond_it_is_infinite():
    """The 95th percentile of 1,000 rows has 50 beyond it: no end above, and one below."""
    release = nb.quantile(normal(np.random.default_rng(1), 1000), 0.95, epsilon=0.6, interval=0.95, rows=1000)
    assert release.interval[1] == math.inf
    assert math.isfinite(release.interval[0])
    assert release.interval[0] <= release.value


def test_a_public_bound_is_an_end():
    """Where no end is found above, the public bound is one."""
    rows = normal(np.random.default_rng(1), 1000)
    release = nb.quantile(rows, 0.95, epsilon=0.6, interval=0.95, rows=1000, upper=100)
    assert release.interval[1] == 100


def test_heaps_have_an_interval_of_width_0():
    """Most rows are equal: both ends are that number."""
    rows = np.array([7] * 3000 + list(range(100)))
    assert nb.quantile(rows, 0.5, epsilon=2, interval=0.95, rng=random.Random(1)).interval == (7, 7)


@pytest.mark.parametrize("options", [{"epsilon": 1}, {"rho": 0.2}, {"epsilon": 1, "neighbors": "swap"}])
def test_a_release_with_an_interval_comes_back_from_json(options):
    """With its level, what it is for, and what it assumes."""
    rows = normal(np.random.default_rng(1), 3000)
    release = nb.quantile(rows, 0.9, interval=0.95, ranks=True, **options)
    assert nb.Release.from_json(release.to_json()) == release
    assert release.parameters["interval"]["level"] == 0.95
    assert "95%" in str(release)


def test_percentiles_of_the_answer():
    """They are around the rank that was asked for, and hold the true one."""
    rows = normal(np.random.default_rng(1), 5000)
    release = nb.quantile(rows, 0.75, epsilon=1, ranks=True, rng=random.Random(1))
    low, high = release.parameters["percentiles"]
    assert low <= 100 * np.mean(rows <= release.value) <= high
    assert high - low < 5


@pytest.mark.parametrize(
    "options",
    [
        {"interval": 1},
        {"interval": 0.3},
        {"interval": 0.95, "of": "rows"},
        {"guarantee": True, "interval": None},
        {"interval": 0.95, "method": "walk"},
        {"interval": 0.95, "beta": 1.5},
    ],
)
def test_what_cannot_be_combined_is_refused(options):
    """Before anything is charged."""
    with pytest.raises(ValueError):
        nb.quantile([1.0], 0.5, epsilon=1, **options)


def test_a_guarantee_brings_its_interval():
    """A call that asks for a guarantee and names no level has the interval that is the default."""
    release = nb.median(range(1000), epsilon=1, guarantee=True, rng=random.Random(0))
    low, high = release.interval
    assert low <= release.value <= high
    assert release.parameters["interval"]["level"] == 0.95 and release.parameters["interval"]["guarantee"]


def test_a_guarantee_is_true_or_false():
    """Nothing else."""
    with pytest.raises(TypeError, match="guarantee"):
        Wanted.checked(0.95, "sample", 1)


def test_the_distance_of_a_plain_sample():
    """Without noise it is the normal point; and a Chernoff bound is farther."""
    plain = calibrated(Spread(1e-3, 0.0, 50.0), 0.025, 0.0)
    assert plain == pytest.approx(50 * 1.96 + 1, abs=0.3)
    assert 98 < binomial_reach(10_000, 0.5, 0.025) < 150


@pytest.mark.parametrize("step", [2.0**-23, 10.0])
@pytest.mark.sampled
def test_the_answer_lies_in_its_interval(step):
    """Also where a rung holds no float, because it is narrower than their steps, or begins at a round number."""
    for seed in range(50, 150):
        rng = np.random.default_rng(seed_of(seed))
        data = 1e9 + step * rng.integers(0, 2, 300) if step < 1 else rng.normal(1e6, step, 150)
        neighbors = "add-remove" if step < 1 else "swap"
        release = nb.median(
            data, epsilon=2, interval=0.95, of="sample", neighbors=neighbors, rng=random.Random(seed_of(seed))
        )
        if release.value is None:
            continue
        low, high = release.interval
        assert low <= release.value <= high
