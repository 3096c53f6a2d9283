"""Arithmetic that is defined for all values: what is not a finite number of its type is null."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.expressions.comparisons import seconds, to_floats
from nobounds.expressions.types import INTEGER, NUMBER, Type
from nobounds.expressions.values import Mask, Values

Integers = NDArray[np.int64]

_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
}


def joined(operator: str, a: Values, b: Values, kind: Type) -> Values:
    """Two numbers, dates or datetimes joined by an operator, as values of this type."""
    valid = a.valid & b.valid
    if a.type.name in ("date", "datetime"):
        return _difference(a, b, valid)
    if kind == INTEGER:
        whole, fits = _WHOLE[operator](_integers(a), _integers(b))
        return Values(INTEGER, whole, valid & fits)
    with np.errstate(all="ignore"):
        return finite(_FLOATS[operator](to_floats(a), to_floats(b)), valid)


def called(function: str, a: Values, kind: Type) -> Values:
    """negative, abs, floor or ceil of numbers, as values of this type."""
    if a.type.name in ("integer", "null") and kind == INTEGER:
        whole = _integers(a)
        if function in ("floor", "ceil"):
            return Values(INTEGER, whole, a.valid)
        lowest = whole == np.iinfo(np.int64).min  # the only one without an opposite
        opposite = np.negative(np.where(lowest, 0, whole))
        return Values(INTEGER, opposite if function == "negative" else np.abs(opposite), a.valid & ~lowest)
    floats = to_floats(a)
    if function in ("floor", "ceil"):
        rounded = (np.floor if function == "floor" else np.ceil)(floats)
        inside = (rounded >= -(2.0**63)) & (rounded < 2.0**63)
        return Values(INTEGER, np.where(inside, rounded, 0).astype(np.int64), a.valid & inside)
    return finite(np.negative(floats) if function == "negative" else np.abs(floats), a.valid)


def finite(floats: NDArray[np.float64], valid: Mask) -> Values:
    """Numbers, null where they are not finite; -0.0 is 0.0."""
    inside = np.isfinite(floats)
    return Values(NUMBER, np.where(inside, floats, 0.0) + 0.0, valid & inside)


def _integers(values: Values) -> Integers:
    return np.asarray(values.data, dtype=np.int64)


def _difference(a: Values, b: Values, valid: Mask) -> Values:
    """Days between dates, or seconds between datetimes."""
    if a.type.name == b.type.name == "date":
        return Values(INTEGER, a.data - b.data, valid)
    (first, first_rest), (second, second_rest) = seconds(a), seconds(b)
    return finite((first - second).astype(np.float64) + (first_rest - second_rest) / 1e9, valid)


def _sum(a: Integers, b: Integers) -> tuple[Integers, Mask]:
    total = a + b  # wraps around
    return total, ((a ^ total) & (b ^ total)) >= 0


def _less(a: Integers, b: Integers) -> tuple[Integers, Mask]:
    left = a - b
    return left, ((a ^ b) & (a ^ left)) >= 0


def _product(a: Integers, b: Integers) -> tuple[Integers, Mask]:
    product = a * b
    large = np.abs(a.astype(np.float64) * b.astype(np.float64)) > 2.0**62
    if not large.any():  # no product is near the limit
        return product, np.ones(len(product), dtype=bool)
    exact = [x * y for x, y in zip(a[large].tolist(), b[large].tolist(), strict=True)]
    fits = np.ones(len(product), dtype=bool)
    fits[large] = [-(1 << 63) <= each < 1 << 63 for each in exact]
    return product, fits


def _remainder(a: Integers, b: Integers) -> tuple[Integers, Mask]:
    """With the sign of `a`, as in SQL."""
    safe = np.where((b == 0) | (b == -1), 1, b)
    return np.fmod(a, safe), b != 0


_WHOLE = {"+": _sum, "-": _less, "*": _product, "%": _remainder}
