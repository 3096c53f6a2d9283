"""Public keys on the command line: texts, converted to the types of their columns."""

import csv
from itertools import product
from typing import TYPE_CHECKING, Any

from nobounds.cli.options.answers import GroupOptions
from nobounds.cli.sources import Opened
from nobounds.engines.memory.arrow import import_pyarrow

if TYPE_CHECKING:
    from nobounds.tables.by_group.table import GroupedTable


def grouped(handle: Opened, groups: GroupOptions) -> "GroupedTable":
    """The table, grouped by the requested columns."""
    known = public_keys(handle, groups)
    return handle.table.group_by(
        *(groups.by or []), keys=known, delta=groups.delta, groups_per_unit=groups.groups_per_unit
    )


def public_keys(handle: Opened, groups: GroupOptions) -> list[Any] | None:
    """The public keys in the types of their columns; None if they are chosen privately."""
    if groups.delta is not None:
        return None
    by = groups.by or []
    parts = zip(*_texts(groups, len(by)), strict=True)
    columns = [_typed(list(part), handle.kinds.get(name), name) for part, name in zip(parts, by, strict=True)]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _texts(groups: GroupOptions, width: int) -> list[tuple[str, ...]]:
    """The keys, one text for each column."""
    if groups.keys is not None:
        lists = [[key.strip() for key in next(csv.reader([keys], skipinitialspace=True))] for keys in groups.keys]
        if width == 1:
            return [(key,) for keys in lists for key in keys]
        if len(lists) != width:
            raise ValueError(
                f"several --by need one --keys each, in the same order (all combinations are answered), or --keys-file "
                f"with a row a key; got {width} --by and {len(lists)} --keys"
            )
        return list(product(*lists))
    assert groups.keys_file is not None
    lines = [line.strip() for line in groups.keys_file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise ValueError("--keys-file must have at least one key, got none")
    if width == 1:
        return [(line,) for line in lines]
    rows = [tuple(field.strip() for field in row) for row in csv.reader(lines, skipinitialspace=True)]
    if any(len(row) != width for row in rows):
        raise ValueError(f"each row of --keys-file must have {width} fields, one for each --by")
    return rows


def _typed(texts: list[str], kind: Any, name: str) -> list[Any]:
    """The keys of a column, in its type."""
    if kind is None:  # the table reports the unknown column
        return texts
    pa = import_pyarrow()
    try:
        return list(pa.array(texts).cast(kind).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"keys must be of the type of the column {name!r}, which is {kind}") from None
