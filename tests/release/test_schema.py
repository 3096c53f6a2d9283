"""One versioned JSON for all releases: it is as the schema says, and comes back as it was."""

import json
import math
import random
from datetime import date
from decimal import Decimal

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.release.grouped import GroupedRelease
from nobounds.release.schema import json_schema

RNG = np.random.default_rng
X = RNG(1).normal(50, 10, 2000)
LOSS = nb.PrivacyLoss.pure(1)
TABLE = nb.Table(
    pa.table({"day": pa.array([date(2024, 1, 1), date(2024, 1, 2)] * 1000), "k": pa.array([1, 2] * 1000), "x": X})
)
RELEASES = {
    "quantile": lambda: nb.quantile(X, 0.5, epsilon=1),
    "quantiles": lambda: nb.quantiles(X, [0.25, 0.5, 0.75], epsilon=1),
    "bounds": lambda: nb.bounds(X, epsilon=1),
    "sum": lambda: nb.sum(X, epsilon=1),
    "mean": lambda: nb.mean(X, rho=0.1),
    "sum of few": lambda: nb.sum(X[:3], epsilon=0.01),
    "count": lambda: nb.count(X, epsilon=1),
    "not answered": lambda: nb.Release(
        "mean", None, LOSS, {"needed": {"rows": 80, "epsilon": 2.5}}, (), "too few rows"
    ),
    "some not answered": lambda: nb.Release("quantiles", (None, 3.5), LOSS, {"q": ["0.1", "0.5"]}, (), "too few rows"),
}
GROUPS = {
    "count": lambda: TABLE.group_by("day", keys=[date(2024, 1, 2), date(2023, 1, 1)]).count(epsilon=1),
    "mean": lambda: TABLE.group_by("k", "day", keys=[(1, date(2024, 1, 1))]).mean("x", epsilon=1),
    "unknown": lambda: TABLE.group_by("k", delta=1e-6).quantile("x", 0.5, epsilon=1),
}


def valid(release):
    jsonschema.validate(json.loads(release.to_json()), json_schema())


@pytest.mark.parametrize("kind", RELEASES)
def test_a_release_comes_back(kind):
    """Value, interval, reason, loss and parameters."""
    release = RELEASES[kind]()
    valid(release)
    assert nb.Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("kind", GROUPS)
def test_answers_by_group_come_back(kind):
    """With the types of their keys."""
    release = GROUPS[kind]()
    valid(release)
    back = GroupedRelease.from_json(release.to_json())
    assert back.to_dict() == release.to_dict()
    assert back.groups == release.groups and [key.type for key in back.arrays] == [key.type for key in release.arrays]


SPANS = np.arange(-1000, 1000) * 3_700_000_123
KEYS = {
    "durations": pa.array(SPANS, pa.duration("us")),
    "decimals": pa.array([Decimal(k - 1000).scaleb(-2) for k in range(2000)], pa.decimal128(12, 2)),
    "moments of a zone": pa.array(SPANS, pa.timestamp("us", "Asia/Tokyo")),
    "times": pa.array(np.arange(2000) * 40_000_000, pa.time64("us")),
}


@pytest.mark.parametrize("kind", KEYS)
def test_edges_of_bins_come_back_in_their_type(kind):
    """Not as texts: durations before 0 too, and open ends."""
    release = nb.Table(pa.table({"x": KEYS[kind]})).histogram("x", epsilon=1, rng=random.Random(1))
    back = GroupedRelease.from_json(release.to_json())
    assert len(release) > 3 and str(back) == str(release)
    assert back.groups == release.groups and [key.type for key in back.arrays] == [key.type for key in release.arrays]


def test_masked_groups_come_back_masked():
    """None in JSON, in Arrow, by key and in a loop."""
    values = np.ma.array([1.5, 0.0], mask=[False, True])
    bars = np.array([[1.0, math.inf], [-math.inf, math.inf]])
    release = GroupedRelease(
        "mean", ("k",), (pa.array(["a", "b"]),), values, LOSS, {}, bars, np.array([40, 0]), (None, "no rows seen")
    )
    valid(release)
    for each in (release, GroupedRelease.from_json(release.to_json())):
        assert dict(each) == {"a": 1.5, "b": None} and each["b"] is None
        assert np.ma.getmaskarray(each.values).tolist() == [False, True]
        shown = each.to_arrow().to_pylist()
        assert shown[1]["mean"] is None and shown[1]["reason"] == "no rows seen" and shown[0]["rows"] == 40
        assert "-" in str(each)


def test_a_description_comes_back():
    """Empty cells with their reasons."""
    described = nb.describe({"x": X, "few": [1.0] * 20 + [None] * 1980}, epsilon=1)
    valid(described)
    assert nb.Description.from_json(described.to_json()) == described


def test_a_release_is_a_number_if_it_is_answered():
    """Else float() raises, with the reason."""
    assert float(nb.Release("mean", 2, LOSS)) == 2.0
    with pytest.raises(ValueError, match="too few rows"):
        float(RELEASES["not answered"]())
    with pytest.raises(ValueError, match="2 numbers"):
        float(RELEASES["bounds"]())


def test_what_is_not_answered_says_what_would_do():
    """In one line."""
    assert str(RELEASES["not answered"]()).startswith(
        "mean: not answered, too few rows: about 80 rows or epsilon 2.5 would do, for epsilon 1"
    )


@pytest.mark.parametrize("kind", [nb.Release, GroupedRelease, nb.Description])
def test_other_json_is_refused(kind):
    """Another kind, another version, or no object."""
    for text in ("[]", "{}", json.dumps({"kind": "release", "schema": 99}), nb.count(X, epsilon=1).to_json()):
        if kind is nb.Release and '"schema": 1' in text:
            continue
        with pytest.raises(ValueError, match="schema"):
            kind.from_json(text)
