"""Spans of time as text: as people write them, and as ISO 8601 does."""

import re
from datetime import timedelta
from fractions import Fraction

DAY = 86_400
_SECONDS: dict[str, int | Fraction] = {
    "w": 7 * DAY,
    "d": DAY,
    "h": 3600,
    "m": 60,
    "s": 1,
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
}
_NAMES = {"week": "w", "day": "d", "hour": "h", "minute": "m", "min": "m", "second": "s", "sec": "s", "µs": "us"}
_NUMBER = r"\d{1,20}(?:\.\d{1,20})?"
_PART = re.compile(rf"\s*({_NUMBER})?\s*([a-zµ]+)\s*,?")
_ISO = re.compile(
    rf"P(?:({_NUMBER})W)?(?:({_NUMBER})D)?(?:T(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?", re.IGNORECASE
)
_CLOCK = re.compile(r"(\d{1,12}):([0-5]\d)(?::([0-5]\d(?:\.\d{1,20})?))?")
_DAYS_AND_CLOCK = re.compile(r"([+-]?)([0-9]{1,9}) ?d(?:ays?)?,? ([+-]?)([0-9]{1,9}:[0-9:.]{1,24})")


def seconds_of(text: str) -> Fraction | None:
    """The seconds of a span such as "1h 30m", "2 days", "36:00:00", "1 day, 12:00:00" or "P1DT12H"; else None.

    >>> seconds_of("1h30m"), seconds_of("-P1DT0.5S"), seconds_of("day"), seconds_of("soon")
    (Fraction(5400, 1), Fraction(-172801, 2), Fraction(86400, 1), None)
    """
    text = text.strip()
    if (both := days_and_clock(text)) is not None:
        return both
    sign = -1 if text.startswith("-") else 1
    bare = text[1:] if text[:1] in ("-", "+") else text
    if clock := _CLOCK.fullmatch(bare):
        return sign * (int(clock[1]) * 3600 + int(clock[2]) * 60 + Fraction(clock[3] or 0))
    if (iso := _ISO.fullmatch(bare)) and any(iso.groups()):
        return sign * sum(
            (Fraction(given or 0) * _SECONDS[unit] for given, unit in zip(iso.groups(), "wdhms", strict=True)),
            Fraction(0),
        )
    total, at = Fraction(0), 0
    while part := _PART.match(bare, at):
        name = part[2]
        unit = _NAMES.get(name, _NAMES.get(name.removesuffix("s"), name))
        if unit not in _SECONDS or (part[1] is None and at > 0):
            return None
        total, at = total + Fraction(part[1] or 1) * _SECONDS[unit], part.end()
    return sign * total if at == len(bare) and at > 0 else None


def days_and_clock(text: str) -> Fraction | None:
    """The seconds of days and a clock, as Python, pandas and SQL write them: the clock has a sign of its own.

    >>> days_and_clock("3 days 04:05:06"), days_and_clock("-1 days +23:50:00"), days_and_clock("-1 day, 23:50:00")
    (Fraction(273906, 1), Fraction(-600, 1), Fraction(-600, 1))
    """
    both = _DAYS_AND_CLOCK.fullmatch(text)
    clock = None if both is None else _CLOCK.fullmatch(both[4])
    if both is None or clock is None:
        return None
    seconds = int(clock[1]) * 3600 + int(clock[2]) * 60 + Fraction(clock[3] or 0)
    return (-1 if both[1] == "-" else 1) * int(both[2]) * DAY + (-seconds if both[3] == "-" else seconds)


def iso_span(span: timedelta) -> str:
    """A span in ISO 8601.

    >>> iso_span(timedelta(days=1, hours=2, microseconds=-500000)), iso_span(timedelta(0))
    ('P1DT1H59M59.5S', 'PT0S')
    """
    sign, size = ("-", -span) if span < timedelta(0) and span != timedelta.min else ("", span)
    if size < timedelta(0):  # the smallest one has no opposite
        return f"-P{-size.days}D"
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    part = f"{seconds}.{size.microseconds:06}".rstrip("0").rstrip(".")
    clock = f"{f'{hours}H' if hours else ''}{f'{minutes}M' if minutes else ''}{f'{part}S' if part != '0' else ''}"
    days = f"{size.days}D" if size.days else ""
    return f"{sign}P{days}T{clock}" if clock else f"{sign}P{days}" if days else "PT0S"
