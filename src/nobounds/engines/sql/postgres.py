"""PostgreSQL by psycopg, 3 or 2: its types as Arrow types, and its rows, read in batches from a server-side cursor.

The types of columns are public. The expressions sent to the server depend on them: each value arrives exactly, whatever
the session's settings, and no value can make the reading fail. Dates arrive as numbers of days, decimals as text. A
date or time that Python cannot represent, like infinity, is missing.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from secrets import token_hex
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.engines.column import CHUNK
from nobounds.engines.keys import plain, text_of
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.sql.duck import quoted
from nobounds.engines.sql.text import around, counted, hiding_driver_errors, no_rows, refuse_repeated
from nobounds.engines.streams.stream import TableStream
from nobounds.ladders.facts import Facts

_BOOL, _INTEGERS, _FLOATS, _NUMERIC = 16, {20, 21, 23}, {700, 701}, 1700
_TEXTS = {18, 19, 25, 1042, 1043}  # "char", name, text, char(n), varchar(n)
_DATE, _TIMESTAMP, _TIMESTAMPTZ = 1082, 1114, 1184
_MOST_DIGITS = 38  # of an Arrow decimal

_DAYS = "case when {0} between '0001-01-01' and '9999-12-31' then {0} - date '1970-01-01' end"
_MICROSECONDS = (
    "case when {0} between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00' "
    "then (extract(epoch from {0}) * 1000000)::bigint end"
)


@dataclass(frozen=True, slots=True)
class _Field:
    """A column: the family of its type, its Arrow type as a key, and the SQL expression that reads it.

    It is numeric if it has facts. `each` converts an element from the driver to the Arrow type.
    """

    name: str
    family: str
    kind: Any
    expression: str
    facts: Facts | None = None
    each: Callable[[Any], Any] | None = None

    def array(self, elements: Sequence[Any]) -> Any:
        """The column as an Arrow array."""
        each = self.each
        converted = elements if each is None else [None if element is None else each(element) for element in elements]
        return import_pyarrow().array(converted, type=self.kind)

    def floats(self, elements: Sequence[Any]) -> Floats:
        """The column as floats; decimals arrive as text."""
        if self.each in {None, _unpacked}:
            return to_floats(self.array(elements))
        return np.array([np.nan if text is None else float(text) for text in elements], dtype=np.float64)


def from_postgres(connection: Any, query: str) -> TableStream:
    """The TableStream of a query by a psycopg connection, in autocommit or not; an open transaction stays open."""
    fields = {field.name: field for field in _fields(connection, query)}

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        wanted = list(dict.fromkeys([*keys, *values]))
        selected = around(query, ", ".join(fields[name].expression for name in wanted) or "1")
        with hiding_driver_errors():
            for rows in _rows(connection, selected):
                columns = dict(zip(wanted, zip(*rows, strict=True), strict=False))
                yield _batch(fields, keys, values, columns)

    def rows() -> int:
        with hiding_driver_errors(), _transaction(connection), closing(_cursor(connection)) as cursor:
            cursor.execute(counted(query))
            return int(cursor.fetchone()[0])

    facts = {name: field.facts for name, field in fields.items() if field.facts is not None}
    others = {name: field.family for name, field in fields.items() if field.facts is None}
    return TableStream(facts, others, {name: field.kind for name, field in fields.items()}, batches, rows)


def _batch(fields: dict[str, _Field], keys: list[str], values: list[str], columns: dict[str, Any]) -> Any:
    pa = import_pyarrow()
    arrays = [plain(fields[name].array(columns[name])) for name in keys]
    arrays += [pa.array(fields[name].floats(columns[name])) for name in values]
    return pa.record_batch(arrays, names=[*keys, *values])


def _fields(connection: Any, query: str) -> list[_Field]:
    with hiding_driver_errors(), _transaction(connection), closing(_cursor(connection)) as cursor:
        cursor.execute(no_rows(query))
        columns = list(cursor.description)
        families = {}
        for oid in {int(column[1]) for column in columns}:
            cursor.execute(f"select format_type({oid}, null)")
            families[oid] = f"PostgreSQL type {cursor.fetchone()[0]}"
    refuse_repeated([column[0] for column in columns])
    return [_field(column, families[int(column[1])], _is_3(connection)) for column in columns]


def _field(column: Any, family: str, binary: bool) -> _Field:
    pa = import_pyarrow()
    name, oid = str(column[0]), int(column[1])
    sql = quoted(name)
    if oid == _BOOL:
        return _Field(name, family, pa.bool_(), sql, Facts(True, True, lower=0, upper=1))
    if oid in _INTEGERS:
        return _Field(name, family, pa.int64(), sql, Facts(True, True))
    if oid in _FLOATS:
        # The text of a float may parse to another float8, in particular that of a float4.
        facts, expression = Facts(False, True), f"{sql}::float8"
        if binary:
            return _Field(name, family, pa.float64(), expression, facts)
        return _Field(name, family, pa.float64(), f"float8send({expression})", facts, _unpacked)
    if oid == _NUMERIC:
        digits, scale = column[4], column[5]
        facts, expression = Facts(False, True), f"{sql}::text"
        if digits is not None and 0 <= scale <= digits <= _MOST_DIGITS:
            return _Field(name, family, pa.decimal128(digits, scale), expression, facts, _decimal)
        return _Field(name, family, pa.large_string(), expression, facts, _shortest)
    if oid == _DATE:
        return _Field(name, family, pa.date32(), _DAYS.format(sql))
    if oid in {_TIMESTAMP, _TIMESTAMPTZ}:
        kind = pa.timestamp("us", "UTC" if oid == _TIMESTAMPTZ else None)
        return _Field(name, family, kind, _MICROSECONDS.format(sql))
    return _Field(name, "text" if oid in _TEXTS else family, pa.large_string(), f"{sql}::text", None, _text)


def _rows(connection: Any, query: str) -> Iterator[list[Any]]:
    """The rows of a query, CHUNK at a time, from a server-side cursor: they are never all in memory."""
    with _transaction(connection), closing(_cursor(connection, f"nobounds_{token_hex(8)}")) as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(CHUNK):
            yield rows


def _cursor(connection: Any, name: str | None = None) -> Any:
    """A cursor whose rows are tuples; server-side if it has a name."""
    if _is_3(connection):
        from psycopg.rows import tuple_row

        if name is None:
            return connection.cursor(row_factory=tuple_row)
        return connection.cursor(name, binary=True, row_factory=tuple_row)
    from psycopg2.extensions import cursor

    # Without a transaction the server must keep the rows until they are fetched.
    holding = {} if name is None else {"withhold": connection.autocommit}
    return connection.cursor(name, cursor_factory=cursor, **holding)


@contextmanager
def _transaction(connection: Any) -> Iterator[None]:
    """A transaction around the block, unless one is already open."""
    if _is_3(connection):
        with connection.transaction():
            yield
        return
    idle = not connection.autocommit and connection.info.transaction_status == 0
    try:
        yield
    finally:
        if idle:
            connection.rollback()


def _is_3(connection: Any) -> bool:
    return hasattr(connection, "transaction")


def _unpacked(packed: Any) -> float:
    return float(struct.unpack(">d", packed)[0])


def _decimal(text: str) -> Decimal | None:
    number = Decimal(text)
    return number if number.is_finite() else None


def _shortest(text: str) -> str | None:
    """The shortest text, the same for equal decimals; None for NaN."""
    return None if text == "NaN" else text.rstrip("0").rstrip(".") if "." in text else text


def _text(element: str | bytes) -> str:
    """The element as text; drivers return bytes if the server has no encoding."""
    return element if isinstance(element, str) else text_of(bytes(element))
