"""Types of expressions: constants take the type of what they meet, and a wrong type is refused with the fix."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from nobounds.expressions.check import checked, condition, formula
from nobounds.expressions.sql import parsed
from nobounds.expressions.tree import Cast, Column, Comparison, Literal
from nobounds.expressions.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    NUMBER,
    OPEN,
    OTHER,
    TEXT,
    Type,
    decimal,
    of_arrow,
    to_arrow,
)

ZONED, NAIVE = Type("datetime", unit="us", zone="Europe/Berlin"), Type("datetime", unit="ns")
TYPES = {"i": INTEGER, "f": NUMBER, "m": decimal(10, 2), "s": TEXT, "b": BOOLEAN, "d": DATE, "z": ZONED, "t": NAIVE}
TYPES |= {"o": OPEN, "p": OPEN, "x": OTHER}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("i + 1", INTEGER),
        ("i * 1.0", NUMBER),
        ("i / 2", NUMBER),
        ("m + m", NUMBER),
        ("-i % 2", INTEGER),
        ("floor(f)", INTEGER),
        ("abs(m)", NUMBER),
        ("d - d", INTEGER),
        ("d - '2024-01-01'", INTEGER),
        ("z - z", NUMBER),
        ("o + 1", NUMBER),
        ("cast(o as date)", DATE),
        ("cast(t as date)", DATE),
        ("coalesce(i, 0)", INTEGER),
        ("coalesce(i, f, 0)", NUMBER),
        ("coalesce(s, 'none')", TEXT),
        ("coalesce(z, timestamptz '2024-01-01 00:00:00Z')", ZONED),
        ("case when i > 1 then i when f > 1 then null else 0 end", INTEGER),
        ("case when b then i else f end", NUMBER),
        ("case i when 1 then 'one' else s end", TEXT),
        ("s", TEXT),
        ("m", decimal(10, 2)),
        ("i > 1", BOOLEAN),
    ],
)
def test_the_type_of_a_formula(given, kind):
    """It follows from the types of columns."""
    assert formula(parsed(given), TYPES)[1] == kind


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "s > 3",
            r"s > 3 compares text with an integer; convert one of them, for example with cast\(\.\.\. as number\)",
        ),
        ("b = 1", r"compares a boolean with an integer; write a boolean alone, or not before it"),
        ("i", r"a condition must be true or false, and i is an integer; compare it"),
        ("not s", r"a condition must be true or false, and s is text"),
        ("s + 1 > 2", r"s \+ 1 needs numbers, and s is text; write cast\(s as number\)"),
        ("b * 2 > 1", r"b \* 2 needs numbers, and b is a boolean; write cast\(b as integer\)"),
        ("z > t", r"one side of z > t has a time zone and the other has none"),
        ("z > d", r"compares dates with datetimes of a time zone"),
        ("t > timestamptz '2024-01-01 00:00:00Z'", r"has a time zone and the other has none"),
        ("cast(f as integer) = 1", r"would have to round; write floor\(f\) or ceil\(f\)"),
        ("cast(f as text) = '1'", r"casts a number, which cannot become text"),
        ("cast(z as date) = d", r"casts a datetime with a zone, which cannot become date"),
        ("x = 1", r"compares a column of another type with an integer"),
        ("o = p", r"the columns of o = p have no declared types; declare them"),
        ("o and b", r"a condition must be true or false, and o is a column of no declared type"),
        ("i in (1, 'x')", r"compares an integer with text"),
        ("o in (1, 'x')", r"the constants of o in \(1, 'x'\) must all be of one type"),
        ("coalesce(i, s) = 1", r"compares|of one type"),
        ("case when b then i else s end = 1", r"compares|of one type"),
        ("case when i then 1 else 2 end = 1", r"a condition must be true or false, and i is an integer"),
    ],
)
def test_wrong_types_are_refused_with_the_fix(given, message):
    """Before anything is read."""
    with pytest.raises(TypeError, match=message):
        condition(parsed(given), TYPES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("d = '2024-02-30'", r"'2024-02-30' in d = '2024-02-30' must be written like '2024-12-31'"),
        ("z > 'noon'", r"must be written like '2024-12-31 23:59:00'"),
        ("f < 1e999", r"must be within the range of float64"),
        (f"s = '{'x' * 1001}'", r"a text in an expression may have at most 1000 characters, got 1001"),
    ],
)
def test_constants_out_of_range_are_refused(given, message):
    """They are public."""
    with pytest.raises(ValueError, match=message):
        condition(parsed(given), TYPES)


def test_constants_take_the_type_of_what_they_meet():
    """A tenth is exact beside a decimal, and the float64 nearest to it beside a float64; without a zone it is UTC."""

    def right(given):
        tree, _ = checked(parsed(given), TYPES)
        assert isinstance(tree, Comparison)
        return tree.right

    assert right("m = 0.1") == Literal(Decimal("0.1"), decimal(1, 1))
    assert right("f = 0.1") == Literal(Decimal("0.1"), NUMBER)
    assert right("d = '2024-01-02'") == Literal(date(2024, 1, 2), DATE)
    assert right("z = '2024-01-02'") == Literal(
        datetime(2024, 1, 2, tzinfo=UTC), Type("datetime", unit="us", zone="UTC")
    )
    assert right("t = date '2024-01-02'") == Literal(datetime(2024, 1, 2), Type("datetime", unit="us"))


def test_a_column_of_no_declared_type_is_what_is_asked_for():
    """Numbers or text, by public facts alone."""
    assert checked(parsed("o > 1"), TYPES)[0].left == Column("o", NUMBER, as_number=True)
    assert checked(parsed("o > 'a'"), TYPES)[0].left == Column("o", TEXT)
    assert checked(parsed("cast(o as number)"), TYPES) == (Column("o", NUMBER, as_number=True), NUMBER)
    assert checked(parsed("cast(o as date)"), TYPES)[0] == Cast(Column("o", TEXT), "date")
    with pytest.raises(TypeError, match=r"the type of o is not declared; write cast\(o as number\), or as text"):
        formula(parsed("o"), TYPES)


def test_types_of_arrow_columns():
    """Each has one, and computed ones go back to Arrow."""
    kinds = [pa.int8(), pa.uint32(), pa.uint64(), pa.float32(), pa.decimal128(38, 38), pa.large_string(), pa.date64()]
    known = [INTEGER, INTEGER, decimal(20, 0), NUMBER, decimal(38, 38), TEXT, DATE]
    assert list(map(of_arrow, kinds)) == known
    assert [of_arrow(kind).name for kind in (pa.list_(pa.int8()), pa.binary(), pa.decimal256(76, 2))] == ["other"] * 3
    for kind in (*known, ZONED, NAIVE, BOOLEAN, Type("duration", unit="ms"), Type("time")):
        assert of_arrow(to_arrow(kind)) == kind
