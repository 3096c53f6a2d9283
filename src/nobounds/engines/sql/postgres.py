"""PostgreSQL by psycopg, 3 or 2: its types as Arrow types, and its rows, read in batches from a server-side cursor.

The types of columns are public. The expressions sent to the server depend on them: each value arrives exactly, whatever
the session's settings, and no value can make the reading fail. Records arrive as the bytes of a float8, keys that are
dates as numbers of days, and decimals as text. As a key, a date or time that Python cannot represent, like infinity, is
missing; as a record, it is the first or the last.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Context, Decimal
from operator import itemgetter
from secrets import token_hex
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.engines.column import CHUNK
from nobounds.engines.keys import plain, text_of
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import arrow_floats
from nobounds.engines.sql.duck import quoted
from nobounds.engines.sql.text import around, counted, hiding_driver_errors, no_rows, refuse_repeated
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.units import decimal_kind, zoned_kind
from nobounds.kinds.kind import BOOLEAN, DATE, DATETIME, DURATION, MOST_DIGITS, TIME, Kind
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

_BOOL, _INTEGERS, _FLOATS, _NUMERIC = 16, {20, 21, 23}, {700, 701}, 1700
_TEXTS = {18, 19, 25, 1042, 1043}  # "char", name, text, char(n), varchar(n)
_DATE, _TIMESTAMP, _TIMESTAMPTZ, _TIME, _INTERVAL = 1082, 1114, 1184, 1083, 1186
# The name of a type, and whether its text is made by a function of somebody's own, which may fail on a record.
_TYPE = """
    select format_type({0}, null), exists (
        select from pg_catalog.pg_cast where castsource = {0} and casttarget = 25 and castfunc >= 16384
    )
"""
_MOST_DIGITS = 38  # of an Arrow decimal

_DAYS = "case when {0} between '0001-01-01' and '9999-12-31' then {0} - date '1970-01-01' end"
_MICROSECONDS = (
    "case when {0} between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00' "
    "then (extract(epoch from {0}) * 1000000)::bigint end"
)
# Of records: whole numbers that fit into 64 bits, whatever the record. `least` and `greatest` pass over nulls.
_RECORD_DAYS = "case when {0} is not null then least(greatest({0}, '0001-01-01'), '9999-12-31') - date '1970-01-01' end"
_RECORD_MOMENTS = (
    "case when {0} is not null then (extract(epoch from "
    "least(greatest({0}, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00')) * 1000000)::bigint end"
)
_RECORD_SPANS = (
    "case when {0} is not null then "
    "(least(greatest(extract(epoch from {0})::numeric, -9e12), 9e12) * 1000000)::bigint end"
)
# The float8 nearest to a numeric of any size: a cast fails beyond the largest float, and where it would give 0.
_NEAREST = (
    "case when {{0}} = 'NaN' then 'NaN'::float8 when {{0}} >= {most} then 'Infinity'::float8 "
    "when {{0}} <= -{most} then '-Infinity'::float8 when {{0}} between -{least} and {least} then 0::float8 "
    "else {{0}}::float8 end"
).format(most=(1 << 1024) - (1 << 970), least=f"{Context(prec=2000).power(Decimal(2), -1075):f}")
# Whole microseconds as seconds, like `units.seconds`: quotients are cut off, remainders have the sign of the number.
_SECONDS = "(({0}) / 1000000)::float8 + (({0}) % 1000000)::float8 / 1000000"


@dataclass(frozen=True, slots=True)
class Field:
    """A column: the family of its type, its Arrow type as a key or None, and the SQL expression that reads it.

    It is numeric if it has facts. `each` converts an element from the driver to the Arrow type. `number` is the record
    as a float8, by the rule of `column`, null or NaN if it is missing; no record makes it fail.
    """

    name: str
    family: str
    kind: Any
    expression: str
    facts: Facts | None = None
    each: Callable[[Any], Any] | None = None
    number: str | None = None

    @property
    def key(self) -> str:
        """The expression of keys, equal only for equal keys: under a collation, different texts may be equal."""
        return f'({self.expression}) collate "C"' if self.each in {_text, _shortest} else self.expression

    @property
    def is_text(self) -> bool:
        """Whether keys are texts as they are stored."""
        return self.each is _text and self.facts is None

    def array(self, elements: Sequence[Any]) -> Any:
        """The column as an Arrow array."""
        each = self.each
        converted = elements if each is None else [None if element is None else each(element) for element in elements]
        return import_pyarrow().array(converted, type=self.kind)

    @property
    def in_arrow(self) -> str:
        """The expression of keys for a driver that hands over Arrow arrays."""
        return str(self.number) if self.each is _unpacked else self.expression

    def from_arrow(self, column: Any) -> Any:
        """Such an array in the type of the column."""
        return self.array(column.to_pylist()) if self.each in {_decimal, _shortest} else column.cast(self.kind)

    @property
    def packed(self) -> str:
        """The record as the 8 bytes of a float8, which every driver hands over as they are."""
        return f"float8send(coalesce({self.number}, 'NaN'))"


def from_postgres(connection: Any, query: str) -> TableStream:
    """The TableStream of a query by a psycopg connection, in autocommit or not; an open transaction stays open."""
    fields = {field.name: field for field in fields_of(connection, query)}

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        wanted = [*(fields[name].expression for name in keys), *(fields[name].packed for name in values)]
        selected = around(query, ", ".join(wanted) or "1")
        with hiding_driver_errors():
            for rows in rows_of(connection, selected):
                columns = [list(map(itemgetter(place), rows)) for place in range(len(keys) + len(values))]
                yield _batch(fields, keys, values, columns)

    def rows() -> int:
        with hiding_driver_errors(), _transaction(connection), closing(_cursor(connection)) as cursor:
            cursor.execute(counted(query))
            return int(cursor.fetchone()[0])

    facts = {name: field.facts for name, field in fields.items() if field.facts is not None}
    others = {name: field.family for name, field in fields.items() if field.facts is None}
    kinds = {name: field.kind for name, field in fields.items() if field.kind is not None}
    return TableStream(facts, others, kinds, batches, rows)


def fetched(connection: Any, query: str) -> list[Any]:
    """The few rows of a query to the catalogue."""
    with hiding_driver_errors(), _transaction(connection), closing(_cursor(connection)) as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def _batch(fields: dict[str, Field], keys: list[str], values: list[str], columns: list[Any]) -> Any:
    """A batch of the columns of keys, and of those of records behind them."""
    pa = import_pyarrow()
    arrays = [plain(fields[name].array(column)) for name, column in zip(keys, columns, strict=False)]
    arrays += [arrow_floats(unpacked(column), pa) for _, column in zip(values, columns[len(keys) :], strict=False)]
    return pa.record_batch(arrays, names=[*keys, *values])


def fields_of(connection: Any, query: str) -> list[Field]:
    """The columns of a query."""
    with hiding_driver_errors(), _transaction(connection), closing(_cursor(connection)) as cursor:
        # psycopg 3 prepares what it runs often, and that would fail when somebody has changed the columns of the table.
        cursor.execute(no_rows(query), **({"prepare": False} if is_3(connection) else {}))
        columns = list(cursor.description)
        families, foreign = {}, set()
        for oid in {int(column[1]) for column in columns}:
            cursor.execute(_TYPE.format(oid))
            family, is_foreign = cursor.fetchone()
            families[oid] = f"PostgreSQL type {family}"
            foreign |= {oid} if is_foreign else set()
        cursor.execute("show timezone")
        zone = zoned_kind(str(cursor.fetchone()[0]))
    refuse_repeated([column[0] for column in columns])
    fields = [_field(column, families[int(column[1])], is_3(connection), zone) for column in columns]
    return [
        replace(each, kind=None) if int(own[1]) in foreign else each for each, own in zip(fields, columns, strict=True)
    ]


def _field(column: Any, family: str, binary: bool, zoned: Kind) -> Field:
    pa = import_pyarrow()
    name, oid = str(column[0]), int(column[1])
    sql = quoted(name)
    if oid == _BOOL:
        return Field(name, family, pa.bool_(), sql, Facts.of(BOOLEAN), number=f"{sql}::int::float8")
    if oid in _INTEGERS:
        return Field(name, family, pa.int64(), sql, Facts(True, True), number=f"{sql}::float8")
    if oid in _FLOATS:
        # The text of a float may parse to another float8, in particular that of a float4.
        facts, expression = Facts(False, True), f"{sql}::float8"
        if binary:
            return Field(name, family, pa.float64(), expression, facts, number=expression)
        return Field(name, family, pa.float64(), f"float8send({expression})", facts, _unpacked, number=expression)
    if oid == _NUMERIC:
        digits, scale = column[4], column[5]
        facts, expression = Facts(False, True), f"{sql}::text"
        if digits is not None and max(digits - min(scale, 0), scale) <= MOST_DIGITS:
            facts = Facts.of(decimal_kind(digits, scale))
        if digits is not None and 0 <= scale <= digits <= _MOST_DIGITS:
            kind, number = pa.decimal128(digits, scale), f"{sql}::float8"  # far from where that would fail
            return Field(name, family, kind, expression, facts, _decimal, number=number)
        return Field(name, family, pa.large_string(), expression, facts, _shortest, number=_NEAREST.format(sql))
    if oid == _DATE:
        number = f"({_RECORD_DAYS.format(sql)})::float8"
        return Field(name, family, pa.date32(), _DAYS.format(sql), Facts.of(DATE), number=number)
    if oid in {_TIMESTAMP, _TIMESTAMPTZ}:
        kind = pa.timestamp("us", "UTC" if oid == _TIMESTAMPTZ else None)
        facts = Facts.of(zoned if oid == _TIMESTAMPTZ else DATETIME)
        number = _SECONDS.format(_RECORD_MOMENTS.format(sql))
        return Field(name, family, kind, _MICROSECONDS.format(sql), facts, number=number)
    if oid in {_TIME, _INTERVAL}:
        facts = Facts.of(TIME if oid == _TIME else DURATION)
        number = _SECONDS.format(_RECORD_SPANS.format(sql))
        return Field(name, family, pa.large_string(), f"{sql}::text", facts, _text, number)
    return Field(name, "text" if oid in _TEXTS else family, pa.large_string(), f"{sql}::text", None, _text)


def rows_of(connection: Any, query: str) -> Iterator[list[Any]]:
    """The rows of a query, CHUNK at a time, from a server-side cursor: they are never all in memory."""
    with _transaction(connection), closing(_cursor(connection, f"nobounds_{token_hex(8)}")) as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(CHUNK):
            yield rows


def _cursor(connection: Any, name: str | None = None) -> Any:
    """A cursor whose rows are tuples; server-side if it has a name."""
    if is_3(connection):
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
    if is_3(connection):
        with connection.transaction():
            yield
        return
    idle = not connection.autocommit and connection.info.transaction_status == 0
    try:
        yield
    finally:
        if idle:
            connection.rollback()


def is_3(connection: Any) -> bool:
    """Whether a connection is one of psycopg 3."""
    return hasattr(connection, "transaction")


def unpacked(packed: Iterable[Any]) -> Floats:
    """The floats of records as `Field.packed` sends them."""
    return np.frombuffer(b"".join(map(bytes, packed)), dtype=">f8").astype(np.float64)


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
