"""Spans of time as text."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_the_ends_of_the_range():
    """Also the smallest one, which has no opposite."""
    assert iso_span(timedelta.min) == "-P999999999D" and seconds_of("-P999999999D") == -86_399_999_913_600
