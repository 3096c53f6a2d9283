"""How dates, times and durations are written: ISO 8601, or a format of a few marks. A text becomes a number or None.

The marks are those of `strftime`: %Y %y %m %d %b %B %H %I %p %M %S %f %z and %%. Names of months are English,
whatever the locale. What a text becomes depends on that text alone.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo
from functools import cache

from nobounds.kinds.spans import days_and_clock

MICROSECONDS = 1_000_000
_DAY = 86_400 * MICROSECONDS
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MARKS = {
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "m": "(?P<m>[0-9]{1,2})",
    "d": "(?P<d>[0-9]{1,2})",
    "b": "(?P<b>[A-Za-z]{3})",
    "B": "(?P<B>[A-Za-z]{3,9})",
    "H": "(?P<H>[0-9]{1,2})",
    "I": "(?P<I>[0-9]{1,2})",
    "p": "(?P<p>[AaPp][Mm])",
    "M": "(?P<M>[0-9]{1,2})",
    "S": "(?P<S>[0-9]{1,2})",
    "f": "(?P<f>[0-9]{1,9})",
    "z": "(?P<z>Z|z|[+-][0-9]{2}(?::?[0-9]{2})?)",
    "%": "%",
}
_OF_DATES, _OF_TIMES = "YymdbB", "HIpMSf"
_NEEDED = {"date": ("Yy", "mbB", "d"), "datetime": ("Yy", "mbB", "d"), "time": ("HI",)}
_ALLOWED = {"date": _OF_DATES, "datetime": _OF_DATES + _OF_TIMES + "z", "time": _OF_TIMES}
_ISO_TIME = r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?)?"
_ISO_DATE = r"(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
_ISO = {
    "date": re.compile(_ISO_DATE + r"(?:[T ]00:00(?::00(?:\.0+)?)?)?"),
    "datetime": re.compile(_ISO_DATE + rf"(?:[T ]{_ISO_TIME} ?{_MARKS['z']}?)?"),
    "time": re.compile(_ISO_TIME),
}
UNITS = {
    "weeks": 604_800,
    "days": 86_400,
    "hours": 3_600,
    "minutes": 60,
    "seconds": 1,
}
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,9})?"
_CLOCK = re.compile(
    r"(?P<sign>[+-])?(?P<H>[0-9]{1,9}):(?P<M>[0-5][0-9])(?::(?P<S>[0-5][0-9])(?:\.(?P<f>[0-9]{1,9}))?)?"
)
_PERIOD = re.compile(
    rf"(?P<sign>[+-])?P(?:(?P<weeks>{_NUMBER})W)?(?:(?P<days>{_NUMBER})D)?"
    rf"(?:T(?:(?P<hours>{_NUMBER})H)?(?:(?P<minutes>{_NUMBER})M)?(?:(?P<seconds>{_NUMBER})S)?)?"
)
_SPOKEN = re.compile(
    rf"(?P<sign>[+-])?(?:(?P<weeks>{_NUMBER}) ?w(?:eeks?)?)? ?(?:(?P<days>{_NUMBER}) ?d(?:ays?)?)? ?"
    rf"(?:(?P<hours>{_NUMBER}) ?h(?:ours?|rs?)?)? ?(?:(?P<minutes>{_NUMBER}) ?m(?:in(?:utes?|s)?)?)? ?"
    rf"(?:(?P<seconds>{_NUMBER}) ?s(?:ec(?:onds?|s)?)?)?"
)
_PLAIN_NUMBER = re.compile(rf"(?P<sign>[+-])?(?P<number>{_NUMBER})")
_LONGEST = 100  # characters: no date, time or duration has more


def check_format(given: object, family: str | None, name: str) -> None:
    """ValueError if a format cannot be one of dates, times or durations."""
    if not isinstance(given, str):
        raise TypeError(f"the format of column {name!r} must be a text, got {type(given).__name__}")
    if family == "duration":
        if given not in UNITS:
            raise ValueError(
                f"the format of a duration must be one of {', '.join(UNITS)}, got {given!r} for column {name!r}"
            )
        return
    assert family is not None
    marks = re.findall("%(.?)", given.replace("%%", ""))
    for mark in marks:
        if mark not in _ALLOWED[family] or not mark:
            allowed = " ".join(f"%{mark}" for mark in _ALLOWED[family])
            raise ValueError(f"the format of a {family} may have {allowed}, got %{mark} for column {name!r}")
        if marks.count(mark) > 1:
            raise ValueError(f"a format may have each mark once, got %{mark} twice for column {name!r}")
    for some in _NEEDED[family]:
        if len(set(some) & set(marks)) != 1:
            choice = " or ".join(f"%{mark}" for mark in some)
            raise ValueError(
                f"the format of a {family} needs {choice}, and one of them, got {given!r} for column {name!r}"
            )
    if ("I" in marks) != ("p" in marks):
        raise ValueError(f"%I and %p go together, got {given!r} for column {name!r}")


@cache
def _pattern(family: str, given: str | None) -> "re.Pattern[str]":
    if given is None:
        return _ISO[family]
    parts = re.split("(%.)", given)
    return re.compile("".join(_MARKS[part[1]] if part[:1] == "%" else re.escape(part) for part in parts))


def parser(family: str, given: str | None = None, zone: tzinfo | None = None) -> Callable[[str], int | None]:
    """The function from texts to days (of a date), or to microseconds; None for texts that are not of the format.

    A datetime of a zone may have an offset, and without one it is local time there; one of no zone has no offset.

    >>> parser("date")("1970-01-11"), parser("date", "%d.%m.%Y")("2.1.1970"), parser("time")("24:00")
    (10, 1, None)
    """
    if family == "duration":
        return _guarded(lambda text: _duration(text, given))
    pattern = _pattern(family, given)

    def parse(text: str) -> int | None:
        match = pattern.fullmatch(text)
        if match is None:
            return None
        parts = match.groupdict()
        if family == "date":
            return _date(parts).toordinal() - _EPOCH
        time = _time(parts)
        if family == "time":
            return time
        day, offset = _date(parts), parts.get("z")
        local = (day.toordinal() - _EPOCH) * _DAY + time
        if zone is None:
            return local if offset is None else None
        if offset is not None:
            return local - _offset(offset)
        seconds, rest = divmod(time, MICROSECONDS)
        there = datetime(day.year, day.month, day.day, tzinfo=zone).replace(
            hour=seconds // 3600, minute=seconds // 60 % 60, second=seconds % 60, microsecond=rest
        )
        return local - (there.utcoffset() or timedelta()) // timedelta(microseconds=1)

    return _guarded(parse)


def _guarded(parse: Callable[[str], int | None]) -> Callable[[str], int | None]:
    def guarded(text: str) -> int | None:
        if len(text) > _LONGEST:
            return None
        try:
            return parse(text)
        except (ValueError, OverflowError):  # a day that no month has, or a time at the end of all years
            return None

    return guarded


def _date(parts: dict[str, str]) -> date:
    year = int(parts["Y"]) if parts.get("Y") else 1900 + int(parts["y"]) + 100 * (int(parts["y"]) < 69)
    word = parts.get("b") or parts.get("B")
    if word is None:
        return date(year, int(parts["m"]), int(parts["d"]))
    names = [month[:3] for month in _MONTHS] if parts.get("b") else list(_MONTHS)
    return date(year, names.index(word.lower()) + 1, int(parts["d"]))


def _time(parts: dict[str, str]) -> int:
    """Microseconds since midnight; ValueError for no time of a day."""
    hour, minute, second = (int(parts.get(mark) or 0) for mark in ("H", "M", "S"))
    if parts.get("I"):
        hour = int(parts["I"])
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + 12 * (parts["p"].lower() == "pm")
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    return (hour * 3600 + minute * 60 + second) * MICROSECONDS + _fraction(parts.get("f"))


def _fraction(digits: str | None) -> int:
    """Microseconds of the digits of a second; digits after the sixth are cut off."""
    return int((digits or "")[:6].ljust(6, "0"))


def _offset(text: str) -> int:
    """Microseconds ahead of UTC; ValueError for a day or more."""
    if text in "Zz":
        return 0
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError
    return (hours * 60 + minutes) * 60 * MICROSECONDS * (1 if text[0] == "+" else -1)


def _duration(text: str, unit: str | None) -> int | None:
    if unit is not None and (match := _PLAIN_NUMBER.fullmatch(text)):
        total = _scaled(match["number"], UNITS[unit])
    elif match := _CLOCK.fullmatch(text):
        seconds = int(match["H"]) * 3600 + int(match["M"]) * 60 + int(match["S"] or 0)
        total = seconds * MICROSECONDS + _fraction(match["f"])
    elif (match := _PERIOD.fullmatch(text) or _SPOKEN.fullmatch(text)) and any(map(match.group, UNITS)):
        total = sum(_scaled(match[name], seconds) for name, seconds in UNITS.items() if match[name])
    else:
        return _days_and_clock(text)
    return None if total >= 1 << 63 else -total if match["sign"] == "-" else total


def _days_and_clock(text: str) -> int | None:
    seconds = days_and_clock(text)
    micros = 0 if seconds is None else int(seconds * MICROSECONDS)
    return None if seconds is None or abs(micros) >= 1 << 63 else micros


def _scaled(number: str, seconds: int) -> int:
    """A decimal number of units in microseconds, rounded down."""
    whole, _, part = number.partition(".")
    return int(whole + part) * seconds * MICROSECONDS // int(10 ** len(part))
