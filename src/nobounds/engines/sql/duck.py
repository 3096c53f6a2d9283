"""DuckDB: its relations as TableStreams, and queries on streams of rows, on disk if needed."""

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from functools import partial
from itertools import chain
from typing import Any

from nobounds.engines.column import CHUNK
from nobounds.engines.key_columns import key_type
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import facts_of, import_pyarrow, to_floats
from nobounds.engines.memory.frames import arrow_family
from nobounds.engines.refusals import query_failed, replacing_errors
from nobounds.engines.sql.reading import of_duckdb, reading
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.turns import turns
from nobounds.ladders.facts import Facts


def from_relation(relation: Any, run: Callable[[str], Any] | None = None) -> TableStream:
    """The TableStream of a DuckDB relation. A relation is a query and runs each time the table is read.

    run: runs a statement on the connection of the relation. The relation can do that too, which takes longer.
    """
    turn = turns()
    with turn:
        schema = _run(lambda: relation.limit(0).to_arrow_table().schema)
    facts, others, kinds = schema_facts(schema)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        chosen = ", ".join(map(quoted, dict.fromkeys([*keys, *values]))) or "1"
        with closing(_run(lambda: relation.project(chosen).to_arrow_reader(CHUNK))) as reader:
            yield from floated(reader, schema, keys, values)

    def rows() -> int:
        return int(_run(lambda: relation.count("*").fetchall()[0][0]))

    stream = TableStream(facts, others, kinds, batches, rows, query=True, turns=turn)
    return reading(stream, partial(of_duckdb, run or partial(relation.query, "nobounds_relation")))


def schema_facts(schema: Any) -> tuple[dict[str, Facts], dict[str, str], dict[str, Any]]:
    """The numeric columns of an Arrow schema, the families of the others, and the types of all as keys."""
    facts: dict[str, Facts] = {}
    others: dict[str, str] = {}
    for field in schema:
        if field.name in facts or field.name in others:
            raise ValueError(f"column {field.name!r} appears more than once; give each column a name of its own")
        try:
            facts[field.name] = facts_of(field.type)
        except TypeError:
            others[field.name] = arrow_family(field.type)
    kinds = ((field.name, key_type(import_pyarrow().nulls(0, field.type))) for field in schema)
    return facts, others, {name: kind for name, kind in kinds if kind is not None}


def floated(reader: Any, schema: Any, keys: list[str], values: list[str]) -> Iterator[Any]:
    """The batches of a reader with `values` as float64; columns that are not of the types in `schema` are refused."""
    pa = import_pyarrow()
    kinds = [schema.field(name).type for name in (*keys, *values)]
    while True:
        with replacing_errors(query_failed):  # a query may fail on a record, and its error quotes it
            batch = next(reader, None)
            columns = [] if batch is None else [batch.column(name) for name in (*keys, *values)]
        if batch is None:
            return
        if [column.type for column in columns] != kinds:  # a reader may return other types than it declares
            raise query_failed()
        parts = [plain(column) for column in columns[: len(keys)]]
        floats = [pa.array(to_floats(column)) for column in columns[len(keys) :]]
        yield pa.record_batch([*parts, *floats], names=[*keys, *values])


def unit_sizes(batches: Iterator[Any]) -> Iterator[Any]:
    """The number of rows of each unit, as batches of one column; `batches` have only the column of units."""
    query = "select count(*)::DOUBLE from stream where u is not null group by u"
    yield from queried(_named(batches, ["u"]), lambda: query)


def unit_groups(batches: Iterator[Any], keys: int) -> Iterator[Any]:
    """The numbers of rows and of groups of each unit, two columns; `batches` have the columns of units and keys."""
    names = [f"k{k}" for k in range(keys)]
    present = " and ".join(f"{name} is not null" for name in names)
    groups = f"count(distinct row({', '.join(names)})) filter (where {present})"
    query = f"select count(*)::DOUBLE, ({groups})::DOUBLE from stream where u is not null group by u"
    yield from queried(_named(batches, ["u", *names]), lambda: query)


def _named(batches: Iterator[Any], names: list[str]) -> Iterator[Any]:
    return (import_pyarrow().Table.from_batches([batch]).rename_columns(names) for batch in batches)


def queried(tables: Iterator[Any], query: Callable[[], str], beside: Callable[[], Any] | None = None) -> Iterator[Any]:
    """The result of a query on the table `stream`, which holds these Arrow tables, and on a small table `beside`.

    The tables are read in this thread, because some connections work in no other, and stored in DuckDB, which can
    move them to disk. The query and the small table are requested when all of them are read.
    """
    duckdb = import_duckdb()
    first = next(tables, None)
    if first is None:
        return
    # DuckDB creates the folder only if it needs it, and removes it: a killed process leaves none that was not needed.
    folder = os.path.join(tempfile.gettempdir(), f"nobounds-{uuid.uuid4()}").replace("'", "''")
    with duckdb.connect() as connection:
        connection.execute(f"set temp_directory = '{folder}'; set preserve_insertion_order = false")
        connection.execute(
            "set temp_file_encryption = true"
        )  # with a key in memory only, in case the file is left behind
        into = "create table stream as"
        for table in chain([first], tables):
            with _no_details():
                connection.register("batch", table)
                connection.execute(f"{into} select * from batch")
            into = "insert into stream"
        if beside is not None:
            connection.register("beside", beside())
        with _no_details():
            yield from connection.query(query()).to_arrow_reader(CHUNK)


def _no_details() -> AbstractContextManager[None]:
    """Replace errors of DuckDB, and of Arrow while batches are read, which can quote a record."""
    failed = "the rows of each unit could not be chosen; is there memory, and room for temporary files?"
    return replacing_errors(lambda: ValueError(failed))


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def import_duckdb() -> Any:
    """The duckdb module, imported on demand; ImportError with the fix if it is not installed."""
    try:
        import duckdb
    except ImportError:
        raise ImportError("privacy units need DuckDB: pip install 'nobounds[all]'") from None
    return duckdb


def _run(query: Any) -> Any:
    with replacing_errors(query_failed):
        return query()
