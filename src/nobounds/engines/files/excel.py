"""Excel files (.xlsx), read by calamine: the sheet, the row of names and the types of the columns are stated.

A cell has a type of its own: a number, a text, a boolean, a date or a time. A cell of another type than its column is
missing, and so are formula errors and blank cells, and all cells of a row with a duration of a billion days or more. A
date is stored as a number that its format shows as a date: it is no number here, and a number is no date. Rows end with
the range of the sheet, blank rows in it included.
"""

import math
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nobounds.engines.column import CHUNK
from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.files.declared import declared_stream, require_types
from nobounds.engines.files.formats import readable
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.schema import Schema
from nobounds.engines.schemas.texts import TypedReader
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream

_ROWS = 1 << 20  # of the largest sheet
_RANGE = re.compile(rb"""<(?:\w+:)?dimension\s[^>]*?ref=["'][A-Z]+[0-9]+:[A-Z]+([0-9]{1,7})["']""")
_START = 1 << 16  # bytes of a sheet, in which its range is stated
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def from_excel(paths: list[Path], schema: Schema) -> TableStream:
    """The TableStream of the stated sheet of each of some files."""
    require_types(schema, paths[0], "Excel files")
    places = [_places(path, schema) for path in paths]
    share = Share(sum(path.stat().st_size for path in paths))

    def read(names: list[str]) -> Iterator[Any]:
        pa = import_pyarrow()
        rules = {name: replace(schema.columns[name], format=None, decimal=None, thousands=None) for name in names}
        readers = {name: TypedReader.of(rule, FieldReader()) for name, rule in rules.items()}
        for rows, place in _batches(paths, places, schema, share):
            texts = {
                name: [_text(row[place[name]] if place[name] < len(row) else None, rule) for row in rows]
                for name, rule in rules.items()
            }
            columns = [readers[name].values(pa.array(texts[name], type=pa.string())) for name in names]
            yield pa.record_batch(columns, names=names)

    def rows() -> int:
        return sum(len(rows) for rows, _ in _batches(paths, places, schema, share))

    return declared_stream(schema, read, rows, share)


def _batches(
    paths: list[Path], places: list[dict[str, int]], schema: Schema, share: Share
) -> Iterator[tuple[list[list[Any]], dict[str, int]]]:
    """The rows below the names, many at a time, and the places of the columns in them."""
    done = 0
    for path, place in zip(paths, places, strict=True):
        with readable(path):
            sheet, index = _sheet(path, schema)
            first = _header_row(schema)
            # Leading blank columns are not in the rows of calamine; leading blank rows are.
            left = sheet.start[1] if sheet.start is not None else 0
            blank = 0 if sheet.end is None else _ROWS  # a column that lies outside of the rows
            inside = {name: at - left if at >= left else blank for name, at in place.items()}
            rows, many = islice(_rows(sheet), first, None), 0
            while batch := list(islice(rows, CHUNK)):
                many += len(batch)
                yield batch, inside
            for start in range(many, _range_end(path, index) - first, CHUNK):
                yield [[]] * min(CHUNK, _range_end(path, index) - first - start), inside
        done += path.stat().st_size
        share.at(done)


def _rows(sheet: Any) -> Iterator[list[Any]]:
    """The rows of a sheet; one with a date or a duration beyond all that calamine knows has no cells."""
    rows = iter(sheet.iter_rows())
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except OverflowError:
            yield []
        except BaseException as error:  # a panic of Rust is no Exception
            if type(error).__name__ != "PanicException":
                raise
            yield []


def _header_row(schema: Schema) -> int:
    return 1 if schema.header_row is None else schema.header_row


def _places(path: Path, schema: Schema) -> dict[str, int]:
    """The places of the declared columns, by the row of names; without one, in the order of the schema."""
    names, first = list(schema.columns), _header_row(schema)
    with readable(path):
        count = len(_workbook(path).sheet_names)
        known = schema.sheet is None or schema.sheet in _workbook(path).sheet_names
    if not known:
        raise ValueError(f"{path.name} has no sheet {schema.sheet!r}")
    if schema.sheet is None and count != 1:
        raise ValueError(
            f"{path.name} has several sheets: state one of them, for example "
            "--sheet Answers (schema=nb.Schema({...}, sheet='Answers'))"
        )
    if first == 0:
        return {name: place for place, name in enumerate(names)}
    with readable(path):
        sheet, _ = _sheet(path, schema)
        left = sheet.start[1] if sheet.start is not None else 0
        row: list[Any] = next(islice(_rows(sheet), first - 1, None), [])
    header = [cell.strip() if isinstance(cell, str) else None for cell in row]
    for name in names:
        if header.count(name) != 1:
            problem = "appears more than once" if name in header else "is not"
            raise ValueError(f"column {name!r} of the schema {problem} in row {first} of the sheet; see --header-row")
    return {name: left + header.index(name) for name in names}


def _sheet(path: Path, schema: Schema) -> tuple[Any, int]:
    """The sheet, read, and its position in the file."""
    workbook = _workbook(path)
    index = 0 if schema.sheet is None else workbook.sheet_names.index(schema.sheet)
    return workbook.get_sheet_by_index(index), index


def _workbook(path: Path) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ImportError("Excel files need python-calamine: pip install 'nobounds[excel]'") from None
    return CalamineWorkbook.from_path(str(path))


def _range_end(path: Path, index: int) -> int:
    """The last row of the range that the file states for a sheet; 0 if it states none."""
    with suppress(Exception), zipfile.ZipFile(path) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        sheets = [each for each in book.iter() if each.tag.endswith("}sheet")]
        targets = {each.get("Id"): each.get("Target", "") for each in links.iter()}
        target = targets[sheets[index].get(_ID)]
        name = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        with archive.open(name) as sheet:
            match = _RANGE.search(sheet.read(_START))
        return min(int(match[1]), _ROWS) if match else 0
    return 0


def _number(cell: Any) -> str | None:
    """A number; whole ones without a point, as people write them."""
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        return None
    return str(int(cell)) if cell == int(cell) else format(Decimal(repr(cell)), "f")


def _duration(cell: Any) -> str | None:
    if not isinstance(cell, timedelta):
        return None
    seconds, rest = divmod(abs(cell // timedelta(microseconds=1)), 10**6)
    sign = "-" if cell < timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:06}"


def _moment(cell: Any) -> str | None:
    return cell.isoformat() if isinstance(cell, date) else None  # a datetime is a date, too


_TEXTS: dict[str | None, Callable[[Any], str | None]] = {
    "boolean": lambda cell: str(cell) if isinstance(cell, bool) else None,
    "date": lambda cell: None if isinstance(cell, datetime) else _moment(cell),
    "datetime": _moment,
    "time": lambda cell: cell.isoformat() if isinstance(cell, time) else None,
    "duration": _duration,
    "text": lambda cell: cell if isinstance(cell, str) else None,
}


def _text(cell: Any, rule: ColumnRule) -> str | None:
    """A cell as the text of its column, or None if it is of another type."""
    return _TEXTS.get(rule.family, _number)(cell)
