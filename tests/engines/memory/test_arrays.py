"""Data in memory to Columns: the same number gives the same float in each engine, and refusals tell no values."""

import array
import random
import subprocess
import sys
import types
import warnings
from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from support.hostile import CHARACTERS

import nobounds as nb
from nobounds.engines.memory import arrays
from nobounds.engines.memory.arrays import CHUNK, Column, column

NAN, INF = float("nan"), float("inf")


class Stream:
    """Arrow data known only by the C stream interface."""

    def __init__(self, data):
        self.data = pa.chunked_array([data])

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class Capsule:
    """Arrow data known only by the C array interface."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self.data.__arrow_c_array__(requested_schema)


ENGINES = {
    "numpy": np.array,
    "numpy masked": lambda x, dtype: np.ma.array(np.array(x, dtype), mask=False),
    "numpy big-endian": lambda x, dtype: np.array(x, np.dtype(dtype).newbyteorder(">")),
    "numpy strided": lambda x, dtype: np.repeat(np.array(x, dtype), 3)[::3],
    "numpy reversed": lambda x, dtype: np.array(x[::-1], dtype)[::-1],
    "list": lambda x, dtype: list(x),
    "list of numpy scalars": lambda x, dtype: list(np.array(x, dtype)),
    "tuple": lambda x, dtype: tuple(x),
    "array.array": lambda x, dtype: array.array(np.dtype(dtype).char, x),
    "pandas": lambda x, dtype: pd.Series(np.array(x, dtype)),
    "pandas index": lambda x, dtype: pd.Index(np.array(x, dtype)),
    "pandas nullable": lambda x, dtype: pd.Series(pd.array(x, dtype=np.dtype(dtype).name.capitalize())),
    "pandas arrow": lambda x, dtype: pd.Series(x, dtype=pd.ArrowDtype(pa.from_numpy_dtype(dtype))),
    "polars": lambda x, dtype: pl.Series(np.array(x, dtype)),
    "pyarrow": lambda x, dtype: pa.array(x, pa.from_numpy_dtype(dtype)),
    "pyarrow chunked": lambda x, dtype: pa.chunked_array([x[:1], x[1:]], pa.from_numpy_dtype(dtype)),
    "arrow stream": lambda x, dtype: Stream(pa.array(x, pa.from_numpy_dtype(dtype))),
    "arrow capsule": lambda x, dtype: Capsule(pa.array(x, pa.from_numpy_dtype(dtype))),
}


def floats(data) -> list[float]:
    """All records of some data, in order, by way of their Column."""
    return [x for chunk in column(data).chunks() for x in chunk.tolist()]


def same(left: list[float], right: list[float]) -> bool:
    """Whether two lists of floats are equal to the bit, all NaN taken as equal."""
    return len(left) == len(right) and all(
        (a != a and b != b) or (a == b and str(a) == str(b)) for a, b in zip(left, right, strict=True)
    )


@pytest.mark.medium
@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES.keys())
@given(data=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_an_integer_becomes_the_nearest_float_in_every_engine(make, data):
    """An int64 gives the float that Python's float() gives, whatever holds it."""
    data = [2**53 + 1, 2**53 + 3, 2**63 - 1, -(2**63), *data]
    assert floats(make(data, np.int64)) == [float(x) for x in data]


@pytest.mark.medium
@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES.keys())
@given(data=st.lists(st.floats(), max_size=5))
def test_a_float_stays_itself_in_every_engine(make, data):
    """A float64 comes out unchanged: NaN, infinities, denormals and the negative zero too."""
    data = [0.1, -0.0, 5e-324, 1.7976931348623157e308, INF, -INF, NAN, *data]
    assert same(floats(make(data, np.float64)), data)


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g"])
def test_every_numpy_number_type_is_accepted(dtype):
    """Each dtype's extreme values become their nearest floats; all but floats are integral."""
    dtype = np.dtype(dtype)
    data = np.array([0, 1], dtype)
    if dtype.kind in "iu":
        data = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1], dtype)
    result = column(data)
    assert floats(data) == [float(x) for x in data.tolist()]
    assert (result.facts.integral, result.facts.nullable) == (dtype.kind != "f", dtype.kind == "f")


def test_ties_and_overflow_of_wide_types_round_as_ieee_says():
    """uint64, int128 and long doubles beyond float64's precision or range round to nearest, or to an infinity."""
    assert floats(np.array([2**64 - 1, 2**63 + 1025], np.uint64)) == [float(2**64 - 1), float(2**63 + 1025)]
    assert floats(pl.Series([2**100 + 1], dtype=pl.Int128)) == [float(2**100 + 1)]
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        wide = np.longdouble(1.7976931348623157e308) * 4
        assert floats(np.array([wide, -wide])) == [INF, -INF]
        assert floats([wide, -wide]) == [INF, -INF]


def test_missing_records_are_nan():
    """Masked, null and absent records become NaN, and the others stay, in each engine that has such records."""
    expected = [1.0, NAN, 3.0]
    for data in [
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="Float32"),
        pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int8())),
        pl.Series([1, None, 3]),
        pl.Series([1.0, None, 3.0]),
        pa.array([1, None, 3]),
        pa.array([1, None, 3], pa.float16()),
        [1, None, 3],
    ]:
        assert same(floats(data), expected)
        assert column(data).facts.nullable
    for data in [pa.nulls(2), pl.Series([None, None]), pa.array([None, None], pa.bool_())]:
        assert same(floats(data), [NAN, NAN])


def test_booleans_are_zero_and_one():
    """False is 0 and True is 1 in each engine, and the type is integral where there is a type."""
    data = [False, True]
    typed = [np.array(data), pd.Series(data), pd.Series(data, dtype="boolean"), pl.Series(data), pa.array(data)]
    for x in [*typed, data]:
        assert floats(x) == [0.0, 1.0]
    assert all(column(x).facts.integral for x in typed)


def test_elements_of_a_list_that_are_no_numbers_are_missing():
    """A list is never refused: each element by itself is a real number, the text of one, or a missing record."""
    odd = [
        None,
        "three",
        "",
        "1_000",
        b"3",
        1j,
        [4.0],
        {},
        object(),
        pd.NA,
        pd.Timestamp(0),
        np.timedelta64(3, "s"),
        np.str_("x"),
        np.array(3.0),
    ]
    assert same(floats(odd), [NAN] * len(odd))
    assert same(floats([[1.0, 2.0], [3.0, 4.0]]), [NAN, NAN])
    numbers = [True, 2, Fraction(1, 3), Decimal("0.1"), np.float32(0.1), np.int8(-3), np.bool_(True), Decimal("NaN")]
    assert same(floats(numbers), [1.0, 2.0, 1 / 3, 0.1, float(np.float32(0.1)), -3.0, 1.0, NAN])
    assert not column(numbers).facts.integral
    assert column(numbers).facts.nullable


def test_text_in_a_list_is_read_as_that_of_a_file():
    """A list of numbers that are still text has their mean; to refuse it would tell that no number is among them."""
    assert same(floats(["1", " 2.5 ", np.str_("3"), "-inf", "nan", "1e999"]), [1.0, 2.5, 3.0, -INF, NAN, INF])
    texts = ["1", "2"] * 500
    assert nb.mean(texts, epsilon=1, rng=random.Random(1)).value == pytest.approx(1.5, abs=0.1)
    for record in ("x", 7, None):  # one record more is no error, whatever it is
        assert nb.mean([*texts, record], epsilon=1, rng=random.Random(1)).value == pytest.approx(1.5, abs=0.1)
    for typed in (np.array(texts), pd.Series(texts), pl.Series(texts), pa.array(texts)):
        with pytest.raises(TypeError, match="data must have an integer, float or boolean type"):
            nb.mean(typed, epsilon=1)


def test_numbers_too_large_for_a_float_are_infinite():
    """Python's unbounded numbers overflow to an infinity of their sign, alone or among other records."""
    big = 10**5000
    assert floats([big, -big]) == [INF, -INF]
    assert floats([1.5, Fraction(-big), Decimal("1e9999"), -big]) == [1.5, -INF, INF, -INF]


def test_a_number_whose_conversion_fails_is_missing():
    """What a foreign number type raises does not come through."""

    class Odd(float):
        def __float__(self):
            raise RuntimeError("the value is 7")

    assert same(floats([Odd(7), Decimal("sNaN"), 1.0]), [NAN, NAN, 1.0])


@pytest.mark.medium
@given(st.lists(st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text(), st.decimals()), max_size=8))
def test_a_record_of_a_list_does_not_depend_on_its_neighbours(data):
    """Each element of a list becomes what it becomes alone: the fast path for plain numbers changes nothing."""
    assert same(floats(data), [x for each in data for x in floats([each])])


def test_a_range_holds_integers():
    """A range can hold nothing but integers, so it is integral and has no missing records."""
    assert floats(range(5, 1, -2)) == [5.0, 3.0]
    assert (column(range(3)).facts.integral, column(range(3)).facts.nullable) == (True, False)


@pytest.mark.medium
@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES.keys())
def test_long_data_come_in_chunks_that_can_be_read_again(make):
    """Chunks are short and contiguous; each pass gives all records in order, and what can be written to is no data."""
    data = np.arange(2.0 * CHUNK + 3)
    result = column(make(data.tolist(), np.float64))
    for _ in range(2):
        chunks = list(result.chunks())
        assert np.array_equal(np.concatenate(chunks), data)
        for chunk in chunks:
            assert len(chunk) <= (CHUNK if chunk.flags.writeable else arrays._IN_PLACE)  # floats are read in place
            assert chunk.dtype == np.float64
            assert chunk.flags.c_contiguous
            if chunk.flags.writeable:
                chunk[:] = -1.0
    assert result.rows() == len(data)


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES.keys())
def test_empty_data_are_accepted(make):
    """No records are a Column too."""
    assert floats(make([], np.float64)) == []
    assert column(make([], np.int64)).rows() == 0


def test_the_repr_shows_no_data():
    """The repr of a Column is its two public facts."""
    for data in [[12345.0], np.array([12345]), pl.Series([12345]), pa.array([12345]), pd.Series([12345])]:
        assert repr(column(data)) in {
            f"Column(facts=Facts(integral={integral}, nullable={nullable}))"
            for integral in (True, False)
            for nullable in (True, False)
        }


SECRET = 86421
TYPE_REFUSALS = {
    "object dtype": np.array([SECRET, None], dtype=object),
    "strings": np.array([str(SECRET)]),
    "complex": np.array([SECRET + 0j]),
    "records": np.array([(SECRET, 1.0)], dtype=[("a", int), ("b", float)]),
    "pandas object": pd.Series([SECRET, "a"], dtype=object),
    "pandas string": pd.Series([str(SECRET)]),
    "pandas category": pd.Series([SECRET]).astype("category"),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([SECRET, 0, 0])),
    "pandas frame": pd.DataFrame({"a": [SECRET]}),
    "polars string": pl.Series([str(SECRET)]),
    "polars enum": pl.Series([str(SECRET)], dtype=pl.Enum([str(SECRET)])),
    "polars frame": pl.DataFrame({"a": [SECRET]}),
    "polars lazy frame": pl.LazyFrame({"a": [SECRET]}),
    "pyarrow string": pa.array([str(SECRET)]),
    "pyarrow dictionary": pa.array([SECRET]).dictionary_encode(),
    "pyarrow struct": pa.array([{"a": SECRET}]),
    "pyarrow table": pa.table({"a": [SECRET]}),
    "arrow stream of a table": Stream(pa.array([{"a": SECRET}])),
    "characters": array.array(CHARACTERS, str(SECRET)),
    "bytes": str(SECRET).encode(),
    "string": str(SECRET),
    "int": SECRET,
    "float": float(SECRET),
    "numpy scalar": np.float64(SECRET),
    "none": None,
    "dict": {"a": SECRET},
    "set": {SECRET},
    "iterator": iter([SECRET]),
    "generator": (x for x in [SECRET]),
}
SHAPE_REFUSALS = {
    "two dimensions": np.full((3, 7), SECRET),
    "masked, two dimensions": np.ma.array(np.full((3, 7), SECRET), mask=True),
    "no dimension": np.array(SECRET),
}


@pytest.mark.parametrize("data", TYPE_REFUSALS.values(), ids=TYPE_REFUSALS.keys())
def test_other_types_are_refused_without_a_word_on_the_data(data):
    """What is not one column of numbers raises a TypeError with the rule and a fix, and without values or sizes."""
    with pytest.raises(TypeError, match=r"data must .*, got .*; .*for example ") as refusal:
        column(data)
    assert str(SECRET) not in str(refusal.value)
    assert "U5" not in str(refusal.value)


@pytest.mark.parametrize("data", SHAPE_REFUSALS.values(), ids=SHAPE_REFUSALS.keys())
def test_other_dimensions_are_refused_without_the_shape(data):
    """Arrays that are not one-dimensional raise a ValueError that tells ndim and not the lengths."""
    with pytest.raises(ValueError, match=rf"got ndim={data.ndim}; .*for example ") as refusal:
        column(data)
    assert not {str(SECRET), "3", "7"} & set(str(refusal.value).replace(")", " ").replace("(", " ").split())


@pytest.mark.parametrize(
    "make",
    [
        lambda text: np.array([text]),
        lambda text: pd.Series([text]),
        lambda text: pl.Series([text], dtype=pl.Enum([text])),
        lambda text: pa.array([text.encode()], pa.binary()),
        lambda text: np.zeros((len(text), 2)),
    ],
)
def test_a_refusal_is_the_same_for_all_data_of_a_kind(make):
    """Two sets of data of one kind and of different values and sizes are refused in the same words."""
    messages = set()
    for text in ["a", "a much longer text"]:
        with pytest.raises((TypeError, ValueError)) as refusal:
            column(make(text))
        messages.add(str(refusal.value))
    assert len(messages) == 1


def test_no_warning_depends_on_the_records():
    """Overflow and signalling NaN in a conversion warn nobody."""
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in [np.array([np.finfo(np.longdouble).max]), signalling, list(signalling), [np.longdouble("1e4000")]]:
            floats(data)


def test_a_column_is_its_own_column():
    """A Column is accepted where data are."""
    first = column([1.0])
    assert isinstance(first, Column)
    assert column(first) is first


@pytest.mark.medium
def test_numpy_data_load_no_other_library():
    """Reading numpy arrays and lists imports neither pandas nor polars nor pyarrow."""
    code = (
        "import sys, numpy; from nobounds.engines.memory.arrays import column;"
        "[list(column(x).chunks()) for x in ([1, None], numpy.arange(3))]; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"pandas", "polars", "pyarrow"}.isdisjoint(loaded)


def test_a_library_that_another_thread_is_loading_is_not_used(monkeypatch):
    """Its types are not there yet, so that no data can be of them."""
    half = types.ModuleType("polars")
    half.__spec__ = types.SimpleNamespace(_initializing=True)
    monkeypatch.setitem(sys.modules, "polars", half)
    assert column([1.0, 2.0]).rows() == 2
    assert column(pa.array([1, 2])).rows() == 2
