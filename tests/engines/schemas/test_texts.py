"""Texts to values of declared types."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.texts import TypedReader

TYPES = ["number", "integer", "text", "boolean", "date", "datetime", "datetime(Asia/Tokyo)", "time", "duration"]
TYPES += ["decimal(5,2)", "decimal(38,10)", "decimal(76,0)", "money"]


def read(rule, texts, file=FieldReader()):  # noqa: B008 - it has no state
    return TypedReader.of(ColumnRule.of(rule, "x"), file).values(pa.array(texts, pa.string())).to_pylist()


def test_booleans():
    """Words in any case, and 1 and 0; nothing else."""
    assert read("boolean", ["TRUE", "yes", " t ", "Y", "1"]) == [True] * 5
    assert read("boolean", ["false", "NO", "f", "n", "0"]) == [False] * 5
    assert read("boolean", ["", None, "2", "maybe", "1.0"]) == [None] * 5


def test_decimals_are_rounded_to_their_scale_and_must_fit():
    """Half to even; too many digits are missing."""
    texts = ["1.005", "1.015", "-0", "1e2", "999.994", ".5", "5.", "+7"]
    assert read("decimal(5,2)", texts) == [
        Decimal(text) for text in ("1.00", "1.02", "0.00", "100.00", "999.99", "0.50", "5.00", "7.00")
    ]
    assert read("decimal(5,2)", ["999.995", "1e99999999", ".", "1,5", "inf", "nan", "1" * 500]) == [None] * 7
    largest = "9" * 38
    exact = [Decimal(largest), Decimal("-" + largest), None]
    assert read("decimal(38,0)", [largest, "-" + largest, "1" + largest]) == exact


def test_money_as_people_write_it():
    """Currencies before and behind, groups of digits, brackets for negative amounts."""
    texts = ["$12.50", "1,234.50", "(12.50)", "-$5", "$-5", "€ 1'234", "USD 5", "5 kr", "R$ 3", "\u22127", "12"]
    amounts = ["12.50", "1234.50", "-12.50", "-5", "-5", "1234", "5", "5", "3", "-7", "12"]
    assert read("money", texts) == [Decimal(amount).quantize(Decimal("0.01")) for amount in amounts]
    assert read("money", ["1,23", "1 234,5", "($5", "5)", "(-5)", "$", "", "1,234 567", "five"]) == [None] * 9
    many = " " * 190  # a field of spaces must not take long: there are many ways to share them out
    assert read("money", [f"${many}{many}x", f"({many}-{many}x", f"-{many}$5"]) == [None, None, Decimal("-5.00")]
    comma = {"type": "money", "decimal": ","}
    assert read(comma, ["1.234,50 €", "12,5", "1.5"]) == [Decimal("1234.50"), Decimal("12.50"), None]


def test_marks_and_missing_texts_of_a_column_go_before_those_of_the_file():
    """What a rule does not state is as in the file."""
    file = FieldReader(",", ".", ("NA",))
    assert read("number", ["1.234,5", "NA", "-9"], file) == [1234.5, None, -9.0]
    assert read({"type": "number", "decimal": ".", "missing": ["-9"]}, ["1.5", "NA", "-9"], file) == [1.5, None, None]
    assert read({"type": "text", "missing": ["-"]}, ["-", " b ", "NA"], file) == [None, "b", None]


@pytest.mark.medium
@pytest.mark.parametrize("kind", TYPES)
@given(texts=st.lists(st.text() | st.from_regex(r"[-+$(]?[0-9:.,TPZ/ eh%-]{0,20}", fullmatch=True), max_size=6))
def test_a_text_is_read_by_itself(kind, texts):
    """No text raises, and each has the value that it has alone."""
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    together = read(kind, texts)
    assert len(together) == len(texts)
    for text, value in zip(texts, together, strict=True):
        assert repr(read(kind, [text])) == repr([value])
