"""Columns as keys: their Arrow type is that of the declared type, whatever the records are."""

import random
from array import array
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile import CHARACTERS
from support.purse import Purse

import nobounds as nb
from nobounds.engines.key_columns import key_array, key_type

TEXT, LONG = pa.large_string(), pa.int64()
MOMENT, ZONED = pa.timestamp("us"), pa.timestamp("us", "UTC")
DAYS = pd.to_datetime(["2024-02-29", None])


def extension(values, dtype):
    return pd.array(values, dtype=dtype)


# How a column may be given, the same with another record that its type can hold, its type as a key, and its keys.
TYPED = {
    "Int64": (extension([2**60 + 1, None], "Int64"), LONG, [2**60 + 1, None]),
    "UInt8": (extension([7, None], "UInt8"), pa.uint8(), [7, None]),
    "boolean": (extension([True, None], "boolean"), pa.bool_(), [True, None]),
    "Float64": (extension([0.5, None], "Float64"), pa.float64(), [0.5, None]),
    "Float32": (extension([0.5, None], "Float32"), pa.float32(), [0.5, None]),
    "string": (extension(["a", None], "string"), TEXT, ["a", None]),
    "python string": (extension(["a", None], "string[python]"), TEXT, ["a", None]),
    "str": (extension(["a", None], "str"), TEXT, ["a", None]),
    "ArrowDtype": (extension([7, None], pd.ArrowDtype(LONG)), LONG, [7, None]),
    "ArrowDtype of words": (
        extension(["a", None], pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        TEXT,
        ["a", None],
    ),
    "datetime": (DAYS.array, MOMENT, [pd.Timestamp("2024-02-29"), None]),
    "time zone": (DAYS.tz_localize("UTC").array, ZONED, [pd.Timestamp("2024-02-29", tz="UTC"), None]),
    "categories of integers": (pd.Categorical([2**60 + 1, None]), TEXT, [str(2**60 + 1), None]),
    "categories of objects": (pd.Categorical([2**60 + 1, "x"]), TEXT, [str(2**60 + 1), "x"]),
    "categories of floats": (pd.Categorical([1.0, 0.5]), TEXT, ["1", "0.5"]),
    "categories of booleans": (pd.Categorical([True, False]), TEXT, ["1", "0"]),
    "categories of intervals": (pd.cut([1, 25], [0, 10, 30]), TEXT, ["(0, 10]", "(10, 30]"]),
}


@pytest.mark.parametrize("held", [lambda x: x, pd.Series, pd.Index], ids=["array", "Series", "Index"])
@pytest.mark.parametrize("kind", TYPED)
def test_arrays_of_pandas_have_the_type_that_they_declare(kind, held):
    """Alone, as a Series and as an Index; with a missing record, without it, and without any."""
    given, expected, keys = TYPED[kind]
    column = held(given)
    assert key_type(column) == expected
    assert key_array(column).type == expected
    assert key_array(column).to_pylist() == keys
    assert key_array(column[:1]).type == expected
    assert key_array(column[:1]).to_pylist() == keys[:1]


@pytest.mark.parametrize("held", [lambda x: x, pd.Series, pd.Index], ids=["array", "Series", "Index"])
@pytest.mark.parametrize(
    "given",
    [
        pd.arrays.SparseArray([1, 0, 0]),
        pd.arrays.SparseArray([1.0, np.nan]),
        pd.period_range("2024", periods=2, freq="M").array,
        pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
        pd.to_timedelta([1, 2]).array,
    ],
    ids=["sparse", "sparse floats", "period", "interval", "timedelta"],
)
def test_types_without_a_key_are_refused_by_their_type(given, held):
    """As a Series and alone: a dense copy of sparse numbers has a type that depends on whether one of them is 0."""
    table = nb.Table({"x": np.ones(len(given)), "k": held(given)})
    for ask in (
        lambda: table.group_by("k", delta=1e-6),
        lambda: nb.Table({"x": np.ones(len(given)), "k": held(given)}, unit="k", rows_per_unit=1),
    ):
        with pytest.raises(TypeError, match="column 'k' must be of text, numbers or dates to be a unit or a key"):
            ask()


OTHERS = {
    "masked": (np.ma.array([2**60 + 1, 2], mask=[0, 1]), LONG, [2**60 + 1, None]),
    "masked objects": (np.ma.array(np.array([1, "x"], dtype=object), mask=[0, 1]), TEXT, ["1", None]),
    "big-endian": (np.array([1, 2], ">i4"), pa.int32(), [1, 2]),
    "words": (np.array(["a", "bb"]), TEXT, ["a", "bb"]),
    "strings": (np.array(["a", "bb"], dtype="T"), TEXT, ["a", "bb"]),
    "bytes": (np.array([b"a", b"bb"]), pa.large_binary(), [b"a", b"bb"]),
    "half": (np.array([0.5, np.nan], np.float16), pa.float32(), [0.5, None]),
    "far days": (np.array([0, 2**40, "NaT"], "M8[D]"), pa.date32(), [pd.Timestamp(0).date(), None, None]),
    "array": (array("q", [2**60 + 1]), LONG, [2**60 + 1]),
    "characters": (array(CHARACTERS, "ab"), TEXT, ["a", "b"]),
    "range": (range(3), LONG, [0, 1, 2]),
    "far range": (range(2**63 - 1, 2**63 + 1), LONG, [2**63 - 1, None]),
    "list": ([1, 1.0, None, "x"], TEXT, ["1", "1.0", None, "x"]),
    "polars": (pl.Series([2**60 + 1, None]), LONG, [2**60 + 1, None]),
    "polars categories": (pl.Series(["a", None], dtype=pl.Categorical), TEXT, ["a", None]),
    "polars enum": (pl.Series(["a", None], dtype=pl.Enum(["a", "b"])), TEXT, ["a", None]),
    "polars objects": (pl.Series([1, None], dtype=pl.Object), TEXT, ["1", None]),
    "dictionary": (pa.array([7, None]).dictionary_encode(), LONG, [7, None]),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_columns_have_the_type_that_they_declare(kind):
    """Lists and objects are text, dictionaries what their values are, and far days and numbers are missing."""
    given, expected, keys = OTHERS[kind]
    assert key_type(given) == key_array(given).type == expected
    assert key_array(given).to_pylist() == keys


@pytest.mark.parametrize("given", [np.array([1], "M8[2D]"), np.array([1j]), np.zeros(1, np.longdouble), nb])
def test_types_that_arrow_does_not_have_are_none(given):
    """Steps of two days too, which Arrow would take for days."""
    assert key_type(given) is None


class Size(str, Enum):  # noqa: UP042 - a StrEnum would have its value for a text
    LARGE = "large"


EQUAL = [
    ([1, 1.0, True, np.int8(1), np.float32(1), Decimal("1.0"), Fraction(1), 1 + 0j], "1"),
    ([0, -0.0, False], "0"),
    ([0.5, Decimal("0.50"), Fraction(1, 2), np.float16(0.5)], "0.5"),
    ([2**60 + 1, np.int64(2**60 + 1), Decimal(2**60 + 1)], str(2**60 + 1)),
    ([float("inf"), Decimal("Infinity")], "inf"),
    (["large", Size.LARGE, np.str_("large")], "large"),
]


@pytest.mark.parametrize(("equal", "text"), EQUAL, ids=[text for _, text in EQUAL])
def test_categories_that_are_equal_have_one_text(equal, text):
    """pandas shows the first of them for all rows, so which comes first must not matter."""
    for first in equal:
        others = [other for other in equal if other is not first]
        records = np.empty(len(equal) + 1, dtype=object)
        records[:] = [first, *others, "other"]
        assert set(key_array(pd.Categorical(records)).to_pylist()) == {text, "other"}


@given(
    records=st.lists(st.integers(-(2**53), 2**53) | st.booleans() | st.floats(width=32, allow_nan=False), max_size=6),
    odd=st.sampled_from([None, "odd", 0.5, 10**30, True, pd.Timestamp(0), (1, 2)]),
    first=st.booleans(),
)
@settings(derandomize=True, deadline=None)
def test_one_record_changes_no_other_key(records, odd, first):
    """The texts of categories are the same with an odd record and without it, before or after the others.

    Whole numbers that floats do not hold are left out: pandas rounds them before anybody sees them.
    """
    held = np.empty(len(records) + 1, dtype=object)
    held[:] = [odd, *records] if first else [*records, odd]
    alone = np.empty(len(records), dtype=object)
    alone[:] = records
    found = key_array(pd.Categorical(held)).to_pylist()
    assert (found[1:] if first else found[:-1]) == key_array(pd.Categorical(alone)).to_pylist()


def test_public_keys_are_refused_before_the_charge():
    """Keys of a category are text, and those of nullable booleans are booleans; others cost nothing."""
    purse = Purse()
    table = nb.Table(
        {"size": pd.Categorical([1, 2] * 50), "paid": pd.array([True, None] * 50, dtype="boolean")}, budget=purse
    )
    with pytest.raises(ValueError, match="keys must be of the type of the column 'size', which is text"):
        table.group_by("size", keys=[1, 2])
    with pytest.raises(ValueError, match="keys must be of the type of the column 'paid', which is bool"):
        table.group_by("paid", keys=["True"])
    assert purse.charged == []
    rng = random.Random(1)
    assert table.group_by("size", keys=["1", "2"]).count(epsilon=100, rng=rng).values.tolist() == [50, 50]
    assert table.group_by("paid", keys=[True, False]).count(epsilon=100, rng=rng).values.tolist() == [50, 0]
