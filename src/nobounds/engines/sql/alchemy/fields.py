"""Columns by the types of their schema: which are numbers, their Arrow types as keys, and how a value is read.

The schema is public. What a value turns into follows from that value and the type of its column alone, and no value
makes the reading fail. SQLite stores any value in any column, whatever its type. A value in a column of numbers is read
as an element of a list is, so a text that is no number is missing. In a column of integers, what is no integer of 64
bits is missing, as a record and as a key. MariaDB has dates that no calendar has, such as 0000-00-00; they are missing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.engines.key_columns import key_array
from nobounds.engines.keys import plain, text_of
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.sql.duck import quoted
from nobounds.engines.sql.text import bare
from nobounds.engines.units import decimal_kind, seconds, zoned_kind
from nobounds.kinds.kind import DATE, DATETIME, MOST_DIGITS
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

_DAYS = (-719_162, 2_932_896)  # of the calendar: years 1 to 9999
_MICROSECONDS = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)
_EXACT = 2**53  # up to which floats are all integers
_MOST_DIGITS = 38  # of an Arrow decimal
_WHOLE = ("TINYINT", "SMALLINT", "MEDIUMINT", "INTEGER", "BIGINT", "YEAR", "INT", "BOOLEAN")
_FLOATS = ("FLOAT", "DOUBLE", "REAL", "DOUBLE_PRECISION")
_TEXTS = ("CHAR", "VARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "NCHAR", "NVARCHAR", "STRING")
_PLAIN = frozenset({int, float, type(None)})  # integers have 64 bits at most
_SINCE = "'1970-01-01'"


@dataclass(frozen=True, slots=True)
class Field:
    """A column: the family of its type, its Arrow type as a key (None if it cannot be one), and how it is read.

    expression: what is selected. keys, floats: the elements that arrive as an Arrow array, and as numbers.
    """

    name: str
    family: str
    expression: str
    kind: Any = None
    facts: Facts | None = None
    keys: Callable[[list[Any]], Any] | None = None
    floats: Callable[[list[Any]], Floats] | None = None


def sqlite_field(name: str, given: Any) -> Field | None:
    """A column of SQLite, by its type of SQLAlchemy; None if it has none, or one that says nothing about numbers."""
    pa, own = import_pyarrow(), bare(quoted(name))
    kind = str(getattr(given, "__visit_name__", type(given).__name__)).upper()
    if kind in _WHOLE:
        return Field(name, kind, own, pa.int64(), Facts(True, True), _integers, _integral)
    if kind in (*_FLOATS, "NUMERIC", "DECIMAL"):
        return Field(name, kind, own, pa.float64(), Facts(False, True), _floating, _numbers)
    if kind in (*_TEXTS, "DATE", "DATETIME", "TIME", "TIMESTAMP", "CLOB"):  # SQLite has no dates
        return Field(name, "text", own, pa.large_string(), None, key_array)
    return None


def mariadb_field(name: str, kind: str, quoted: str, unsigned: int, digits: int | None, scale: int | None) -> Field:
    """A column of MariaDB or MySQL, by its type in `information_schema.columns`."""
    pa, family, kind = import_pyarrow(), f"MariaDB type {kind.lower()}", kind.upper()
    if kind in _WHOLE:
        whole, facts = pa.uint64() if unsigned else pa.int64(), Facts(True, True, lower=0 if unsigned else None)
        return Field(name, family, f"{quoted} + 0", whole, facts, _as(whole), _numbers)
    if kind in _FLOATS:  # the text of a float, of 32 bits, is not its value
        return Field(
            name, family, f"cast({quoted} as double)", pa.float64(), Facts(False, True), _as(pa.float64()), _numbers
        )
    if kind in ("DECIMAL", "NUMERIC"):
        return _decimals(name, family, quoted, int(digits or 10), int(scale or 0))
    if kind == "DATE":
        days = f"datediff({quoted}, {_SINCE})"
        return Field(name, family, days, pa.date32(), Facts.of(DATE), _moments(pa.int32(), pa.date32(), _DAYS), _days)
    if kind in ("DATETIME", "TIMESTAMP"):
        zoned = kind == "TIMESTAMP"
        own = pa.timestamp("us", "UTC" if zoned else None)
        facts = Facts.of(zoned_kind("UTC") if zoned else DATETIME)
        moment = f"timestampdiff(microsecond, {_SINCE}, {quoted})"
        if zoned:  # stored in UTC, and shown in the zone of the session
            moment = f"case when {quoted} > 0 then cast(unix_timestamp({quoted}) * 1000000 as signed) end"
        return Field(name, family, moment, own, facts, _moments(pa.int64(), own, _MICROSECONDS), _seconds)
    if kind in _TEXTS:  # whatever the character set of the session
        text = f"cast(convert({quoted} using utf8mb4) as binary)"
        return Field(name, "text", text, pa.large_string(), None, _texts)
    return Field(name, family, quoted)


def _decimals(name: str, family: str, quoted: str, digits: int, scale: int) -> Field:
    pa = import_pyarrow()
    facts = Facts.of(decimal_kind(digits, scale)) if max(digits, scale) <= MOST_DIGITS else Facts(False, True)
    if digits <= _MOST_DIGITS:
        kind = pa.decimal128(digits, scale)
        return Field(name, family, quoted, kind, facts, _as(kind), _numbers)
    texts = lambda elements: pa.array([None if each is None else f"{each:f}" for each in elements], pa.large_string())  # noqa: E731
    return Field(name, family, quoted, pa.large_string(), facts, texts, _numbers)


def _as(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda elements: plain(import_pyarrow().array(elements, type=kind))


def _floating(elements: list[Any]) -> Any:
    """Numbers as keys; others, which SQLite allows, are missing, and so are integers that no float may stand for."""
    known = [each if _is_float_key(each) else None for each in elements]
    return plain(import_pyarrow().array(known, type=import_pyarrow().float64()))


def _is_float_key(element: Any) -> bool:
    # Beyond 2**53 the nearest float of one integer is that of its neighbours: two keys would become one.
    return isinstance(element, float) or (isinstance(element, int) and abs(element) <= _EXACT)


def _whole_only(elements: list[Any]) -> list[Any]:
    """Integers of SQLite, which stores 3.0 and '3' as 3 in such a column; whatever else it allows is missing."""
    return [each if isinstance(each, int) else None for each in elements]


def _integers(elements: list[Any]) -> Any:
    return import_pyarrow().array(_whole_only(elements), type=import_pyarrow().int64())


def _integral(elements: list[Any]) -> Floats:
    return _numbers(_whole_only(elements))


def _texts(elements: list[Any]) -> Any:
    texts = [None if each is None else text_of(bytes(each)) for each in elements]
    return import_pyarrow().array(texts, type=import_pyarrow().large_string())


def _numbers(elements: list[Any]) -> Floats:
    if _PLAIN.issuperset(map(type, elements)):
        return np.array(elements, dtype=np.float64)  # None is NaN
    with np.errstate(all="ignore"):
        return np.fromiter(map(nearest_float, elements), dtype=np.float64, count=len(elements))


def _whole(elements: list[Any], ends: tuple[int, int]) -> Floats:
    """Whole numbers within the calendar, NaN where they are missing."""
    missing = np.array([each is None for each in elements], dtype=bool)
    whole = np.array([0 if each is None else each for each in elements], dtype=np.int64)
    clipped = np.clip(whole, *ends)
    floats = clipped.astype(np.float64) if ends == _DAYS else seconds(clipped, "us")
    floats[missing] = np.nan
    return floats


def _days(elements: list[Any]) -> Floats:
    return _whole(elements, _DAYS)


def _seconds(elements: list[Any]) -> Floats:
    return _whole(elements, _MICROSECONDS)


def _moments(whole: Any, kind: Any, ends: tuple[int, int]) -> Callable[[list[Any]], Any]:
    """Days or microseconds as dates; those that Python cannot represent are missing."""

    def keys(elements: list[Any]) -> Any:
        inside = [each if each is not None and ends[0] <= each <= ends[1] else None for each in elements]
        return plain(import_pyarrow().array(inside, type=whole).cast(kind))

    return keys
