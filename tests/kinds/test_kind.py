"""Values become numbers and numbers values, within the range of the type, and never with an error."""

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.kinds.kind import DATE, DATETIME, DURATION, INTEGER, NUMBER, TIME, Kind

BERLIN = Kind("datetime", zone="Europe/Berlin")
MONEY = Kind.parse("money")
LONG = Kind.parse("decimal(38,2)")
NAMES = "number integer boolean decimal(38,10) date datetime datetime(Europe/Berlin) datetime(+05:30) time duration"
KINDS = [Kind.parse(name) for name in NAMES.split()]
TYPED = [kind for kind in KINDS if kind.typed]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_kind_is_its_name(kind: Kind):
    """What is written can be parsed."""
    assert Kind.parse(str(kind)) == kind


@pytest.mark.parametrize(
    "text", ["text", "", "decimal", "decimal(2,3)", "decimal(99,2)", "date(UTC)", "datetime(Mars)"]
)
def test_another_name_is_refused(text: str):
    """With the names that there are, or a zone."""
    with pytest.raises(ValueError, match=r"a type must be|a time zone has"):
        Kind.parse(text)


@pytest.mark.parametrize(
    ("kind", "given_", "number"),
    [
        (DATE, "1970-01-11", 10),
        (DATE, date(1969, 12, 31), -1),
        (DATE, np.datetime64("1970-02"), 31),
        (DATETIME, "1970-01-02 00:00:01.5", Fraction(86401) + Fraction(1, 2)),
        (DATETIME, date(1970, 1, 2), 86400),
        (DATETIME, np.datetime64(1500, "ms"), Fraction(3, 2)),
        (BERLIN, "1970-01-01 01:00", 0),
        (BERLIN, "1970-01-01T00:00:00Z", 0),
        (BERLIN, datetime(1970, 1, 1, tzinfo=UTC), 0),
        (TIME, "01:00", 3600),
        (TIME, time(0, 0, 1, 500_000), Fraction(3, 2)),
        (DURATION, "1h 30m", 5400),
        (DURATION, timedelta(days=-1), -86400),
        (DURATION, np.timedelta64(7, "D"), 604800),
        (DURATION, 0, 0),
        (MONEY, Decimal("0.10"), Fraction(1, 10)),
        (MONEY, 0.1, Fraction(1, 10)),
        (NUMBER, "3", 3),
    ],
    ids=str,
)
def test_what_a_user_states_is_read(kind: Kind, given_: object, number: Fraction):
    """Values of the type, of numpy, and ISO texts."""
    assert kind.number(given_, "lower") == number
    assert kind.takes(given_)


@pytest.mark.parametrize(
    ("kind", "given_"),
    [
        (DATE, 3),
        (DATE, "soon"),
        (DATE, datetime(2020, 1, 1)),
        (DATETIME, "2020-01-01T00:00Z"),
        (TIME, "25:00"),
        (DURATION, 1),
        (DURATION, True),
        (DURATION, "5"),
        (BERLIN, None),
        (TIME, time(1, tzinfo=UTC)),
        (INTEGER, "x"),
    ],
    ids=str,
)
def test_what_is_no_value_of_the_type_is_refused(kind: Kind, given_: object):
    """The error names the parameter."""
    with pytest.raises((TypeError, ValueError), match="lower must be"):
        kind.number(given_, "lower")
    assert not kind.takes(given_)


def test_resolutions_are_spans():
    """Of whole days for dates."""
    assert DATE.span("1 week", "resolution") == 7 and DATETIME.span(timedelta(minutes=15), "resolution") == 900
    assert MONEY.span("0.05", "resolution") == Fraction(1, 20)
    for kind, given_ in ((DATE, "1h"), (DATETIME, "-1h"), (TIME, 5), (NUMBER, 0)):
        with pytest.raises((TypeError, ValueError), match="resolution must be"):
            kind.span(given_, "resolution")


@pytest.mark.parametrize("kind", TYPED, ids=str)
@given(number=st.floats() | st.fractions() | st.integers())
def test_every_number_has_a_value(kind: Kind, number: float | Fraction | int):
    """Of the type, within its range, in JSON and back; also a mean, a sum and a difference."""
    value = kind.value(number)
    assert kind.from_json(kind.to_json(value)) == value
    assert type(value) is type(kind.value(0))
    if kind.name == "datetime" and kind.zone is not None:
        assert value.tzinfo == kind.value(0).tzinfo
    for other in (kind.mean, kind.sum):
        assert other.from_json(other.to_json(other.value(number))) == other.value(number)
    away = kind.difference(number)
    assert kind.spread.from_json(kind.spread.to_json(away)) == away


@pytest.mark.parametrize("kind", TYPED, ids=str)
def test_the_ends_of_the_range_are_values(kind: Kind):
    """A value at an end of the range is read as that end; beyond it, infinities are clamped."""
    for end, far in ((kind.lower, -math.inf), (kind.upper, math.inf)):
        assert end is not None
        value = kind.value(end)
        assert kind.value(far) == value
        if kind.zone is None:
            assert abs(kind.number(value, "lower") - end) <= Fraction(1, 10**6)


def test_values_of_the_types():
    """The answers that people read."""
    assert DATE.value(19723.4) == date(2024, 1, 1) and DATE.value(10**9) == date.max
    assert BERLIN.value(1_704_067_200.5) == datetime(2024, 1, 1, 1, 0, 0, 500_000, tzinfo=ZoneInfo("Europe/Berlin"))
    assert TIME.value(86400) == time(23, 59, 59, 999_999) and TIME.value(-5) == time(0)
    assert DURATION.value(0.1) == timedelta(milliseconds=100) and DURATION.value(1e300) == timedelta.max
    assert MONEY.value(1234.5).as_tuple() == Decimal("1234.50").as_tuple()
    assert MONEY.mean.value(0.1).as_tuple() == Decimal("0.100000").as_tuple()
    assert LONG.value(1e40) == Decimal("9" * 36 + ".99") and LONG.sum.value(10**40) == Decimal(10**40)
    assert DATE.difference(1.5) == timedelta(hours=36) and MONEY.difference(2) == Decimal("2.000000")
    assert NUMBER.value(0.5) == 0.5 and INTEGER.value(3) == 3
    assert DATE.to_json(date(2020, 1, 2)) == "2020-01-02" and DURATION.to_json(timedelta(hours=25)) == "P1DT1H"
    assert BERLIN.to_json(BERLIN.value(0)) == "1970-01-01T01:00:00+01:00"


def test_an_end_that_is_not_known_is_told_for_answers_of_every_statistic():
    """Sums and means of decimals have more digits than the column, and so have their last values."""
    money = Kind.parse("money")
    for statistic in ("quantile", "mean", "sum"):
        kind = money.of_answer(statistic)
        assert money.is_end(kind.value(math.inf)) and money.is_end(kind.value(-math.inf))
        assert not money.is_end(kind.value(12))


@pytest.mark.parametrize("digits", [15, 16, 18, 38, 76])
def test_the_float_nearest_to_an_end_of_a_type_stands_for_it(digits: int):
    """So an end that is not known can be told from others, however many digits a decimal has."""
    kind = Kind.parse(f"decimal({digits},0)")
    for end in (kind.lower, kind.upper):
        assert kind.is_end(kind.value(float(end)))
        assert kind.sum.value(float(end)) == Decimal(float(end))
