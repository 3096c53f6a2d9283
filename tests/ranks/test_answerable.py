"""What is answered, by the noisy size and public facts alone."""

import random

import numpy as np

import nobounds as nb

ROWS = np.random.default_rng(1).lognormal(3, 1, 400)


def test_a_method_of_the_user_is_always_answered():
    """A ladder, a step or a method that the user fixes."""
    assert nb.quantile(ROWS[:3], 0.5, epsilon=1, beta=1.5).value is not None
    assert nb.quantile(ROWS[:3], 0.5, epsilon=1, method="walk").value is not None


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
