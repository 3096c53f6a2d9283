"""Rows and groups per unit: a choice near the best one, for what one unit costs, read in one pass."""

import random

import numpy as np
import pyarrow as pa
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.counting.scan import gathered
from nobounds.engines.open import open_source

SIZES = {
    "geometric": lambda rng: rng.geometric(0.3, 5000),
    "poisson": lambda rng: 1 + rng.poisson(3, 5000),
    "thirty rows each": lambda rng: np.full(5000, 30),
}


def visits(sizes, towns=20):
    """A table in which each user has a number of rows, each in a town."""
    who = np.repeat(np.arange(len(sizes)), sizes)
    return {"who": who, "town": np.random.default_rng(2).integers(0, towns, len(who))}


def error(sizes, most, later):
    """The true error of a later count: its noise, and the rows left out."""
    return np.hypot(2**0.5 * most / later, np.maximum(sizes - most, 0).sum())


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 0.1}, {"rho": 0.01}], ids=str)
@pytest.mark.parametrize("later", [1, 0.01])
@pytest.mark.parametrize("family", SIZES)
@pytest.mark.sampled
def test_the_choice_is_nearly_the_best_one(family, later, spent):
    """The true error of a count with the chosen number is at most twice that with the best power of two."""
    sizes = SIZES[family](np.random.default_rng(seed_of(1)))
    release = nb.Table(visits(sizes), unit="who").suggest_contributions(
        later=later, **spent, rng=random.Random(seed_of(1))
    )
    best = min(error(sizes, 1 << k, later) for k in range(11))
    assert error(sizes, release.value, later) <= 2 * best


@pytest.mark.medium
def test_the_forecast_is_near_the_truth():
    """For each candidate the share left out is within four points, and the noise is that of a count."""
    sizes = SIZES["geometric"](np.random.default_rng(1))
    release = nb.Table(visits(sizes), unit="who").suggest_contributions(epsilon=0.1, later=0.1, rng=random.Random(1))
    for each in release.parameters["candidates"]:
        most = each["rows_per_unit"]
        truth = np.maximum(sizes - most, 0).sum() / sizes.sum()
        assert abs(each["share_left_out"] - truth) < 0.04
        assert each["noise"] == pytest.approx(2**0.5 * most / 0.1)


@pytest.mark.medium
def test_few_groups_of_many_rows_are_few_groups():
    """Users with thirty rows in two towns at most need two groups each, of which none is left out."""
    data = visits(np.full(3000, 30), towns=2)
    release = nb.Table(data, unit="who").suggest_contributions("town", epsilon=1, rng=random.Random(1))
    assert release.value == (32, 2) and release.loss.epsilon == 1
    assert set(release.parameters["split"].values()) == {0.5}


def test_too_few_units_get_no_suggestion():
    """There is no number, and the release says how much epsilon would do."""
    release = nb.Table(visits(np.full(200, 4)), unit="who").suggest_contributions("town", epsilon=0.1)
    assert (
        release.value is None
        and release.reason == "too few rows"
        and release.parameters["needed"].get("epsilon", 1) > 0.1
    )


def test_what_is_refused():
    """No unit, no such column, a later epsilon of 0."""
    table = nb.Table(visits(np.full(30, 4)), unit="who")
    with pytest.raises(ValueError, match="contributions need unit"):
        nb.Table(visits(np.full(30, 4))).suggest_contributions(epsilon=1)
    with pytest.raises(ValueError, match="'city' is not in the table"):
        table.suggest_contributions("city", epsilon=1)
    with pytest.raises(ValueError, match="later must be greater than 0"):
        table.suggest_contributions(epsilon=1, later=0)


def test_rows_and_groups_of_units_in_one_pass():
    """A row without a user counts for nobody, and a key with a missing part is no group; a reader is read once."""
    data = pa.table(
        {
            "u": ["a", "a", "a", "b", None, "c"],
            "k": [1, 1, 2, None, 3, 1],
            "l": ["x", "y", "y", "z", "x", "x"],
        }
    )
    reader = pa.RecordBatchReader.from_batches(data.schema, data.to_batches(2))
    rows, groups = open_source(reader).groups_of_units("u", ("k", "l"))
    pairs = zip(gathered(rows.chunks()).tolist(), gathered(groups.chunks()).tolist(), strict=True)
    assert sorted(pairs) == [(1, 0), (1, 1), (3, 3)]
