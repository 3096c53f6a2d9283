"""The numbers of groups: their type follows from what is released, not from how it was added up."""

import random

import numpy as np
import pyarrow as pa
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.tables.by_group.answers import fitting


@pytest.mark.parametrize("numbers", [[1, 2, 3], [-(2**62), 5], [2**63 - 1]])
def test_numbers_that_fit_are_of_64_bits_however_they_were_added(numbers):
    """As 64-bit numbers, or as Python's."""
    for added in (np.array(numbers), np.array(numbers, dtype=object)):
        released = fitting(added)
        assert released.dtype == np.int64 and released.tolist() == numbers


def test_numbers_that_do_not_fit_are_whole():
    """And nothing wraps around."""
    assert fitting(np.array([2**63, 1], dtype=object)).tolist() == [2**63, 1]


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.5, 0.9, 1])
@pytest.mark.sampled
def test_intervals_of_groups_hold_and_have_the_answer_inside(q):
    """Of 60 groups at 95% at least 50, which has a probability below 1e-5 otherwise; heaps that no float hits, too."""
    rng, many, rows = np.random.default_rng(seed_of(1)), 60, 700
    x = np.where(rng.random((many, rows)) < 0.5, 1 / 3, rng.lognormal(1, 1, (many, rows)))
    table = nb.Table(pa.table({"k": np.repeat(np.arange(many), rows), "x": x.ravel()}))
    groups = table.group_by("k", keys=[*range(many), 999])
    release = groups.quantile("x", q, epsilon=1, interval=0.95, of="sample", rng=random.Random(seed_of(1)))
    low, high = release.intervals[:many].T
    truth = np.sort(x, axis=1)[:, int(np.ceil(q * rows)) - 1]
    assert np.sum((low <= truth) & (truth <= high)) >= 50
    assert np.all((low <= release.values[:many]) & (release.values[:many] <= high))
    assert release[999] is None
    assert release.reasons[many] in ("no rows seen", "too few rows")
    assert release.intervals[many].tolist() == [-np.inf, np.inf]
    assert release.parameters["interval"]["level"] == 0.95
    again = nb.GroupedRelease.from_json(release.to_json())
    assert again == release and hash(again) == hash(release) and again != again.to_json()
    assert again.intervals.tolist() == release.intervals.tolist()


def test_too_many_keys_for_intervals_are_refused():
    """From the keys that the user gives, before anything is charged."""
    budget = nb.Budget(epsilon=1)
    groups = nb.Table(pa.table({"k": [1], "x": [1.0]}), budget=budget).group_by("k", keys=range(10_001))
    with pytest.raises(ValueError, match="fewer keys"):
        groups.quantile("x", 0.5, epsilon=1, interval=0.95)
    with pytest.raises(ValueError, match="need interval"):
        groups.quantile("x", 0.5, epsilon=1, of="sample")
    assert budget.spent is None
