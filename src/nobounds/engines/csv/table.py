"""CSV files with the same columns as a TableStream: names from the header, types from the schema, records read once.

The first pass copies the fields of the columns into a nameless temporary file, and later passes and statistics read
that copy. If the disk is full, each pass reads the files again.
"""

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from nobounds.engines.csv.dialect import Csv
from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.csv.layout import Layout, layout_of
from nobounds.engines.csv.records import Form, blocks
from nobounds.engines.files.formats import readable
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import arrow_floats
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.schema import Schema, SchemaLike
from nobounds.engines.schemas.texts import TypedReader
from nobounds.engines.sql.duck import schema_facts
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_KEPT = 256  # columns: later ones are read again each time, unless `only` names them
_UNDECLARED = ColumnRule()
_ALIGNED = 64  # bytes: the alignment of Arrow's buffers


@dataclass(slots=True)
class CsvFiles:
    """CSV files with the same columns. Their fields are read as text, and kept for later passes."""

    paths: list[Path]
    csv: Csv
    schema: Schema
    layouts: list[Layout]
    kept_names: list[str] = field(repr=False)
    share: Share
    _copy: "_Copy | None" = field(default=None, repr=False)
    _has_room: bool = True

    @classmethod
    def of(
        cls, paths: list[Path], csv: Csv | None, schema: SchemaLike | None, only: Iterable[str] | None = None
    ) -> "CsvFiles":
        """Open the files and read their header lines; `only` names the columns that will be read."""
        stated = Schema.of(schema)
        dialect = stated.with_csv(csv) or Csv()
        layouts = [layout_of(path, dialect, stated.columns) for path in paths]
        names = layouts[0].names
        for path, layout in zip(paths, layouts, strict=True):
            if layout.names != names:
                raise ValueError(f"the files must have the same columns, got others in {path.name}")
        if len(set(names)) < len(names):
            raise ValueError("a column appears more than once in the files; rename it")
        for name in stated.columns:
            if name not in names:
                raise ValueError(f"column {name!r} of the schema is not in the header of {paths[0].name}")
        wanted = set(names[:_MOST_KEPT] if only is None else only)
        kept = [name for name in names if name in wanted] or list(names[:1])
        return cls(paths, dialect, stated, layouts, kept, Share(sum(path.stat().st_size for path in paths)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.layouts[0].names

    def stream(self) -> TableStream:
        """The files as a TableStream."""
        pa = import_pyarrow()
        typed = pa.schema([(name, self._rule(name).arrow) for name in self.names if self._rule(name).type is not None])
        known, others, _ = schema_facts(typed)
        undeclared = Facts(integral=False, nullable=True, declared=False, texts=True)
        facts = {name: known.get(name, undeclared) for name in self.names if name not in others}
        kinds = {name: self._rule(name).arrow for name in self.names}
        all_typed = bool(self.names) and len(typed) == len(self.names)
        return TableStream(facts, others, kinds, self.batches, self.rows, typed=all_typed, share=self.share)

    def batches(self, keys: list[str], values: list[str]) -> Iterator[Any]:
        """Batches with the columns `keys` in their types, and `values` as float64 with NaN for missing records."""
        pa = import_pyarrow()
        readers = {name: TypedReader.of(self._rule(name), FieldReader.of(self.csv)) for name in (*keys, *values)}
        for batch in self._fields([*keys, *values]):
            parts = [plain(readers[name].values(batch.column(name))) for name in keys]
            parts += [arrow_floats(readers[name].floats(batch.column(name)), pa) for name in values]
            yield pa.record_batch(parts, names=[*keys, *values])

    def arrow(self) -> "ArrowFields":
        """The files as Arrow batches, for DuckDB: columns in their declared types, the others as text."""
        return ArrowFields(self)

    def rows(self) -> int:
        """The number of records."""
        return sum(len(batch) for batch in self._fields(self.kept_names[:1]))

    def _rule(self, name: str) -> ColumnRule:
        return self.schema.columns.get(name, _UNDECLARED)

    def _fields(self, names: list[str]) -> Iterator[Any]:
        """Batches with the text of some columns' fields; null if empty or standing for a missing value."""
        wanted = list(dict.fromkeys(names)) or self.kept_names[:1]
        if not set(wanted) <= set(self.kept_names):
            return self._read(wanted)
        if self._copy is not None:
            return self._copy.batches(wanted)
        return self._read_and_keep(wanted) if self._has_room else self._read(wanted)

    def _read_and_keep(self, names: list[str]) -> Iterator[Any]:
        """One pass that stores a copy if it is completed. Of two passes at once, one copy is kept."""
        writer = _Writer(self.kept_names)
        try:
            for batch in self._read(self.kept_names):
                writer.add(batch)
                yield batch.select(names)
            self._copy = writer.copy()
            self._has_room = self._copy is not None
        finally:
            writer.close()

    def _read(self, names: list[str]) -> Iterator[Any]:
        """One pass over the files."""
        done = 0
        for path, layout in zip(self.paths, self.layouts, strict=True):
            with readable(path):
                text = layout.pieces(path, self.csv, partial(self._read_up_to, done))
                places = {name: layout.names.index(name) for name in names}
                for block in blocks(text, layout.form):
                    yield parsed(block, layout.form, places, self.csv.missing)
            done += path.stat().st_size
            self.share.at(done)

    def _read_up_to(self, done: int, place: int) -> None:
        self.share.at(done + place)


@dataclass(frozen=True, slots=True)
class ArrowFields:
    """The columns of CSV files through Arrow's C interface; each stream reads them again."""

    files: CsvFiles

    def __arrow_c_schema__(self) -> Any:
        """The declared types."""
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """One pass."""
        batches = self.files.batches(list(self.files.names), [])
        reader = import_pyarrow().RecordBatchReader.from_batches(self._schema, batches)
        return reader.__arrow_c_stream__(requested_schema)

    @property
    def _schema(self) -> Any:
        stream = self.files.stream()
        return import_pyarrow().schema([(name, stream.kinds[name]) for name in self.files.names])


def parsed(block: bytes, form: Form, places: dict[str, int], missing: tuple[str, ...]) -> Any:
    """The fields of a block of whole records, as a batch of texts; `places` are the positions of the wanted columns."""
    pa = import_pyarrow()
    try:
        return _parsed(block, form, places, missing)
    except pa.ArrowInvalid:  # a record with a different number of fields
        return _parsed(form.repaired(block), form, places, missing)


def _parsed(block: bytes, form: Form, places: dict[str, int], missing: tuple[str, ...]) -> Any:
    pa = import_pyarrow()
    import pyarrow.csv as pc

    if not block:
        return pa.record_batch([pa.array([], pa.string()) for _ in places], names=list(places))
    if block.startswith(_BYTE_ORDER_MARK):  # Arrow removes one at the start of its input
        block = _BYTE_ORDER_MARK + block
    columns = [str(place) for place in range(form.width)]
    wanted = [str(place) for place in places.values()]
    table = pc.read_csv(
        pa.BufferReader(block),
        read_options=pc.ReadOptions(use_threads=False, column_names=columns, block_size=len(block) + 1),
        parse_options=pc.ParseOptions(
            delimiter=form.delimiter.decode(),
            quote_char=form.quote.decode() if form.quote is not None else False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=form.newlines_in_fields,
            ignore_empty_lines=False,
        ),
        convert_options=pc.ConvertOptions(
            check_utf8=False,  # already checked
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=wanted,
            null_values=["", *missing],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    return table.rename_columns(list(places)).combine_chunks().to_batches(max_chunksize=None)[0]


class _Writer:
    """Writes batches one after the other into a nameless file, as long as the disk has room."""

    def __init__(self, names: list[str]) -> None:
        pa = import_pyarrow()
        self._schema = pa.schema([(name, pa.string()) for name in names])
        self._places: list[tuple[int, int]] = []
        self._file: Any = None
        with suppress(OSError):
            self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def add(self, batch: Any) -> None:
        """Append a batch."""
        if self._file is not None:
            try:
                start = self._file.tell()
                self._file.write(batch.serialize())
                self._places.append((start, self._file.tell() - start))
                self._file.write(bytes(-self._file.tell() % _ALIGNED))
            except OSError:
                self.close()

    def copy(self) -> "_Copy | None":
        """All batches; None if the disk was full."""
        if self._file is None:
            return None
        with suppress(OSError):
            self._file.flush()
            data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if self._places else b""
            return _Copy(self._schema, import_pyarrow().py_buffer(data), self._places)
        return None

    def close(self) -> None:
        """Close the file; an existing copy stays valid, since its memory map keeps the file."""
        if self._file is not None:
            with suppress(OSError):  # the disk may be too full to flush the buffer
                self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class _Copy:
    """Batches in a memory-mapped file: any number of threads and processes may read them at once."""

    schema: Any
    data: Any
    places: list[tuple[int, int]]

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Some columns of each batch."""
        from pyarrow import ipc

        for start, length in self.places:
            yield ipc.read_record_batch(self.data.slice(start, length), self.schema).select(names)
