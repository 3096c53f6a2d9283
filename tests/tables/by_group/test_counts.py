"""The most frequent values of each group: order, intervals that hold together, and keys that counts choose."""

import random

import numpy as np
import pytest
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.groups.key_counts import KeyCounts
from nobounds.groups.key_selection import KeySelection
from nobounds.tables.by_group.key_choice import beside, chosen_by_counts

MUCH = 10**5  # then there is next to no noise
SHOPS = [("north", "s1", 90), ("north", "s2", 60), ("north", "s3", 30), ("south", "s3", 80), ("south", "s1", 20)]
ROWS = [(region, shop) for region, shop, rows in SHOPS for _ in range(rows)]
TABLE = nb.Table({"region": [region for region, _ in ROWS], "shop": [shop for _, shop in ROWS]})


def test_the_most_frequent_values_of_each_group_come_first():
    """Of public groups in the order of their keys, with values that no row has; of private ones sorted."""
    public = TABLE.group_by("region", keys=["south", "north"])
    top = public.top_k("shop", 2, keys=["s1", "s2", "s3", "none"], epsilon=MUCH)
    assert list(top) == [(("south", "s3"), 80), (("south", "s1"), 20), (("north", "s1"), 90), (("north", "s2"), 60)]
    private = TABLE.group_by("region", delta=1e-6).top_k("shop", 2, epsilon=20)
    assert private.groups == [("north", "s1"), ("north", "s2"), ("south", "s3"), ("south", "s1")]
    assert private.by == ("region", "shop") and private.parameters["k"] == 2
    assert "in each group by region" in str(nb.explain(private)).replace("\n  ", " ")


@pytest.mark.sampled
def test_the_intervals_of_a_group_hold_together():
    """The parameters say for how many values; a group of fifty empty values misses in at most 5% of runs."""
    keys = [f"v{i}" for i in range(50)]
    groups = nb.Table({"g": ["a"], "v": ["v0"]}).group_by("g", keys=["a", "b"])
    missed = 0
    for seed in range(200):
        release = groups.top_k("v", 3, keys=keys, epsilon=0.5, rng=random.Random(seed_of(seed)))
        assert release.parameters["interval"]["together"] == 50
        of_b = [low for (g, _), (low, _) in zip(release.groups, release.bars, strict=True) if g == "b"]
        missed += max(of_b) > 0
    assert missed <= 20  # 10 expected at the most
    alone = nb.Table({"v": ["v0"]}).top_k("v", 3, keys=keys, epsilon=0.5, rng=random.Random(seed_of(1)))
    assert release.parameters["half_interval"] == alone.parameters["half_interval"]


@pytest.mark.parametrize(("rows", "groups", "kind"), [(1, 1, KeyCounts), (5, 5, KeyCounts), (20, 1, KeySelection)])
def test_counts_choose_keys_where_they_show_no_fewer(rows, groups, kind):
    """By public parameters alone: a key needs no more rows than the choice before needs units, or that is made."""
    choice = chosen_by_counts(nb.exact.rational(1, "epsilon"), nb.exact.rational("1e-6", "delta"), rows, groups)
    assert isinstance(choice, kind)
    assert beside(choice) == (0 if kind is KeyCounts else choice.epsilon)


def test_counts_of_rows_by_group_choose_their_keys():
    """A count by group, value counts and a table of values give one answer to one seed; all of epsilon is noise."""
    data = nb.Table({"g": np.repeat(["a", "b", "c"], [400, 40, 3])})
    seeded = {"epsilon": 1, "rng": random.Random(4)}
    counts = data.group_by("g", delta=1e-6).count(**seeded)
    values = data.value_counts("g", delta=1e-6, epsilon=1, rng=random.Random(4))
    assert dict(counts) == dict(values) and counts.groups == ["a", "b"]
    assert counts.parameters["split"] == {"noise": 1.0} and counts.loss.epsilon == 1
    assert counts.intervals.tolist() == values.intervals.tolist()


@pytest.mark.sampled
def test_a_count_near_the_limit_may_be_one():
    """A key with few rows is shown for its noise alone: then the interval reaches down to 1."""
    table = nb.Table({"g": ["few"] * 14 + ["many"] * 500})
    noise, ends = random.Random(seed_of(1)), []
    for _ in range(60):
        release = table.value_counts("g", delta=1e-6, epsilon=1, rng=noise)
        ends += [bar for key, bar in zip(release.groups, release.bars, strict=True) if key == "few"]
        assert release["many"] > 480 and release.bars[-1][0] > 480
    assert len(ends) > 5 and sum(low <= 14 <= high for low, high in ends) >= fewest(len(ends), 0.9)
    assert min(low for low, _ in ends) == 1
