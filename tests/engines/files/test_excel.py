"""Excel files: the stated sheet, its row of names, and cells of declared types."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import openpyxl
import pytest

import nobounds as nb
from nobounds.engines.files.declared import require_types
from nobounds.engines.files.excel import from_excel
from nobounds.engines.schemas.schema import Schema


def write(path, rows, title="A", *others):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    for other in others:
        book.create_sheet(other)
    book.save(path)
    return path


def read(path, schema):
    stream = from_excel([path], schema)
    columns = {name: [] for name in schema.columns}
    for batch in stream.batches(list(schema.columns), []):
        for name in columns:
            columns[name] += batch.column(name).to_pylist()
    assert stream.rows() == len(next(iter(columns.values())))
    return columns


def test_a_cell_of_another_type_is_missing(tmp_path):
    """Numbers, texts, booleans, dates and times are told apart, and formula errors are none of them."""
    cells = [1, 2.5, "3", True, date(2024, 1, 2), datetime(2024, 1, 2, 3, 4), time(5, 6), timedelta(hours=30), None]
    path = write(tmp_path / "a.xlsx", [["x"], *([cell] for cell in [*cells, "=1/0", "#DIV/0!"])])
    empty = [None] * 11

    def only(**places):
        return [places.get(f"c{k}", value) for k, value in enumerate(empty)]

    assert read(path, Schema({"x": "number"}))["x"] == only(c0=1.0, c1=2.5)
    assert read(path, Schema({"x": "integer"}))["x"] == only(c0=1)
    assert read(path, Schema({"x": "money"}))["x"] == only(c0=Decimal("1.00"), c1=Decimal("2.50"))
    assert read(path, Schema({"x": "boolean"}))["x"] == only(c3=True)
    assert read(path, Schema({"x": "date"}))["x"] == only(c4=date(2024, 1, 2))
    moments = only(c4=datetime(2024, 1, 2), c5=datetime(2024, 1, 2, 3, 4))
    assert read(path, Schema({"x": "datetime"}))["x"] == moments
    assert read(path, Schema({"x": "time"}))["x"] == only(c6=time(5, 6))
    assert read(path, Schema({"x": "text"}))["x"][:10] == only(c2="3")[:10]
    assert read(path, Schema({"x": {"type": "number", "missing": ["1"]}}))["x"] == only(c1=2.5)


def test_a_duration_that_no_calendar_has_is_a_missing_row_and_no_error(tmp_path):
    """Whether a file can be read must not depend on a record."""
    book = openpyxl.Workbook()
    for row in [["span", "x"], [1, 1], [1e12, 2], [-1e300, 3], [2, 4]]:
        book.active.append(row)
    for (cell,) in book.active["A2:A5"]:
        cell.number_format = "[h]:mm"
    book.save(tmp_path / "a.xlsx")
    columns = read(tmp_path / "a.xlsx", Schema({"span": "duration", "x": "number"}))
    assert columns["x"] == [1.0, None, None, 4.0]
    assert [each is None for each in columns["span"]] == [False, True, True, False]


def test_the_sheet_the_row_of_names_and_the_order_are_stated(tmp_path):
    """Blank rows and columns around a table do not matter; without names the columns are in the order of the schema."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("data")
    for place, value in {"C4": "x", "D4": "y", "C5": 1, "D6": 2, "C8": 3}.items():
        sheet[place] = value
    sheet["E10"].number_format = "0.00"  # the range ends here, with blank rows
    book.save(tmp_path / "a.xlsx")
    stated = Schema({"y": "number", "x": "number"}, sheet="data", header_row=4)
    wanted = {"x": [1.0, None, None, 3.0, None, None], "y": [None, 2.0, None, None, None, None]}
    assert read(tmp_path / "a.xlsx", stated) == wanted
    in_order = read(tmp_path / "a.xlsx", Schema({"a": "text", "b": "text", "c": "number"}, sheet="data", header_row=0))
    assert in_order["a"] == [None] * 10 and in_order["c"] == [None] * 4 + [1.0, None, None, 3.0, None, None]


def test_refusals_come_from_what_is_stated(tmp_path):
    """No schema, no sheet where there are several, no such sheet or column; no cell is shown."""
    path = write(tmp_path / "a.xlsx", [["x", "secret"], [1, 2]], "A", "B")
    for stated, words in (
        (None, r"a\.xlsx needs a schema"),
        ({"x": "number"}, "has several sheets: state one"),
        (nb.Schema({"x": "number"}, sheet="C"), "has no sheet 'C'"),
        (nb.Schema({"y": "number"}, sheet="A"), "column 'y' of the schema is not in row 1"),
        (nb.Schema({"x": "number"}, sheet="A", header_row=9), "column 'x' of the schema is not in row 9"),
        ({"x": None}, "needs a type"),
    ):
        with pytest.raises(ValueError, match=words) as refusal:
            nb.Table(path, schema=stated)
        assert "secret" not in str(refusal.value)
    require_types(Schema({"x": "number"}), path, "Excel files")
    (tmp_path / "b.xlsx").write_bytes(path.read_bytes()[:500])
    with pytest.raises(OSError, match=r"^b\.xlsx cannot be read: it is damaged, or of another format$"):
        nb.Table(tmp_path / "b.xlsx", schema={"x": "number"})
    assert list(nb.Table(path, schema=nb.Schema({"x": "number"}, sheet="A")).columns) == ["x"]
