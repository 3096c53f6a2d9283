"""Spans of time as text."""

from datetime import timedelta
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.kinds.kind import text_of
from nobounds.kinds.spans import iso_span, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", None),
        ("90s", 90),
        ("1.5 hours", 5400),
        ("1 day, 2 h", 93600),
        ("-0:30", -1800),
        ("100:00:01", 360001),
        ("PT", None),
        ("P", None),
        ("1x", None),
        ("", None),
        ("h m", None),
        ("week", 604800),
        ("P2W", 1209600),
        ("3 days 04:05:06", 273906),
        ("3 days, 4:05:06.5", Fraction(547813, 2)),
        ("-1 days +23:50:00", -600),
        ("-1 day, 23:50:00", -600),
        ("-1 day, -2:00:00", -93600),
        ("1 day 2:60", None),
        ("1 month 2:00", None),
    ],
)
def test_spans_are_read(text: str, seconds: int | None):
    """As people write them; a number alone has no unit."""
    assert seconds_of(text) == seconds


@given(st.timedeltas())
def test_a_span_in_iso_is_read_back(span: timedelta):
    """Exactly, to the microsecond."""
    seconds = seconds_of(iso_span(span))
    assert seconds is not None and seconds * 10**6 == span // timedelta(microseconds=1)


@given(st.timedeltas())
def test_a_span_is_read_as_python_pandas_and_nobounds_write_it(span: timedelta):
    """Days and a clock, also negative ones, where the two conventions differ."""
    texts = [str(span), text_of(span)]
    if abs(span) < timedelta(days=100_000):  # what pandas can hold
        texts.append(str(pd.Timedelta(span)))
    for text in texts:
        seconds = seconds_of(text)
        assert seconds is not None and seconds * 10**6 == span // timedelta(microseconds=1), text


def test_the_ends_of_the_range():
    """Also the smallest one, which has no opposite."""
    assert iso_span(timedelta.min) == "-P999999999D" and seconds_of("-P999999999D") == -86_399_999_913_600
