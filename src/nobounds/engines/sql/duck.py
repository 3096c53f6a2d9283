"""DuckDB: its relations as TableStreams, and the choice of a bounded number of rows per unit, on disk if needed."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any

from nobounds.engines.column import CHUNK
from nobounds.engines.key_columns import key_type
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import facts_of, import_pyarrow, to_floats
from nobounds.engines.memory.frames import arrow_family
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.source import Bounding
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.turns import turns
from nobounds.ladders.facts import Facts

FIRST = "nobounds_first"
"""The column that is 1 in one row of each unit in each group, and 0 in the others."""


def from_relation(relation: Any) -> TableStream:
    """The TableStream of a DuckDB relation. A relation is a query and runs each time the table is read."""
    schema = _run(lambda: relation.limit(0).to_arrow_table().schema)
    facts, others, kinds = schema_facts(schema)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        chosen = ", ".join(map(quoted, dict.fromkeys([*keys, *values]))) or "1"
        return floated(_run(lambda: relation.project(chosen).to_arrow_reader(CHUNK)), schema, keys, values)

    def rows() -> int:
        return int(_run(lambda: relation.count("*").fetchall()[0][0]))

    return TableStream(facts, others, kinds, batches, rows, query=True, turns=turns())


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


def bounded(batches: Iterator[Any], keys: list[str], values: list[str], bounding: Bounding) -> Iterator[Any]:
    """At most `bounding.rows` rows of each unit in at most `bounding.groups` groups; columns keys, values and FIRST.

    A unit keeps the groups with the smallest hashes of unit, keys and salt. Of its r rows in them, ordered by key and
    value, it keeps every (r / rows)-th from a hashed start on. The choice depends on the unit's rows alone, since rows
    with equal key and value are the same, and each row has the same probability. Rows without a unit or a key are left
    out, and so are rows with a missing value if there is one value column.
    """
    key, value = [f"k{i}" for i in range(len(keys))], [f"v{i}" for i in range(len(values))]
    names, salt = ["u", *key, *value], f"{bounding.salt}::UBIGINT"
    present = [f"{name} is not null" for name in ["u", *key]] + (["not isnan(v0)"] if len(values) == 1 else [])
    part = f"select * from stream where {' and '.join(present)}"
    if keys and bounding.groups < bounding.rows:
        # Hashed twice: DuckDB combines hashes by XOR, and some groups would come first more often than others.
        order = ", ".join([f"hash(hash(u, {', '.join(key)}, {salt}))", *key])
        part = f"select *, dense_rank() over (partition by u order by {order}) as g from ({part})"
        part = f"select * from ({part}) where g <= {bounding.groups}"
    within = f"partition by u order by {', '.join([*key, *value]) or 'u'}"
    part = f"select *, row_number() over ({within}) - 1 as j, count(*) over (partition by u) as r from ({part})"
    most = bounding.rows
    part = f"select * from ({part}) where (j * least({most}, r) + hash(hash(u, {salt})) % r) % r < {most}"
    ones = f"row_number() over (partition by {', '.join(['u', *key])} order by j) = 1"
    shown = ", ".join([f"({ones})::TINYINT as {FIRST}", *key, *value])
    for batch in _queried(batches, names, f"select {shown} from ({part})"):
        yield batch.rename_columns([FIRST, *keys, *values])


def unit_sizes(batches: Iterator[Any]) -> Iterator[Any]:
    """The number of rows of each unit, as batches of one column; `batches` have only the column of units."""
    yield from _queried(batches, ["u"], "select count(*)::DOUBLE from stream where u is not null group by u")


def unit_groups(batches: Iterator[Any], keys: int) -> Iterator[Any]:
    """The numbers of rows and of groups of each unit, two columns; `batches` have the columns of units and keys."""
    names = [f"k{k}" for k in range(keys)]
    present = " and ".join(f"{name} is not null" for name in names)
    groups = f"count(distinct row({', '.join(names)})) filter (where {present})"
    query = f"select count(*)::DOUBLE, ({groups})::DOUBLE from stream where u is not null group by u"
    yield from _queried(batches, ["u", *names], query)


def _queried(batches: Iterator[Any], names: list[str], query: str) -> Iterator[Any]:
    """The result of a query on the table `stream`, which holds these batches with the columns `names`.

    The batches are read in this thread, because some connections work in no other, and stored in DuckDB, which can
    move them to disk.
    """
    duckdb, pa = import_duckdb(), import_pyarrow()
    first = next(batches, None)
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
        for batch in chain([first], batches):
            table = pa.Table.from_batches([batch]).rename_columns(names)
            with _no_details():
                connection.register("batch", table)
                connection.execute(f"{into} select * from batch")
            into = "insert into stream"
        with _no_details():
            yield from connection.query(query).to_arrow_reader(CHUNK)


def _no_details() -> AbstractContextManager[None]:
    """Replace errors of DuckDB, and of Arrow while batches are read, which can quote a record."""
    failed = "the rows of each unit could not be chosen; is there memory, and room for temporary files?"
    return replacing_errors(lambda: ValueError(failed))


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def query_failed() -> ValueError:
    """The error for a failed query; without the reason, which may depend on the data."""
    return ValueError("the query failed; run it on its own to see why")


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
