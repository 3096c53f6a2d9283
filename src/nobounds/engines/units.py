"""Moments and spans as seconds, by one rule for all engines: the same moment is the same float64 in every unit.

The whole seconds are exact, and the rest of them is one correctly rounded quotient, which does not depend on the unit.
"""

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.kinds.kind import MOST_DIGITS, Kind

_FAR = 1 << 47  # seconds: beyond the range of every type, and exact as floats
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}  # of a second
_TIMES = {"m": 60, "h": 3600, "D": 86_400, "W": 604_800}  # seconds


def seconds(numbers: Ints, unit: str) -> Floats:
    """The seconds that whole numbers of a unit are; far beyond the years of the calendar, they are cut off.

    >>> seconds(np.array([1_500, -1]), "ms").tolist(), seconds(np.array([2]), "h").tolist()
    ([1.5, -0.001], [7200.0])
    """
    if unit in _TIMES:
        most = _FAR // _TIMES[unit]
        return np.clip(numbers, -most, most).astype(np.float64) * _TIMES[unit]
    rest = np.fmod(numbers, _PARTS[unit])  # of the sign of the number, so that nothing cancels
    whole = (numbers - rest) // _PARTS[unit]
    return np.clip(whole.astype(np.float64) + rest.astype(np.float64) / _PARTS[unit], -_FAR, _FAR)


def decimal_kind(precision: int, scale: int) -> Kind:
    """The kind of decimals; the point may lie behind the last digit, or before the first one."""
    digits = max(precision - min(scale, 0), scale)
    return Kind("decimal", precision=min(digits, 2 * MOST_DIGITS), scale=max(scale, 0))


def zoned_kind(zone: str) -> Kind:
    """Datetimes in the zone of a session, or in UTC if Python does not know that zone."""
    try:
        return Kind("datetime", zone=zone)
    except ValueError:
        return Kind("datetime", zone="UTC")
