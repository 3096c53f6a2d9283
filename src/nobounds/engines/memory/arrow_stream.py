"""Tables offered as streams of Arrow batches to a Stream: the schema is public, and batches are read later."""

from collections.abc import Iterator
from typing import Any

from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.refusals import query_failed, raise_alone, replacing_errors
from nobounds.engines.sql.duck import floated, schema_facts
from nobounds.engines.streams.stream import TableStream


def from_arrow_stream(data: Any) -> TableStream:
    """The Stream of an object of Arrow's C stream interface; a reader of pyarrow can be read only once."""
    pa = import_pyarrow()
    once = [data] if isinstance(data, pa.RecordBatchReader) else None
    with replacing_errors(query_failed):  # a stream may be a query
        schema = data.schema if once else pa.RecordBatchReader.from_stream(data).schema
    facts, others, kinds = schema_facts(schema)

    def reader() -> Any:
        if once is None:
            with replacing_errors(query_failed):
                return pa.RecordBatchReader.from_stream(data)
        try:
            return once.pop()  # of two threads one gets it
        except IndexError:
            again = "the reader was read before, and can be read once; make a table first: reader.read_all()"
            raise_alone(ValueError(again))

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        return map(_copied, floated(reader(), schema, keys, values))

    def rows() -> int:
        batches = reader()
        with replacing_errors(query_failed):
            return sum(len(batch) for batch in batches)

    return TableStream(facts, others, kinds, batches, rows, query=True)  # the stream may be that of a query


def _copied(batch: Any) -> Any:
    """A batch in memory of its own: the maker of a stream may fill the same memory again for the next batch."""
    pa = import_pyarrow()
    columns = [pa.concat_arrays([column, column.slice(0, 0)]) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
