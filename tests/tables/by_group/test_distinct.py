"""Distinct units and values by group: what counts, what a unit may change, and what is refused."""

import random

import numpy as np
import pandas as pd
import pytest
from support.chance import seed_of

import nobounds as nb

MUCH = 10**6  # then there is next to no noise
N = 6000
RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "team": RNG.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1]),
        "player": RNG.integers(0, 500, N),
        "city": [f"c{i}" for i in RNG.geometric(0.1, N)],
    }
)
PUBLIC, PRIVATE = {"keys": ["b", "a", "nobody"]}, {"delta": 1e-6}


def test_units_of_each_group_are_counted_once():
    """However many rows they have; groups per unit are all that is needed."""
    table = nb.Table(FRAME, unit="player")
    release = table.group_by("team", **PUBLIC, groups_per_unit=3).count_distinct(epsilon=MUCH)
    truth = FRAME.groupby("team")["player"].nunique()
    assert list(release) == [("b", truth["b"]), ("a", truth["a"]), ("nobody", 0)]
    same = table.group_by("team", **PRIVATE, groups_per_unit=3).count_distinct("player", epsilon=1000)
    assert dict(same) == truth.to_dict()
    assert release.parameters["groups_per_unit"] == 3 and "rows_per_unit" not in release.parameters


@pytest.mark.parametrize("how", [PUBLIC, PRIVATE], ids=["public", "private"])
def test_values_of_each_group_are_counted_once(how):
    """For rows, and for units with as many values as they may have."""
    truth = FRAME.groupby("team")["city"].nunique()
    for unit in ({}, {"unit": "player", "rows_per_unit": 100}):
        release = nb.Table(FRAME, **unit).group_by("team", **how).count_distinct("city", epsilon=10**5)
        assert {key: value for key, value in release if value} == {
            key: truth[key] for key in set(release.groups) & set(truth.index)
        }
        assert len(release) == 3


def test_a_unit_changes_as_many_numbers_as_it_may():
    """Of a unit with ten values in two groups, three are left; and the noise is that of three."""
    data = {"who": ["one"] * 10 + ["other"], "g": ["a"] * 5 + ["b"] * 6, "v": [f"v{i}" for i in range(10)] + ["v9"]}
    groups = nb.Table(data, unit="who", rows_per_unit=10).group_by("g", keys=["a", "b"])
    for seed in range(5):
        release = groups.count_distinct("v", values_per_unit=3, epsilon=MUCH, rng=random.Random(seed))
        assert 3 <= sum(release.values) <= 4  # the other unit has a value of its own, or the same
    assert release.parameters["values_per_unit"] == 3 and release.parameters["noise_scale"] == 3 / MUCH
    assert "at most 3 values count" in str(release)


@pytest.mark.sampled
def test_an_interval_holds_for_the_values_that_are_left():
    """In 95% of runs, hardly fewer."""
    groups = nb.Table(FRAME).group_by("team", keys=["a", "b", "c"])
    truth, held = FRAME.groupby("team")["city"].nunique(), 0
    for seed in range(200):
        release = groups.count_distinct("city", epsilon=1, rng=random.Random(seed_of(seed)))
        held += sum(low <= truth[key] <= high for key, (low, high) in zip(release.groups, release.bars, strict=True))
    assert held >= 0.93 * 600


def test_the_charge_is_what_was_asked_for():
    """With public keys and private ones, of units and of values."""
    table = nb.Table(FRAME, unit="player", rows_per_unit=4)
    for how, column in ((PUBLIC, None), (PUBLIC, "city"), (PRIVATE, None), (PRIVATE, "city")):
        budget = nb.Budget(epsilon=5, delta=1e-5)
        table = nb.Table(FRAME, unit="player", rows_per_unit=4, budget=budget)
        release = table.group_by("team", **how).count_distinct(column, epsilon=2)
        assert release.loss.epsilon == budget.spent.epsilon == 2
        assert release.loss.delta == how.get("delta", 0)


@pytest.mark.parametrize(
    ("unit", "column", "options", "words"),
    [
        ({}, None, {}, "needs a table with a unit"),
        ({"unit": "player"}, None, {}, "groups_per_unit"),
        ({"unit": "player", "rows_per_unit": 2}, "player", {"values_per_unit": 2}, "a unit counts once"),
        ({}, "city", {"values_per_unit": 2}, "each row has one value"),
        ({}, "team", {}, "that group_by has not"),
        ({}, "town", {}, "is not in the table"),
        ({"unit": "player"}, "city", {}, "needs rows_per_unit"),
    ],
)
def test_what_cannot_be_counted_is_refused(unit, column, options, words):
    """Before anything is charged."""
    budget = nb.Budget(epsilon=1)
    with pytest.raises(ValueError, match=words):
        nb.Table(FRAME, **unit, budget=budget).group_by("team", **PUBLIC).count_distinct(column, epsilon=1, **options)
    assert not budget.history
