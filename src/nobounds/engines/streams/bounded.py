"""The rows that count of each unit, by the rule of `unit_rows`: in memory, or in DuckDB, which can use the disk.

Both keep the same rows, so it does not matter that the number of rows decides which of them does it.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.rows.unit_rows import KeyOrder, UnitRows, chosen, key_words, of_groups, starts, words
from nobounds.engines.source import Bounding
from nobounds.engines.sql.duck import queried

MOST = 1 << 23  # rows that are held in memory: about half a gigabyte

Kept = tuple[Ints, Ints | None, list[Floats]]
"""The groups of the rows that count, those of the first row of each unit in each group if wanted, and the values."""


def bounded(
    rows: Iterator[UnitRows], keys: Callable[[], tuple[Any, ...]], bounding: Bounding, firsts: bool
) -> Iterator[Kept]:
    """What is kept of some rows; `keys` gives the keys of all groups so far, in the order of their codes."""
    held: list[UnitRows] = []
    number = 0
    for part in rows:
        held.append(part)
        number += len(part.codes)
        if number > MOST:
            yield from _in_duckdb(chain(held, rows), keys, bounding, firsts)
            return
    if not number:
        return
    whole = _joined(held)
    kept, units = chosen(whole, KeyOrder.of(keys()), bounding)
    codes = whole.codes[kept]
    yield codes, _firsts(codes, units[kept]) if firsts else None, [values[kept] for values in whole.values]


def _joined(parts: list[UnitRows]) -> UnitRows:
    if len(parts) == 1:
        return parts[0]
    pa = import_pyarrow()
    units = pa.chunked_array([chunk for part in parts for chunk in part.units.chunks], type=parts[0].units.type)
    values = [np.concatenate(columns) for columns in zip(*(part.values for part in parts), strict=True)]
    return UnitRows(units, np.concatenate([part.codes for part in parts]), values)


def _firsts(codes: Ints, units: Ints) -> Ints:
    """The group of each pair of a unit and a group."""
    many = int(codes.max(initial=0)) + 1
    pairs = np.sort(units * many + codes)
    return pairs[np.diff(pairs, prepend=-1) > 0] % many


def _in_duckdb(
    rows: Iterator[UnitRows], keys: Callable[[], tuple[Any, ...]], bounding: Bounding, firsts: bool
) -> Iterator[Kept]:
    pa = import_pyarrow()
    fewer = bounding.groups < bounding.rows
    width = 0

    def tables() -> Iterator[Any]:
        nonlocal width
        for part in rows:
            of_units, width = words(part.units), len(part.values)
            columns = {"u": part.units, "h": starts(of_units, bounding.salt), "c": part.codes}
            if fewer:
                columns["gh"] = of_groups(of_units, key_words(keys())[part.codes], bounding.salt)
            yield pa.table(columns | {f"v{k}": values for k, values in enumerate(part.values)})

    def places() -> Any:
        order = KeyOrder.of(keys()).places
        return pa.table({"c": np.arange(len(order)), "place": order})

    def query() -> str:
        value = [f"v{k}" for k in range(width)]
        part = "select stream.*, place from stream join beside on stream.c = beside.c"
        if fewer:
            part = f"select *, dense_rank() over (partition by u order by gh, place) as g from ({part})"
            part = f"select * from ({part}) where g <= {bounding.groups}"
        within = f"partition by u order by {', '.join(['place', *value])}"
        part = f"select *, row_number() over ({within}) - 1 as j, count(*) over (partition by u) as r from ({part})"
        part = f"select * from ({part}) where (j * least({bounding.rows}, r) + h % r) % r < {bounding.rows}"
        first = "row_number() over (partition by u, c order by j) = 1" if firsts else "false"
        return f"select c, {first} as first, {', '.join(value) or '0'} from ({part})"

    for batch in queried(tables(), query, places):
        codes = batch.column(0).to_numpy()
        values = [batch.column(2 + k).to_numpy() for k in range(width)]
        yield codes, codes[np.asarray(batch.column(1))] if firsts else None, values
