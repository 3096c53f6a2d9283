"""Columns of files: every record is read on its own, and only a header or a schema can cause an error."""

import gzip
import sys
import tracemalloc
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from support.csv_files import HEADER

import nobounds
from nobounds.engines.column import CHUNK, Column
from nobounds.engines.files.columns import column_names, read_column
from nobounds.engines.numbers import parse_number

NAN, INF = float("nan"), float("inf")
SAMPLES = Path(nobounds.__file__).parent / "data"
in_a_shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, text: str | bytes) -> Path:
    """A file with that content, gzipped if its name says so."""
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def floats(path: Path, name: str) -> list[float]:
    """All records of a column of a file, in order."""
    return [x for chunk in read(path, name).chunks() for x in chunk.tolist()]


def read(path: Path, name: str) -> Column:
    """A column of a file, which has a header if it is a CSV file."""
    return read_column(path, name, None if path.suffix == ".parquet" else HEADER)


def same(left: list[float], right: list[float]) -> bool:
    """Whether two lists of floats are equal, all NaN taken as equal."""
    return np.array_equal(left, right, equal_nan=True)


def test_the_bundled_data_are_whole():
    """The bundled files have the rows and the averages that their source is known for."""
    age = np.array(floats(SAMPLES / "adult.csv.gz", "age"))
    rating = np.array(floats(SAMPLES / "books.csv.gz", "average_rating"))
    assert (len(age), round(age.mean(), 4), round(age.std(ddof=1), 4)) == (48_842, 38.6436, 13.7105)
    assert (len(rating), round(rating.mean(), 4)) == (11_123, 3.9341)
    assert column_names(SAMPLES / "adult.csv.gz", HEADER) == ["age", "hours_per_week"]
    assert read(SAMPLES / "adult.csv.gz", "age").rows() == 48_842


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.tsv.gz", "X.CSV"])
def test_the_suffix_tells_the_format(tmp_path, name):
    """Commas part the fields of CSV and tabs those of TSV, gzipped or not."""
    delimiter = "\t" if "tsv" in name else ","
    path = write(tmp_path / name, f"a{delimiter}b\n1{delimiter}2\n3{delimiter}4\n")
    assert column_names(path, HEADER) == ["a", "b"]
    assert floats(path, "b") == [2.0, 4.0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0),
        (" -1.5 ", -1.5),
        ("+.5e-3", 0.0005),
        ("9007199254740993", 9007199254740992.0),
        ("1e999", INF),
        ("-inf", -INF),
        ("Infinity", INF),
        ("nan", NAN),
        ("", NAN),
        ("NA", NAN),
        ("1,5", NAN),
        ("1_000", NAN),
        ("0x10", NAN),
        ("\u0661", NAN),
        ("true", NAN),
    ],
)
def test_a_text_is_a_decimal_number_or_missing(text, number):
    """Integers, decimals, exponents and infinities are read to the nearest float; any other text is missing."""
    assert same([parse_number(text)], [number])


def test_csv_records_are_never_an_error(tmp_path):
    """Bad rows and bad values are missing, whatever bytes they are made of, and the others stay."""
    content = b"\xef\xbb\xbfa, b \r\n1,10\r\n2,x\r\n3\r\n4,40,5\r\n\r\n6,\xff\xfe\r\n\xff, 70 \r\n8,\r\n9,\x00\r\n"
    content += b'10,"100"\r\n"two\r\nlines"," 110 "\r\n12,"1""2"\r\n13, "5"\r\n14,"6"x\r\n15,130'
    path = write(tmp_path / "x.csv", content)
    column = read(path, "b")
    missing = [NAN] * 5
    assert same(floats(path, "b"), [10.0, *missing, 70.0, NAN, NAN, 100.0, 110.0, NAN, NAN, NAN, 130.0])
    assert column.rows() == 15
    assert (column.facts.integral, column.facts.nullable) == (False, True)


def test_a_quote_that_never_closes_takes_what_follows_into_one_record(tmp_path):
    """It cannot be told from a long field; where each line is a record it costs its own line and no other."""
    path = write(tmp_path / "x.csv", 'a,b\n1,10\n2,"' + "x\n" * 100_000 + "3,30\n")
    assert same(floats(path, "b"), [10.0, NAN])
    lines = read_column(path, "b", nobounds.Csv(header=True, newlines_in_fields=False))
    found = np.concatenate(list(lines.chunks()))
    assert found[~np.isnan(found)].tolist() == [10.0, 30.0] and len(found) == 100_002


@pytest.mark.medium
@in_a_shared_folder
@given(rows=st.lists(st.binary(max_size=12), max_size=6))
def test_no_bytes_below_the_header_cause_an_error(tmp_path, rows):
    """Whatever bytes follow the header, they are read to their end, and as many records as `rows` says."""
    path = write(tmp_path / "x.csv", b"a,b\n" + b"\n".join(rows))
    assert len(floats(path, "a")) == read(path, "a").rows()


@pytest.mark.medium
@in_a_shared_folder
@given(data=st.lists(st.floats(), max_size=6))
def test_floats_written_to_csv_come_back(tmp_path, data):
    """Reading undoes the writing of a float in its shortest text."""
    path = write(tmp_path / "x.csv", "a,b\n" + "".join(f"0,{x!r}\n" for x in data))
    assert same(floats(path, "b"), data)


def test_a_csv_type_is_not_guessed(tmp_path):
    """Two CSV files with one header have the same public facts, whole numbers in the one and text in the other."""
    first = read(write(tmp_path / "x.csv", "a\n1\n2\n"), "a")
    second = read(write(tmp_path / "y.csv", "a\nfoo\n"), "a")
    assert repr(first) == repr(second) == "Column(facts=Facts(integral=False, nullable=True))"


def test_parquet_types_come_from_the_schema(tmp_path):
    """A Parquet column is integral by its type, and free of missing records only if the schema says so."""
    fields = [
        pa.field("required", pa.int32(), nullable=False),
        pa.field("optional", pa.int64()),
        pa.field("flag", pa.bool_()),
        pa.field("price.eur", pa.float32(), nullable=False),
    ]
    columns = [[1, 2], [2**53 + 1, None], [True, None], [0.5, NAN]]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)
    facts = [(known.integral, known.nullable) for known in (read_column(path, each.name).facts for each in fields)]
    assert facts == [(True, False), (True, True), (True, True), (False, True)]
    assert floats(path, "required") == [1.0, 2.0]
    assert same(floats(path, "optional"), [2.0**53, NAN])
    assert same(floats(path, "flag"), [1.0, NAN])
    assert same(floats(path, "price.eur"), [0.5, NAN])
    assert column_names(path) == [each.name for each in fields]
    assert read_column(path, "flag").rows() == 2


@pytest.mark.medium
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_long_files_come_in_chunks_that_can_be_read_again(tmp_path, suffix):
    """A file is read in short chunks, in little memory, as often as one likes."""
    data = np.arange(10.0 * CHUNK + 7)
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"a": data}), path, row_group_size=len(data))
    else:
        write(path, "a\n" + "\n".join(map(repr, data.tolist())))
    column = read(path, "a")
    assert np.array_equal(np.concatenate(list(column.chunks())), data)
    tracemalloc.start()
    lengths = [len(chunk) for chunk in column.chunks()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(lengths) == column.rows() == len(data)
    assert max(lengths) <= CHUNK
    assert peak < data.nbytes / 2


def test_errors_name_the_public_fact(tmp_path):
    """A missing file, an unknown suffix and a missing, doubled or textual column are told by name."""
    path = write(tmp_path / "x.csv", "age,pay,age\n77,88,99\n")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv", "a")
    with pytest.raises(ValueError, match=r"must end in \.csv, .*\.parquet, .*, got x\.docx"):
        read_column(tmp_path / "x.docx", "a")
    with pytest.raises(ValueError, match=r"is read from a CSV, TSV or Parquet file, got x\.xlsx"):
        read_column(tmp_path / "x.xlsx", "a")
    with pytest.raises(
        ValueError, match=r"^the first line of a CSV file may be a record, so state what it is: csv=nb.Csv"
    ):
        read_column(path, "income")
    with pytest.raises(ValueError, match=r"column 'income' is not in the file; the columns are 'age', 'pay', 'age'$"):
        read(path, "income")
    with pytest.raises(ValueError, match=r"column 'age' appears more than once"):
        read(path, "age")
    with pytest.raises(ValueError, match=r"column 'a' is not in the file"):
        read(write(tmp_path / "empty.csv", ""), "a")
    with pytest.raises(ValueError, match=r"must be a regular file"):
        (tmp_path / "folder.csv").mkdir()
        read(tmp_path / "folder.csv", "a")
    pq.write_table(pa.table({"name": ["Ann"]}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"column 'b' is not in the file; the columns are 'name'$"):
        read_column(tmp_path / "x.parquet", "b")
    with pytest.raises(TypeError, match=r"got Arrow type string; .*for example"):
        read_column(tmp_path / "x.parquet", "name")


def test_without_pyarrow_files_say_what_to_install(tmp_path, monkeypatch):
    """Files need pyarrow, and name the fix without it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in (write(tmp_path / "x.csv", "a\n1\n"), tmp_path / "x.parquet"):
        with pytest.raises(ImportError, match=r"pip install 'nobounds\[all\]'"):
            floats(path, "a")
