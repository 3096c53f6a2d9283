"""What is asked of a table: functions and texts say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds import ask
from nobounds.ask import Ask


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("mean(income)", ask.mean("income")),
        (" sum( pay , lower=0 ) ", ask.sum("pay", lower="0")),
        ("count", ask.count()),
        ("count(income)", ask.count("income")),
        ("max(age)", ask.maximum("age")),
        ("quantile(fare, 0.95)", ask.quantile("fare", "0.95")),
        ("quantiles(fare, 0.25, 0.75)", ask.quantiles("fare", ["0.25", "0.75"])),
        ('median("net, ""real""", interval=0.95)', ask.median('net, "real"', interval="0.95")),
    ],
)
def test_a_text_asks_for_what_the_function_does(text, same):
    """With columns, ranks and keywords."""
    assert Ask.of(text) == same
    assert Ask.of(same) is same


@given(st.text(min_size=1))
def test_the_name_of_an_ask_is_read_back(column):
    """Whatever is in the name of its column."""
    assert Ask.parse(ask.mean(column).name) == ask.mean(column)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("middle(income)", "there is no statistic 'middle'; there are mean"),
        ("mean()", "write it like 'mean\\(income\\)'"),
        ("mean(a, b)", "write it like 'mean\\(income\\)'"),
        ("quantile(a)", "write it like 'quantile\\(income, 0.95\\)'"),
        ("mean(a, lower=0, b)", "cannot be read"),
        ("mean(a", "does not name a statistic"),
        ("mean(a, middle=3)", "has no keyword 'middle'; there are lower, upper, resolution"),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(text, says):
    """In a line."""
    with pytest.raises(ValueError, match=says):
        Ask.parse(text)


def test_other_things_are_no_asks():
    """By their type."""
    with pytest.raises(TypeError, match="such as mean\\('income'\\)"):
        Ask.of(3)
    with pytest.raises(TypeError, match="called by its name"):
        ask.mean(3)
