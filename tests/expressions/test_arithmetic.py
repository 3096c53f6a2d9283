"""Each operation at its limits: what is not a finite number of its type is null, and no operation fails or warns."""

import math
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from nobounds.expressions.arithmetic import joined
from nobounds.expressions.casts import cast
from nobounds.expressions.check import formula
from nobounds.expressions.comparisons import signs
from nobounds.expressions.evaluate import Rows, computed
from nobounds.expressions.sql import parsed
from nobounds.expressions.types import DATE, INTEGER, NUMBER, TEXT, of_arrow
from nobounds.expressions.values import constant, from_arrow

LOW, HIGH = -(2**63), 2**63 - 1


def value(expression, **columns):
    """The value of an expression for one row."""
    arrays = {name: given if isinstance(given, pa.Array) else pa.array([given]) for name, given in columns.items()}
    tree, _ = formula(parsed(expression), {name: of_arrow(array.type) for name, array in arrays.items()})
    return computed(tree, Rows(arrays, {}, 1)).to_pylist()[0]


@pytest.mark.parametrize(
    ("expression", "a", "b", "expected"),
    [
        ("a + b", HIGH, 1, None),
        ("a + b", LOW, -1, None),
        ("a + b", HIGH, LOW, -1),
        ("a - b", LOW, 1, None),
        ("a - b", 0, LOW, None),
        ("a - b", -1, LOW, HIGH),
        ("a * b", 2**62, 2, None),
        ("a * b", 2**62, -2, LOW),
        ("a * b", LOW, -1, None),
        ("a * b", 3037000499, 3037000499, 3037000499**2),
        ("a * b", 3037000500, 3037000500, None),
        ("a / b", 1, 0, None),
        ("a / b", 0, 0, None),
        ("a / b", 7, 2, 3.5),
        ("a % b", 7, 0, None),
        ("a % b", -7, 3, -1),
        ("a % b", 7, -3, 1),
        ("a % b", LOW, -1, 0),
        ("-a + b", LOW, 0, None),
        ("abs(a) + b", LOW, 0, None),
        ("a * b", 1e308, 10.0, None),
        ("a * b", 0.0, -1.0, 0.0),
        ("a + b", math.inf, 1.0, None),
        ("a - b", math.nan, 1.0, None),
        ("a / b", 1.0, 0.0, None),
        ("a / b", 1e-308, 1e308, 0.0),
        ("a % b", -7.5, 2.0, -1.5),
        ("a % b", 1.0, 0.0, None),
        ("floor(a) + ceil(b)", 2.5, 2.5, 5),
        ("floor(a) + b", 1e19, 0, None),
        ("floor(a) + b", -math.inf, 0, None),
    ],
)
def test_arithmetic_is_total(expression, a, b, expected):
    """Overflow, division by zero and infinities are null."""
    found = value(expression, a=a, b=b)
    assert found == expected and type(found) is type(expected)
    assert not isinstance(found, float) or math.copysign(1, found) == math.copysign(1, found + 0.0)


@pytest.mark.parametrize(
    ("expression", "a", "expected"),
    [
        ("cast(a as number)", " 1e3 ", 1000.0),
        ("cast(a as number)", "1_000", None),
        ("cast(a as number)", "٣", None),
        ("cast(a as number)", "nan", None),
        ("cast(a as number)", "-inf", -math.inf),
        ("cast(a as number)", "1e999", math.inf),
        ("cast(a as number)", "9" * 5000, None),
        ("cast(a as integer)", str(HIGH), HIGH),
        ("cast(a as integer)", str(HIGH + 1), None),
        ("cast(a as integer)", "1.0", None),
        ("cast(a as integer)", "9" * 5000, None),
        ("cast(a as integer)", True, 1),
        ("cast(a as date)", "2024-02-29", date(2024, 2, 29)),
        ("cast(a as date)", "2023-02-29", None),
        ("cast(a as date)", "0000-01-01", None),
        ("cast(a as date)", "20240229", None),
        ("cast(a as text)", date(1, 1, 1), "0001-01-01"),
        ("cast(a as text)", LOW, str(LOW)),
        ("cast(a as text)", False, "false"),
    ],
)
def test_casts_are_total(expression, a, expected):
    """What has no form in the new type is null."""
    assert value(expression, a=a) == expected


@pytest.mark.parametrize(
    ("whole", "number", "sign"),
    [
        (2**53 + 1, 2.0**53, 1),
        (HIGH, 2.0**63, -1),
        (LOW, -(2.0**63), 0),
        (LOW, -math.inf, 1),
        (HIGH, math.inf, -1),
        (-1, -0.5, -1),
        (0, -0.0, 0),
        (-1, -1.5, 1),
    ],
)
def test_integers_and_floats_are_compared_exactly(whole, number, sign):
    """As in Python, and the other way round."""
    a, b = constant(whole, INTEGER, 3), from_arrow(pa.array([number] * 3), NUMBER)
    assert signs(a, b).tolist() == [sign] * 3
    assert signs(b, a).tolist() == [-sign] * 3


def test_decimals_and_unsigned_integers_are_compared_exactly():
    """To the 38th digit, also with constants that have a sign, and integers from 2**63 on."""
    high, low = Decimal("12345678901234567890123456789012345.678"), Decimal("-0.001")
    wide = pa.array([high, -high.copy_abs(), low], pa.decimal128(38, 3))

    def kept(condition, array):
        tree, _ = formula(parsed(condition), {"a": of_arrow(array.type)})
        return computed(tree, Rows({"a": array}, {}, len(array))).to_pylist()

    assert kept(f"a = {high}", wide) == [True, False, False]
    assert kept(f"a > {str(high)[:-1]}7", wide) == [True, False, False]
    assert kept("a < -12345678901234567890123456789012345.677", wide)[1]
    assert kept("a = '-0.001'::DECIMAL(4,3) or a in (-0.001)", wide) == [False, False, True]
    large = pa.array([2**64 - 1, 2**63, 5], pa.uint64())
    assert kept("a > 9223372036854775807", large) == [True, True, False]
    assert kept("a = 18446744073709551615 or a = 5.0", large) == [True, False, True]


def test_instants_of_all_units_are_compared_exactly():
    """Seconds of the year 9999 beside nanoseconds, before 1970 too; zones do not matter."""
    odd = ["0001-01-01T00:00:00", "1969-12-31T23:59:59.999", "1970-01-01T00:00:00.001", "9999-12-31T23:59:59"]
    fine = np.array(["1969-12-31T23:59:59.999000001", "1970-01-01T00:00:00.001"], dtype="datetime64[ns]")
    for unit, zone in (("ms", "Europe/Berlin"), ("us", "UTC"), ("ms", "Asia/Tokyo")):
        coarse = pa.array(np.array(odd, dtype=f"datetime64[{unit}]")).cast(pa.timestamp(unit, zone))
        left = from_arrow(coarse.take(pa.array([0, 1, 2, 3, 2])), of_arrow(coarse.type))
        precise = pa.array(fine).cast(pa.timestamp("ns", "UTC")).take(pa.array([0, 0, 0, 0, 1]))
        assert signs(left, from_arrow(precise, of_arrow(precise.type))).tolist() == [-1, -1, 1, 1, 0]


def test_text_is_compared_by_code_points():
    """Which is the order of the bytes of UTF-8, and not of UTF-16, nor that of a language."""
    assert value("a < b", a="Z", b="a")
    assert value("a < b", a="z", b="ä")
    assert value("a < b", a="\uffff", b="\U0001f600")
    assert value("a < b", a="", b="\x00") and not value("a = b", a="e\u0301", b="é")


def test_nulls_stay_null():
    """In every operation."""
    null = pa.nulls(1, pa.int64())
    for each in ("a + 1", "a / 1", "abs(a)", "floor(a)", "cast(a as text)", "a > 1", "a in (1, 2)", "not a = 1"):
        assert value(each, a=null) is None
    assert value("a is null", a=null) and value("coalesce(a, 5)", a=null) == 5
    assert value("case when a > 1 then 1 when a is null then null else 2 end", a=null) is None
    assert value("case when a > 1 then 1 else 2 end", a=null) == 2 and value("case a when 1 then 3 end", a=2) is None
    assert value("a in (1, null)", a=1) and value("a in (1, null)", a=2) is None
    assert value("a = 1 or true", a=null) and value("a = 1 and false", a=null) is False
    assert cast(from_arrow(null, INTEGER), "number").type == NUMBER
    assert not joined("+", from_arrow(null, INTEGER), constant(1, INTEGER, 1), INTEGER).valid.any()
    assert repr(constant("secret", TEXT, 2)) == "Values(text)" and constant(date(1970, 1, 2), DATE, 1).data[0] == 1
