"""The CSV reader: records by RFC 4180, fields each by itself, and no decision that comes from a record."""

import bz2
import gzip
import io
import random
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from support.csv_files import HEADER
from support.csv_reference import reference_rows

import nobounds as nb
from nobounds.engines.csv import records
from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.csv.records import Form, blocks
from nobounds.engines.csv.table import CsvFiles, parsed
from nobounds.engines.numbers import parse_number

PARTS = [b",", b",", b'"', b'"', b"\n", b"\n", b"\r", b"\r\n", b"a", b"1", b" ", b"\x00", b"\xff", "é".encode(), b"#"]
PARTS += [b'""', b',"', b'",', b'"\n', b"\xef\xbb\xbf", b"xyz" * 5]


def read(text: bytes, form: Form, size: int) -> list[list[bytes | None]]:
    """The records that the reader finds in a text that comes in pieces of some size, without spaces around fields."""
    pieces = iter([text[at : at + size] for at in range(0, len(text), size)])
    places = {str(k): k for k in range(form.width)}
    batches = [parsed(block, form, places, ()) for block in blocks(pieces, form)]
    rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return trimmed([[None if field is None else field.encode() for field in row] for row in rows])


def trimmed(rows: list[list[bytes | None]]) -> list[list[bytes | None]]:
    """The rows without spaces around fields."""
    return [[None if field is None else field.strip(b" ") or None for field in row] for row in rows]


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(5))
def test_any_bytes_are_read_as_by_a_loop_over_characters(seed, monkeypatch):
    """Whatever the bytes, the marks, the pieces and the limit of a record, the records are those of the reference."""
    random_source = random.Random(seed)
    pick = random_source.choice
    for _ in range(1000):
        text = b"".join(pick(PARTS) for _ in range(random_source.randint(0, 30)))
        quote, comment, newlines = pick([b'"', b'"', b'"', None]), pick([None, None, b"#"]), pick([True, True, False])
        width, longest = random_source.randint(1, 3), pick([1 << 26, 1 << 26, 12])
        monkeypatch.setattr(records, "LONGEST", longest)
        found = read(text, Form(b",", quote, comment, newlines, width), pick([1, 2, 3, 7, 1000]))
        options = {"quote": quote, "comment": comment, "newlines_in_fields": newlines, "longest": longest}
        assert found == trimmed(reference_rows(text, width, **options)), (text, options)


@pytest.mark.medium
def test_a_record_that_is_not_well_formed_costs_itself_and_no_other():
    """Each kind of bad record between two good ones is one missing record, in a file with and without quotes."""
    bad = [
        b'"a"x,1',
        b"a",
        b"a,b,c",
        b"",
        b'a,"b" c',
        b'"a""b"c,1',
        b"x" * 99 + b",1",
    ]
    for quote in (b'"', None):
        form = Form(b",", quote, None, True, 2)
        for record in bad if quote else [b"a", b"a,b,c", b""]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(records, "LONGEST", 64)
                for size in (1, 5, 10_000):
                    found = read(b"1,2\n" * 30 + record + b"\n" + b"3,4\n" * 30, form, size)
                    assert found == [[b"1", b"2"]] * 30 + [[None, None]] + [[b"3", b"4"]] * 30, record


@pytest.mark.parametrize("record", [b"\xff,1", b'"\xff",1\r', b'"a\xff\n\xc3",1', b"\xc3\r\xa9,1", b"\xff\r\xff, 1"])
def test_a_field_that_is_no_text_costs_itself_and_no_other(record):
    """Be it quoted or not, of one line or of several, the other field of its record stays."""
    form = Form(b",", b'"', None, True, 2)
    for size in (1, 5, 10_000):
        assert read(b"1,2\n" * 30 + record + b"\n3,4\n", form, size) == [[b"1", b"2"]] * 30 + [
            [None, b"1"],
            [b"3", b"4"],
        ]


NUMBERS = [
    *"0123456789",
    *"+-.eE xXinfNaA_,'()\t",
    "inf",
    "nan",
    "e5",
    "0x",
    "infinity",
    "00",
    " ",
    "e400",
    "\u00a0",
    "\x1f",
]


@pytest.mark.medium
def test_a_field_has_the_value_that_it_has_alone():
    """Which other fields are read with it changes no number and no whole number; and engines agree on numbers."""
    pick, read_fields = random.Random(1).choice, FieldReader()
    texts = ["".join(pick(NUMBERS) for _ in range(k % 6 + 1)) for k in range(6000)]
    together = read_fields.floats(pa.array([*texts, "oops"]))
    whole = read_fields.integers(pa.array([*texts, "0x1", "99999999999999999999"])).to_pylist()
    for text, number, integer in zip(texts, together, whole, strict=False):
        alone = read_fields.floats(pa.array([text]))[0]
        assert np.array_equal(alone, number, equal_nan=True), text
        assert read_fields.integers(pa.array([text]))[0].as_py() == integer, text
        if text.isascii() and "\x1f" not in text:
            assert np.array_equal(alone, parse_number(text), equal_nan=True), text


def test_whole_numbers_have_64_bits():
    """Digits, with or without a sign and a fraction of zeros, are whole numbers of 64 bits; the rest is missing."""
    texts = [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "3.0",
        "3.",
        "3.5",
        "+7",
        "007",
        "1e3",
    ]
    found = FieldReader().integers(pa.array([*texts, " 5 ", "0" * 5000 + "7", "7" * 5000, "", "-0"])).to_pylist()
    largest = (1 << 63) - 1
    assert found == [largest, None, -largest - 1, 3, 3, None, 7, 7, None, 5, 7, None, None, 0]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"decimal": ","}, {"1,5": 1.5, "1.5": None, "1.234,5": None, "-,5e1": -5.0}),
        (
            {"decimal": ",", "thousands": "."},
            {"1.234,5": 1234.5, "1234,5": 1234.5, "1.23,5": None, "1.234.567": 1234567},
        ),
        (
            {"thousands": ","},
            {"1,234.50": 1234.5, "1,23": None, ",123": None, "12,345,678": 12345678, "1234,567": None},
        ),
        ({"thousands": "\u202f"}, {"1\u202f234": 1234, "1 234": None}),
        ({"missing": ("-999", "NA")}, {"-999": None, " -999 ": None, "-999.0": -999, "NA": None, "1": 1}),
    ],
)
def test_numbers_are_written_as_stated(options, numbers):
    """Marks between digits count where a number has them, and a text that stands for a missing value is one."""
    found = FieldReader(**options).floats(pa.array(list(numbers)))
    expected = [np.nan if number is None else number for number in numbers.values()]
    assert np.array_equal(found, expected, equal_nan=True)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """A file, compressed as its suffix says."""
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": partial(pa.compress, codec="zstd", asbytes=True)}
    path.write_bytes(pack.get(path.suffix, bytes)(text.encode(encoding)))
    return path


def column(path: Path, name: str = "x", csv: nb.Csv | None = None, schema: dict[str, str] | None = None) -> list[float]:
    """The numbers of a column, None for those that are missing."""
    stated = nb.Csv(**{"header": True} | (csv or nb.Csv()).stated)
    files = CsvFiles.of([path], stated, schema)
    floats = np.concatenate([batch.column(0).to_numpy() for batch in files.batches([], [name])] or [np.zeros(0)])
    return [None if np.isnan(number) else number for number in floats]


DIALECTS = {
    "semicolons by the header": ("a.csv", "n;x\nAnn;1\nBob;2\n", None, "utf-8"),
    "tabs by the header": ("a.csv", "n\tx\nAnn\t1\nBob\t2\n", None, "utf-8"),
    "bars, and commas within quotes": ("a.csv", '"a,b,c"|x\nAnn|1\nBob|2\n', None, "utf-8"),
    "tabs by the suffix": ("a.tsv", "n,m\tx\nAnn\t1\nBob\t2\n", None, "utf-8"),
    "a delimiter that is stated": ("a.csv", "n:x\nAnn:1\nBob:2\n", nb.Csv(delimiter=":"), "utf-8"),
    "decimal commas": ("a.csv", "n;x\nAnn;1,0\nBob;2,0\n", nb.Csv(decimal=","), "utf-8"),
    "quoted thousands": ("a.csv", 'n,x\nAnn,"0,001"\nBob,2\n', nb.Csv(thousands=","), "utf-8"),
    "another quote": ("a.csv", "n,x\n'A,nn',1\n'B''ob',2\n", nb.Csv(quote="'"), "utf-8"),
    "no quotes": ("a.csv", 'n,x\n"Ann,1\nBob",2\n', nb.Csv(quote=None), "utf-8"),
    "Latin-1": ("a.csv", "n,x\nMüller,1\nBób,2\n", nb.Csv(encoding="latin-1"), "latin-1"),
    "UTF-16": ("a.csv", "n,x\nMüller,1\nBób,2\n", nb.Csv(encoding="utf-16"), "utf-16"),
    "Shift JIS": ("a.csv", "n,x\n表|,1\nソ,2\n", nb.Csv(encoding="shift_jis"), "shift_jis"),
    "a byte order mark": ("a.csv", "\ufeffx\n1\n2\n", None, "utf-8"),
    "comments": ("a.csv", '# by "us\nn,x\n# more, "here\nAnn,1\n#\nBob,2\n', nb.Csv(comment="#"), "utf-8"),
    "blank lines before the header": ("a.csv", "\n\r\nn,x\nAnn,1\nBob,2\n", None, "utf-8"),
    "carriage returns alone": ("a.csv", "n,x\rAnn,1\rBob,2\r", None, "utf-8"),
    "two carriage returns": ("a.csv", "n,x\r\r\nAnn,1\r\r\nBob,2\r\r\n", None, "utf-8"),
    "a line end in the header": ("a.csv", '"n\nm";x\nAnn;1\nBob;2', None, "utf-8"),
    "gzip": ("a.csv.gz", "n,x\nAnn,1\nBob,2\n", None, "utf-8"),
    "bzip2": ("a.csv.bz2", "n,x\nAnn,1\nBob,2\n", None, "utf-8"),
    "Zstandard": ("a.tsv.zst", "n\tx\nAnn\t1\nBob\t2\n", None, "utf-8"),
}


@pytest.mark.parametrize("case", DIALECTS)
def test_dialects_are_stated_or_told_by_the_header(case, tmp_path):
    """The same two numbers come out of the same table, however it is written."""
    name, text, csv, encoding = DIALECTS[case]
    assert column(write(tmp_path / name, text, encoding), csv=csv) == [1.0, 2.0]


def test_a_file_without_a_header_has_the_columns_of_its_schema(tmp_path):
    """The first line is a record then, and the schema names the columns in order."""
    path = write(tmp_path / "a.csv", "1,Ann\n2,Bob\n")
    csv = nb.Csv(header=False)
    assert column(path, csv=csv, schema={"x": "integer", "name": "text"}) == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"without a header needs a schema that names its columns in order"):
        nb.Table(path, csv=csv)


def test_bytes_outside_the_encoding_make_their_field_missing(tmp_path):
    """Whatever the encoding, the other fields of the record are read."""
    for encoding, wrong in [("utf-8", b"\xe9"), ("ascii", b"\xe9"), ("cp1252", b"\x81"), ("shift_jis", b"\x81\xff")]:
        path = tmp_path / "a.csv"
        path.write_bytes(b"n,x\na,1\n" + wrong + b",2\nb,3\n")
        assert column(path, csv=nb.Csv(encoding=encoding)) == [1.0, 2.0, 3.0]
        assert column(path, "n", nb.Csv(encoding=encoding), {"n": "integer"}) == [None, None, None]
        path.write_bytes(b"n,x\na,1\nb,2" + wrong + b"\nb,3\n")
        assert column(path, csv=nb.Csv(encoding=encoding)) == [1.0, None, 3.0]
    path.write_bytes(b"x,n\n5,A\xa4\xd4\n1,b\n")
    assert column(path, csv=nb.Csv(encoding="euc_kr")) == [5.0, 1.0]
    path.write_bytes("n,x\na,1\n".encode("utf-16-le") + b"\x00\xd8" + ",2\nb,3\n".encode("utf-16-le"))
    assert column(path, csv=nb.Csv(encoding="utf-16-le")) == [1.0, 2.0, 3.0]


def test_a_mark_of_another_encoding_is_refused(tmp_path):
    """A file in UTF-16 is not read as UTF-8; the error says how to state its encoding."""
    with pytest.raises(ValueError, match=r"^a\.csv is not in UTF-8: state its encoding.*--encoding utf-16$"):
        nb.Table(write(tmp_path / "a.csv", "x\n1\n", "utf-16"), csv=HEADER)


CLASHES = [
    ({"delimiter": ";", "quote": ";"}, r"delimiter and quote must differ, got ';' for both"),
    ({"delimiter": ",", "decimal": ","}, r"delimiter and decimal must differ"),
    ({"thousands": ","} | {"decimal": ","}, r"thousands and decimal must differ"),
    ({"thousands": ";", "delimiter": ";", "quote": None}, r"thousands and delimiter must differ without quotes"),
    ({"comment": '"'}, r"quote and comment must differ"),
    ({"delimiter": "ab"}, r"delimiter must be one ASCII character"),
    ({"delimiter": "1"}, r"delimiter must be one ASCII character"),
    ({"decimal": ";"}, r"decimal must be '\.' or ','"),
    ({"encoding": "utf-7"}, r"encoding must be one that Python knows"),
    ({"encoding": "rot13"}, r"encoding must be one that Python knows"),
    ({"encoding": "no such"}, r"encoding must be one that Python knows"),
    ({"header": "yes"}, r"header must be True, False or None"),
    ({"header": 0}, r"header must be True, False or None"),
    ({"newlines_in_fields": "no"}, r"newlines_in_fields must be True or False, got 'no'"),
    ({"encoding": "unicode_escape"}, r"encoding must be one that Python knows"),
    ({"encoding": "raw-unicode-escape"}, r"encoding must be one that Python knows"),
    ({"thousands": "\ud800"}, r"thousands must be one character"),
]


@pytest.mark.parametrize(("options", "refusal"), CLASHES)
def test_options_that_clash_are_refused(options, refusal):
    """Marks that cannot be told apart, and encodings in which one record could change the next, are refused."""
    with pytest.raises(ValueError, match=refusal):
        nb.Csv(**options)


def test_a_header_that_ends_in_a_carriage_return_alone_says_how_lines_end(tmp_path):
    """Then each of CR, LF and CRLF ends a line, and a quote in a record changes no name."""
    assert column(write(tmp_path / "a.csv", 'n,x\rAnn,1\r"\r')) == [1.0, None]
    assert list(nb.Table(tmp_path / "a.csv", csv=nb.Csv(header=True)).columns) == ["n", "x"]
    assert column(write(tmp_path / "a.csv", "x\r1\r\n2\n3\r")) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.tsv", {"quote": "\t"}),
        ("a.tsv", {"comment": "\t"}),
        ("a.csv", {"header": False, "comment": ","}),
        ("a.csv", {"thousands": ",", "quote": None}),
    ],
)
def test_a_delimiter_that_is_not_stated_clashes_too(name, options, tmp_path):
    """Marks that the suffix or the header line settles are compared with those that are stated."""
    with pytest.raises(ValueError, match="must differ"):
        nb.Table(
            write(tmp_path / name, "x,y\n1,2\n"),
            csv=nb.Csv(**{"header": True} | options),
            schema={"x": "number", "y": "number"},
        )


@pytest.mark.medium
def test_many_short_records_of_a_wide_file_are_read_in_parts(tmp_path, monkeypatch):
    """What is put together from records that are too short never exceeds a bound."""
    monkeypatch.setattr(records, "_MOST_FIELDS", 1000)
    sizes = []
    original = Form.repaired
    monkeypatch.setattr(Form, "repaired", lambda form, block: sizes.append(block.count(b"\n")) or original(form, block))
    names = ",".join(f"c{k}" for k in range(50))
    path = write(tmp_path / "a.csv", names + "\n" + "1\n" * 700 + ",".join("2" * 50) + "\n")
    found = column(path, "c3")
    assert found == [None] * 700 + [2.0] and max(sizes) <= 20


def test_types_are_declared_and_never_guessed(tmp_path):
    """Columns without a type are text that may be numbers, whatever they hold; errors come from types alone."""
    path = write(tmp_path / "a.csv", "x,n,k\n1,2,3\n")
    table = nb.Table(path, schema={"x": "integer", "n": "text"}, csv=nb.Csv(header=True))
    assert table.columns == {"x": "integer", "k": "text that may be numbers", "n": "text"}
    with pytest.raises(TypeError, match=r"column 'n' must be numeric, got text"):
        table.mean("n", epsilon=1)
    with pytest.raises(ValueError, match=r"must be one of number, integer, text, .*, got 'int' for column 'x'"):
        nb.Table(path, schema={"x": "int"})
    with pytest.raises(ValueError, match=r"column 'y' of the schema is not in the header"):
        nb.Table(path, csv=HEADER, schema={"y": "number"})
    with pytest.raises(TypeError, match=r"csv must be a nobounds\.Csv, got dict"):
        nb.Table(path, csv={"header": True})
    with pytest.raises(TypeError, match=r"column 'x' has a type of its own, so a schema cannot state one"):
        nb.Table({"x": range(3)}, schema={"x": "integer"})


@pytest.mark.parametrize("schema", [None, {"Ann": "number"}, {"x": "number"}])
def test_a_file_is_refused_until_its_header_is_stated(schema, tmp_path):
    """Else the names that are declared or asked for would tell of a first line that is a record."""
    path = write(tmp_path / "a.csv", "86421,Ann\n1,2\n")
    with pytest.raises(ValueError, match=r"csv=nb\.Csv\(header=True\) if it holds the names") as refusal:
        nb.Table(path, schema=schema)
    assert "86421" not in str(refusal.value) and "Ann" not in str(refusal.value)
    stated = nb.Table(path, csv=HEADER)
    assert list(stated.columns) == ["86421", "Ann"]
    with pytest.raises(ValueError, match=r"the columns are '86421', 'Ann'$"):
        stated.mean("x", epsilon=1)


def test_whole_numbers_have_the_answers_of_parquet(tmp_path):
    """A column that is declared to hold integers has the same answers as the same column of a Parquet file."""
    values = [(7 * k) % 60 for k in range(3000)]
    csv = nb.Table(write(tmp_path / "a.csv", "x\n" + "\n".join(map(str, values))), csv=HEADER, schema={"x": "integer"})
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": values}), tmp_path / "a.parquet")
    parquet = nb.Table(tmp_path / "a.parquet")
    asks = [
        lambda table, rng: table.quantile("x", 0.5, epsilon=1, rng=rng).value,
        lambda table, rng: table.maximum("x", epsilon=1, rng=rng).value,
        lambda table, rng: table.mean("x", epsilon=1, rng=rng).value,
        lambda table, rng: table.sum("x", epsilon=1, rng=rng).value,
        lambda table, rng: table.describe(epsilon=1, rng=rng).to_json(),
        lambda table, rng: table.group_by("x", keys=[1, 2, 99]).count(epsilon=1, rng=rng).to_json(),
        lambda table, rng: table.group_by("x", delta=0.01).count(epsilon=5, rng=rng).to_json(),
    ]
    for ask in asks:
        assert ask(csv, random.Random(5)) == ask(parquet, random.Random(5))


@pytest.mark.medium
def test_a_table_reads_its_file_once(tmp_path, monkeypatch):
    """Several statistics of several columns, with units and groups, open the file once for its records."""
    from nobounds.engines.csv import layout

    rows = "".join(f"{k},{k % 7},g{k % 3},u{k % 90}\n" for k in range(400))
    path = write(tmp_path / "a.csv", "x,y,g,u\n" + rows)
    table = nb.Table(path, unit="u", rows_per_unit=2, csv=nb.Csv(header=True))
    opened = []
    original = layout.pieces
    monkeypatch.setattr(layout, "pieces", lambda *given: opened.append(given) or original(*given))
    table.mean("x", epsilon=1)
    table.quantile("y", 0.5, epsilon=1)
    table.group_by("g", keys=["g0"]).sum("x", epsilon=1)
    table.describe(["x", "y"], epsilon=1)
    table.count(epsilon=1)
    assert len(opened) == 1


def test_without_room_for_a_copy_the_file_is_read_again(tmp_path, monkeypatch):
    """A temporary folder that is full costs time and no answer."""
    from nobounds.engines.csv import table as module

    path = write(tmp_path / "a.csv", "x\n" + "3\n" * 500)

    class Full(io.BytesIO):
        """A file on a full disk."""

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.tempfile, "TemporaryFile", Full)
    table = nb.Table(path, csv=HEADER)
    files = CsvFiles.of([path], HEADER, None)
    assert files.rows() == files.rows() == 500 and not files._has_room
    monkeypatch.undo()
    assert table.quantile("x", 0.5, epsilon=10).value == 3


def test_in_a_file_of_one_column_an_empty_line_is_a_record(tmp_path):
    """It is a missing value, so that the public number of rows is the number of lines."""
    path = write(tmp_path / "a.csv", "x\n1\n\n3\n\n")
    assert column(path) == [1.0, None, 3.0, None]
    assert CsvFiles.of([path], HEADER, None).rows() == 4
