"""An estimate says what the library then does, and reads nothing."""

import pytest

import nobounds as nb
from nobounds.studio.estimates import SHAPES, Guess, estimate, sample
from nobounds.studio.fields import Mistakes
from nobounds.studio.questions import LEVELS, Question

COLUMNS = {"pay": "number", "town": "text"}


def asked(**fields):
    return Question.of({name: [each] if isinstance(each, str) else each for name, each in fields.items()}, COLUMNS)


def estimated(question, rows_per_unit=None, **fields):
    guess = Guess.of({name: [each] for name, each in fields.items()}, question)
    return estimate(question, guess, rows_per_unit, {})


@pytest.mark.medium
@pytest.mark.parametrize("rows", [300, 9000])
def test_what_is_marked_is_what_will_be_left_out(rows):
    """On data of the stated shape, the answers that are expected come, and the others do not."""
    question = asked(count="yes", ask=["mean:pay", "median:pay", "std:pay"])
    expected = {line.what: line.answered for line in estimated(question, rows=str(rows)).lines}
    data = [float(sample("skewed")[k * 2000 // rows]) for k in range(rows)]
    answers = question.answers(nb.Table({"pay": data}))
    values = [answers[ask.name].value is not None for ask in question.asks]
    assert list(expected.values()) == values


@pytest.mark.medium
def test_margins_hold_for_the_answers():
    """A median is within the margin that was estimated, in most of some runs."""
    question = asked(ask="median:pay", level="0.5", interval="")
    line = estimated(question, rows="4000", typical0="1000").lines[0]
    margin = float(line.error.split("\u00a0")[1].partition(" ")[0])
    data = [1000 * float(sample("skewed")[k // 2]) for k in range(4000)]
    runs = [question.answers(nb.Table({"pay": data}))["median(pay)"].value for _ in range(20)]
    assert sum(abs(each - 1000) <= margin + 2 for each in runs) >= 16


@pytest.mark.medium
def test_weaker_privacy_is_closer():
    """The curve falls from level to level, and a unit with more rows needs more."""
    question = asked(ask="mean:pay")
    curve = estimated(question, rows="50000").curve
    errors = [error for _, error in curve]
    assert [level for level, _ in curve] == list(LEVELS) and errors == sorted(errors, reverse=True)
    assert estimated(question, 5, rows="50000").curve[2][1] > curve[2][1]


@pytest.mark.medium
def test_groups_that_are_not_listed_say_how_large_they_must_be():
    """The number of groups is asked for, and the note names the rows that a group needs to appear."""
    question = asked(count="yes", by1="town", names="unknown")
    with pytest.raises(Mistakes) as found:
        estimated(question, rows="1000")
    assert set(found.value.fields) == {"groups"}
    assert any("A group appears if" in note for note in estimated(question, rows="1000", groups="5").notes)


def test_shapes_have_a_typical_value_of_one():
    """So that what the user types is what they are multiplied by."""
    for shape in SHAPES:
        assert sorted(sample(shape))[1000] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, {"rows"}),
        ({"rows": "many"}, {"rows"}),
        ({"rows": "10", "shape": "round"}, {"shape"}),
        ({"rows": "10", "typical0": "big"}, {"typical0"}),
        ({"rows": "0", "typical0": "0"}, {"rows", "typical0"}),
    ],
)
def test_mistakes_name_their_fields(fields, wrong):
    """In words."""
    with pytest.raises(Mistakes) as found:
        estimated(asked(ask="mean:pay"), **fields)
    assert set(found.value.fields) == wrong


def test_more_groups_than_rows_are_noticed():
    """Beside the number of rows."""
    with pytest.raises(Mistakes) as found:
        estimated(asked(count="yes", by1="town", keys="a,b,c"), rows="2")
    assert set(found.value.fields) == {"rows"}
