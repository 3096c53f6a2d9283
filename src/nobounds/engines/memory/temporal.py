"""Dates, datetimes, times and durations in memory to a Column: whole numbers of a unit, and which are missing."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, windows
from nobounds.engines.units import seconds
from nobounds.kinds.kind import DATE, DATETIME, DURATION, Kind
from nobounds.ladders.facts import Facts

_DAYS = {"Y", "M", "W", "D"}  # units of numpy in which a moment is a date
_FAR = 10**7  # days, far beyond the calendar

Physical = tuple[NDArray[Any], NDArray[np.bool_]]


def from_moments(data: NDArray[Any], kind: Kind | None = None) -> Column:
    """The Column of numpy's datetime64 or timedelta64; in units of days or more, moments are dates.

    kind: that of datetimes with a zone, whose moments are in UTC.
    """
    unit, step = np.datetime_data(data.dtype)
    is_span = data.dtype.kind == "m"
    if kind is None:
        kind = DURATION if is_span else DATE if unit in _DAYS else DATETIME
    if is_span and unit in ("Y", "M"):
        raise TypeError("data must not be spans of months or years, which have no fixed length; convert them to days")
    masked = np.ma.isMaskedArray(data)
    records: NDArray[Any] = np.ma.getdata(data).view(np.ndarray)

    def physical(window: slice) -> Physical:
        part = records[window]
        missing = np.isnat(part)
        if masked:
            missing = missing | np.ma.getmaskarray(data[window])
        numbers = np.where(missing, np.int64(0), part.astype(np.int64))
        if unit in ("Y", "M"):  # of the calendar
            most = _FAR // 366 if unit == "Y" else _FAR // 31
            near = np.clip(numbers, -(most // step), most // step) * step
            return near.astype(f"M8[{unit}]").astype("M8[D]").astype(np.int64), missing
        most = np.iinfo(np.int64).max // step
        return np.clip(numbers, -most, most) * step, missing

    return from_physical(kind, "D" if unit in ("Y", "M") else unit, len(records), physical)


def from_physical(kind: Kind, unit: str, length: int, physical: Callable[[slice], Physical]) -> Column:
    """The Column of whole numbers of a unit; `physical` has those of some records, and which are missing."""

    def chunks() -> Iterator[NDArray[np.float64]]:
        for window in windows(length):
            numbers, missing = physical(window)
            floats = seconds(numbers, unit) / (86_400 if kind == DATE else 1)
            floats[missing] = np.nan
            yield floats

    return Column(Facts.of(kind), chunks, rows=lambda: length)
