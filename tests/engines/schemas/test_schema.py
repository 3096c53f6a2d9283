"""Schemas as objects and as JSON."""

import copy
import json
import pickle

import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.schema import Schema

FULL = Schema(
    {
        "age": "integer",
        "born": {"type": "date", "format": "%d.%m.%Y", "missing": ["unknown"]},
        "paid": {"type": "money", "decimal": ","},
        "at": "datetime( Europe/Berlin )",
        "share": "decimal(12, 4)",
        "note": None,
        "code": {"missing": ["-"]},
    },
    csv=nb.Csv(header=True, delimiter=";", missing=("NA",)),
    sheet="Answers",
    header_row=3,
)


def test_a_schema_is_saved_and_stated_again(tmp_path):
    """All of it, as JSON that people can edit, and as a value that can be copied."""
    FULL.save(tmp_path / "s.json")
    again = Schema.load(tmp_path / "s.json")
    assert again == FULL and hash(again) == hash(FULL) and Schema.of(str(tmp_path / "s.json")) == FULL
    assert copy.deepcopy(FULL) == FULL == pickle.loads(pickle.dumps(FULL))
    text = (tmp_path / "s.json").read_text()
    assert json.loads(text)["columns"]["age"] == "integer" and '"note": null' in text
    assert FULL.types["at"] == "datetime(Europe/Berlin)" and FULL.types["share"] == "decimal(12,4)"
    assert repr(Schema({"age": "integer"})) == "Schema({'age': 'integer'})"
    (tmp_path / "s.json").write_text(text.replace('"integer"', '"number"'))
    assert Schema.load(tmp_path / "s.json").types["age"] == "number"


def test_the_arrow_types_of_rules():
    """What values of each type are read into."""
    kinds = {name: ColumnRule.of(rule, name).arrow for name, rule in FULL.columns.items()}
    assert kinds["age"] == pa.int64() and kinds["born"] == pa.date32() and kinds["note"] == pa.large_string()
    assert kinds["paid"] == pa.decimal128(18, 2) and kinds["at"] == pa.timestamp("us", "Europe/Berlin")
    assert ColumnRule.of("decimal(50,3)", "x").arrow == pa.decimal256(50, 3)


def test_what_csv_states_goes_before_the_schema():
    """Option by option."""
    assert FULL.with_csv(nb.Csv(delimiter="|")) == nb.Csv(header=True, delimiter="|", missing=("NA",))
    assert FULL.with_csv(None) == FULL.csv and Schema({}).with_csv(None) is None


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": "float"}, r"one of number, .*, got 'float' for column 'x'"),
        ({"x": "decimal(5,7)"}, "got 'decimal\\(5,7\\)' for column 'x'"),
        ({"x": "datetime(Mars)"}, "got 'datetime\\(Mars\\)' for column 'x'"),
        ({"x": {"type": "date", "fmt": "%Y"}}, "may state type, format"),
        ({"x": {"type": "number", "format": "%Y"}}, "a format is for date"),
        ({"x": {"type": "text", "decimal": ","}}, "decimal is for number"),
        ({"x": {"type": "number", "decimal": ";"}}, "must be '.' or ','"),
        ({"x": {"type": "money", "decimal": ",", "thousands": ","}}, "must differ"),
    ],
)
def test_a_wrong_schema_is_refused_with_the_column(columns, words):
    """From what is stated alone."""
    with pytest.raises(ValueError, match=words):
        Schema(columns)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"columns": []}', '{"columns": {"a": "text", "a": "date"}}', "[" * 10**5]
)
def test_a_file_that_holds_no_schema_is_refused(tmp_path, text):
    """Also one that nests too deeply or names a column twice."""
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ValueError, match="schema"):
        Schema.load(tmp_path / "s.json")
    with pytest.raises(ValueError, match=r"may have help, csv, .*, got 'column'"):
        Schema.from_json({"column": {}, "columns": {}})
    with pytest.raises(ValueError, match="options that are not those of"):
        Schema.from_json({"csv": {"sep": ";"}, "columns": {}})
    with pytest.raises(TypeError, match="got one of type int"):
        Schema({1: "text"})
