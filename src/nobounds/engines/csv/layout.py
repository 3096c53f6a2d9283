"""The layout of a CSV file: the names of its columns and its marks, from the header line and the user."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from nobounds.engines.csv.dialect import DELIMITERS, Csv
from nobounds.engines.csv.reading import OTHER_BOMS, PIECE, is_utf8, pieces
from nobounds.engines.csv.records import Form, first_record
from nobounds.engines.files.formats import is_tsv, readable
from nobounds.values import dataclass

HEADER_UNSTATED = (
    "the first line of a CSV file may be a record, so state what it is: csv=nb.Csv(header=True) if it holds the names "
    "of the columns; csv=nb.Csv(header=False) if it is a record, and declare all columns with schema=, in order, if "
    "only by their numbers"
)
_HEADER = 1 << 12  # bytes to read at a time, up to the end of the header line


@dataclass(frozen=True, slots=True)
class Layout:
    """The names of the columns, and the form of the records."""

    names: tuple[str, ...] = field(repr=False)
    form: Form
    returns_end_lines: bool = False  # if the header line ends in a lone carriage return

    def pieces(self, path: Path, csv: Csv, progress: Callable[[int], None]) -> Iterator[bytes]:
        """The text of a file below its header."""
        text = _text(path, csv, self.returns_end_lines, PIECE, progress)
        return first_record(text, self.form)[2] if csv.header else text


def layout_of(path: Path, csv: Csv, schema: Mapping[str, object]) -> Layout:
    """The layout of a file; reads its first line if that is stated to be a header.

    Whether a name is in a first line that may be a record would reveal that record.
    """
    if csv.header is None:
        raise ValueError(HEADER_UNSTATED)
    if not csv.header:
        if not schema:
            raise ValueError(
                "a file without a header needs a schema that names its columns in order, "
                "for example schema={'age': 'integer', 'name': 'text'}, "
                "or --type age=integer --type name=text, or --schema FILE"
            )
        return Layout(tuple(schema), _form(csv, csv.delimiter_of(None, is_tsv(path)), len(schema)))
    some = None if csv.delimiter else DELIMITERS.encode()
    line, end = _first_line(path, csv, _form(csv, csv.delimiter or "\0", 1), some)
    form = _form(csv, csv.delimiter_of(line.decode("utf-8", "replace"), is_tsv(path)), 1)
    returns = end.endswith(b"\r")
    line, _ = _first_line(path, csv, form, None, returns)
    fields = form.fields(line)
    if fields is None:
        raise ValueError(f"the header line of {path.name} is not well-formed: there is text after a closing quote")
    names = tuple(name.decode("utf-8", "replace").strip() for name in fields) if line else ()
    return Layout(names, replace(form, width=max(len(names), 1)), returns)


def _first_line(
    path: Path, csv: Csv, form: Form, delimiters: bytes | None, returns: bool | None = None
) -> tuple[bytes, bytes]:
    """The header line and its line end; `delimiters` and `returns` are as in `first_record` and `Layout`, if known."""
    with readable(path):
        line, end, _ = first_record(_text(path, csv, returns is True), form, delimiters, returns is None)
    if is_utf8(csv.encoding) and line.startswith(OTHER_BOMS):
        fix = "state its encoding, for example csv=nb.Csv(encoding='utf-16'), or --encoding utf-16"
        raise ValueError(f"{path.name} is not in UTF-8: {fix}")
    return line, end


def _text(
    path: Path,
    csv: Csv,
    returns: bool,
    size: int = _HEADER,
    progress: Callable[[int], None] | None = None,
) -> Iterator[bytes]:
    text = pieces(path, csv.encoding, size, progress)
    return _line_feeds(text) if returns else text


def _line_feeds(text: Iterator[bytes]) -> Iterator[bytes]:
    """The text with a line feed for each line end."""
    held = b""
    for piece in text:
        whole = held + piece
        held = b"\r" if whole.endswith(b"\r") else b""  # a line feed may follow
        yield whole[: len(whole) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    yield held.replace(b"\r", b"\n")


def _form(csv: Csv, delimiter: str, width: int) -> Form:
    """The form of records; ValueError if the delimiter clashes with another mark."""
    if delimiter != "\0":
        replace(csv, delimiter=delimiter)
    quote, comment = (None if mark is None else mark.encode() for mark in (csv.quote, csv.comment))
    return Form(delimiter.encode(), quote, comment, csv.newlines_in_fields, width)
