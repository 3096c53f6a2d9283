"""Arrow and Feather files, of the file and the stream format of Arrow's IPC: their types are those of their schema."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nobounds.engines.column import Column, windows
from nobounds.engines.files.formats import readable
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.sql.duck import schema_facts
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream

_FILE = b"ARROW1"  # the first bytes of the file format


def arrow_schema(path: Path) -> Any:
    """The Arrow schema of a file."""
    with readable(path), _opened(path) as reader:
        return reader.schema


def from_arrow_files(paths: list[Path]) -> TableStream:
    """The TableStream of Arrow files that all have the columns and types of the first."""
    pa, schema = import_pyarrow(), arrow_schema(paths[0])
    if not schema.names:
        raise ValueError(f"a table has at least one column, got none in {paths[0].name}")
    for path in paths[1:]:
        other = arrow_schema(path)
        if (other.names, other.types) != (schema.names, schema.types):
            raise ValueError(f"the files must have the same columns of the same types, got others in {path.name}")
    facts, others, kinds = schema_facts(schema)
    share = Share(sum(path.stat().st_size for path in paths))

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        for batch in _slices(paths, [*keys, *values], share):
            parts = [plain(batch.column(name)) for name in keys]
            floats = [pa.array(to_floats(batch.column(name))) for name in values]
            yield pa.record_batch([*parts, *floats], names=[*keys, *values])

    def rows() -> int:
        return sum(len(batch) for batch in _slices(paths, [], share))

    def again(names: list[str]) -> dict[str, Column]:
        def column(name: str) -> Column:
            def chunks() -> Iterator[Any]:
                return (to_floats(batch.column(name)) for batch in _slices(paths, [name], share))

            return Column(facts[name], chunks, rows=rows)

        return {name: column(name) for name in names}

    return TableStream(facts, others, kinds, batches, rows, again, share=share)


def _slices(paths: list[Path], names: list[str], share: Share) -> Iterator[Any]:
    """The rows of all files in short batches with these columns, or with the first one if there are none."""
    done = 0
    for path in paths:
        with readable(path), _opened(path, names) as reader:
            size, number = path.stat().st_size, getattr(reader, "num_record_batches", 0)
            for k, batch in enumerate(_read(reader)):
                batch.validate()
                for window in windows(len(batch)):
                    yield batch.slice(window.start, window.stop - window.start)
                share.at(done + (size * (k + 1) // number if number else 0))
        done += size
        share.at(done)


def _read(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(k) for k in range(reader.num_record_batches))
    return iter(reader)


@contextmanager
def _opened(path: Path, names: list[str] | None = None) -> Iterator[Any]:
    """A reader of a file, of its columns `names` alone if they are given; buffers are read when they are needed."""
    pa = import_pyarrow()
    from pyarrow import ipc

    with pa.memory_map(str(path.absolute())) if path.stat().st_size else pa.BufferReader(b"") as source:
        start = source.read(len(_FILE))
        source.seek(0)
        opened = ipc.open_file if start == _FILE else ipc.open_stream
        with opened(source) as reader:
            if names is None:
                yield reader
                return
            places = sorted({reader.schema.get_field_index(name) for name in names} or {0})
        source.seek(0)
        with opened(source, options=ipc.IpcReadOptions(included_fields=places, use_threads=False)) as reader:
            yield reader
