"""Answers in the type of their column, as the last step of each statistic."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pytest

from nobounds.kinds.kind import BOOLEAN, DATE, DURATION, NUMBER, Kind
from nobounds.ladders.facts import Facts
from nobounds.release.description import Summary
from nobounds.statistics.typed import require_type, type_of, typed_array, typed_intervals, typed_summary, typed_value

MONEY = Kind.parse("money")


def test_values_and_intervals():
    """One number or several, with what is not answered; numbers stay what they are."""
    assert typed_value("median", DATE, (0, None, 1)) == (date(1970, 1, 1), None, date(1970, 1, 2))
    assert typed_value("median", DATE, None) is None and typed_value("bounds", NUMBER, (0.5, 1)) == (0.5, 1)
    assert typed_intervals("median", DATE, ((-np.inf, 1.0),)) == ((date.min, date(1970, 1, 2)),)
    assert typed_intervals("mean", BOOLEAN, ((0.0, 1.0),)) == ((0.0, 1.0),)
    assert typed_value("std", DATE, 1.0) == timedelta(days=1)


def test_arrays_of_groups():
    """With their masks, and two ends for each group."""
    masked = np.ma.array([1.5, 2.5], mask=[True, False])
    assert typed_array(masked, DURATION).tolist() == [None, timedelta(seconds=2.5)]
    assert typed_array(np.array([[0, 1]]), DATE).tolist() == [[date(1970, 1, 1), date(1970, 1, 2)]]
    assert typed_array(masked, NUMBER) is masked


def test_the_summary_of_a_column():
    """Counts are numbers, standard deviations distances, and means have more digits."""
    summary = Summary({"count": 3, "mean": 1.5, "std": 2.0, "min": None}, {"mean": (1.0, 2.0)}, {}, {})
    assert typed_summary(summary, MONEY).values == {
        "count": 3,
        "mean": Decimal("1.500000"),
        "std": Decimal("2.000000"),
        "min": None,
    }
    assert typed_summary(summary, DATE).values["std"] == timedelta(days=2)
    assert typed_summary(summary, DATE).intervals == {"mean": (date(1970, 1, 2), date(1970, 1, 3))}


def test_what_does_not_add_up_has_no_sum():
    """By the type, with a fix."""
    with pytest.raises(TypeError, match="a sum of values of type date makes no sense; take the mean"):
        require_type("sum", Facts.of(DATE))
    require_type("mean", Facts.of(DATE))
    require_type("sum", Facts.of(DURATION))


def test_the_type_is_stated_where_answers_have_one():
    """A count of dates is a number."""
    assert type_of("mean", MONEY) == {"type": "decimal(18,2)"}
    assert type_of("count", DATE) == type_of("mean", BOOLEAN) == {}
