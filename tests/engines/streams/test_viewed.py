"""The same rows are kept, and the same columns computed, from every engine: by the loop over Python values."""

import json
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import filters

import nobounds as nb
from nobounds.engines.open import open_stream
from nobounds.engines.sql.database import from_query
from nobounds.engines.streams.local import Local
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.viewed import stream_types, viewed
from nobounds.expressions.text import text
from nobounds.expressions.view import View

CONDITIONS = 500
COLUMNS = filters.records(80, seed=1)
TABLE = filters.arrow(COLUMNS)


@pytest.fixture(scope="module")
def conditions():
    writer = filters.Writer(2022)
    return [writer.condition() for _ in range(CONDITIONS)]


@pytest.fixture(scope="module")
def expected(conditions):
    """For each condition the rows where it is true, and those where it is null."""
    rows = TABLE.to_pylist()
    return [[filters.value(node, row) for row in rows] for node in conditions]


def numpy_arrays(folder, request):
    masked = {
        name: np.ma.MaskedArray([kind() if x is None else x for x in COLUMNS[name]], [x is None for x in COLUMNS[name]])
        for name, kind in zip("ijfgbc", [int, int, float, float, bool, bool], strict=True)
    }
    return {name: masked.get(name, TABLE[name]) for name in TABLE.column_names}


def pandas_arrow(folder, request):
    return TABLE.to_pandas(types_mapper=pd.ArrowDtype)


def pandas_nullable(folder, request):
    frame = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    kinds = {"i": "Int64", "j": "Int64", "f": "Float64", "g": "float64", "b": "boolean", "s": "string"}
    return frame.astype(kinds)


def polars_eager(folder, request):
    return pl.from_arrow(TABLE)


def polars_lazy(folder, request):
    return pl.from_arrow(TABLE).lazy()


def arrow_table(folder, request):
    return TABLE


def arrow_reader(folder, request):
    return TABLE.to_reader(max_chunksize=50)


def parquet_file(folder, request):
    pq.write_table(TABLE, folder / "t.parquet", row_group_size=50)
    return folder / "t.parquet"


def duckdb_relation(folder, request):
    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    connection.register("t", TABLE)
    return connection.sql("select * from t")


def postgres_query(folder, request):
    connection = psycopg.connect(request.getfixturevalue("postgres"))
    request.addfinalizer(connection.close)
    kinds = dict(id="int8", i="int8", j="int2", f="float8", g="float4", m="numeric(10,2)", s="text", r="varchar")
    kinds |= dict(b="bool", c="bool", d="date", e="date", t="timestamp", u="timestamp", z="timestamptz")
    names = ", ".join(f"{name} {kinds[name]}" for name in TABLE.column_names)
    connection.execute(f"create temp table filtered ({names})")
    holes = ", ".join(["%s"] * len(TABLE.column_names))
    with connection.cursor() as cursor:
        cursor.executemany(f"insert into filtered values ({holes})", list(zip(*COLUMNS.values(), strict=True)))
    return from_query(connection, "select * from filtered")


ENGINES = [numpy_arrays, pandas_arrow, pandas_nullable, polars_eager, polars_lazy, arrow_table, arrow_reader]
ENGINES += [parquet_file, duckdb_relation, postgres_query]


def stream_of(engine, folder, request) -> TableStream:
    made = engine(folder, request)
    return made if isinstance(made, TableStream) else open_stream(made)


@pytest.mark.medium
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_500_conditions_keep_the_same_rows(engine, conditions, expected, tmp_path, request):
    """All of them in one pass, as columns: true, false or null in the rows where the loop says so."""
    stream = stream_of(engine, tmp_path, request)
    view = View(stream_types(stream)).with_columns({f"q{k}": node for k, node in usable(conditions)})
    names = list(view.formulas)
    batches = list(viewed(stream, view, masked=False).batches(["id", *names], []))
    found = pa.Table.from_batches(batches).sort_by("id")
    for k, node in usable(conditions):
        assert found[f"q{k}"].to_pylist() == expected[k], text(node)


def usable(conditions):
    """All but bare constants, which are no column."""
    return [(k, node) for k, node in enumerate(conditions) if text(node) != "null"]


@pytest.mark.medium
@pytest.mark.parametrize("masked", [False, True], ids=["dropped", "missing"])
@pytest.mark.parametrize("engine", [arrow_table, polars_lazy, duckdb_relation, parquet_file], ids=lambda e: e.__name__)
def test_a_condition_drops_rows_or_makes_them_missing(engine, masked, conditions, expected, tmp_path, request):
    """Null and false alike; under swap the number of rows stays."""
    stream = stream_of(engine, tmp_path, request)
    for k, node in usable(conditions)[:12]:
        true = [x is True for x in expected[k]]
        seen = viewed(stream, View(stream_types(stream)).where(text(node)), masked)
        (table,) = [pa.Table.from_batches(list(seen.batches(["id"], ["j", "id"])) or [_none()])]
        ids = [x for x in table.column(2).to_pylist() if x == x]
        assert sorted(ids) == [float(x) for x, kept in enumerate(true) if kept]
        assert seen.rows() == (len(true) if masked else sum(true))
        assert len(table) == (len(true) if masked else sum(true))
        if masked:
            assert [x == 0 for chunk in seen.kept() for x in chunk] == true
            assert table.column(0).null_count == len(true) - sum(true)
        assert all(facts.nullable for facts in seen.facts.values()) or not masked


def _none():
    return pa.record_batch([pa.array([], pa.int64()), *[pa.array([], pa.float64())] * 2], names=["id", "j", "id"])


def test_a_column_of_no_declared_type_is_read_as_what_it_meets(tmp_path):
    """As numbers beside a number, by the rules of the file; as text beside a text."""
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n10;y\nNA;x\noops;\n")
    csv = nb.Csv(header=True, delimiter=";", decimal=",", missing=("NA",))
    stream = open_stream(tmp_path / "t.csv", csv)

    def rows(condition):
        return viewed(stream, View(stream_types(stream)).where(condition), False).rows()

    assert [rows(each) for each in ("a > 1.5", "a >= 1.5", "a = '1,5'", "a is null", "b = 'x'")] == [1, 2, 1, 1, 2]
    assert rows("cast(a as number) is null") == 2
    assert rows("a * 2 = 3 and b = 'x'") == 1
    assert rows("a > '1' and a > 2") == 1  # both, in one condition
    with pytest.raises(TypeError, match=r"have no declared types; declare them"):
        rows("a = b")
    with pytest.raises(TypeError, match=r"column a has no declared type, and meets a date; .* cast\(a as date\)"):
        rows("a = date '2024-01-01'")


def test_rows_of_a_unit_are_chosen_among_those_that_are_kept():
    """A dropped row does not count against its unit."""
    many = {"who": np.repeat(np.arange(3000), 4), "x": np.tile([1, 2, 3, 4], 3000)}
    table = nb.Table(many, unit="who", rows_per_unit=1)
    counted = table.where("x = 3").count(epsilon=5, rng=random.Random(1))
    assert abs(counted.value - 3000) < 20
    assert table.where("x > 2").suggest_rows_per_unit(epsilon=5, rng=random.Random(1)).value == 2


def test_computed_columns_replace_and_add():
    """A column of the same name is replaced, in later expressions too; the others stay."""
    source = Local(open_stream({"a": np.array([1, 2, 3]), "b": np.array([1.0, np.nan, 0.0])}))
    view = View(source.types).with_columns({"a": "a * 10", "ok": "b is not null"}).where("a >= 20")
    seen = source.viewed(view, False)
    (batch,) = seen.stream.batches(["ok"], ["a", "b"])
    assert batch.to_pydict() == {"ok": [False, True], "a": [20.0, 30.0], "b": [pytest.approx(np.nan, nan_ok=True), 0.0]}
    assert view.text == "a * 10 >= 20"
    assert view.used(["a", "b"]) == (("a", "a * 10"),)
    assert json.dumps(dict(view.used(["ok"]))) == '{"ok": "b is not null"}'
    assert {name: (facts.integral, facts.nullable) for name, facts in seen.facts.items()} == {
        "b": (False, True),
        "a": (True, True),
        "ok": (True, True),
    }


def test_dates_that_are_kept_as_text_are_not_compared_as_text():
    """Their order may be another one; a date of Arrow, pandas or polars has a type of its own."""
    days = nb.Table({"day": ["2024-01-31", " 2024-02-01"] * 9, "n": [1.0, 2.0] * 9}, schema={"day": "date"})
    with pytest.raises(TypeError, match="compares a column of another type with text"):
        days.where("day > '2024-01-31'")
    assert days.where("day is not null and n > 1").count(epsilon=100, rng=random.Random(1)).value == 9
