"""Files whose types are declared by a schema alone: batches of texts become a TableStream of typed columns."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.schemas.schema import Schema
from nobounds.engines.sql.duck import schema_facts
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream


def require_types(schema: Schema, path: Path, what: str) -> None:
    """ValueError if a schema does not declare the columns of a file that has no types of its own."""
    if not schema.columns:
        raise ValueError(
            f"{what} have no types of their own, so {path.name} needs a schema: "
            "schema={'age': 'integer', 'name': 'text'}, or --type age=integer --type name=text, or --schema FILE"
        )
    for name, rule in schema.columns.items():
        if rule.type is None:
            raise ValueError(f"column {name!r} of the schema needs a type: {what} have none of their own")


def declared_stream(
    schema: Schema, read: Callable[[list[str]], Iterator[Any]], rows: Callable[[], int], share: Share
) -> TableStream:
    """The TableStream of declared columns; `read` starts a pass over some of them, in batches of their Arrow types."""
    pa = import_pyarrow()
    facts, others, kinds = schema_facts(pa.schema([(name, rule.arrow) for name, rule in schema.columns.items()]))

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        for batch in read(list(dict.fromkeys([*keys, *values])) or list(schema.columns)[:1]):
            parts = [plain(batch.column(name)) for name in keys]
            floats = [pa.array(to_floats(batch.column(name))) for name in values]
            yield pa.record_batch([*parts, *floats], names=[*keys, *values])

    return TableStream(facts, others, kinds, batches, rows, share=share)
