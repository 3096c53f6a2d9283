"""Errors, warnings, logs and shapes as a side channel: on neighbouring data sets nothing but the numbers may differ.

Every public function and every method of tables is called on fuzzed pairs of data sets, and each call is counted.
"""

import io
import json
import math
import random
import re
from array import array

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.csv_files import headed
from support.hostile import floats, longs, neighbours, objects, small_floats, wild_words, words
from support.observed import Observer, shape
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app
from nobounds.sklearn import PrivateClipper
from nobounds.tables.by_group.table import GroupedTable
from nobounds.tables.table import Table

# Fuzzed calls that each of the tests below must make.
CALLS = {
    "columns": 5600,
    "vectors": 500,
    "streams": 500,
    "frames": 400,
    "clipper": 200,
    "tables": 1600,
    "units": 300,
    "groups": 1300,
    "groups of users": 160,
    "files": 500,
    "commands": 200,
}

ANSWERS = {"Release", "Description", "GroupedRelease", "Answers"}
PURE = {"epsilon": 1.0}
MUCH = {"epsilon": 1000.0}  # then a few records are enough data for every route
ZCDP = {"rho": 0.1}
SWAP = {"epsilon": 1.0, "neighbors": "swap"}
FACTS = [
    {},
    {"lower": -1.0},
    {"lower": 0, "upper": 1e300},
    {"resolution": 0.5},
    {"lower": 1.0, "upper": 1.0 + 2**-52},
    {"upper": -5},
]

OF_TWO_COLUMNS = {
    "ratio": nb.ratio,
    "weighted_mean": nb.weighted_mean,
    "covariance": nb.covariance,
    "correlation": nb.correlation,
}


def of_both(statistic):
    """A statistic of two columns, of a column with itself."""
    return lambda data, lower=None, upper=None, resolution=None, **options: statistic(data, data, **options)


# What each public name of the package does with data. A new one has to be put here, and so be attacked.
OF_A_COLUMN = {
    "quantile": lambda data, **options: nb.quantile(data, 0.3, **options),
    "quantiles": lambda data, **options: nb.quantiles(data, [0.1, 0.5, 0.9], **options),
    "maximum": nb.maximum,
    "minimum": nb.minimum,
    "bounds": nb.bounds,
    "sum": nb.sum,
    "mean": nb.mean,
    "count": lambda data, lower=None, upper=None, resolution=None, **options: nb.count(data, **options),
    "describe": nb.describe,
    "median": nb.median,
    "std": nb.std,
    "variance": nb.variance,
    "iqr": nb.iqr,
    **{name: of_both(statistic) for name, statistic in OF_TWO_COLUMNS.items()},
    "histogram": nb.histogram,
    "cdf": nb.cdf,
}
OF_A_CATEGORY = {  # columns of keys, which are attacked in test_ways_in.py
    "count_distinct": nb.count_distinct,
    "top_k": nb.top_k,
    "value_counts": nb.value_counts,
}
OF_VECTORS = {"vector_sum": nb.vector_sum, "vector_mean": nb.vector_mean}
OF_STREAMS = {
    "AboveThreshold": lambda rng, noise: nb.AboveThreshold(3, epsilon=1, noise=noise, rng=rng),
    "IterativeExponential": lambda rng, noise: nb.IterativeExponential(3, epsilon=1, rng=rng),
    "SparseVector": lambda rng, noise: nb.SparseVector(3, hits=2, epsilon=1, noise=noise, rng=rng),
}
OF_TABLES = {"Table", "proportion", "sql"}  # as a condition on a table; statements are attacked in test_statements.py
WITHOUT_DATA = {
    "Answers",
    "Budget",
    "BudgetExceeded",
    "Csv",
    "DescribeForecast",
    "Description",
    "Forecast",
    "GroupedRelease",
    "Ladder",
    "Law",
    "PrivacyLoss",
    "Release",
    "Schema",
    "explain",
    "plan",
    "plan_describe",
    "rows_needed",
}
SENSITIVE = {"Histogram"}  # counts of records, which are not for release

OF_A_TABLE = {
    "quantile": lambda table, **options: table.quantile("x", 0.3, **options),
    "quantiles": lambda table, **options: table.quantiles("x", [0.1, 0.5], **options),
    "maximum": lambda table, **options: table.maximum("x", **options),
    "minimum": lambda table, **options: table.minimum("x", **options),
    "bounds": lambda table, **options: table.bounds("x", **options),
    "sum": lambda table, **options: table.sum("x", **options),
    "mean": lambda table, **options: table.mean("x", **options),
    "count": lambda table, **options: table.count("x", **options),
    "describe": lambda table, **options: table.describe(["x"], **options),
    "median": lambda table, **options: table.median("x", **options),
    "std": lambda table, **options: table.std("x", **options),
    "variance": lambda table, **options: table.variance("x", **options),
    "iqr": lambda table, **options: table.iqr("x", **options),
    "proportion": lambda table, **options: table.proportion("x > 3", **options),
    "ratio": lambda table, **options: table.ratio("x", "x", **options),
    "weighted_mean": lambda table, **options: table.weighted_mean("x", "x", **options),
    "covariance": lambda table, **options: table.covariance("x", "x", **options),
    "correlation": lambda table, **options: table.correlation("x", "x", **options),
    "histogram": lambda table, **options: table.histogram("x", **options),
    "cdf": lambda table, **options: table.cdf("x", points=[1, 2], **options),
    "count_distinct": lambda table, **options: table.count_distinct("x", **options),
    "value_counts": lambda table, **options: table.value_counts("k", keys=["a", "b"], **options),
    "top_k": lambda table, **options: table.top_k("k", 2, keys=["a", "b", "c"], **options),
}
OF_A_TABLE["agg"] = lambda table, **options: table.agg("mean(x)", "median(x)", "count()", **options)
BY_KEY = {"value_counts", "top_k"}  # rows in groups, which need add-remove
OF_UNITS = {"suggest_rows_per_unit", "suggest_contributions", "rows_left_out"}
NO_STATISTIC = {"columns", "group_by", "sql", "where", "with_columns"}
VIEWS = {
    "whole": lambda table: table,
    "where": lambda table: table.where("x / (x - 1) > 0.5 or k >= 'a' and k is not null"),
    "with": lambda table: table.with_columns(x="x * x + 1", y="cast(k as number)").where("y % 3 = 1 or x > 2"),
}
OF_GROUPS = {
    "quantile": lambda groups, **options: groups.quantile("x", 0.3, **options),
    "maximum": lambda groups, **options: groups.maximum("x", **options),
    "minimum": lambda groups, **options: groups.minimum("x", **options),
    "sum": lambda groups, **options: groups.sum("x", **options),
    "mean": lambda groups, **options: groups.mean("x", **options),
    "count": lambda groups, **options: groups.count("x", **options),
    "median": lambda groups, **options: groups.median("x", **options),
    "count_distinct": lambda groups, **options: groups.count_distinct("x", **options),
}
ONE_BY_ONE = {  # groups that run the programs of columns, which are attacked above
    *("agg", "bounds", "cdf", "correlation", "covariance", "describe", "histogram", "iqr", "proportion", "quantiles"),
    *("ratio", "std", "top_k", "value_counts", "variance", "weighted_mean"),
}


def fuzzed(share, **strategies):
    """A decorator: run a function at once on so many examples."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    run = settings(max_examples=share, deadline=None, database=None, suppress_health_check=checks)
    return lambda function: run(given(**strategies)(function))()


def test_every_public_name_is_attacked_or_has_no_data():
    """Each name that the package exports, and each method of a table, is in one of the lists of this file."""
    known = [set(OF_A_COLUMN), set(OF_A_CATEGORY), set(OF_VECTORS), set(OF_STREAMS), OF_TABLES, WITHOUT_DATA, SENSITIVE]
    assert sorted(nb.__all__) == sorted(name for names in known for name in names)
    assert _public(Table) == {*OF_A_TABLE, *OF_UNITS, *NO_STATISTIC}
    assert _public(GroupedTable) == {*OF_GROUPS, *ONE_BY_ONE}


def _public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def test_there_are_ten_thousand_fuzzed_calls():
    """The tests below assert their shares of fuzzed calls, and these come to more than ten thousand."""
    assert sum(CALLS.values()) >= 10_000


def _masked(records):
    return np.ma.masked_array(
        [0.0 if r is None else r for r in records], mask=[r is None for r in records], dtype=float
    )


def _extreme(records, dtype):
    with np.errstate(all="ignore"):
        return np.array(records, dtype=np.float64).astype(dtype)


NULLABLE = longs | st.none()
COLUMNS = {
    "list": (objects, list),
    "tuple": (objects, tuple),
    "float64": (floats, lambda records: np.array(records, dtype=np.float64)),
    "float32": (floats, lambda records: _extreme(records, np.float32)),
    "float16": (floats, lambda records: _extreme(records, np.float16)),
    "longdouble": (floats, lambda records: _extreme(records, np.longdouble)),
    "int64": (longs, lambda records: np.array(records, dtype=np.int64)),
    "uint64": (longs, lambda records: np.array(records, dtype=np.int64).view(np.uint64)),
    "int8": (st.integers(-128, 127), lambda records: np.array(records, dtype=np.int8)),
    "bool": (st.booleans(), lambda records: np.array(records, dtype=bool)),
    "masked": (floats | st.none(), _masked),
    "array": (floats, lambda records: array("d", records)),
    "pandas float": (floats, lambda records: pd.Series(records, dtype=np.float64)),
    "pandas Int64": (NULLABLE, lambda records: pd.Series(pd.array(records, dtype="Int64"))),
    "pandas Float64": (floats | st.none(), lambda records: pd.Series(pd.array(records, dtype="Float64"))),
    "pandas boolean": (st.booleans() | st.none(), lambda records: pd.Series(pd.array(records, dtype="boolean"))),
    "pandas arrow": (NULLABLE, lambda records: pd.Series(records, dtype=pd.ArrowDtype(pa.int64()))),
    "polars float": (floats | st.none(), lambda records: pl.Series("x", records, dtype=pl.Float64)),
    "polars Int64": (NULLABLE, lambda records: pl.Series("x", records, dtype=pl.Int64)),
    "arrow double": (floats | st.none(), lambda records: pa.array(records, type=pa.float64())),
    "arrow float": (small_floats | st.none(), lambda records: pa.array(records, type=pa.float32())),
    "arrow int64": (NULLABLE, lambda records: pa.array(records, type=pa.int64())),
    "arrow null": (st.none(), lambda records: pa.nulls(len(records))),
    "arrow chunks": (floats, lambda records: pa.chunked_array([[r] for r in records], type=pa.float64())),
    # These are refused, in words that tell nothing of what they hold.
    "object": (objects, lambda records: np.fromiter(records, dtype=object, count=len(records))),
    "text": (words, lambda records: np.array(records, dtype=str)),
    "complex": (floats, lambda records: np.array(records, dtype=complex)),
    "pandas object": (objects, lambda records: pd.Series(_object_array(records), dtype=object)),
    "pandas text": (words, lambda records: pd.Series(records, dtype="string")),
    "pandas category": (words, lambda records: pd.Series(records, dtype="category")),
    "polars text": (words, lambda records: pl.Series("x", records, dtype=pl.String)),
    "arrow text": (words, lambda records: pa.array(records, type=pa.string())),
    "arrow decimal": (st.integers(0, 10**9), lambda records: pa.array(records, type=pa.decimal128(38, 2))),
    "arrow lists": (longs, lambda records: pa.array([[r] for r in records], type=pa.list_(pa.int64()))),
}
REFUSED = {name for name in list(COLUMNS)[list(COLUMNS).index("object") :]}


def _object_array(records):
    found = np.empty(len(records), dtype=object)
    found[:] = records
    return found


def some_slow(kinds, fast):
    """All kinds, those that are not among the fast ones marked as slow."""
    return [kind if kind in fast else pytest.param(kind, marks=pytest.mark.slow) for kind in kinds]


FAST = ["list", "float64", "int64", "bool", "masked", "pandas Int64", "polars float", "arrow double", *REFUSED]


@pytest.mark.medium
@pytest.mark.parametrize("kind", some_slow(COLUMNS, FAST))
def test_no_column_tells_of_a_record(kind, capfd):
    """Every function of a column is the same to look at on neighbouring columns of any type, refused ones too."""
    records, build = COLUMNS[kind]
    seen, share = Observer(), math.ceil(CALLS["columns"] / len(COLUMNS))
    names, relations = sorted(OF_A_COLUMN), [PURE, MUCH, ZCDP, SWAP, SWAP | MUCH]

    @fuzzed(
        math.ceil(share / 6),
        pair=neighbours(records),
        which=st.lists(st.sampled_from(names), min_size=3, max_size=3, unique=True),
        facts=st.sampled_from(FACTS),
        spent=st.sampled_from(relations),
    )
    def attack(pair, which, facts, spent):
        data, rest, other = pair
        one, two = build(data), build(other if "neighbors" in spent else rest)
        for name in which:
            answer = seen.same(
                lambda column, rng, name=name: OF_A_COLUMN[name](column, **facts, **spent, rng=rng), one, two, name
            )
            assert answer[1:] == ((), (), "", "")

    assert seen.calls >= share
    described = {"raised"} if kind in REFUSED else {"Release"}
    assert described <= seen.kinds <= described | ({"Description"} if kind in REFUSED else ANSWERS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_no_matrix_tells_of_a_row(kind):
    """Sums and means of vectors are the same to look at on neighbouring matrices."""
    seen, share = Observer(), CALLS["vectors"] // 2
    row = st.lists(floats if kind == "float64" else longs, min_size=2, max_size=2)

    @fuzzed(
        math.ceil(share / 4), pair=neighbours(row), spent=st.sampled_from([ZCDP, {"rho": 0.1, "neighbors": "swap"}])
    )
    def attack(pair, spent):
        data, rest, other = pair
        one, two = (np.array(rows, dtype=kind).reshape(-1, 2) for rows in (data, other if len(spent) > 1 else rest))
        for name, vector in OF_VECTORS.items():
            answer = seen.same(lambda rows, rng, vector=vector: vector(rows, **spent, rng=rng), one, two, name)
            assert answer[0][0] == "Release" and answer[1:] == ((), (), "", "")

    assert seen.calls >= share


@pytest.mark.medium
def test_no_stream_fails_on_a_value():
    """Mechanisms on streams answer queries of any value, and the answers have one type."""
    seen = Observer()
    numbers = (
        floats | longs | st.sampled_from([10**400, -(10**400), np.float16(1), np.longdouble("1e4000"), np.int8(1)])
    )
    queries = st.tuples(*[numbers] * 4)

    @fuzzed(
        math.ceil(CALLS["streams"] / 6),
        one=queries,
        other=queries,
        noise=st.sampled_from(["exponential", "laplace", "gumbel"]),
    )
    def attack(one, other, noise):
        for name, make in OF_STREAMS.items():

            def call(values, rng, make=make):
                stream = make(rng, noise)
                answer = None
                for value in values:
                    if not stream._open:
                        break
                    answer = stream.query(value)
                return answer

            assert seen.same(call, one, other, name) == (("plain", "bool"), (), (), "", "")

    assert seen.calls >= CALLS["streams"]


FRAMES = {
    "dict": lambda rows: {"x": [r[0] for r in rows], "y": [r[1] for r in rows]},
    "matrix": lambda rows: np.array(rows, dtype=float).reshape(-1, 2),
    "pandas": lambda rows: pd.DataFrame(np.array(rows, dtype=float).reshape(-1, 2), columns=["x", "y"]),
    "polars": lambda rows: pl.DataFrame(np.array(rows, dtype=float).reshape(-1, 2), schema=["x", "y"]),
    "arrow": lambda rows: pa.table([pa.array([r[k] for r in rows], type=pa.float64()) for k in (0, 1)], ["x", "y"]),
}


@pytest.mark.medium
@pytest.mark.parametrize("kind", some_slow(FRAMES, ["dict", "pandas"]))
def test_no_frame_tells_of_a_row(kind):
    """A private summary is the same to look at on neighbouring frames."""
    seen, share = Observer(), math.ceil(CALLS["frames"] / len(FRAMES))
    record = objects if kind == "dict" else floats

    @fuzzed(
        math.ceil(share / 2),
        pair=neighbours(st.tuples(record, record)),
        spent=st.sampled_from([PURE, MUCH, ZCDP, SWAP]),
    )
    def attack(pair, spent):
        data, rest, other = pair
        one, two = FRAMES[kind](data), FRAMES[kind](other if spent is SWAP else rest)
        answer = seen.same(lambda table, rng: nb.describe(table, **spent, rng=rng), one, two)
        assert answer[0][0] == "Description" and answer[1:] == ((), (), "", "")

    assert seen.calls >= share


MATRICES = {
    "array": (floats, lambda rows: np.array(rows, dtype=float)),
    "objects": (objects, lambda rows: _object_array([r for row in rows for r in row]).reshape(-1, 2)),
    "list": (objects, lambda rows: [list(row) for row in rows]),
    "lists": (st.sampled_from([[1.0], [2.0, 3.0], [], 4.0]), lambda rows: [list(row) for row in rows]),
    "pandas": (floats | st.none(), lambda rows: pd.DataFrame(rows, columns=["x", "y"], dtype="Float64")),
}


@pytest.mark.medium
@pytest.mark.parametrize("kind", MATRICES)
def test_no_feature_tells_of_a_row(kind):
    """The clipper learns bounds of one shape and type from neighbouring matrices, as long as there is a row."""
    record, build = MATRICES[kind]
    seen, share = Observer(), math.ceil(CALLS["clipper"] / len(MATRICES))

    @fuzzed(math.ceil(share / 2), pair=neighbours(st.tuples(record, record), least=1))
    def attack(pair):
        data, rest, _ = pair

        def call(rows, rng):
            fitted = PrivateClipper(random_state=1).fit(rows)
            return fitted.lower_, fitted.upper_

        assert seen.same(call, build(data), build(rest)) == (
            ("several", *[("array", "float64", (2,))] * 2),
            (),
            (),
            "",
            "",
        )

    assert seen.calls >= share


def _arrow(rows):
    keys = pa.array([row[1] for row in rows], type=pa.string())
    return pa.table({"u": pa.array([row[0] for row in rows], pa.int64()), "k": keys, "x": _doubles(rows)})


def _doubles(rows):
    return pa.array([row[2] for row in rows], type=pa.float64())


def _duck(rows):
    relation = duckdb.connect().from_arrow(_arrow(rows))
    return relation


def _csv(rows, folder):
    path = folder / "table.csv"
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write("u,k,x\n")
        file.writelines(f"{_field(u)},{_field(k)},{_field(x)}\n" for u, k, x in rows)
    return headed(path)


def _field(value):
    return "" if value is None else '"' + str(value).replace('"', '""') + '"'


def _parquet(rows, folder):
    path = folder / "table.parquet"
    pq.write_table(_arrow(rows), path)
    return path


KEYS = st.none() | st.sampled_from(["a", "b", "c"]) | words
WILD = st.none() | wild_words
TYPED = st.tuples(st.integers(0, 3), KEYS, floats | st.none())
TABLES = {
    "lists": (
        st.tuples(objects, objects, objects),
        lambda rows, folder: {name: [row[k] for row in rows] for k, name in enumerate("ukx")},
    ),
    "pandas": (TYPED, lambda rows, folder: _arrow(rows).to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": (TYPED, lambda rows, folder: pl.from_arrow(_arrow(rows))),
    "lazy": (TYPED, lambda rows, folder: pl.from_arrow(_arrow(rows)).lazy()),
    "arrow": (TYPED, lambda rows, folder: _arrow(rows)),
    "duckdb": (TYPED, lambda rows, folder: _duck(rows)),
    "parquet": (TYPED, _parquet),
    "csv": (st.tuples(WILD, WILD, WILD | floats | longs), _csv),
}


@pytest.mark.medium
@pytest.mark.parametrize("kind", some_slow(TABLES, ["lists", "arrow", "csv"]))
def test_no_table_tells_of_a_row(kind, tmp_path, capfd):
    """Every statistic of a table is the same to look at on neighbouring tables, wherever they lie."""
    row, build = TABLES[kind]
    seen, share = Observer(), math.ceil(CALLS["tables"] / len(TABLES))

    @fuzzed(
        math.ceil(share / 5),
        pair=neighbours(row),
        which=st.lists(st.sampled_from(sorted(OF_A_TABLE)), min_size=3, max_size=3, unique=True),
        spent=st.sampled_from([PURE, MUCH, ZCDP, SWAP]),
        view=st.sampled_from(sorted(VIEWS)),
    )
    def attack(pair, which, spent, view):
        data, rest, other = pair
        amount = {name: value for name, value in spent.items() if name != "neighbors"}
        for name in [each for each in which if spent is not SWAP or each not in BY_KEY]:

            def call(rows, rng, name=name):
                table = nb.Table(build(rows, tmp_path), neighbors=spent.get("neighbors", "add-remove"))
                return OF_A_TABLE[name](VIEWS[view](table), **amount, rng=rng)

            answer = seen.same(call, data, other if spent is SWAP else rest, name)
            assert answer[0][0] in ANSWERS and answer[1:] == ((), (), "", "")

    assert seen.calls >= share
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_no_table_tells_of_a_user(kind, tmp_path):
    """So are the statistics of users, whose rows are chosen by DuckDB, when all rows of a user are taken away."""
    row, build = TABLES[kind]
    seen, share = Observer(), math.ceil(CALLS["units"] / len(TABLES))
    names = [*sorted(OF_A_TABLE), *sorted(OF_UNITS)]

    @fuzzed(math.ceil(share / 2), rows=st.lists(row, min_size=1, max_size=8), name=st.sampled_from(names))
    def attack(rows, name):
        gone = str(rows[0][0]) if kind == "csv" else rows[0][0]

        def call(some, rng):
            table = nb.Table(build(some, tmp_path), unit="u", rows_per_unit=2)
            if name in OF_UNITS:
                return getattr(table, name)(epsilon=1, rng=rng)
            return OF_A_TABLE[name](table, epsilon=1, rng=rng)

        others = [other for other in rows[1:] if other[0] is not gone and _text(other[0]) != _text(gone)]
        answer = seen.same(call, rows, others, name)
        assert answer[0][0] in ANSWERS and answer[1:] == ((), (), "", "")

    assert seen.calls >= share


def _text(element):
    try:
        return str(element)
    except Exception:
        return None


PUBLIC_KEYS = {("k",): ["a", "'; drop table x; --"], ("k", "u"): [("a", 1), ("b", 2)]}


@pytest.mark.medium
@pytest.mark.parametrize("kind", some_slow(TABLES, ["lists", "arrow", "csv"]))
def test_no_group_tells_of_a_row(kind, tmp_path):
    """Public keys have their answers in all cases, and keys that are chosen privately have one type."""
    row, build = TABLES[kind]
    seen, share = Observer(), math.ceil(CALLS["groups"] / len(TABLES))

    @fuzzed(
        math.ceil(share / 6),
        pair=neighbours(row),
        which=st.lists(st.sampled_from(sorted(OF_GROUPS)), min_size=3, max_size=3, unique=True),
        by=st.sampled_from([("k",), ("k",), ("k", "u")]),
        public=st.booleans(),
        spent=st.sampled_from([PURE, MUCH, ZCDP]),
    )
    def attack(pair, which, by, public, spent):
        data, rest, _ = pair
        text = by == ("k", "u") and kind in {"lists", "csv"}  # there all keys are texts
        keys = [(a, str(b)) for a, b in PUBLIC_KEYS[by]] if text else PUBLIC_KEYS[by]
        choice = {"keys": keys} if public or spent is ZCDP else {"delta": 0.3}

        def call(rows, rng, name):
            groups = nb.Table(build(rows, tmp_path)).group_by(*by, **choice)
            found = OF_GROUPS[name](groups, **spent, rng=rng)
            assert "keys" not in choice or found.groups == choice["keys"]
            return found

        for name in which:
            answer = seen.same(lambda rows, rng, name=name: call(rows, rng, name), data, rest, name)
            assert answer[0][0] == "GroupedRelease" and answer[1:] == ((), (), "", "")

    assert seen.calls >= share


@pytest.mark.medium
@pytest.mark.parametrize("kind", some_slow(TABLES, ["arrow"]))
def test_no_group_tells_of_a_user(kind, tmp_path):
    """So are groups of users, each of whom is in some groups at most, when all rows of a user are taken away."""
    row, build = TABLES[kind]
    seen, share = Observer(), math.ceil(CALLS["groups of users"] / len(TABLES))

    @fuzzed(
        math.ceil(share / 2),
        rows=st.lists(row, min_size=1, max_size=8),
        name=st.sampled_from(sorted(OF_GROUPS)),
        many=st.sampled_from([1, 2]),
        public=st.booleans(),
    )
    def attack(rows, name, many, public):
        gone = str(rows[0][0]) if kind == "csv" else rows[0][0]
        choice = {"keys": PUBLIC_KEYS["k",]} if public else {"delta": 0.3, "groups_per_unit": many}

        def call(some, rng):
            groups = nb.Table(build(some, tmp_path), unit="u", rows_per_unit=2).group_by("k", **choice)
            return OF_GROUPS[name](groups, epsilon=1, rng=rng)

        others = [other for other in rows[1:] if other[0] is not gone and _text(other[0]) != _text(gone)]
        answer = seen.same(call, rows, others, name)
        assert answer[0][0] == "GroupedRelease" and answer[1:] == ((), (), "", "")

    assert seen.calls >= share


COMMANDS = [
    ["quantile", "--column", "x", "--q", "0.3"],
    ["bounds", "--column", "x"],
    ["sum", "--column", "x"],
    ["mean", "--column", "x"],
    ["count", "--column", "x"],
    ["describe"],
    ["describe", "--column", "x"],
    ["quantile", "--column", "x", "--q", "0.5", "--type", "x=integer"],
]


@pytest.mark.medium
def test_no_command_tells_of_a_row(tmp_path, monkeypatch):
    """Commands on neighbouring files print JSON that differs in private answers alone, and exit without an error."""
    runner = CliRunner()
    path = tmp_path / "table.csv"
    number = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?|\binf\b|\bnan\b|\bnull\b")
    calls = 0

    @fuzzed(
        math.ceil(CALLS["commands"] / 2),
        pair=neighbours(st.tuples(floats | wild_words | st.none())),
        words=st.sampled_from(COMMANDS),
        epsilon=st.sampled_from(["1", "1000"]),
    )
    def attack(pair, words, epsilon):
        nonlocal calls
        found = []
        for rows in pair[:2]:
            monkeypatch.setattr("nobounds.noise.source._system_bits", random.Random(1).getrandbits)
            with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write("x\n")
                file.writelines(f"{_field(x)}\n" for (x,) in rows)
            command, *rest = words
            result = runner.invoke(
                app, [command, str(path), "--header", "yes", *rest, "--epsilon", epsilon, "--json", "--quiet"]
            )
            calls += 1
            assert (result.exit_code, result.stderr) == (0, "")
            printed = json.loads(result.stdout)
            releases = [shape(nb.Release.from_json(json.dumps(one))) for one in printed.pop("releases", [])]
            summary = [shape(nb.Description.from_json(result.stdout))] if "columns" in printed else []
            rest = [] if summary else number.sub("#", json.dumps(printed))
            found.append((releases, summary, rest))
        assert found[0] == found[1]

    assert calls >= CALLS["commands"]


BYTES = st.binary(max_size=40) | st.sampled_from(
    [b'"', b'"\n', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"1,2,3,4,5\n", b"\r", b"\r\n\r\n", b'a"b"c,1\n', b"1e999\n"]
)


@pytest.mark.medium
def test_no_bytes_below_the_header_are_an_error(tmp_path):
    """Whatever lines follow the header of a CSV file, its statistics are the same to look at."""
    seen = Observer()
    path = tmp_path / "table.csv"

    @fuzzed(
        math.ceil(CALLS["files"] / 6),
        pair=neighbours(BYTES),
        which=st.lists(st.sampled_from(sorted(OF_A_TABLE)), min_size=3, max_size=3, unique=True),
    )
    def attack(pair, which):
        data, rest, _ = pair

        def call(lines, rng, name):
            path.write_bytes(b"k,x\n" + b"\n".join(lines))
            return OF_A_TABLE[name](nb.Table(headed(path)), epsilon=1, rng=rng)

        for name in which:
            answer = seen.same(lambda lines, rng, name=name: call(lines, rng, name), data, rest, name)
            assert answer[0][0] in ANSWERS and answer[1:] == ((), (), "", "")

    assert seen.calls >= CALLS["files"]


def test_the_observer_sees_what_there_is_to_see():
    """An error, a warning, a log, a print or another shape on one of two data sets is caught."""
    import logging
    import sys
    import warnings

    tells = {
        "value": lambda data, rng: [][data],
        "words": lambda data, rng: (_ for _ in ()).throw(ValueError(f"got {data}")),
        "cause": lambda data, rng: _raise_from(data, ValueError(data)),
        "context": lambda data, rng: _raise_from(data, None),
        "note": lambda data, rng: _raise_noted(data),
        "warning": lambda data, rng: warnings.warn("zero", stacklevel=1) if data else None,
        "log": lambda data, rng: logging.getLogger("any").info("saw %s", data),
        "print": lambda data, rng: print(data),
        "stderr": lambda data, rng: print(data, file=sys.stderr),
        "type": lambda data, rng: nb.Release("count", [1, 1.5][data], nb.PrivacyLoss.pure(1)),
        "length": lambda data, rng: np.zeros(1 + data),
        "parameters": lambda data, rng: nb.Release("count", 1, nb.PrivacyLoss.pure(1), {f"n{data}": 1}),
        "public values": lambda data, rng: nb.Release("count", 1, nb.PrivacyLoss.pure(1), {"noise_scale": 1.0 + data}),
        "loss": lambda data, rng: nb.Release("count", 1, nb.PrivacyLoss.pure(1 + data)),
        "noise scale": lambda data, rng: nb.Release(
            "sum",
            1,
            nb.PrivacyLoss.pure(1),
            {"clip": [-2, 2], "noise_scale": 2.0 + data, "spending": "epsilon", "split": {"noise": 1.0}},
        ),
    }
    for name, call in tells.items():
        if name == "value":
            assert Observer()(lambda rng: tells["value"](0, rng))[0][0] == "raised"
            continue
        with pytest.raises(AssertionError):
            Observer().same(call, 0, 1)
    with pytest.raises(AssertionError):
        Observer().same(lambda data, rng: nb.Release("count", math.nan, nb.PrivacyLoss.pure(1)), 0, 1)


def _raise_from(data, cause):
    try:
        raise KeyError(data)
    except KeyError:
        raise ValueError("nothing to see") from cause


def _raise_noted(data):
    error = ValueError("nothing to see")
    error.add_note(f"in row {data}")
    raise error


def test_refusals_of_files_tell_the_name_and_the_rule(tmp_path):
    """Two damaged files that hold other bytes are refused in the same words."""
    words = []
    for content in (b"PAR1 a secret PAR1", b"PAR1 another  PAR1"):
        path = tmp_path / "table.parquet"
        path.write_bytes(content)
        with pytest.raises(OSError) as caught:
            nb.Table(path)
        words.append(str(caught.value))
    assert words[0] == words[1] == "table.parquet cannot be read: it is damaged, or of another format"


def test_json_of_answers_has_no_number_that_json_has_not():
    """Infinite ends of intervals are null in JSON, which any parser then reads."""
    few = nb.sum([1.0], epsilon=0.01)
    assert math.isinf(few.interval[1])
    assert json.load(io.StringIO(few.to_json()))["intervals"] == [[None, None]]
