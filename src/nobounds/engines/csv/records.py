"""The bytes of a CSV file to blocks of whole records, by the rules of RFC 4180.

A quote counts at the start of a field only. A record ends at a line feed outside of quotes, with or without carriage
returns before it; other carriage returns outside of quotes are spaces. Every line is a record, even a blank one. A
record with text after a closing quote, with a different number of fields than the header, or longer than LONGEST
becomes one missing record, and does not affect other records. A field with invalid UTF-8 becomes one missing field.

A quote that never closes looks like a long field: everything after it belongs to its record. In files where each line
is one record (`newlines_in_fields=False`) this cannot happen.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nobounds.values import dataclass

LONGEST = 1 << 26
"""The maximal number of bytes of a record; a longer one is missing."""

_MOST_FIELDS = 1 << 24  # parsed together
_LINE_FEED, _RETURN = 10, 13


@dataclass(frozen=True)
class Form:
    """The marks of the records of a file, as single bytes, and the number of fields in each record."""

    delimiter: bytes
    quote: bytes | None
    comment: bytes | None
    newlines_in_fields: bool
    width: int

    @property
    def missing(self) -> bytes:
        """A record whose fields are all empty."""
        return self.delimiter * (self.width - 1) + b"\n"

    @cached_property
    def record(self) -> "re.Pattern[bytes]":
        """One record: `good`, or a `comment`, or `bad`; `rest` is an incomplete record at the end."""
        d, c = re.escape(self.delimiter), re.escape(self.comment or b"")
        plain, quoted = self._fields
        good = rb"(?:%b|%b)" % (quoted, plain)
        any_field = rb"(?:%b[^%b\n]*+|%b)" % (quoted, d, plain)
        options = [rb"(?P<good>%b(?:%b%b){%d}+\r*\n)" % (good, d, good, self.width - 1)]
        if self.comment is not None:
            options.insert(0, rb"(?P<comment>%b[^\n]*+\n)" % c)
        if self.newlines_in_fields:
            options.append(rb"(?P<bad>%b(?:%b%b)*+\n)" % (any_field, d, any_field))
        else:
            options.append(rb"(?P<bad>[^\n]*+\n)")
        return re.compile(rb"|".join([*options, rb"(?P<rest>(?s:.+))"]))

    @cached_property
    def field(self) -> "re.Pattern[bytes]":
        """One field of a good record, `plain` or `quoted`."""
        plain, quoted = self._fields
        return re.compile(rb"(?P<quoted>%b)|(?P<plain>%b)" % (quoted, plain))

    @property
    def _fields(self) -> tuple[bytes, bytes]:
        """Patterns of a plain and of a quoted field."""
        d = re.escape(self.delimiter)
        if self.quote is None:
            return rb"[^%b\n]*+" % d, rb"(?!)"
        q = re.escape(self.quote)
        inside = rb"[^%b]*+" % q if self.newlines_in_fields else rb"[^%b\n]*+" % q
        return rb"(?!%b)[^%b\n]*+" % (q, d), rb"%b%b(?:%b%b%b)*+%b" % (q, inside, q, q, inside, q)

    def fields(self, record: bytes) -> list[bytes] | None:
        """The fields of one record without its line end, with quotes removed; None if it is not well-formed."""
        fields, at = [], 0
        while match := self.field.match(record, at):
            text, at = match.group(), match.end()
            quote = self.quote or b""
            fields.append(text[1:-1].replace(quote * 2, quote) if match.lastgroup == "quoted" else text)
            if at == len(record):
                return fields
            if record[at : at + 1] != self.delimiter:
                return None
            at += 1
        return None

    def end(self, data: bytes) -> int:
        """The end of the last whole record in bytes that start with a record; 0 if there is none."""
        if not self.newlines_in_fields or self.quote is None or self.quote not in data:
            return data.rfind(b"\n") + 1
        places = self._regular_quotes(data)
        if places is None:
            matches = (match for match in self.record.finditer(data) if match.lastgroup != "rest")
            return max((match.end() for match in matches), default=0)
        at = len(data)
        while (at := data.rfind(b"\n", 0, at)) >= 0:
            before = int(np.searchsorted(places, at))
            if before % 2 == 0:
                return at + 1
            at = int(places[before - 1])  # inside of quotes: continue before the opening quote
        return 0

    def is_clean(self, block: bytes) -> bool:
        """Whether Arrow reads these whole records correctly, except for their number of fields."""
        if len(block) > LONGEST or not (block.isascii() or _is_utf8(block)):
            return False
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return False
        if self.comment is not None and self._has_comments(block):
            return False
        if self.quote is None or self.quote not in block:
            return True
        places = self._regular_quotes(block)
        if places is None or len(places) % 2:
            return False
        if self.newlines_in_fields:
            return True
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _LINE_FEED)
        return not bool((np.searchsorted(places, ends) % 2).any())

    def repaired(self, block: bytes) -> bytes:
        """The same records without comments, with a missing record or field for each that is not well-formed."""
        check_text = not _is_utf8(block)
        check_returns = b"\r" in block
        parts, start, end = [], 0, 0  # good records are copied in long runs
        for match in self.record.finditer(block):
            record = match.group()
            good = match.lastgroup == "good" and len(record) <= LONGEST
            has_stray_returns = check_returns and record.count(b"\r") != record.endswith(b"\r\n")
            has_spoiled_fields = check_text and not _is_utf8(record)
            if good and not has_stray_returns and not has_spoiled_fields:
                end = match.end()
                continue
            parts.append(block[start:end])
            if good:
                parts.append(self.field.sub(_readable, record))
            elif match.lastgroup != "comment":
                parts.append(self.missing)
            start = end = match.end()
        return b"".join([*parts, block[start:end]])

    def _has_comments(self, block: bytes) -> bool:
        assert self.comment is not None
        return block.startswith(self.comment) or b"\n" + self.comment in block

    def _regular_quotes(self, data: bytes) -> NDArray[np.intp] | None:
        """The positions of the quotes if they alternately open and close at the edges of fields; otherwise None.

        A byte then lies inside of quotes if and only if the number of quotes before it is odd: a doubled quote closes
        and opens again.
        """
        assert self.quote is not None
        if self.comment is not None and self._has_comments(data):
            return None
        text = np.frombuffer(data, np.uint8)
        q, d = self.quote[0], self.delimiter[0]
        places = np.flatnonzero(text == q)
        opening, closing = places[0::2], places[1::2]
        before = text[opening - 1]  # wraps around for a quote at the first byte, which is handled below
        starts = (before == d) | (before == _LINE_FEED) | (before == q)
        if len(opening) and opening[0] == 0:
            starts[0] = True
        follows = closing + 1
        inside = follows < len(text)
        after = text[follows[inside]]
        ends = (after == d) | (after == _LINE_FEED) | (after == q)
        returns = np.flatnonzero(after == _RETURN)
        if len(returns):
            next_after = follows[inside][returns] + 1
            known = next_after < len(text)
            line_end = np.ones(len(returns), dtype=bool)
            line_end[known] = text[next_after[known]] == _LINE_FEED
            ends[returns] = line_end
        return places if bool(starts.all()) and bool(ends.all()) else None


def blocks(chunks: Iterator[bytes], form: Form) -> Iterator[bytes]:
    """Blocks of whole records from pieces of a file without its header: clean blocks unchanged, others repaired."""
    for whole in _whole_records(chunks, form):
        for block in _split(whole, form):
            yield block if form.is_clean(block) else form.repaired(block)


def _split(block: bytes, form: Form) -> Iterator[bytes]:
    """Parts of a block of whole records, small enough that all their fields fit into memory."""
    if block.count(b"\n") * form.width > _MOST_FIELDS and (cut := form.end(block[: len(block) // 2])):
        yield from _split(block[:cut], form)
        yield from _split(block[cut:], form)
    else:
        yield block


def first_record(
    chunks: Iterator[bytes], form: Form, delimiters: bytes | None = None, returns_end_lines: bool = False
) -> tuple[bytes, bytes, Iterator[bytes]]:
    """The first record of a file after blank lines and comments, its line end, and the pieces behind it.

    The record is empty if there is none, or if it never ends or is over-long. `delimiters` are given while it is not
    known which of them separates the fields. With `returns_end_lines` a carriage return alone ends the record as well.
    """
    search = _RecordEnd(form, delimiters, returns_end_lines)
    parts: list[bytes] = []
    left, is_over = b"", False
    while sum(map(len, parts)) <= LONGEST:
        piece = next(chunks, None)
        if piece is None and is_over:
            break
        is_over = piece is None
        data, at = left + (b"\n" if piece is None else piece), 0
        while (end := search.feed(data, at)) is not None:
            record = b"".join([*parts, data[at:end]])
            parts, at = [], end
            text = record.rstrip(b"\r\n")
            if text and not (form.comment is not None and text.startswith(form.comment)):
                return text, record[len(text) :], chain([data[at:]], chunks)
            search.restart()
        left = search.left
        parts.append(data[at : len(data) - len(left)])
    return b"", b"", iter(())


def _whole_records(chunks: Iterator[bytes], form: Form) -> Iterator[bytes]:
    """Blocks of whole records, with a missing record for one that is over-long or never ends."""
    rest, parts = b"", []
    wanted = 0  # bytes to collect before the next search for the end of a record
    for chunk in chunks:
        parts.append(chunk)
        wanted -= len(chunk)
        if wanted > 0:
            continue
        data, parts = b"".join([rest, *parts]), []
        if end := form.end(data):
            yield data[:end]
            rest = data[end:]
        elif len(data) > LONGEST:
            replaced, rest = _skip_record(data, chunks, form)
            yield replaced
        else:
            rest, wanted = data, len(data)  # double it each time: a long record is searched only a few times
    data = b"".join([rest, *parts])
    if not data:
        return
    data = data if data.endswith(b"\n") else data + b"\n"
    end = form.end(data)
    yield data[:end] + (form.missing if end < len(data) else b"")


def _skip_record(data: bytes, chunks: Iterator[bytes], form: Form) -> tuple[bytes, bytes]:
    """The replacement of the over-long record at the start of the data, and the bytes after it."""
    search = _RecordEnd(form)
    replaced = b"" if form.comment is not None and data.startswith(form.comment) else form.missing
    while (end := search.feed(data)) is None:
        more = next(chunks, None)
        if more is None:
            return replaced, b""
        data = search.left + more
    return replaced, data[end:]


class _RecordEnd:
    """A search for the end of one record, piece by piece; it keeps only the state between two bytes."""

    def __init__(self, form: Form, delimiters: bytes | None = None, returns_end_lines: bool = False) -> None:
        self._quote = form.quote if form.newlines_in_fields else None
        self._comment = form.comment
        self._line_end = re.compile(rb"\r+\n|\r|\n" if returns_end_lines else rb"\n")
        marks = rb"[%b]|%b" % (re.escape(delimiters or form.delimiter), self._line_end.pattern)
        self._field_end = re.compile(marks)
        self.restart()

    def restart(self) -> None:
        """Start the search for the end of another record."""
        self._state = "record"
        self.left = b""  # trailing bytes whose meaning depends on the next, to be fed again

    def feed(self, data: bytes, at: int = 0) -> int | None:
        """The end of the record in `data` from `at` on, or None if it does not end there."""
        self.left = b""
        while at < len(data):
            first = data[at : at + 1]
            if self._state == "record" and first == self._comment:
                self._state = "comment"
            elif self._state in ("record", "field"):
                self._state = "quoted" if first == self._quote else "plain"
                at += first == self._quote
            elif self._state == "quoted":
                assert self._quote is not None
                at = data.find(self._quote, at)
                if at < 0:
                    return None
                if at + 1 == len(data):
                    self.left = self._quote
                    return None
                doubled = data[at + 1 : at + 2] == self._quote
                self._state = "quoted" if doubled else "plain"
                at += 2 if doubled else 1
            else:
                match = (self._line_end if self._state == "comment" else self._field_end).search(data, at)
                if match is None:
                    return None
                if match.group() == b"\r" and not data[match.start() :].strip(b"\r"):
                    self.left = data[match.start() :]  # a line feed may follow
                    return None
                at = match.end()
                if match.group()[-1:] in (b"\r", b"\n"):
                    return at
                self._state = "field"
        return None


def _readable(match: "re.Match[bytes]") -> bytes:
    """A field as Arrow reads it: empty if it is no text, and without carriage returns outside of quotes."""
    field = match.group()
    if not _is_utf8(field):
        return b""
    return field if match.lastgroup == "quoted" else field.replace(b"\r", b" ")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
