"""Columns of objects and texts, read as the type that the user states; what is no value of it is missing."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from nobounds.counting.scan import gathered
from nobounds.engines.memory.declared import stated_columns
from nobounds.engines.open import open_source
from nobounds.kinds.kind import Kind

NAN = float("nan")


class Odd:
    """An object that fails at everything."""

    def __getattribute__(self, name):
        raise RuntimeError("a record")


ODD = [None, Odd(), object(), 10**400, float("nan"), "", "x" * 10_000, b"1", [1], {}, 1j, np.timedelta64("NaT", "s")]
CASES = {
    "date": (
        [date(1970, 1, 2), "1970-01-03", np.datetime64("1970-01-04")],
        [1, 2, 3],
        [5, datetime(1970, 1, 2), "1 day"],
    ),
    "datetime": ([datetime(1970, 1, 1, 1), "1970-01-01 00:00:01.5"], [3600, 1.5], [5, "1970-01-01T00:00Z"]),
    "datetime(Asia/Tokyo)": (["1970-01-01T09:00", datetime(1970, 1, 1, tzinfo=UTC)], [0, 0], [5, time(1)]),
    "time": ([time(1), "00:00:02"], [3600, 2], [5, "25:00", time(1, tzinfo=UTC)]),
    "duration": ([timedelta(days=-1), "1h", timedelta.max], [-86400, 3600, (2**63 - 1) / 1e6], [5, True, time(1)]),
    "decimal(4,2)": (
        [Decimal("1.50"), "-99.99", 7, 0.25],
        [1.5, -99.99, 7, 0.25],
        ["123.4", 100, Decimal("NaN"), True],
    ),
    "number": ([1, "2.5", Decimal(3)], [1, 2.5, 3], ["two"]),
    "integer": ([1, "2", 3.0], [1, 2, 3], [0.5, "x", float("inf")]),
    "boolean": ([True, "no", np.True_], [1, 0, 1], [1, "maybe"]),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_become_numbers_of_the_type(name: str):
    """One by one, whatever stands beside them; others are missing, without an error."""
    good, numbers, bad = CASES[name]
    odd = [each for each in ODD if not (name == "number" and type(each) is int)]
    ((_, column),) = stated_columns([("x", [*good, *bad, *odd])], {"x": name})
    assert column.facts.kind == Kind.parse(name) and column.facts.nullable
    assert np.array_equal(gathered(column.chunks()), [*numbers, *[NAN] * (len(bad) + len(odd))], equal_nan=True)


TEXTS = ["1970-01-02", None, "soon"]
CONTAINERS = {
    "list": TEXTS,
    "numpy objects": np.array(TEXTS, dtype=object),
    "numpy text": np.ma.array(["1970-01-02", "1970-01-03", "soon"], mask=[False, True, False]),
    "pandas objects": pd.Series(TEXTS, dtype=object),
    "pandas text": pd.Series(TEXTS, dtype="string"),
    "pandas categories": pd.Series(TEXTS).astype("category"),
    "polars text": pl.Series(TEXTS),
    "polars objects": pl.Series(TEXTS, dtype=pl.Object),
    "pyarrow text": pa.array(TEXTS),
}


@pytest.mark.parametrize("data", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_every_container_without_a_type_of_values(data):
    """Objects, texts and categories."""
    source = open_source({"born": data}, schema={"born": "date"})
    assert source.facts["born"].kind == Kind.parse("date") and source.facts["born"].declared
    assert np.array_equal(gathered(source.columns(["born"], None)["born"].chunks()), [1, NAN, NAN], equal_nan=True)


@pytest.mark.parametrize(
    "data", [np.array([1.0]), np.array(["2020"], "M8[D]"), pd.Series([1]), pl.Series([1]), pa.array([1]), range(3)]
)
def test_a_column_with_a_type_of_its_own_keeps_it(data):
    """A schema for it is refused, by its type."""
    with pytest.raises(TypeError, match="column 'x' has a type of its own"):
        open_source({"x": data}, schema={"x": "date"})


def test_a_schema_names_columns_and_types():
    """Others are refused, and so is a schema for tables with types."""
    with pytest.raises(ValueError, match="column 'y' of the schema is not in the table"):
        stated_columns([("x", [])], {"y": "date"})
    with pytest.raises(ValueError, match="the type of a column must be"):
        stated_columns([("x", [])], {"x": "soon"})
    with pytest.raises(TypeError, match="schema must map names to types"):
        stated_columns([("x", [])], ["x"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="schema is for files, and for columns of objects"):
        open_source(pl.LazyFrame({"x": ["a"]}), schema={"x": "date"})
