"""A stored table of SQLite or MariaDB as a TableStream, by an Engine or a Connection of SQLAlchemy.

Rows are fetched, and no pass runs in these databases: exactness was not shown. SQLite runs in this process anyway, and
a sum of its integers fails where it overflows, which depends on the data.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import arrow_floats
from nobounds.engines.moment import ensure, held
from nobounds.engines.sql.alchemy.fields import Field, mariadb_field, sqlite_field
from nobounds.engines.sql.alchemy.session import Session, turn_of
from nobounds.engines.sql.text import backticked, hiding_driver_errors
from nobounds.engines.streams.held import Held
from nobounds.engines.streams.stream import TableStream
from nobounds.ladders.facts import Facts

_COLUMNS = """
    select column_name, data_type, column_type like '%unsigned%', numeric_precision, numeric_scale
    from information_schema.columns
    where cast(table_schema as binary) = x'{schema}' and cast(table_name as binary) = x'{name}'
    order by ordinal_position
"""


def from_stored(source: Any, table: str, schema: str | None, name: str) -> TableStream | None:
    """The TableStream of a stored table; None if a column of it has no type.

    table: its name in SQL. Each release opens a connection of its own, unless the user has begun a transaction.
    """
    with hiding_driver_errors(), Session.at_once(source) as own:
        fields = _fields(own, schema, name)
    if fields is None:
        return None

    turn = turn_of(source)
    begin, wait = partial(Session, source), partial(_in_turn, turn)

    def session() -> Session:
        ensure(wait)
        return held(begin)

    def opened() -> Held:
        with hiding_driver_errors():
            own = session()
        return Held(replace(_stream(lambda: own, table, fields), turns=turn))

    return replace(_stream(session, table, fields), turns=turn, elsewhere=opened)


def _in_turn(turn: Any) -> Generator[None]:
    """The lock of a connection, until the release ends."""
    with turn:
        yield


def _stream(session: Callable[[], Session], table: str, fields: dict[str, Field]) -> TableStream:
    """The table in the transaction that `session` gives."""
    pa = import_pyarrow()

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        expressions = [fields[name].expression for name in (*keys, *values)]
        wanted = ", ".join(f"{each} as c{place}" for place, each in enumerate(expressions)) or "1"
        with hiding_driver_errors():
            own = session()
            with own.ending_on_errors():
                for rows in own.chunks(f"select {wanted} from {table}"):
                    yield pa.record_batch(arrays(keys, values, rows), names=[*keys, *values])

    def arrays(keys: list[str], values: list[str], rows: list[Any]) -> list[Any]:
        columns = [list(map(itemgetter(place), rows)) for place in range(len(keys) + len(values))]
        return [_key(fields[name], column) for name, column in zip(keys, columns, strict=False)] + [
            arrow_floats(_floats(fields[name], column), pa)
            for name, column in zip(values, columns[len(keys) :], strict=True)
        ]

    def rows() -> int:
        with hiding_driver_errors():
            return int(session().rows(f"select count(*) from {table}")[0][0])

    facts: dict[str, Facts] = {name: each.facts for name, each in fields.items() if each.facts is not None}
    others = {name: each.family for name, each in fields.items() if each.facts is None}
    kinds = {name: each.kind for name, each in fields.items() if each.kind is not None}
    return TableStream(facts, others, kinds, batches, rows)


def _key(field: Field, elements: list[Any]) -> Any:
    assert field.keys is not None, "a column of keys"
    return field.keys(elements)


def _floats(field: Field, elements: list[Any]) -> Any:
    assert field.floats is not None, "a column of numbers"
    return field.floats(elements)


def _fields(session: Session, schema: str | None, name: str) -> dict[str, Field] | None:
    """The columns of a table by its schema; no row is read."""
    if session.family == "mariadb":
        listing = session.rows(_COLUMNS.format(schema=str(schema).encode().hex(), name=name.encode().hex()))
        return {own: mariadb_field(own, kind, backticked(own), *more) for own, kind, *more in listing}
    from sqlalchemy import inspect

    columns = inspect(session.connection).get_columns(name, schema=schema)
    fields = {str(each["name"]): sqlite_field(str(each["name"]), each["type"]) for each in columns}
    known = {own: field for own, field in fields.items() if field is not None}
    return known if len(known) == len(fields) else None
