"""Texts of fields to numbers, whole numbers and texts, each field by itself; other fields are missing.

Spaces around a field are ignored. A number is decimal, with or without a sign and an exponent, or an infinity. Arrow
converts all fields at once where it can. Otherwise the fields are converted one by one, by rules that give a field the
same value either way.
"""

import re
from contextlib import suppress
from functools import cached_property
from typing import Any

from nobounds.arrays import Floats
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import floats_in
from nobounds.values import dataclass

_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class FieldReader:
    """How numbers are written in a file, and which texts stand for a missing value."""

    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, csv: Csv) -> "FieldReader":
        """The reader for a dialect."""
        return cls(csv.decimal, csv.thousands, csv.missing)

    @property
    def is_plain(self) -> bool:
        """Whether Arrow can read the numbers as written."""
        return self.decimal == "." and self.thousands is None

    def texts(self, fields: Any) -> Any:
        """The fields without surrounding spaces; null for empty fields and those that stand for a missing value."""
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(fields)
        return _null_where(trimmed, pc.is_in(trimmed, value_set=_texts(["", *self.missing])))

    def floats(self, fields: Any) -> Floats:
        """The float64 nearest to each number; NaN for other fields."""
        pa = import_pyarrow()
        numbers = None
        if self.is_plain:
            with suppress(pa.ArrowInvalid):
                numbers = fields.cast("float64")
        if numbers is None:
            written = self._written(fields, self._number)
            try:
                numbers = written.cast("float64")
            except pa.ArrowInvalid:
                numbers = pa.array(
                    [None if text is None else float(text) for text in written.to_pylist()], pa.float64()
                )
        return floats_in(numbers)

    def whole_floats(self, fields: Any) -> Floats:
        """The float64 nearest to each whole number; NaN for other fields."""
        return floats_in(self.integers(fields).cast("float64", safe=False))

    def integers(self, fields: Any) -> Any:
        """The whole numbers of 64 bits, as an Arrow array; null for other fields."""
        import pyarrow.compute as pc

        pa = import_pyarrow()
        # Arrow would also read hexadecimal digits.
        if self.is_plain and not pc.any(pc.match_substring(fields, "x", ignore_case=True)).as_py():
            with suppress(pa.ArrowInvalid):
                return fields.cast("int64")
        written = pc.replace_substring_regex(self._written(fields, self._whole_number), r"^\+|\.0*$", "")
        try:
            return written.cast("int64")
        except pa.ArrowInvalid:  # one has more than 64 bits
            return pa.array([_integer(text) for text in written.to_pylist()], pa.int64())

    def _written(self, fields: Any, pattern: str) -> Any:
        """The fields that match the pattern of a number, with a decimal point and no separators; null for others."""
        import pyarrow.compute as pc

        texts = self.texts(fields)
        texts = _null_where(texts, pc.invert(pc.match_substring_regex(texts, pattern)))
        if self.thousands is not None:
            texts = pc.replace_substring(texts, self.thousands, "")
        return texts if self.decimal == "." else pc.replace_substring(texts, self.decimal, ".")

    @cached_property
    def _number(self) -> str:
        point = re.escape(self.decimal)
        digits = f"(?:{self._digits}(?:{point}[0-9]*)?|{point}[0-9]+)"
        return f"^[+-]?(?:{digits}{_EXPONENT}|(?i:inf|infinity))$"

    @cached_property
    def _whole_number(self) -> str:
        return f"^[+-]?{self._digits}(?:{re.escape(self.decimal)}0*)?$"

    @property
    def _digits(self) -> str:
        if self.thousands is None:
            return "[0-9]+"
        return f"(?:[0-9]+|[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+)"


def _null_where(texts: Any, condition: Any) -> Any:
    import pyarrow.compute as pc

    return pc.if_else(condition, import_pyarrow().scalar(None, type=texts.type), texts)


def _texts(values: list[str]) -> Any:
    pa = import_pyarrow()
    return pa.array(values, type=pa.string())


def _integer(text: str | None) -> int | None:
    digits = "" if text is None else text.lstrip("+-").lstrip("0")
    if text is None or len(digits) > 19:  # Python refuses to read thousands of digits
        return None
    number = int(digits or "0") * (-1 if text.startswith("-") else 1)
    return number if _SMALLEST <= number <= _LARGEST else None
