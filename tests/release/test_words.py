"""The words of intervals and of what would do."""

import math
from datetime import date

import pytest

from nobounds.kinds.kind import Kind
from nobounds.release.words import UNKNOWN, bars_in_words, between, margin_in_words, needed_in_words


@pytest.mark.parametrize(
    ("bar", "words"),
    [
        ((1.5, 2.0), "1.5 to 2"),
        ((1.5, math.inf), "at least 1.5"),
        ((-math.inf, 2.0), "at most 2"),
        ((-math.inf, math.inf), UNKNOWN),
    ],
)
def test_an_interval_in_words(bar, words):
    """One end may be infinite, or both."""
    assert between(bar) == words


def test_the_level_is_said_where_something_is_known():
    """Not of an interval without ends."""
    stated = {"interval": {"level": 0.9, "of": "sample"}}
    assert bars_in_words([(1.0, 2.0)], stated) == "1 to 2 at 90 %"
    assert bars_in_words([(-math.inf, math.inf)], stated) == UNKNOWN


def test_an_interval_beside_its_value():
    """How far it reaches, or its ends where it reaches much further on one side."""
    assert margin_in_words(100.0, (90.0, 110.0)) == "± 10"
    assert margin_in_words(100.0, (99.0, 150.0)) == "(99 to 150)"
    assert margin_in_words(100.0, (90.0, math.inf)) == "(at least 90)"
    day = Kind.parse("date")
    assert margin_in_words(date(2024, 1, 5), (date(2024, 1, 3), date(2024, 1, 8)), day) == "± 3 days"


def test_what_would_do():
    """Rows, or more of the spending; nothing if it is not stated."""
    assert needed_in_words({"needed": {"rows": 1200, "rho": 0.21}}) == ": about 1,200 rows or rho 0.21 would do"
    assert needed_in_words({}) == ""
