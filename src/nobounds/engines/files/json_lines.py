"""JSON lines: one object a line, with the columns that a schema declares.

Every line is a row, even a blank one. A record is missing if the line has no such field, if the field is of another
type than the column or no UTF-8, or if the line is no JSON object, nests too deeply or has more than LONGEST bytes.
Numbers are read as they are written, so a decimal is exact and no number is too large. Of a repeated name the last one
counts.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.csv.reading import PIECE, pieces
from nobounds.engines.files.declared import declared_stream, require_types
from nobounds.engines.files.formats import readable
from nobounds.engines.keys import text_of
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.schema import Schema
from nobounds.engines.schemas.texts import TypedReader
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream

LONGEST = 1 << 26
"""The maximal number of bytes of a line; a longer one is missing."""

_LINES = 1 << 14  # read together


_NO_TEXT = re.compile("[\udc80-\udcff]")  # in the place of bytes that are no UTF-8


class _Written(str):
    """A number as it is written."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_int=_Written, parse_float=_Written, parse_constant=_Written)


def from_json_lines(paths: list[Path], schema: Schema) -> TableStream:
    """The TableStream of files of JSON lines."""
    require_types(schema, paths[0], "JSON lines")
    share = Share(sum(path.stat().st_size for path in paths))

    def read(names: list[str]) -> Iterator[Any]:
        pa = import_pyarrow()
        rules = {name: schema.columns[name] for name in names}
        readers = {name: TypedReader.of(rule, FieldReader()) for name, rule in rules.items()}
        for lines in _batches(paths, share):
            objects = [_object(line) for line in lines]
            columns = [
                readers[name].values(pa.array([_text(each.get(name), rule) for each in objects], type=pa.string()))
                for name, rule in rules.items()
            ]
            yield pa.record_batch(columns, names=names)

    def rows() -> int:
        return sum(map(len, _batches(paths, share)))

    return declared_stream(schema, read, rows, share)


def _batches(paths: list[Path], share: Share) -> Iterator[list[bytes | None]]:
    """The lines of all files, many at a time; None for one that is too long."""
    done = 0
    for path in paths:
        with readable(path):
            waiting: list[bytes | None] = []
            held = 0
            for line in lines(pieces(path, None, progress=partial(_read_up_to, share, done))):
                waiting.append(line)
                held += len(line or b"")
                if len(waiting) >= _LINES or held >= 16 * PIECE:
                    yield waiting
                    waiting, held = [], 0
            if waiting:
                yield waiting
        done += path.stat().st_size
        share.at(done)


def _read_up_to(share: Share, done: int, place: int) -> None:
    share.at(done + place)


def lines(chunks: Iterator[bytes], longest: int = LONGEST) -> Iterator[bytes | None]:
    r"""The lines of a text in pieces; None for each line of more than `longest` bytes.

    >>> list(lines(iter([b"a", b"b\nc", b"", b"\n\nlong line\nd"]), 5))
    [b'ab', b'c', b'', None, b'd']
    """
    parts: list[bytes] = []
    length = 0
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        for line in (first, *others[:-1]) if others else ():
            length += len(line)
            yield b"".join([*parts, line]) if length <= longest else None
            parts, length = [], 0
        last = others[-1] if others else first
        length += len(last)
        parts = [*parts, last] if length <= longest and last else parts if length <= longest else []
    if length:
        yield b"".join(parts) if length <= longest else None


def _object(line: bytes | None) -> dict[str, Any]:
    """The object of a line; an empty one if the line is none."""
    if line is None:
        return {}
    try:
        parsed = _DECODER.decode(line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _number(value: Any, rule: ColumnRule) -> str | None:
    return value.replace(".", rule.decimal or ".") if isinstance(value, _Written) else None


def _amount(value: Any, rule: ColumnRule) -> str | None:
    """A decimal, which may be a number or, to be exact in other programs, a text."""
    return _number(value, rule) if isinstance(value, _Written) else _string(value, rule)


def _flag(value: Any, rule: ColumnRule) -> str | None:
    return str(value) if isinstance(value, bool) else None


def _string(value: Any, rule: ColumnRule) -> str | None:
    if not isinstance(value, str) or isinstance(value, _Written) or _NO_TEXT.search(value):
        return None
    return value if value.isascii() else text_of(value.encode("utf-8", "surrogatepass"))


_TEXTS: dict[str | None, Callable[[Any, ColumnRule], str | None]] = {
    "number": _number,
    "integer": _number,
    "decimal": _amount,
    "money": _amount,
    "boolean": _flag,
}


def _text(value: Any, rule: ColumnRule) -> str | None:
    """A value as the text of its column, or None if it is of another type."""
    return _TEXTS.get(rule.family, _string)(value, rule)
