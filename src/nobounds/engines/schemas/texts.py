"""Texts to values of declared types, each text by itself; a text that is no value of the type is missing.

Numbers, whole numbers and texts are read by the rules of `csv.fields`. Booleans are true, false, yes, no, t, f, y, n, 1
and 0, ignoring case. Dates, times and durations are of the forms in `formats`. Decimals are rounded to their scale,
half to even, and missing if they have more digits than their precision. Money is a decimal that may have a currency
before or behind it, groups of digits, and brackets for a negative amount.
"""

import re
from collections.abc import Callable
from dataclasses import field
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any

from nobounds.arrays import Floats
from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.schemas.formats import parser
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.kinds.zones import zone_of
from nobounds.values import dataclass

_BOOLEANS = dict.fromkeys(("true", "yes", "t", "y", "1"), True) | dict.fromkeys(("false", "no", "f", "n", "0"), False)
_CURRENCY = r"(?:[A-Za-z]{0,3}[$€£¥₹₩₽₺₫₪₴฿₦¢]|[A-Z]{3}|[Kk]r\.?|zł|Fr\.?)"
_SEPARATORS = "' \u00a0\u202f\u2019"  # between groups of digits in money, besides the comma or the point
_LONGEST = 400  # characters: no decimal that fits has more


@dataclass(frozen=True, slots=True)
class TypedReader:
    """Reads the texts of one column: its rule, and how numbers are written in the file."""

    rule: ColumnRule
    numbers: FieldReader = field(default_factory=FieldReader)

    @classmethod
    def of(cls, rule: ColumnRule, file: FieldReader) -> "TypedReader":
        """The reader for a column; what its rule does not state is as in the file."""
        decimal, thousands = rule.decimal or file.decimal, rule.thousands or file.thousands
        if thousands == decimal:  # only one of them was stated for the column
            thousands = None
        return cls(rule, FieldReader(decimal, thousands, (*file.missing, *rule.missing)))

    def values(self, fields: Any) -> Any:
        """The values of an Arrow array of texts, in the Arrow type of the rule; null where there is none."""
        pa = import_pyarrow()
        match self.rule.family:
            case "number":
                return pa.array(self.numbers.floats(self._present(fields)), from_pandas=True)  # NaN is null
            case "integer":
                return self.numbers.integers(self._present(fields))
            case None | "text":
                return self.numbers.texts(fields).cast(pa.large_string())
        texts, kind = self.numbers.texts(fields), self.rule.arrow
        encoded = texts.dictionary_encode()
        parse = self._parser()
        parsed = [None if text is None else parse(text) for text in encoded.dictionary.to_pylist()]
        if self.rule.family in ("decimal", "money", "boolean"):
            return pa.array(parsed, type=kind).take(encoded.indices)
        width = pa.int32() if self.rule.family == "date" else pa.int64()
        return pa.array(parsed, type=width).take(encoded.indices).view(kind)

    def floats(self, fields: Any) -> Floats:
        """The values as float64, with NaN where there is none; a column of no declared type is read as numbers."""
        match self.rule.family:
            case None | "number":
                return self.numbers.floats(self._present(fields))
            case "integer":
                return self.numbers.whole_floats(self._present(fields))
        return to_floats(self.values(fields))

    def _present(self, fields: Any) -> Any:
        """The fields, with null for those that stand for a missing value; the file's own are null already."""
        return self.numbers.texts(fields) if self.rule.missing else fields

    def _parser(self) -> Callable[[str], Any]:
        rule = self.rule
        match rule.family:
            case "boolean":
                return lambda text: _BOOLEANS.get(text.lower())
            case "decimal" | "money":
                return self._decimal
            case family:
                assert family is not None and rule.kind is not None
                return parser(family, rule.format, None if rule.kind.zone is None else zone_of(rule.kind.zone))

    def _decimal(self, text: str) -> Decimal | None:
        """A decimal, rounded to the scale; None if it has too many digits."""
        if len(text) > _LONGEST:
            return None
        match = (self._money if self.rule.family == "money" else self._plain).fullmatch(text)
        if match is None or not (match["whole"] or match["part"]):
            return None
        sign = match["sign"] or match.groupdict().get("inner")
        if (is_open := match.groupdict().get("open")) and (sign or not match["close"]):
            return None
        if not is_open and match.groupdict().get("close"):
            return None
        whole = re.sub("[^0-9]", "", match["whole"] or "0")
        negative = "-" if sign in ("-", "\u2212") or is_open else ""
        kind = self.rule.kind
        assert kind is not None
        context = Context(prec=kind.precision, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
        try:
            number = Decimal(f"{negative}{whole or 0}.{match['part'] or 0}{match.groupdict().get('exponent') or ''}")
            fitting = number.quantize(Decimal(1).scaleb(-kind.scale), context=context)
            return fitting if fitting else abs(fitting)  # never -0
        except ArithmeticError:
            return None

    @property
    def _plain(self) -> "re.Pattern[str]":
        separator = None if self.numbers.thousands is None else re.escape(self.numbers.thousands)
        return _compiled(re.escape(self.numbers.decimal), separator, False)

    @property
    def _money(self) -> "re.Pattern[str]":
        point = self.numbers.decimal
        separator = f"[{_SEPARATORS}{',' if point == '.' else '.'}]"
        if self.numbers.thousands is not None:
            separator = re.escape(self.numbers.thousands)
        return _compiled(re.escape(point), separator, True)


def _compiled(point: str, separator: str | None, money: bool) -> "re.Pattern[str]":
    grouped = "" if separator is None else rf"|[0-9]{{1,3}}(?P<sep>{separator})[0-9]{{3}}(?:(?P=sep)[0-9]{{3}})*"
    number = rf"(?P<whole>[0-9]+{grouped})?(?:{point}(?P<part>[0-9]*))?"
    if not money:
        return re.compile(rf"(?P<sign>[+-])?{number}(?P<exponent>[eE][+-]?[0-9]{{1,6}})?")
    dash, gap = "[+\u2212-]", r"\s*+"  # possessive, or many spaces in one field would take minutes
    return re.compile(
        rf"(?P<open>\()?{gap}(?P<sign>{dash})?{gap}{_CURRENCY}?{gap}(?P<inner>{dash})?{gap}{number}"
        rf"{gap}{_CURRENCY}?{gap}(?P<close>\))?"
    )
