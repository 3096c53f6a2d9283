"""Hostile files and names: each is read, or refused by an error of the documented kinds with no record in its words."""

import gzip
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER, headed

import nobounds as nb

SECRET = "S3CR3T"
REFUSALS = (ValueError, TypeError, OSError)
ROWS = "".join(f"{i},{SECRET}{i % 3},{i}\n" for i in range(400))


def answer(path, name="x", **options):
    """The private mean of a column, or the error: which must have no record in it, nor in those behind it."""
    try:
        return (
            nb.Table(path, csv=HEADER if ".csv" in path.name else None, **options)
            .mean(name, epsilon=50.0, rng=random.Random(1))
            .value
        )
    except REFUSALS as error:
        behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        assert behind is None and SECRET not in str(error)
        return error


CSV = {
    "a field of a megabyte": (f"x,k,u\n{ROWS}{'9' * 2**20},{SECRET},1\n{ROWS}", 199.5),
    "a line of a million fields": (f"x,k,u\n{ROWS}{'9,' * 10**6}\n{ROWS}", 199.5),
    "a quote that never closes": (f'x,k,u\n{ROWS}"{SECRET}\n', 199.5),
    "quotes within fields": (f'x,k,u\n{ROWS}1"2"3,"a""b",c"\n', 199.5),
    "NUL bytes": (f"x,k,u\n{ROWS}\x00,{SECRET}\x00,\x00\n", 199.5),
    "ragged rows": (f"x,k,u\n{ROWS}1\n1,2\n1,2,3,4\n,,,,,\n", 199.5),
    "a byte order mark": (f"\ufeffx,k,u\n{ROWS}", 199.5),
    "carriage returns": (f"x,k,u\n{ROWS}".replace("\n", "\r"), 199.5),
    "blank lines": (f"\n\n x , k , u \n\n{ROWS}\n\n", 199.5),
    "words for numbers": (f"x,k,u\n{ROWS}{SECRET},{SECRET},{SECRET}\n1_000,a,b\n0x10,a,b\n\u0661,a,b\n", 199.5),
    "numbers beyond all floats": (f"x,k,u\n{ROWS}1{'0' * 5000},a,b\n-1e999999999,a,b\n1e-999999999,a,b\n", 199.5),
    "nothing but a header": ("x,k,u\n", type(None)),
    "no row at all": ("", ValueError),
    "no header": (f"{ROWS}", ValueError),
    "two columns of a name": (f"x,x,u\n{ROWS}", ValueError),
    "UTF-16": (f"x,k,u\n{ROWS}".encode("utf-16"), ValueError),
    "bytes that are no text": (b"k,x\n" + b"\xff,9\n" * 400 + b"a,1\n" * 400, 5.0),
}


@pytest.mark.parametrize("case", CSV)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_hostile_csv_files_are_read_or_refused(case, suffix, tmp_path):
    """Records of any kind are no error, and leave the good ones alone; a header that is none is refused unseen."""
    content, expected = CSV[case]
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(raw) if suffix.endswith("gz") else raw)
    found = answer(path)
    if isinstance(expected, float):
        assert found == pytest.approx(expected, abs=3.0)
    else:
        assert isinstance(found, expected)


@pytest.mark.medium
def test_a_csv_file_of_a_hundred_thousand_columns_is_read(tmp_path):
    """The last of 10**5 columns has its mean, and an unknown one is refused."""
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{i}" for i in range(10**5))
    path.write_text(names + "\n" + (",".join(["7"] * 10**5) + "\n") * 20)
    assert answer(path, "c99999") == pytest.approx(7, abs=3)
    assert str(answer(path, "d")).startswith("column 'd' is not in the table; ")


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.5, 0.99])
def test_a_truncated_archive_is_refused(keep, tmp_path):
    """A gzip file that ends early, or is none, is refused in one sentence."""
    whole = gzip.compress(f"x,k,u\n{ROWS}".encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(whole[: int(len(whole) * keep)])
    found = answer(path)
    assert isinstance(found, OSError if keep else ValueError)
    path.write_text(f"x,k,u\n{ROWS}")
    assert "damaged" in str(answer(path))


def _table(n=400):
    at = np.arange(n)
    keys = [f"{SECRET}{i % 3}" for i in range(n)]
    return pa.table(
        {
            "x": at.astype(float),
            "k": keys,
            "u": at,
            "struct": [{"a": key} for key in keys],
            "list": [[i] for i in range(n)],
            "map": pa.array([[("a", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
            "words": pa.array(keys).dictionary_encode(),
            "numbers": pa.array(at % 5 + 0.5).dictionary_encode(),
            "date": pa.array([2**31 - 1] * n, pa.int32()).view(pa.date32()),
            "time": pa.array([10**18] * n, pa.int64()).view(pa.timestamp("us")),
            "nano": pa.array([-(2**63)] * (n // 2) + [2**63 - 1] * (n // 2), pa.int64()).view(
                pa.timestamp("ns", "UTC")
            ),
            "bytes": pa.array([b"\xff\x00"] * n),
            "decimal": pa.array(at).cast(pa.decimal128(38, 2)),
            "half": pa.array(np.full(n, 1.5, dtype=np.float16)),
            "nothing": pa.nulls(n),
        }
    )


@pytest.mark.medium
@pytest.mark.parametrize("name", _table().column_names)
def test_every_type_of_a_parquet_file_is_served_or_refused(name, tmp_path):
    """As a number, a key, a unit or one column of a summary, each column works or raises a TypeError about its type."""
    path = tmp_path / "a.parquet"
    pq.write_table(_table(), path)
    table = nb.Table(path)
    uses = [
        lambda: table.mean(name, epsilon=1),
        lambda: table.group_by(name, delta=0.01).mean("x", epsilon=9).to_json(),
        lambda: table.group_by(*dict.fromkeys((name, "k")), delta=0.01).count(epsilon=9).to_json(),
        lambda: nb.Table(path, unit=name, rows_per_unit=2).mean("x", epsilon=9),
        lambda: nb.Table(path, unit="u", rows_per_unit=1).group_by(name, delta=0.01).count(epsilon=9).to_json(),
    ]
    for use in uses:
        try:
            assert use()
        except TypeError as refusal:
            assert repr(name) in str(refusal) and "cast it first" in str(refusal) and SECRET not in str(refusal)
    assert table.columns.keys() == set(_table().column_names)


@pytest.mark.medium
@pytest.mark.parametrize("step", [41, 97])
def test_no_broken_byte_of_a_parquet_file_tells_of_a_record(step, tmp_path):
    """With any one byte turned over the file is read, or refused as damaged; some are refused."""
    path = tmp_path / "a.parquet"
    pq.write_table(_table().select(["x", "k", "u"]), path)
    whole, refused = path.read_bytes(), 0
    for place in range(4, len(whole), step):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        path.write_bytes(broken)
        try:
            nb.Table(path).group_by("k", delta=0.01).mean("x", epsilon=1)
        except OSError as error:
            assert str(error) == "a.parquet cannot be read: it is damaged, or of another format"
            refused += 1
        except (TypeError, ValueError) as error:  # another name or type in the schema
            assert SECRET not in str(error)
    assert refused > 10


def test_truncated_encrypted_and_false_parquet_files_are_refused(tmp_path):
    """A file that ends early, one with the mark of an encrypted footer, and a CSV file by that name are damaged."""
    path = tmp_path / "a.parquet"
    pq.write_table(_table(), path)
    whole = path.read_bytes()
    contents = [whole[:cut] for cut in range(0, len(whole), 997)]
    contents += [b"PARE" + whole[4:-4] + b"PARE", whole[:-8] + b"\xff\xff\xff\x7fPAR1", f"x,k\n1,{SECRET}\n".encode()]
    for content in contents:
        path.write_bytes(content)
        assert str(answer(path)) == "a.parquet cannot be read: it is damaged, or of another format"


def test_columns_of_one_name_in_a_parquet_file_are_refused(tmp_path):
    """Two columns of a name are refused, for either could be meant."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "x"]), path)
    assert "more than once" in str(answer(path))


@pytest.mark.medium
def test_a_wide_parquet_file_is_read(tmp_path):
    """The last of 5000 columns has its mean, and columns whose names are the start of others' are told apart."""
    path = tmp_path / "a.parquet"
    names = {f"c.{i}": np.full(50, 7.0) for i in range(5000)} | {"c": np.full(50, 1000.0)}
    pq.write_table(pa.table(names), path)
    assert answer(path, "c.4999") == pytest.approx(7, abs=1)
    assert answer(path, "c") == pytest.approx(1000, abs=100)


NAMES = [
    *("u", "k0", "v0", "k", "g", "j", "r", "stream", "batch", "rows", "nobounds_first", "nobounds_query", "value"),
    *(
        'a"b',
        "a'b",
        "a`b",
        "a;b",
        "u; drop table x",
        "--",
        "/*",
        "*",
        "^.*$",
        "^x+$",
        "a.b",
        "%s",
        "{0}",
        "$1",
        "?",
        ":x",
    ),
    *("new\nline", "tab\t", "\x1b[2J", "é", "名前", "\u202eevil", "x" * 5000, "select", "0", "NULL", "\\", "A"),
]
ENGINES = {
    "dict": lambda data, folder: data,
    "pandas": lambda data, folder: pd.DataFrame(data),
    "polars": lambda data, folder: pl.DataFrame(data),
    "lazy": lambda data, folder: pl.DataFrame(data).lazy(),
    "arrow": lambda data, folder: pa.table(data),
    "duckdb": lambda data, folder: duckdb.connect().from_arrow(pa.table(data)),
    "parquet": lambda data, folder: _written(data, folder),
    "csv": lambda data, folder: _text(data, folder),
}


def _written(data, folder):
    pq.write_table(pa.table(data), folder / "a.parquet")
    return folder / "a.parquet"


def _text(data, folder):
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in data)
    lines = [
        ",".join(map(repr, row)) + "\n" for row in zip(*(column.tolist() for column in data.values()), strict=True)
    ]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(quoted + "\n" + "".join(lines))
    return headed(folder / "a.csv")


SLOW = [pytest.param(engine, marks=pytest.mark.slow) for engine in ("pandas", "polars", "lazy", "arrow", "parquet")]


@pytest.mark.medium
@pytest.mark.parametrize("engine", ["dict", "duckdb", "csv", *SLOW])
def test_columns_may_have_any_name(engine, tmp_path):
    """A name is a name, not SQL, a pattern or one of our own: as value, key and unit it gives its column's answers."""
    at = np.arange(300)
    for name in NAMES:
        kept = name.strip() if engine == "csv" else name
        data = ENGINES[engine]({name: at % 4 + 1000.0, "other": at % 10}, tmp_path)
        key = "1000.0" if engine == "csv" else 1000.0
        assert nb.Table(data).mean(kept, epsilon=50).value == pytest.approx(1001.5, abs=1)
        assert nb.Table(data).group_by(kept, keys=[key]).count(epsilon=50).values[0] == pytest.approx(75, abs=2)
        alone = nb.Table(data, unit=kept, rows_per_unit=300).group_by(kept, "other", keys=[(key, _of(0, engine))])
        assert alone.sum(kept, epsilon=10**6).values[0] == pytest.approx(15_000, rel=0.01)


def _of(key, engine):
    return str(key) if engine == "csv" else key


def test_names_that_a_library_cannot_hold_are_refused_by_name():
    """Arrow cuts a name at a NUL, so a table that came by it has another; a dict of columns has it."""
    data = {"nul\0x": np.full(100, 5.0), "u": np.arange(100)}
    assert nb.Table(data, unit="u", rows_per_unit=1).mean("nul\0x", epsilon=50).value == pytest.approx(5, abs=1)
    polars = nb.Table(pl.DataFrame(data), unit="u", rows_per_unit=1)
    assert polars.group_by("nul\0x", keys=[5.0]).count(epsilon=50).values[0] == pytest.approx(100, abs=3)
    with pytest.raises(ValueError, match=r"'nul\\x00x' is not in the table"):
        nb.Table(pa.table(data)).mean("nul\0x", epsilon=1)


def test_names_in_a_budget_are_cut_and_kept(tmp_path):
    """A charge for a column of a long or hostile name is written and read back; a name that is no text is refused."""
    budget = nb.Budget(epsilon=9, path=tmp_path / "a.budget")
    for name in ("x" * 5000, "a'; drop table charges; --", "\x1b[2J", "nul\0x"):
        nb.Table({name: [1.0]}, budget=budget).count(name, epsilon=1)
    assert [charge.what[:9] for charge in budget.history] == ["count of "] * 4
    with pytest.raises(ValueError):
        nb.Table({"\ud800": [1.0]}, budget=budget).count("\ud800", epsilon=1)
    assert len(nb.Budget(path=tmp_path / "a.budget").history) == 4
