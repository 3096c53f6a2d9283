"""The dialect of a CSV file, as the user states it; checked before anything is read."""

import codecs
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from nobounds.values import dataclass

DELIMITERS = ",;\t|"  # detected in a header line, the most likely first
# In these encodings a broken sequence in one record can change the meaning of later bytes, or they are not text.
_STATEFUL = ("utf_7", "iso2022", "hz", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


@dataclass(frozen=True, slots=True, repr=False)
class Csv:
    r"""How to read the text of CSV files; nothing is guessed from records.

    header: True if the first line holds the names of the columns. False if it is a record; then `schema` names all
    columns in order, if only by their numbers. A file is refused unless this is stated here or in its schema.
    delimiter: the character between fields; by default a tab in .tsv files, and otherwise the most frequent of `,` `;`
    tab and `|` in the header line.
    quote: the character around fields that contain delimiters or line ends, doubled inside; None for no quotes.
    decimal, thousands: the decimal mark, "." or ",", and the separator of digit groups before it, for example "'".
    encoding: the encoding of the text. Bytes outside it make their field missing.
    comment: lines that start with this character are not records.
    missing: fields to read as missing, for example ("NA", "-999"). Empty fields are always missing.
    newlines_in_fields: False makes each line one record, whatever the quotes in it.

    >>> Csv(delimiter=";", decimal=",").delimiter
    ';'
    """

    header: bool | None = None
    delimiter: str | None = None
    quote: str | None = '"'
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"
    comment: str | None = None
    missing: tuple[str, ...] = ()
    newlines_in_fields: bool = True

    def __post_init__(self) -> None:
        if not (self.header is None or isinstance(self.header, bool)):
            raise ValueError(f"header must be True, False or None, got header={self.header!r}")
        if not isinstance(self.newlines_in_fields, bool):
            raise ValueError(f"newlines_in_fields must be True or False, got {self.newlines_in_fields!r}")
        for name in ("delimiter", "quote", "comment"):
            _check_mark(name, getattr(self, name))
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got decimal={self.decimal!r}")
        _check_thousands(self.thousands)
        self._refuse_clashes()
        object.__setattr__(self, "missing", _checked_missing(self.missing))
        _check_encoding(self.encoding)

    @property
    def stated(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    def __repr__(self) -> str:
        return f"Csv({', '.join(f'{name}={value!r}' for name, value in self.stated.items())})"

    def _refuse_clashes(self) -> None:
        marks = [(name, getattr(self, name)) for name in ("delimiter", "quote", "comment", "decimal")]
        for k, (name, mark) in enumerate(marks):
            for other, same in marks[:k]:
                if mark is not None and mark == same:
                    raise ValueError(f"{other} and {name} must differ, got {mark!r} for both")
        for name, mark in (("decimal", self.decimal), ("quote", self.quote)):
            if self.thousands is not None and self.thousands == mark:
                raise ValueError(f"thousands and {name} must differ, got {mark!r} for both")
        if self.thousands is not None and self.thousands == self.delimiter and self.quote is None:
            raise ValueError(f"thousands and delimiter must differ without quotes, got {self.thousands!r} for both")

    def delimiter_of(self, header: str | None, is_tsv: bool) -> str:
        """The delimiter: as stated, or by the file's suffix, or by its header line (None if there is none)."""
        if self.delimiter is not None:
            return self.delimiter
        if is_tsv or header is None:
            return "\t" if is_tsv else ";" if self.decimal == "," else ","
        outside = header if self.quote is None else "".join(header.split(self.quote)[::2])
        taken = {self.quote, self.comment, self.decimal}
        candidates = [mark for mark in DELIMITERS if mark not in taken]
        return max(candidates, key=outside.count)


def _check_mark(name: str, mark: object) -> None:
    if mark is None:
        return
    if not (isinstance(mark, str) and len(mark) == 1 and mark.isascii()) or mark.isalnum() or mark in "\r\n\0+-":
        rule = "must be one ASCII character that is not a letter, digit, sign or line end"
        raise ValueError(f"{name} {rule}, got {name}={mark!r}")


def _check_thousands(mark: object) -> None:
    if mark is None:
        return
    if not (isinstance(mark, str) and len(mark) == 1 and _is_text(mark)) or mark.isalnum() or mark in "\r\n\0+-":
        raise ValueError(
            f"thousands must be one character that is not a letter, digit, sign or line end, got thousands={mark!r}"
        )


def _checked_missing(missing: object) -> tuple[str, ...]:
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        raise TypeError(f"missing must be a list of texts, got {type(missing).__name__}; for one text give [text]")
    texts = tuple(missing)
    if not all(isinstance(text, str) and _is_text(text) for text in texts):
        raise TypeError("missing must be a list of texts, got something else in it")
    return tuple(text.strip() for text in texts)


def _is_text(text: str) -> bool:
    """Whether a text has no lone surrogates, which no file can contain."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _check_encoding(encoding: object) -> None:
    try:
        if not isinstance(encoding, str) or "a".encode(encoding).decode(encoding) != "a":
            raise LookupError
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        known = None
    else:
        known = None if name.replace("-", "_").startswith(_STATEFUL) else name
    if known is None:
        raise ValueError(f"encoding must be one that Python knows and that has no state, got encoding={encoding!r}")
