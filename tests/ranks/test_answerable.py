"""What is answered, by the noisy size and public facts alone."""

import random

import numpy as np
import pytest

import nobounds as nb

ROWS = np.random.default_rng(1).lognormal(3, 1, 400)


@pytest.mark.parametrize(("rows", "answered"), [(30, False), (39, False), (41, True), (400, True)])
def test_a_median_needs_forty_rows_over_epsilon(rows, answered):
    """Where the number of rows is stated, there is no noise to be careful about."""
    release = nb.quantile(ROWS[:rows], 0.5, epsilon=1, rows=rows)
    assert (release.value is not None) == answered
    assert (release.reason is None) == answered


def test_what_is_needed_does():
    """As many rows as the release says, or as much epsilon."""
    release = nb.quantile(ROWS[:30], 0.5, epsilon=1, rows=30)
    needed = release.parameters["needed"]
    assert nb.quantile(ROWS, 0.5, epsilon=1, rows=needed["rows"]).value is not None
    assert nb.quantile(ROWS, 0.5, epsilon=needed["epsilon"], rows=30).value is not None


def test_marks_off_answers_always():
    """For research."""
    assert nb.quantile(ROWS[:3], 0.5, epsilon=1, marks=False).value is not None
    assert nb.maximum(ROWS[:3], epsilon=1, marks=False).value is not None


def test_a_method_of_the_user_is_always_answered():
    """A ladder, a step or a method that the user fixes."""
    assert nb.quantile(ROWS[:3], 0.5, epsilon=1, beta=1.5).value is not None
    assert nb.quantile(ROWS[:3], 0.5, epsilon=1, method="walk").value is not None


def test_of_several_quantiles_each_is_marked_alone():
    """The median is answered with fewer rows than the tails."""
    release = nb.quantiles(ROWS[:300], [0.01, 0.5, 0.99], epsilon=1, rows=300)
    assert [value is None for value in release.value] == [True, False, True]
    assert nb.Release.from_json(release.to_json()) == release


def test_extremes_of_few_rows_are_marked():
    """Both bounds alike, and no number is printed."""
    release = nb.bounds(ROWS[:20], epsilon=1, rng=random.Random(1))
    assert release.value == (None, None)
    with pytest.raises(ValueError):
        float(nb.maximum(ROWS[:20], epsilon=1, rng=random.Random(1)))


def test_groups_are_marked_by_their_noisy_counts():
    """A group with many rows is answered, one with a few is not, and one with none is not seen."""
    keys = np.array(["many"] * 2000 + ["few"] * 60)
    table = nb.Table({"k": keys, "x": np.random.default_rng(1).lognormal(3, 1, 2060)})
    release = table.group_by("k", keys=["many", "few", "none"]).quantile("x", 0.9, epsilon=1, rng=random.Random(3))
    assert release.reasons == (None, "too few rows", "no rows seen")
    assert release.values.mask.tolist() == [False, True, True]
    assert abs(release.counts[0] - 2000) < 200
    back = nb.GroupedRelease.from_json(release.to_json())
    assert back.reasons == release.reasons
    assert back.values.mask.tolist() == [False, True, True]
