"""Dates, times and durations from their texts."""

import random
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from nobounds.engines.schemas.formats import check_format, parser

MICRO = timedelta(microseconds=1)
BERLIN = ZoneInfo("Europe/Berlin")
EPOCH = datetime(1970, 1, 1)


def test_what_python_writes_is_read():
    """ISO texts, and those of a format, of random days and times, with the first and the last ones."""
    draw = random.Random(1)
    days = [date.min, date.max, *(date.fromordinal(draw.randint(1, date.max.toordinal())) for _ in range(200))]
    for day in days:
        since = (day - EPOCH.date()).days
        assert parser("date")(day.isoformat()) == since
        assert parser("date", "%d.%m.%Y")(f"{day.day}.{day.month}.{day.year:04}") == since
        assert parser("date", "%B %d, %Y")(f"{day:%B} {day.day}, {day.year:04}") == since
        moment = datetime(day.year, day.month, day.day) + timedelta(microseconds=draw.randrange(86_400 * 10**6))
        assert parser("datetime")(moment.isoformat()) == (moment - EPOCH) // MICRO
        assert parser("datetime", "%Y/%m/%d %I:%M:%S.%f %p")(
            f"{day.year:04}/{day.month}/{day.day} {moment:%I:%M:%S.%f %p}"
        ) == ((moment - EPOCH) // MICRO)
        assert parser("time")(moment.time().isoformat()) == (moment - datetime(day.year, day.month, day.day)) // MICRO
        span = timedelta(seconds=draw.randrange(10**9), microseconds=draw.randrange(10**6))
        whole, rest = divmod(span // MICRO, 10**6)
        clock = f"-{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}.{rest:06}"
        assert parser("duration")(clock) == -(span // MICRO)


def test_a_zone_gives_an_instant():
    """With an offset or without one, in summer and in winter, also where the clock is put back."""
    read = parser("datetime", zone=BERLIN)
    for text in ("2024-07-01T12:00:00+02:00", "2024-07-01 12:00", "2024-07-01T10:00Z", "2024-07-01T15:30:00+0530"):
        assert EPOCH + read(text) * MICRO == datetime(2024, 7, 1, 10)
    for text in ("2024-01-01T12:00", "2024-10-27T02:30", "2024-03-31T02:30", "9999-12-30T00:00"):
        local = datetime.fromisoformat(text).replace(tzinfo=BERLIN)
        assert read(text) == (local - EPOCH.replace(tzinfo=UTC)) // MICRO
    assert parser("datetime")("2024-07-01T10:00Z") is None  # a datetime of no zone has no offset
    assert read("2024-07-01T10:00+24:00") is None


@pytest.mark.parametrize(
    ("family", "text"),
    [
        *[("date", text) for text in ("", "2023-02-29", "2024-1-2", "24-01-02", "2024-01-02T01:00", "0000-01-01", "x")],
        *[
            ("date", text)
            for text in ("\u0662\u0660\u0662\u0664-01-02", "2024-01-02" * 50, "10000-01-01", "-001-01-01")
        ],
        *[("time", text) for text in ("24:00", "12:60", "12:00:60", "1:00", "12", "12:00 pm")],
        *[("datetime", text) for text in ("2024-01-02T24:00", "2024-01-02T", "now", "2024-01-02 03")],
        *[("duration", text) for text in ("", "P", "PT", "5", "1:60", "P1Y", "h", "1h x", "9" * 12 + "w", "1e3 s")],
        *[("duration", text) for text in ("1 day 2:60", "1 month 2:00", "999999999 days 00:00", "1 day 1:00:0x")],
    ],
)
def test_any_other_text_is_none(family, text):
    """No error, whatever the text."""
    assert parser(family)(text) is None


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("P1W2DT3H4M5.5S", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5.5)),
        ("1h 30m", timedelta(minutes=90)),
        ("-45 min", -timedelta(minutes=45)),
        ("2 days", timedelta(days=2)),
        ("1.5 hours", timedelta(minutes=90)),
        ("0:00:01", timedelta(seconds=1)),
        ("3 days 04:05:06.5", timedelta(days=3, hours=4, minutes=5, seconds=6.5)),
        ("-1 days +23:50:00", -timedelta(minutes=10)),
        ("-1 day, 23:50:00", -timedelta(minutes=10)),
        ("-1 day -02:00:00", -timedelta(hours=26)),
    ],
)
def test_durations_as_people_write_them(text, span):
    """ISO periods, units in words, and clocks."""
    assert parser("duration")(text) == span // MICRO
    assert parser("duration", "minutes")("1.5") == 90 * 10**6


@pytest.mark.parametrize(
    ("family", "given", "words"),
    [
        ("date", "%d.%m", "needs %Y or %y"),
        ("date", "%Y-%m-%d %H", "got %H"),
        ("date", "%Y-%m-%d%", "got % "),
        ("date", "%Y %Y %m %d", "got %Y twice"),
        ("date", "%Y %y %m %d", "needs %Y or %y, and one of them"),
        ("time", "%I:%M", "%I and %p go together"),
        ("duration", "%H:%M", "must be one of weeks"),
    ],
)
def test_a_format_is_checked(family, given, words):
    """Before anything is read, with the column in the message."""
    with pytest.raises(ValueError, match=words) as refusal:
        check_format(given, family, "born")
    assert "'born'" in str(refusal.value)
    check_format("%d.%m.%Y", "date", "born")
    assert parser("time", "%I:%M %p")("12:00 am") == 0 and parser("time")(time(23, 59).isoformat()) == 86_340 * 10**6
