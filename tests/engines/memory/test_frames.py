"""Tables to Frames: one table gives the same Columns from each engine, and types alone say which are skipped."""

import array
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER
from support.hostile import CHARACTERS

from nobounds.engines.column import Column
from nobounds.engines.files.columns import read_column
from nobounds.engines.files.paths import from_paths
from nobounds.engines.memory.arrays import column
from nobounds.engines.memory.frames import Frame, frame
from nobounds.engines.streams.local import Local

NAN, INF = float("nan"), float("inf")


class Stream:
    """Arrow data known only by the C stream interface."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class Capsule:
    """Arrow data known only by the C array interface."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self.data.__arrow_c_array__(requested_schema)


def records(found: Column) -> list[float]:
    """All records of a Column, in order."""
    return [x for chunk in found.chunks() for x in chunk.tolist()]


def facts(found: Column) -> tuple[object, ...]:
    """What a Column says of its type."""
    return (found.facts.integral, found.facts.nullable, found.facts.lower, found.facts.upper)


def shape(found: Frame) -> tuple[object, object]:
    """All of a Frame but the records."""
    return [(name, facts(each)) for name, each in found.columns.items()], found.skipped


def write(path: Path, text: str) -> Path:
    """A file with that text, gzipped if its name says so."""
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def write_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


PAY, SIZE, FLAG = [1.5, None, -3.0], [2**53 + 1, None, 0], [True, None, False]
EXPECTED = {"pay": [1.5, NAN, -3.0], "size": [2.0**53, NAN, 0.0], "flag": [1.0, NAN, 0.0]}
TYPES = {"pay": (False, True, None, None), "size": (True, True, 0, None), "flag": (True, True, 0, 1)}
TABLE = pa.table(
    {"pay": pa.array(PAY), "size": pa.array(SIZE, pa.uint64()), "flag": pa.array(FLAG), "name": ["a", "b", "c"]}
)
PANDAS = pd.DataFrame(
    {
        "pay": pd.Series(PAY, dtype="Float64"),
        "size": pd.Series(SIZE, dtype="UInt64"),
        "flag": pd.Series(FLAG, dtype="boolean"),
        "name": pd.Series(["a", "b", "c"], dtype="string"),
    }
)
POLARS = pl.DataFrame(
    {"pay": PAY, "size": SIZE, "flag": FLAG, "name": ["a", "b", "c"]}, schema_overrides={"size": pl.UInt64}
)
STRUCTURED = np.ma.array(
    [(1.5, 2**53 + 1, True, "a"), (7, 7, True, "b"), (-3, 0, False, "c")],
    dtype=[("pay", "f4"), ("size", "u8"), ("flag", "?"), ("name", "U9")],
    mask=[(False,) * 4, (True, True, True, False), (False,) * 4],
)


def read_frame(path):
    """The Frame of all columns of a file, as `nobounds.Table` reads it."""
    source = Local(from_paths([path], None if path.suffix == ".parquet" else HEADER))
    return Frame(source.columns(list(source.facts), None), source.others, source.typed)


TYPED = {
    "pandas": lambda folder: frame(PANDAS),
    "pandas arrow": lambda folder: frame(TABLE.to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": lambda folder: frame(POLARS),
    "polars lazy": lambda folder: frame(POLARS.lazy()),
    "pyarrow": lambda folder: frame(TABLE),
    "pyarrow batch": lambda folder: frame(TABLE.to_batches()[0]),
    "pyarrow reader": lambda folder: frame(TABLE.to_reader()),
    "pyarrow chunks": lambda folder: frame(pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])),
    "arrow stream": lambda folder: frame(Stream(TABLE)),
    "arrow capsule": lambda folder: frame(Capsule(TABLE.to_batches()[0])),
    "dict": lambda folder: frame({**dict(PANDAS.items()), "size": POLARS["size"], "flag": TABLE["flag"]}),
    "dict of streams": lambda folder: frame({name: Stream(TABLE[name]) for name in TABLE.column_names}),
    "numpy structured": lambda folder: frame(STRUCTURED),
    "parquet": lambda folder: read_frame(write_parquet(folder / "x.parquet", TABLE)),
}
MATRIX = np.array([[1.0, 4.0], [NAN, 5.0], [3.0, INF]])
UNTYPED = {
    "numpy": lambda folder: frame(MATRIX),
    "numpy transposed": lambda folder: frame(np.asfortranarray(MATRIX)),
    "numpy masked": lambda folder: frame(np.ma.array(np.nan_to_num(MATRIX, posinf=INF), mask=np.isnan(MATRIX))),
    "pandas with numbers for names": lambda folder: frame(pd.DataFrame(MATRIX)),
    "polars": lambda folder: frame(pl.DataFrame(MATRIX, schema=["0", "1"])),
    "pyarrow": lambda folder: frame(pa.table({"0": MATRIX[:, 0], "1": MATRIX[:, 1]})),
    "dict of lists": lambda folder: frame({0: [1, None, 3], "1": (4, 5.0, INF)}),
    "dict of arrays": lambda folder: frame({"0": array.array("d", MATRIX[:, 0]), "1": column(MATRIX[:, 1])}),
    "csv": lambda folder: read_frame(write(folder / "x.csv", "0,1\n1,4\n,5\n3,inf\n")),
    "tsv.gz": lambda folder: read_frame(write(folder / "x.tsv.gz", "0\t1\n1\t4\nx\t5\n3\tinf\n")),
    "parquet": lambda folder: read_frame(write_parquet(folder / "x.parquet", pa.table(list(MATRIX.T), ["0", "1"]))),
}


@pytest.mark.parametrize("make", TYPED.values(), ids=TYPED.keys())
def test_one_table_is_one_frame_in_every_engine_that_has_types(tmp_path, make):
    """Records, public facts, order and skipped columns of one table are the same, whatever holds it."""
    found = make(tmp_path)
    assert list(found.columns) == list(EXPECTED)
    assert {name: facts(each) for name, each in found.columns.items()} == TYPES
    assert {each.rows() for each in found.columns.values()} == {3}
    for name, expected in EXPECTED.items():
        assert np.array_equal(records(found.columns[name]), expected, equal_nan=True)
    assert found.skipped == {"name": "text"}


@pytest.mark.parametrize("make", UNTYPED.values(), ids=UNTYPED.keys())
def test_one_table_of_floats_is_one_frame_in_every_engine(tmp_path, make):
    """A table of floats gives the same Frame from arrays, lists, frames and files of text."""
    found = make(tmp_path)
    floats = (False, True, None, None)
    assert shape(found) == ([("0", floats), ("1", floats)], {})
    assert [each.rows() for each in found.columns.values()] == [3, 3]
    assert np.array_equal(records(found.columns["0"]), [1.0, NAN, 3.0], equal_nan=True)
    assert records(found.columns["1"]) == [4.0, 5.0, INF]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ([1, 2], "value"),
        ((1, 2), "value"),
        (range(1, 3), "value"),
        (np.array([1, 2]), "value"),
        (np.ma.array([1, 2]), "value"),
        (array.array("i", [1, 2]), "value"),
        (column([1, 2]), "value"),
        (pd.Series([1, 2]), "value"),
        (pd.Series([1, 2], name="pay"), "pay"),
        (pd.Series([1, 2], name=0), "0"),
        (pd.Index([1, 2], name="pay"), "pay"),
        (pl.Series([1, 2]), "value"),
        (pl.Series("pay", [1, 2]), "pay"),
        (pa.array([1, 2]), "value"),
        (Stream(pa.chunked_array([[1, 2]])), "value"),
        (Capsule(pa.array([1, 2])), "value"),
    ],
)
def test_one_column_is_a_table_of_one_column(data, name):
    """A Series gives its name, and what has none is called value; the Column is that of `column`."""
    found = frame(data)
    assert list(found.columns) == [name]
    assert records(found.columns[name]) == [1.0, 2.0]
    assert facts(found.columns[name]) == facts(column(data))
    assert found.skipped == {}


NOT_NUMBERS = {
    "object": (pd.Series([1, 2], dtype=object), "object"),
    "numpy object": (np.array([1, None]), "object"),
    "numpy text": (np.array(["1"]), "text"),
    "numpy bytes": (np.array([b"1"]), "bytes"),
    "numpy complex": (np.array([1j]), "complex128"),
    "numpy records": (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "void"),
    "characters": (array.array(CHARACTERS, "1"), "text"),
    "pandas text": (pd.Series(["1"], dtype="string"), "text"),
    "pandas category": (pd.Series([1]).astype("category"), "pandas type CategoricalDtype"),
    "pandas period": (pd.Series(pd.period_range("2024-01", periods=1, freq="M")), "pandas type PeriodDtype"),
    "pandas arrow": (pd.Series([b"1"], dtype=pd.ArrowDtype(pa.binary())), "Arrow type binary"),
    "polars text": (pl.Series(["1"]), "text"),
    "polars enum": (pl.Series(["1"], dtype=pl.Enum(["1"])), "polars type Enum"),
    "polars struct": (pl.Series([{"a": 1}]), "polars type Struct"),
    "pyarrow text": (pa.array(["1"], pa.large_string()), "text"),
    "pyarrow timestamp": (pa.array([1], pa.timestamp("s", "Mars")), "Arrow type timestamp"),
    "pyarrow dictionary": (pa.array([1]).dictionary_encode(), "Arrow type dictionary"),
    "pyarrow struct": (pa.array([{"a": 1}]), "Arrow type struct"),
}


@pytest.mark.parametrize(("data", "reason"), NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
def test_a_column_of_another_type_is_skipped_by_the_family_of_its_type(data, reason):
    """No numeric type, no column; the reason names the type without its sizes, units, digits or categories."""
    assert frame({"pay": [1], "other": data}).skipped == {"other": reason}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "csv", "parquet"])
def test_the_values_do_not_decide_what_is_a_column(tmp_path, kind):
    """Two tables with the same types and other values, and other numbers of rows, have the same shape."""

    def make(words, days, odd, pay):
        table = pa.table({"word": words, "day": pa.array(days, pa.date32()), "pay": pa.array(pay, pa.float64())})
        if kind == "pandas":
            text = pd.Series(words, dtype="str")
            return frame(pd.DataFrame({"word": text, "day": pd.to_datetime(days), "odd": odd, "pay": pay}))
        if kind == "numpy":
            rows = list(zip(words, odd, pay, strict=True))
            return frame(np.array(rows, dtype=[("word", f"U{max(map(len, words))}"), ("odd", "O"), ("pay", "f8")]))
        if kind == "csv":
            path = tmp_path / f"{len(words)}.csv"
            return read_frame(
                write(path, "word,odd\n" + "".join(f"{a},{b}\n" for a, b in zip(words, odd, strict=True)))
            )
        if kind == "parquet":
            return read_frame(write_parquet(tmp_path / f"{len(words)}.parquet", table))
        return frame(table) if kind == "pyarrow" else frame(pl.from_arrow(table))

    numbers = make(["1", "2"], [1, 2], pd.Series([1, 2], dtype=object), [1.0, 2.0])
    others = make(["x", "much longer", ""], [3, 4, 5], pd.Series([None, "x", {}], dtype=object), [NAN, INF, -0.5])
    assert shape(numbers) == shape(others)
    assert list(numbers.columns) == (
        ["word", "odd"] if kind == "csv" else ["pay"] if kind == "numpy" else ["day", "pay"]
    )


def test_the_reprs_of_frames_with_the_same_types_are_the_same():
    """A Frame may be printed: names and types are all that it shows."""
    assert repr(frame({"pay": np.array([86421.0])})) == repr(frame({"pay": np.array([1.0, 2.0])}))


def test_a_frame_of_a_file_has_the_columns_that_are_read_one_by_one(tmp_path):
    """Bad rows, bad values and quoted lines are read as `read_column` reads them, and so are the types of Parquet."""
    text = 'a, b \n1,10\n2,x\n3\n4,40,5\n\n"two\nlines", "110"\n6,\n\udcff,7_0\n8,80'
    csv = tmp_path / "x.csv"
    csv.write_bytes(text.encode("utf-8", "surrogateescape"))
    fields = [
        pa.field("a", pa.uint8(), nullable=False),
        pa.field("b", pa.int64()),
        pa.field("c", pa.bool_(), nullable=False),
        pa.field("d.e", pa.float32(), nullable=False),
        pa.field("f", pa.null()),
    ]
    values = [[1, 2], [2**53 + 1, None], [True, False], [0.5, NAN], [None, None]]
    arrays = [pa.array(each, field.type) for each, field in zip(values, fields, strict=True)]
    parquet = write_parquet(tmp_path / "x.parquet", pa.Table.from_arrays(arrays, schema=pa.schema(fields)))
    for path in [csv, parquet]:
        found = read_frame(path)
        assert len(found.columns) == (2 if path == csv else 5)
        for name, each in found.columns.items():
            alone = read_column(path, name, HEADER if path == csv else None)
            assert facts(each) == facts(alone)
            assert each.rows() == alone.rows()
            assert np.array_equal(records(each), records(alone), equal_nan=True)


def test_empty_tables_and_tables_without_numbers_are_frames(tmp_path):
    """A table without rows has its columns, and one without columns, or without numeric ones, has none."""
    for data in [pd.DataFrame(), pl.DataFrame(), pa.table({}), {}, np.empty((3, 0)), np.empty((0, 0))]:
        assert frame(data) == Frame({}, {})
    assert frame(pl.LazyFrame()) == Frame({}, {}, query=True)
    assert read_frame(write(tmp_path / "x.csv", "")) == Frame({}, {}, typed=False)
    assert read_frame(write_parquet(tmp_path / "x.parquet", pa.table({}))) == Frame({}, {})
    words = pa.table({"word": ["x"]})
    for data in [words, words.slice(1), pl.from_arrow(words), words.to_pandas(), {"word": np.array(["x"])}]:
        assert frame(data) == Frame({}, {"word": "text"})
    assert read_frame(write_parquet(tmp_path / "y.parquet", words)) == Frame({}, {"word": "text"})
    for data in [PANDAS[:0], POLARS[:0], TABLE[:0], STRUCTURED[:0]]:
        found = frame(data)
        assert {name: facts(each) for name, each in found.columns.items()} == TYPES
        assert [each.rows() for each in found.columns.values()] == [0, 0, 0]
        assert [records(each) for each in found.columns.values()] == [[], [], []]
    assert records(read_frame(write(tmp_path / "z.csv", "a\n")).columns["a"]) == []
    assert records(read_frame(write_parquet(tmp_path / "z.parquet", TABLE[:0])).columns["pay"]) == []


def test_arrays_within_a_structured_array_are_skipped():
    """A field that holds an array in each row is no column."""
    data = np.zeros(2, dtype=[("place", "f8", 2), ("pay", "f8")])
    assert (list(frame(data).columns), frame(data).skipped) == (["pay"], {"place": "void"})


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_has_columns():
    """numpy's matrix type, whose columns have two dimensions, is a table like another."""
    assert {name: records(each) for name, each in frame(np.matrix("1 2; 3 4")).columns.items()} == {
        "0": [1.0, 3.0],
        "1": [2.0, 4.0],
    }


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["pay", "pay"]),
        pd.DataFrame([["x", 2]], columns=["pay", "pay"]),
        pa.table([[1], [2]], ["pay", "pay"]),
    ],
)
def test_columns_of_one_name_are_refused(data):
    """Two columns of one name are refused with the name and the fix."""
    with pytest.raises(ValueError, match=r"^column 'pay' appears more than once; .*for example df\.columns = "):
        frame(data)


def test_names_that_become_one_text_are_refused():
    """The names 0 and "0" are one name."""
    for data in [{0: [1], "0": [2]}, pd.DataFrame([[1, 2]], columns=[0, "0"])]:
        with pytest.raises(ValueError, match=r"^column '0' appears more than once; .*for example"):
            frame(data)


def test_a_file_with_columns_of_one_name_is_refused(tmp_path):
    """The names are not told."""
    for path in (
        write(tmp_path / "x.csv", "86421,5,86421\n1,2,3\n"),
        write_parquet(tmp_path / "x.parquet", pa.table([[1], [2]], ["86421", "86421"])),
    ):
        with pytest.raises(ValueError, match="appears more than once") as refused:
            read_frame(path)
        assert "86421" not in str(refused.value)


@pytest.mark.parametrize("data", [86421, "86421", b"86421", None, {86421}, iter([86421]), np.float64(86421)])
def test_what_is_no_table_is_refused_by_its_type(data):
    """The refusal tells the type and a fix and no value; within a dict, also the name of the column."""
    with pytest.raises(TypeError, match=r"^data must be a table .*, got .*; .*for example pd\.DataFrame") as whole:
        frame(data)
    with pytest.raises(TypeError, match=r"^column 'pay': data must be one column .*, got .*; .*for example") as part:
        frame({"pay": data})
    assert type(data).__name__ in str(whole.value)
    assert "86421" not in str(whole.value) + str(part.value)


@pytest.mark.parametrize("data", [PANDAS, POLARS, POLARS.lazy(), TABLE, TABLE.to_batches()[0], Stream(TABLE)])
def test_a_table_within_a_dict_is_refused(data):
    """A dict holds columns, and tables are refused there rather than skipped."""
    with pytest.raises(TypeError, match=r"^column 'pay': data must be one column, got a .*; .*for example"):
        frame({"pay": data})


def test_other_dimensions_are_refused_without_the_shape():
    """Arrays of no dimension or more than two are refused, and in a dict those of more than one."""
    for data in [np.array(7), np.zeros((7, 7, 7))]:
        with pytest.raises(ValueError, match=r"got ndim=(0|3); .*for example ") as refusal:
            frame(data)
        assert "7" not in str(refusal.value)
    with pytest.raises(ValueError, match=r"^column 'pay': data must have one dimension, got ndim=2; .*for example "):
        frame({"pay": np.zeros((7, 7))})


def test_a_query_that_fails_on_a_record_does_not_tell_it():
    """A LazyFrame or an Arrow stream that fails while it is read is refused without its own message."""

    def batches():
        yield TABLE.to_batches()[0]
        raise RuntimeError("the value is 86421")

    failing = pl.LazyFrame({"a": ["86421"]}).select(pl.col("a").cast(pl.Date))
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    for data in [failing, reader]:
        with pytest.raises(ValueError, match=r"; .*first, for example ") as refusal:
            frame(data)
        assert "86421" not in str(refusal.value)
        assert refusal.value.__suppress_context__


def test_a_lazy_frame_is_collected_once():
    """The query of a LazyFrame runs one time, however often its columns are read."""
    runs = []

    def count(data):
        runs.append(1)
        return data

    found = frame(POLARS.lazy().map_batches(count, schema=POLARS.schema))
    for _ in range(2):
        assert all(len(records(each)) == 3 for each in found.columns.values())
    assert len(runs) == 1


@pytest.mark.medium
def test_numpy_tables_load_no_other_library():
    """Frames of arrays and dicts import neither pandas nor polars nor pyarrow."""
    code = (
        "import sys, numpy; from nobounds.engines.memory.frames import frame;"
        "frame(numpy.zeros((2, 2))); frame({'a': [1]}); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"pandas", "polars", "pyarrow"}.isdisjoint(loaded)
