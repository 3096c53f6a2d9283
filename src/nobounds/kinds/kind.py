"""Kind: what the type of a column states, and its values as numbers and back.

The library works with numbers. A date is the number of days since 1970-01-01; a datetime the seconds since then, in
UTC, or of its own clock if it has no zone; a time the seconds since midnight; a duration its seconds; a decimal itself.
Answers are numbers, too: `value` writes them in the type, within its range, and never raises.
"""

import math
import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from nobounds.exact import Number, finite_float, positive, rational, shown
from nobounds.kinds.spans import DAY, iso_span, seconds_of
from nobounds.kinds.zones import zone_of
from nobounds.values import dataclass

Name: TypeAlias = Literal["number", "integer", "boolean", "decimal", "date", "datetime", "time", "duration"]
Value: TypeAlias = int | float | Decimal | date | datetime | time | timedelta
Given: TypeAlias = Number | date | time | timedelta

MOST_DIGITS = 76  # of decimals, as in Arrow
COUNTED = ("count", "value_counts", "top_k", "count_distinct", "histogram", "cdf", "rows_left_out")
"""The statistics whose answers are numbers of records, or shares of them, whatever the type of the column."""
NAMES = (
    "number, integer, boolean, decimal(12,2), money, date, datetime, datetime(Europe/Berlin), time or duration"  # shown
)
_MEAN_DIGITS = 4  # more than a decimal has, as in SQL
_EPOCH = date(1970, 1, 1)
_START = datetime(1970, 1, 1)
_MICRO = timedelta(microseconds=1)
_FIRST, _LAST = date.min.toordinal() - _EPOCH.toordinal(), date.max.toordinal() - _EPOCH.toordinal()
_EXAMPLES = {
    "date": "'2024-12-31'",
    "datetime": "'2024-12-31 18:00'",
    "time": "'18:30'",
    "duration": "'90 min' or a timedelta",
}
# Statistics that are numbers whatever the type of the column is, beside those that count.
_NUMBERS = frozenset({"proportion", "variance", "covariance", "correlation"})
_MEANS = ("mean", "weighted_mean", "ratio")
_SPANS = {"date": "'7d'", "datetime": "'1h'", "time": "'15 min'", "duration": "'1s'"}


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a column.

    zone: of datetimes, or None.
    precision, scale: of decimals: the number of digits, and of those behind the point.

    >>> Kind.parse("decimal(12,2)").value(0.1 + 0.2)
    Decimal('0.30')
    >>> Kind.parse("date").number("1970-02-01", "lower"), Kind.parse("datetime(Asia/Tokyo)").value(0).isoformat()
    (Fraction(31, 1), '1970-01-01T09:00:00+09:00')
    """

    name: Name = "number"
    zone: str | None = None
    precision: int = 0
    scale: int = 0

    def __post_init__(self) -> None:
        if self.zone is not None:
            zone_of(self.zone)

    @classmethod
    def parse(cls, text: str) -> "Kind":
        """The kind of a name, as `str` writes it; `money` is decimal(18,2). ValueError for another text."""
        name, _, inside = text.strip().partition("(")
        name, inside = name.strip(), inside.removesuffix(")").strip()
        if name == "decimal" and (digits := re.fullmatch(r"(\d{1,2})\s*,\s*(\d{1,2})", inside)):
            precision, scale = int(digits[1]), int(digits[2])
            if 1 <= precision <= MOST_DIGITS and scale <= precision:
                return cls("decimal", precision=precision, scale=scale)
        elif name == "datetime" and inside:
            return cls("datetime", zone=inside)
        elif text.strip() == "money":
            return cls("decimal", precision=18, scale=2)
        elif text.strip() in ("number", "integer", "boolean", "date", "datetime", "time", "duration"):
            return cls(text.strip())  # type: ignore[arg-type]
        raise ValueError(f"a type must be {NAMES}, got {text[:80]!r}; decimals have up to {MOST_DIGITS} digits")

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision},{self.scale})"
        return self.name if self.zone is None else f"{self.name}({self.zone})"

    @property
    def typed(self) -> bool:
        """Whether answers are written in a type of their own, rather than as numbers."""
        return self.name not in ("number", "integer", "boolean")

    @property
    def on_clock(self) -> bool:
        """Whether its numbers are seconds of a clock."""
        return self.name in ("datetime", "time")

    @property
    def adds(self) -> bool:
        """Whether a sum of such values makes sense: dates and times of day do not add up."""
        return self.name not in ("date", "datetime", "time")

    @property
    def lower(self) -> Fraction | None:
        """The smallest number of the type, if it states one."""
        if self.name == "time":
            return Fraction(0)
        return Fraction(0) if self.name == "boolean" else None if self.upper is None else self._least

    @property
    def _least(self) -> Fraction:
        if self.name == "decimal":
            return -self._most
        if self.name == "duration":
            return Fraction(timedelta.min // _MICRO, 10**6)
        return Fraction(_FIRST) if self.name == "date" else Fraction(_FIRST) * DAY

    @property
    def upper(self) -> Fraction | None:
        """The largest number of the type, if it states one."""
        if self.name == "boolean":
            return Fraction(1)
        if self.name == "decimal":
            return self._most
        if self.name == "duration":
            return Fraction(timedelta.max // _MICRO, 10**6)
        if self.name == "time":
            return Fraction(DAY)
        return {"date": Fraction(_LAST), "datetime": (_LAST + 1) * DAY - Fraction(1, 10**6)}.get(self.name)

    @property
    def _most(self) -> Fraction:
        return Fraction(10**self.precision - 1, 10**self.scale)

    @property
    def _unit(self) -> Fraction:
        return Fraction(1, 10**self.scale)

    @property
    def resolution(self) -> Fraction | None:
        """The grid that answers lie on if no other is stated: days, seconds, the last digit of a decimal."""
        if self.name == "decimal":
            return self._unit
        return None if self.name in ("number", "duration") else Fraction(1)

    @property
    def spread(self) -> "Kind":
        """The kind of distances between values, of standard deviations for example."""
        return DURATION if self.name in ("date", "datetime", "time") else self.mean

    @property
    def mean(self) -> "Kind":
        """The kind of means: a decimal has four digits more."""
        if self.name == "decimal":
            return replace(self, precision=self.precision + _MEAN_DIGITS, scale=self.scale + _MEAN_DIGITS)
        return self

    @property
    def sum(self) -> "Kind":
        """The kind of sums: a decimal has as many digits as it needs."""
        return replace(self, precision=400) if self.name == "decimal" else self

    def of_answer(self, statistic: str) -> "Kind":
        """The kind of the answers of a statistic of such a column: numbers of records are numbers."""
        if not self.typed or statistic in COUNTED or statistic in _NUMBERS:
            return NUMBER
        if statistic == "std" or (statistic == "iqr" and self.spread == DURATION):
            return self.spread
        return self.mean if statistic in _MEANS else self.sum if statistic == "sum" else self

    # What a user states

    def takes(self, given: object, name: str = "") -> bool:
        """Whether what a user states for several columns is meant for those of this kind; `resolution` is a span."""
        try:
            self.span(given, name) if name == "resolution" else self.number(given, name)
        except (TypeError, ValueError):
            return False
        return True

    def number(self, given: object, name: str) -> Fraction:
        """What a user states as a number; an error that names the parameter if it is no value of the type."""
        if self.name in ("number", "integer", "boolean", "decimal"):
            return rational(given, name)
        number = self._stated(_plain(given))
        if number is None:
            zone = "" if self.name != "datetime" else " without an offset" if self.zone is None else f" ({self.zone})"
            raise TypeError(
                f"{name} must be a {self.name}{zone} for a column of this type, for example {_EXAMPLES[self.name]}, "
                f"got {name}={shown(given)}"
            )
        return number

    def span(self, given: object, name: str) -> Fraction:
        """What a user states as a distance between values, such as a resolution: a number greater than 0."""
        if self.name in ("number", "integer", "boolean", "decimal"):
            return positive(given, name)
        given = _plain(given)
        seconds = DURATION._stated(given)
        if seconds is None:
            raise TypeError(
                f"{name} must be a span of time for a column of type {self.name}, "
                f"for example {_SPANS[self.name]}, got {name}={shown(given)}"
            )
        if seconds <= 0 or (self.name == "date" and seconds % DAY):
            whole = " and whole days" if self.name == "date" else ""
            raise ValueError(f"{name} must be greater than 0{whole}, got {name}={shown(given)}")
        return seconds / DAY if self.name == "date" else seconds

    def record(self, given: object) -> Fraction | None:
        """The number of a date, a time or a duration, or of its text, among records; None if it is of another type."""
        return None if isinstance(given, int) else self._stated(_plain(given))

    def _stated(self, given: object) -> Fraction | None:
        """The number of a value or of its text; None if it is of another type."""
        if self.name == "duration":
            if isinstance(given, timedelta):
                return Fraction(given // _MICRO, 10**6)
            if isinstance(given, int | Fraction) and given == 0 and not isinstance(given, bool):
                return Fraction(0)
            return (Fraction(0) if given.strip() == "0" else seconds_of(given)) if isinstance(given, str) else None
        if isinstance(given, str):
            given = self._read(given.strip())
        if self.name == "date":
            if isinstance(given, datetime) or not isinstance(given, date):
                return None
            return Fraction(given.toordinal() - _EPOCH.toordinal())
        if self.name == "time":
            if not isinstance(given, time) or given.tzinfo is not None:
                return None
            whole = (given.hour * 60 + given.minute) * 60 + given.second
            return Fraction(whole * 10**6 + given.microsecond, 10**6)
        if isinstance(given, date) and not isinstance(given, datetime):
            given = datetime(given.year, given.month, given.day)
        return self._moment(given) if isinstance(given, datetime) else None

    def _read(self, text: str) -> object:
        """The value that an ISO text denotes; None for another text."""
        kinds: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}
        try:
            return kinds[self.name].fromisoformat(text)
        except ValueError:
            return None

    def _moment(self, given: datetime) -> Fraction | None:
        """The seconds of a datetime since 1970, in UTC if the kind has a zone."""
        if self.zone is None:
            return None if given.tzinfo is not None else _seconds(given - _START)
        local = given if given.tzinfo is not None else given.replace(tzinfo=zone_of(self.zone))
        away = local.utcoffset() or timedelta(0)
        return _seconds(local.replace(tzinfo=None) - _START) - _seconds(away)

    # Answers

    def value(self, number: int | float | Fraction) -> Any:
        """A number as a value of the type, the nearest within its range; numbers stay what they are. Never raises."""
        if not self.typed:
            return number
        exact = self._clamped(number)
        if self.name == "decimal":
            units = round(exact * 10**self.scale)
            return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -self.scale))
        if self.name == "date":
            return date.fromordinal(_EPOCH.toordinal() + round(exact))
        micros = round(exact * 10**6)
        if self.name == "duration":
            return micros * _MICRO
        if self.name == "time":
            return (datetime.min + min(micros, DAY * 10**6 - 1) * _MICRO).time()
        moment = _START + micros * _MICRO
        return moment if self.zone is None else _at(moment, zone_of(self.zone))

    def difference(self, number: int | float | Fraction) -> Any:
        """A distance between numbers as one between values: a standard deviation of dates is a duration."""
        return self.spread.value(self.apart(number))

    def apart(self, number: Any) -> Any:
        """A distance between numbers in the numbers of distances: dates are days, and durations seconds."""
        return number * DAY if self.name == "date" else number

    def _clamped(self, number: int | float | Fraction) -> Fraction:
        low, high = self.lower, self.upper
        assert low is not None and high is not None
        if isinstance(number, float | np.floating):  # the float nearest to an end stands for it
            if number <= finite_float(low):
                return low
            if number >= finite_float(high):
                return high
            if math.isnan(number):
                return min(max(Fraction(0), low), high)
        return min(max(Fraction(number), low), high)

    def is_end(self, value: Any) -> bool:
        """Whether a value is the first or the last of the type, which stands for an end that is not known.

        So are those of the types of means and sums, which have more digits.
        """
        if self.typed:
            kinds = (self, self.mean, self.sum)
            return any(value in (kind.value(-math.inf), kind.value(math.inf)) for kind in kinds)
        return not math.isfinite(value)

    # JSON

    def to_json(self, value: Any) -> Any:
        """A value for JSON: an ISO text, the digits of a decimal, or the number itself."""
        if isinstance(value, Decimal):
            return f"{value:f}"
        if isinstance(value, timedelta):
            return iso_span(value)
        return value.isoformat() if isinstance(value, date | time) else value

    def from_json(self, text: Any) -> Any:
        """The value that `to_json` wrote; what is not a text stays what it is."""
        if not isinstance(text, str) or not self.typed:
            return text
        if self.name == "decimal":
            return Decimal(text)
        if self.name == "duration":
            seconds = seconds_of(text)
            if seconds is None:
                raise ValueError(f"a duration must be in ISO 8601, got {text[:80]!r}")
            return self.value(seconds)
        value = self._read(text)
        if value is None:
            raise ValueError(f"a {self.name} must be in ISO 8601, got {text[:80]!r}")
        if isinstance(value, datetime) and self.zone is not None:
            return self.value(self._moment(value) or 0)
        return value


def text_of(value: Value) -> str:
    """A value for people; a negative duration with a sign before its days and one before its clock.

    >>> text_of(timedelta(minutes=-70)), text_of(timedelta(days=-1, hours=-2)), text_of(date(2024, 2, 29))
    ('-1:10:00', '-1 day, -2:00:00', '2024-02-29')
    """
    if isinstance(value, timedelta) and timedelta.min < value < timedelta(0):
        whole = value % timedelta(days=1) == timedelta(0)
        return f"-{-value}" if whole else f"-{-value}".replace(", ", ", -")
    return str(value)


def short_text(value: Value) -> str:
    """A value for people, in tables and sentences: a datetime to the second, and a duration to four digits or more.

    >>> short_text(datetime(2024, 2, 29, 12, 0, 0, 600_000)), short_text(timedelta(seconds=5.0049))
    ('2024-02-29 12:00:00', '0:00:05.005')
    """
    if isinstance(value, datetime | time):
        return text_of(value.replace(microsecond=0))
    if not isinstance(value, timedelta) or timedelta.max - abs_span(value) < timedelta(seconds=1):
        return text_of(value)
    size = abs_span(value)
    step = timedelta(seconds=1) if size >= timedelta(minutes=2) else timedelta(milliseconds=1)
    text = text_of(round(value / step) * step if size >= timedelta(seconds=1) else value)
    return text.rstrip("0") if "." in text else text.removesuffix(", 0:00:00")


def abs_span(span: timedelta) -> timedelta:
    """The size of a span; that of the smallest one is the largest."""
    return timedelta.max if span == timedelta.min else abs(span)


def _plain(given: object) -> object:
    """A value of numpy as one of Python's own, if it fits; others as they are."""
    if isinstance(given, np.datetime64 | np.timedelta64):
        days = isinstance(given, np.datetime64) and np.datetime_data(given.dtype)[0] in ("Y", "M", "W", "D")
        unit = "D" if days else "us"
        return given.astype(f"{'M' if isinstance(given, np.datetime64) else 'm'}8[{unit}]").item()
    return given


def _seconds(span: timedelta) -> Fraction:
    return Fraction(span // _MICRO, 10**6)


def _at(moment: datetime, zone: tzinfo) -> datetime:
    """A moment in UTC on the clock of a zone; near the first and the last year the nearest one that the clock has."""
    for near in (moment, min(max(moment, datetime.min + timedelta(days=1)), datetime.max - timedelta(days=1))):
        try:
            return near.replace(tzinfo=UTC).astimezone(zone)
        except OverflowError:
            continue
    return moment.replace(tzinfo=UTC)


NUMBER = Kind("number")
INTEGER = Kind("integer")
BOOLEAN = Kind("boolean")
DATE = Kind("date")
DATETIME = Kind("datetime")
TIME = Kind("time")
DURATION = Kind("duration")
