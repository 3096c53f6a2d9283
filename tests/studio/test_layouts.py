"""What is stated about data is what a table gets, and nothing is shown that was not stated."""

import pytest

import nobounds as nb
from nobounds.studio.fields import Mistakes
from nobounds.studio.layouts import Layout, is_ready, numeric
from nobounds.studio.sources import Source


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("who;pay;born\na;1,5;31.12.1990\n")
    return Source("file", path)


def test_names_are_shown_once_the_user_says_that_they_are_names(survey):
    """The first line may be a record: without a word about it, there are no columns."""
    assert not is_ready(survey, {})
    assert is_ready(survey, {"header": ["yes"]})
    assert list(Layout.of(survey, {"header": ["yes"]}).columns(survey)) == ["who", "pay", "born"]


def test_a_file_without_names_gets_those_of_the_user(survey):
    """One on each line, with or without a type."""
    fields = {"header": ["no"], "names": ["a: text\nb: number\nc"], "decimal": [","], "delimiter": [";"]}
    assert not is_ready(survey, fields | {"names": [""]})
    columns = Layout.of(survey, fields).columns(survey)
    assert columns["a"] == "text" and columns["b"] == "number" and numeric(columns, None) == ["b", "c"]


def test_what_is_stated_becomes_keywords(survey):
    """The marks of the text, the types, the format of dates and the unit."""
    fields = {
        "header": ["yes"],
        "decimal": [","],
        "thousands": ["."],
        "missing": ["NA, -9"],
        "column": ["who", "pay", "born"],
        "type": ["", "money", "date"],
        "dates": ["%d.%m.%Y"],
        "belongs": ["unit"],
        "unit": ["who"],
        "rows_per_unit": ["3"],
    }
    options = Layout.of(survey, fields).options
    assert options["csv"] == nb.Csv(header=True, decimal=",", thousands=".", missing=("NA", "-9"))
    assert options["schema"] == nb.Schema({"pay": "money", "born": {"type": "date", "format": "%d.%m.%Y"}})
    assert (options["unit"], options["rows_per_unit"]) == ("who", 3)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, {"header"}),
        ({"header": ["yes"], "decimal": [","], "delimiter": [","]}, {"delimiter"}),
        ({"header": ["yes"], "thousands": ["."], "decimal": ["."]}, {"thousands"}),
        ({"header": ["yes"], "belongs": ["unit"], "rows_per_unit": ["0"]}, {"unit", "rows_per_unit"}),
        ({"header": ["yes"], "column": ["pay"], "type": ["euros"]}, {"column"}),
        ({"header": ["no"], "names": ["a\na"]}, {"names"}),
        ({"header": ["yes"], "encoding": ["utf-7"]}, {"encoding"}),
    ],
)
def test_mistakes_name_their_fields(survey, fields, wrong):
    """All of them at once, in words."""
    with pytest.raises(Mistakes) as found:
        Layout.of(survey, fields)
    assert set(found.value.fields) == wrong
    assert all(each.endswith(".") for each in found.value.fields.values())


def test_a_sheet_of_excel_needs_the_names_of_its_columns(tmp_path):
    """They are public only if the user states them."""
    book = Source("file", tmp_path / "book.xlsx")
    assert not is_ready(book, {})
    layout = Layout.of(book, {"names": ["age: whole number\nborn: date"], "sheet": ["May"], "header_row": ["2"]})
    assert layout.schema == nb.Schema({"age": "integer", "born": "date"}, sheet="May", header_row=2)
