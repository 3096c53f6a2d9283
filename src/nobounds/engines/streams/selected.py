"""Some columns of a stream, under other names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nobounds.engines.streams.stream import Elsewhere, TableStream


def selected(stream: TableStream, columns: Mapping[str, str]) -> TableStream:
    """The stream with these columns and no others; `columns` has their new names, each with the old one."""

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        for batch in stream.batches([columns[name] for name in keys], [columns[name] for name in values]):
            yield batch.rename_columns([*keys, *values])

    def named(given: Mapping[str, Any]) -> dict[str, Any]:
        return {new: given[old] for new, old in columns.items() if old in given}

    def elsewhere() -> Elsewhere | None:
        there = stream.elsewhere() if stream.elsewhere is not None else None
        return None if there is None else there.selected(dict(columns))

    return replace(
        stream,
        facts=named(stream.facts),
        others=named(stream.others),
        kinds=named(stream.kinds),
        enums=named(stream.enums),
        batches=batches,
        again=None,
        elsewhere=None if stream.elsewhere is None else elsewhere,
    )
