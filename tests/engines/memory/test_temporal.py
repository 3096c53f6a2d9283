"""Moments of numpy: units of any size, missing ones, and those far beyond the calendar."""

import numpy as np
import pytest

from nobounds.counting.scan import gathered
from nobounds.engines.memory.temporal import from_moments
from nobounds.kinds.kind import DATE, DATETIME, DURATION

NAN = float("nan")


@pytest.mark.parametrize(
    ("moments", "kind", "numbers"),
    [
        (np.array(["1970-01-02", "NaT"], "M8[D]"), DATE, [1, NAN]),
        (np.array(["1970-03", "1969-12"], "M8[M]"), DATE, [59, -31]),
        (np.array(["1971", "NaT"], "M8[Y]"), DATE, [365, NAN]),
        (np.array([1, -1], "M8[2W]"), DATE, [14, -14]),
        (np.array([1500, -1], "M8[ms]"), DATETIME, [1.5, -0.001]),
        (np.array([2], "M8[h]").astype(">M8[h]"), DATETIME, [7200]),
        (np.array([5, "NaT"], "m8[25s]"), DURATION, [125, NAN]),
        (np.ma.array(np.array([1, 2], "m8[D]"), mask=[True, False]), DURATION, [NAN, 172800]),
    ],
)
def test_moments_are_numbers(moments, kind, numbers):
    """Days of dates, seconds of the rest."""
    column = from_moments(moments)
    assert column.facts.kind == kind and column.facts.nullable
    assert np.array_equal(gathered(column.chunks()), numbers, equal_nan=True)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "7D", "13as"])
def test_the_largest_moments_have_numbers(unit):
    """In order, and without a warning."""
    far = np.array([-(2**63) + 1, -1, 0, 1, 2**63 - 1], dtype=np.int64)
    for moments in (far.astype(f"M8[{unit}]"), *([] if unit in ("Y", "M") else [far.astype(f"m8[{unit}]")])):
        numbers = gathered(from_moments(moments).chunks())
        assert np.all(np.isfinite(numbers)) and np.all(np.diff(numbers) >= 0)


def test_months_are_no_spans():
    """They have no fixed length."""
    with pytest.raises(TypeError, match="must not be spans of months or years"):
        from_moments(np.array([1], "m8[M]"))
