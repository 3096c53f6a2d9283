"""The boxes of a form are the question that the library gets."""

from datetime import date

import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.ask import Ask
from nobounds.studio.fields import Mistakes
from nobounds.studio.questions import LEVELS, STATISTICS, Question, odds

COLUMNS = {"pay": "number", "age": "integer", "town": "text", "born": "date", "who": "text"}


def asked(**fields):
    return Question.of({name: [each] if isinstance(each, str) else each for name, each in fields.items()}, COLUMNS)


def test_boxes_are_statistics_with_what_is_known():
    """Bounds and whole numbers go to every statistic of their column, and intervals to those that can have one."""
    question = asked(
        count="yes",
        ask=["mean:pay", "median:age", "percentiles:pay"],
        percentiles="25; 99.5",
        positive="pay",
        whole="age",
    )
    interval = ("interval", "0.95")
    assert question.asks == (
        Ask("count"),
        Ask("mean", ("pay",), (), (("lower", "0"),)),
        Ask("median", ("age",), (), (("resolution", "1"), interval)),
        Ask("quantile", ("pay",), ("0.25",), (("lower", "0"), interval)),
        Ask("quantile", ("pay",), ("0.995",), (("lower", "0"), interval)),
    )


def test_a_summary_is_seven_statistics_and_the_number_of_rows():
    """With what is known of the column, and intervals where there can be one; ticked twice, a statistic is one."""
    question = asked(ask=["summary:pay", "median:pay", "sum:age"], positive="pay")
    known, interval = ("lower", "0"), ("interval", "0.95")
    assert question.asks == (
        Ask("count"),
        Ask("mean", ("pay",), (), (known,)),
        Ask("std", ("pay",), (), (known,)),
        Ask("minimum", ("pay",), (), (known, interval)),
        Ask("quantile", ("pay",), ("0.25",), (known, interval)),
        Ask("median", ("pay",), (), (known, interval)),
        Ask("quantile", ("pay",), ("0.75",), (known, interval)),
        Ask("maximum", ("pay",), (), (known, interval)),
        Ask("sum", ("age",), (), ()),
    )
    assert question.title() == "summary of pay, total of age"


def test_every_column_can_be_summarised_but_those_of_groups():
    """Those of numbers and dates; too many of them are refused with a number."""
    assert asked(every="yes").summaries == ("pay", "age", "born")
    assert asked(every="yes", by1="age", keys="18,19").summaries == ("pay", "born")
    assert asked(every="yes").title() == "summary of pay, age, born"
    many = {f"c{k}": "number" for k in range(40)}
    with pytest.raises(Mistakes, match=r"At most 200 .* 281 are ticked. A summary of a column has 7"):
        Question.of({"every": ["yes"]}, many)


def test_expert_settings():
    """Bounds by line, a rho, another level, and no intervals."""
    question = asked(
        ask="median:age", bounds="age: 0 to 120\npay: to 9", level="other", amount="0.1", spending="rho", interval=""
    )
    assert question.asks == (Ask("median", ("age",), (), (("lower", "0"), ("upper", "120"))),)
    assert question.spent == {"rho": "0.1"}


@pytest.mark.medium
def test_every_statistic_that_is_offered_is_answered():
    """Alone and by groups, with one charge for all of them."""
    boxes = [f"{name}:pay" for name in STATISTICS]
    table = {"pay": [float(k % 997) for k in range(20_000)], "town": [f"t{k % 2}" for k in range(20_000)]}
    for fields in ({}, {"by1": "town", "keys": "t0,t1"}, {"by1": "town", "names": "unknown"}):
        question, budget = asked(count="yes", ask=boxes, level="4", **fields), nb.Budget(epsilon=9, delta=1e-4)
        answers = question.answers(nb.Table(table, budget=budget))
        assert list(answers) == [ask.name for ask in question.asks] and len(budget.history) == 1


def test_listed_groups_have_the_types_of_their_columns():
    """Whole numbers, dates and texts; two columns give all combinations."""
    question = asked(count="yes", by1="age", by2="born", keys="1, 2", keys2="2024-12-31")
    assert question.key_list(COLUMNS) == [(1, date(2024, 12, 31)), (2, date(2024, 12, 31))]
    assert question.groups == 2
    assert asked(count="yes", by1="town", keys='a b\n"c, d"').keys == (("a b", "c, d"),)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, {"ask"}),
        ({"ask": "mean:town"}, {"ask"}),
        ({"ask": "mean:nothing"}, {"ask"}),
        ({"ask": [f"{name}:{column}" for name in STATISTICS for column in ("pay", "age")] * 9}, None),
        ({"count": "yes", "level": "7"}, {"level"}),
        ({"count": "yes", "level": "other", "amount": "-1"}, {"amount"}),
        ({"ask": "percentiles:pay", "percentiles": "101"}, {"percentiles"}),
        ({"ask": "mean:pay", "bounds": "town: 0 to 3"}, {"bounds"}),
        ({"count": "yes", "by1": "town"}, {"keys"}),
        ({"count": "yes", "by1": "town", "keys": "a, a"}, {"keys"}),
        ({"count": "yes", "by1": "town", "by2": "town", "keys": "a", "keys2": "b"}, {"by2"}),
        ({"count": "yes", "by1": "town", "by2": "age", "keys": "a"}, {"keys2"}),
        (
            {"count": "yes", "by1": "town", "names": "unknown", "level": "other", "amount": "1", "spending": "rho"},
            {"spending"},
        ),
        ({"count": "yes", "by1": "town", "keys": "a", "neighbors": "swap"}, {"neighbors"}),
    ],
)
def test_mistakes_name_their_fields(fields, wrong):
    """In words, beside the field that has to change."""
    if wrong is None:  # the same box ticked twice is one question
        assert len(asked(**fields).asks) == 17
        return
    with pytest.raises(Mistakes) as found:
        asked(**fields)
    assert set(found.value.fields) == wrong


def test_a_condition_and_keys_are_checked_before_anything_is_charged():
    """With the words of the library, beside their fields."""
    table = nb.Table(pa.table({"pay": [1.0], "age": [1], "town": ["a"], "born": [date(2024, 1, 1)], "who": ["x"]}))
    for fields, field, said in (
        ({"where": "agee > 3"}, "where", "agee"),
        ({"where": "town > 3"}, "where", "town"),
        ({"by1": "age", "keys": "north"}, "keys", "north"),
    ):
        with pytest.raises(Mistakes) as found:
            asked(count="yes", **fields).of_table(table)
        assert said in found.value.fields[field]


def test_levels_in_words():
    """Each level says how far the odds can move."""
    assert [odds(level) for level in LEVELS] == ["1.1", "1.6", "2.7", "7.4", "55"]
