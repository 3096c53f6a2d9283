"""The words of intervals and of what would do."""

import math
from datetime import date
from fractions import Fraction

import pytest

import nobounds as nb
from nobounds.accounting.cost import pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.kinds.kind import Kind
from nobounds.release.description import Description, Summary
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
    assert bars_in_words([(1.0, 2.0)], stated) == "1 to 2 at 90%"
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


def test_a_column_with_hardly_any_numbers_may_hold_dates():
    """Then the words say how to state its type; not where a few more numbers would do."""
    assert "state its type (--type, or schema=)" in needed_in_words({"needed": {"rows": 130}, "values_read": 16})
    assert "state its type" not in needed_in_words({"needed": {"rows": 130}, "values_read": 100})


def test_what_is_negligible_in_its_column_is_printed_as_0():
    """A median of 9e-206 beside a maximum of 1; the value itself is kept."""
    values = {"count": 9, "min": 0, "50%": 9.0529e-206, "max": 1.125}
    described = Description({"late": Summary(values, {}, {})}, {}, PrivacyLoss.pure(1))
    assert described.said("late", "50%") == "0" and described["late"].values["50%"] > 0
    assert described.said("late", "max") == "1.125"


def test_groups_print_their_intervals_and_why_they_are_not_answered():
    """Beside each answer, under the level."""
    table = nb.Table({"town": ["a"] * 800, "paid": list(range(10)) * 80})
    text = str(table.group_by("town", keys=["a", "c"]).mean("paid", epsilon=20, lower=0, upper=10))
    assert text.splitlines()[0].split() == ["town", "mean", "95%", "interval"] and " to " in text.splitlines()[1]
    assert "no rows seen" in text.splitlines()[2]


FEW = {"q": ["0.1", "0.5"], "needed": {"rows": 720, "epsilon": 4.8}}
LOSS = PrivacyLoss.of(pure(Fraction(1)), "add-remove")


def test_several_numbers_that_are_not_answered_say_why():
    """Whether all of them are missing or some, alone and beside other statistics; no interval is shown for none."""
    would = "not answered, too few rows: about 720 rows"
    none = nb.Release("quantiles", (None, None), LOSS, FEW, (), "too few rows")
    some = nb.Release("quantiles", (None, 3.5), LOSS, FEW, (), "too few rows")
    unknown = ((-math.inf, math.inf),) * 2
    ends = nb.Release("bounds", (None, None), LOSS, FEW | {"interval": {"level": 0.95}}, unknown, "too few rows")
    assert [each.answered for each in (none, some, ends)] == [False, True, False]
    assert f": {would} or epsilon 4.8 would do, for epsilon 1" in str(none)
    assert f": (None, 3.5), None is {would}" in str(some)
    assert UNKNOWN not in str(ends) and f": {would}" in str(ends)
    together = str(nb.Answers({"all": none, "part": some, "ends": ends}, LOSS, {}))
    assert together.count(f"{would} would do") == 3 and "- to -" not in together
