"""Files as a TableStream: files of one format with the same columns, by path, list of paths or glob."""

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from nobounds.engines.column import CHUNK, Column
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.csv.table import CsvFiles
from nobounds.engines.files.columns import column_names, open_parquet, read_column
from nobounds.engines.files.formats import format_of, readable
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import facts_of, import_pyarrow, to_floats
from nobounds.engines.memory.frames import arrow_family
from nobounds.engines.schemas.known import check_stated
from nobounds.engines.schemas.schema import Schema, SchemaLike
from nobounds.engines.streams.share import Share
from nobounds.engines.streams.stream import TableStream
from nobounds.exact import printable, shown
from nobounds.ladders.facts import Facts

_LONG = 200  # characters of a name


def expand(given: object) -> list[Path]:
    """The files matched by paths and globs, in order and without repetition; ValueError if one matches none."""
    if isinstance(given, str | PathLike):
        given = [given]
    if not isinstance(given, list | tuple) or not all(isinstance(path, str | PathLike) for path in given):
        raise TypeError(
            "a list must be one of paths or globs, got a list of something else; "
            "pass a table, for example a dict of columns"
        )
    if not given:
        raise ValueError("a list of paths must name at least one file, got none")
    files: dict[tuple[int, int] | str, Path] = {}
    for path in map(fspath, given):
        matches = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))
        if not matches:
            raise ValueError(f"no file {'matches' if glob.has_magic(path) else 'is named'} {path}")
        if Path(path).is_dir():
            raise ValueError(f"{path} is a folder; name its files, for example {Path(path) / '*.csv'}")
        for match in map(Path, matches):
            files.setdefault(file_identity(match), match)
    return list(files.values())


def file_identity(path: Path) -> tuple[int, int] | str:
    """What all names of one file share, hard links and symbolic ones; of a link that leads nowhere its own path."""
    try:
        status = path.stat()
    except OSError:
        return os.path.realpath(path)  # does not fail on a loop of links
    # Some file systems of Windows number no files.
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)


def named_in(folder: str | PathLike[str], name: str) -> Path:
    """The file that a statement names, below the folder that its holder gives: no glob, and no address."""
    if not isinstance(folder, str | PathLike) or not Path(folder).is_dir():
        raise ValueError(f"folder must be one in which the files of a statement are, got {shown(folder)}")
    if "://" in name or "\0" in name:
        raise ValueError(f"{shown(name)} is an address, and a statement names files of its folder alone")
    path = Path(folder, name)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{shown(name)} is not in the folder of the statement")
    if not path.is_file():
        raise ValueError(f"no file is named {printable(name)}")
    return path


def name_of(given: object) -> str | None:
    """The name of the data in files: the last part of each path or glob as given, or None for other data.

    >>> name_of("visits/2024-*.csv"), name_of(["a.csv", "b.csv"]), name_of({"age": [1]})
    ('2024-*.csv', 'a.csv, b.csv', None)
    """
    paths = [given] if isinstance(given, str | PathLike) else given
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(each, str | PathLike) for each in paths):
        return None
    names = [printable(Path(fspath(path)).name) for path in paths]
    joined = ", ".join(names)
    return joined if len(joined) <= _LONG else f"{names[0][:_LONG]} and {len(names) - 1} more"


def from_paths(
    paths: list[Path],
    csv: Csv | None = None,
    schema: SchemaLike | None = None,
    only: Iterable[str] | None = None,
) -> TableStream:
    """The TableStream of files that all have the columns of the first, and where files have types the same types.

    `csv` is for CSV files. `only` names the columns that will be read, if known.
    """
    formats = {format_of(path) for path in paths}
    if len(formats) > 1:
        raise ValueError("the files must all be of one format, for example all CSV or all Parquet")
    kind, stated = formats.pop(), Schema.of(schema)
    if kind == "csv":
        return CsvFiles.of(paths, csv, stated, only).stream()
    if csv is not None:
        raise ValueError("csv is for CSV files; the files are of another format")
    if kind == "json":
        from nobounds.engines.files.json_lines import from_json_lines

        return from_json_lines(paths, stated)
    if kind == "excel":
        from nobounds.engines.files.excel import from_excel

        return from_excel(paths, stated)
    if kind == "arrow":
        from nobounds.engines.files.arrow_files import from_arrow_files

        stream = from_arrow_files(paths)
    else:
        stream = _from_parquet(paths)
    check_stated(stream, stated)
    return stream


def _from_parquet(paths: list[Path]) -> TableStream:
    names = column_names(paths[0])
    for path in paths[1:]:
        if column_names(path) != names:
            raise ValueError(f"the files must have the same columns, got others in {path.name}")
    if len(set(names)) < len(names):
        raise ValueError("a column appears more than once in the files; rename it")
    return _parquet(paths)


def _chained(parts: list[Column], share: Share) -> Column:
    """The columns of several files as one."""

    def chunks() -> Iterator[Any]:
        read = 0
        for part in parts:
            for chunk in part.chunks():  # type: ignore[union-attr]
                read += len(chunk)
                share.at(read)
                yield chunk

    facts = replace(parts[0].facts, nullable=any(part.facts.nullable for part in parts))
    return Column(facts, chunks, rows=lambda: sum(part.rows() for part in parts))


def _parquet(paths: list[Path]) -> TableStream:
    schemas, total = [], 0
    for path in paths:
        with open_parquet(path) as file:
            schemas.append(file.schema_arrow)
            total += file.metadata.num_rows
    share = Share(total)
    for path, schema in zip(paths, schemas, strict=True):
        if schema.types != schemas[0].types:
            raise ValueError(f"the files must have the same types of columns, got others in {path.name}")
    facts: dict[str, Facts] = {}
    others: dict[str, str] = {}
    for field in schemas[0]:
        try:
            nullable = any(schema.field(field.name).nullable for schema in schemas)
            facts[field.name] = facts_of(field.type, nullable=nullable)
        except TypeError:
            others[field.name] = arrow_family(field.type)

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        pa, read = import_pyarrow(), 0
        wanted = list(dict.fromkeys([*keys, *values]))
        for path in paths:
            with readable(path), open_parquet(path) as file:
                for batch in file.iter_batches(batch_size=CHUNK, columns=wanted or file.schema_arrow.names[:1]):
                    read += len(batch)
                    share.at(read)
                    parts = [plain(batch.column(name)) for name in keys]
                    floats = [pa.array(to_floats(batch.column(name))) for name in values]
                    yield pa.record_batch([*parts, *floats], names=[*keys, *values])

    def again(names: list[str]) -> dict[str, Column]:
        return {name: _chained([read_column(path, name) for path in paths], share) for name in names}

    kinds = {field.name: plain(import_pyarrow().nulls(0, field.type)).type for field in schemas[0]}
    return TableStream(facts, others, kinds, batches, lambda: total, again, share=share)
