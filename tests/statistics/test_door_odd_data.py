"""Any data and any settings: no error and no warning, numbers that are numbers, and intervals that hold them."""

import math
import random
import warnings

import numpy as np
import pytest

import nobounds as nb
from nobounds.exact import MAX

ODD = {
    "empty": [],
    "no integers": np.array([], dtype=np.int32),
    "one point": [3.5],
    "words": [None, "x", 1.0, 2.5] * 100,
    "missing": [math.nan] * 500,
    "some missing": [1.0, math.nan, 2.0] * 200,
    "infinities": [math.inf, -math.inf, 1.0] * 100,
    "all infinite": [math.inf] * 300,
    "zeros": [0.0, -0.0] * 300,
    "subnormal": [5e-324, -5e-324, 1e-310] * 100,
    "smallest normal": [2.0**-1022] * 300,
    "largest": [MAX] * 300,
    "both largest": [MAX, -MAX] * 200,
    "all sizes": np.exp(np.random.default_rng(1).uniform(-700, 700, 2000)),
    "far from zero": np.random.default_rng(2).normal(1e300, 1e290, 2000),
    "heavy": np.random.default_rng(3).pareto(0.1, 2000),
    "int64": np.array([-(2**63), 2**63 - 1] * 200),
    "uint64": np.array([0, 2**64 - 1] * 200, dtype=np.uint64),
    "booleans": np.array([True, False, True] * 100),
    "int8": np.array([-128, 127] * 100, dtype=np.int8),
    "float16": np.array([1.5, 6e4, -3.0] * 100, dtype=np.float16),
}
DOORS = {
    **{
        name: getattr(nb, name) for name in ("median", "maximum", "minimum", "bounds", "sum", "mean", "std", "variance")
    },
    "quantile": lambda data, **options: nb.quantile(data, options.pop("q"), **options),
    "quantiles": lambda data, **options: nb.quantiles(data, options.pop("qs"), **options),
}
SPENT = [*({"epsilon": x} for x in (1, 0.1, 10, 1e-6, 1e6, 1e-12, 1e12, 3)), *({"rho": x} for x in (0.1, 1, 1e-9, 1e9))]


def settings_of(name, source):
    """Settings of a door, drawn at random."""
    options = {"neighbors": source.choice(["add-remove", "swap"]), "rng": random.Random(source.getrandbits(32))}
    options |= source.choice(SPENT)
    for keyword, values in {
        "lower": (0, -5, 3, 1e-300, -1e308),
        "upper": (10, 100, 1e308, 4),
        "resolution": (1, 0.01, 1e-300, 1e300, 0.25, 100),
        "interval": (None, 0.5, 0.99),
    }.items():
        if source.random() < 0.3 and not (keyword == "interval" and name == "quantiles"):
            options[keyword] = source.choice(values)
    if name == "quantile":
        options["q"] = source.choice([0.5, 0.25, 0.9, 0.99, 0.001, 0, 1, 1 / 3, 0.123456789012345678])
    if name == "quantiles":
        options["qs"] = source.sample([0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 0.99, 1 / 3, 1], source.randrange(1, 6))
    return options


@pytest.mark.medium
@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", DOORS)
def test_odd_data_are_no_error(name, data):
    """With eight drawn settings: a value is finite and lies in its interval, bounds are kept, and JSON keeps it all."""
    source = random.Random(f"{name} {data!r}")
    for _ in range(8):
        options = settings_of(name, source)
        low, high = options.get("lower", -math.inf), options.get("upper", math.inf)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                release = DOORS[name](data, **options)
            except ValueError as refused:  # by the settings alone, which do not go together
                assert "must" in str(refused)
                continue
            assert str(release) and nb.Release.from_json(release.to_json()).to_json() == release.to_json()
        values = release.value if isinstance(release.value, tuple) else (release.value,)
        if None in values:
            assert release.reason and not any(values)
            continue
        assert all(isinstance(value, int) or math.isfinite(value) for value in values)
        if name in ("quantile", "quantiles", "median", "maximum", "minimum", "bounds", "mean") and "lower" in options:
            assert all(low <= value for value in values)
        if name in ("quantile", "quantiles", "median", "maximum", "minimum", "bounds", "mean") and "upper" in options:
            assert all(value <= high for value in values)
        for value, (first, last) in zip(values, release.intervals, strict=False):
            slack = 1e-9 * abs(value)
            assert first - slack <= value <= last + slack
