"""A stream with columns of a public table, looked up for each row by a key that is unique in that table.

The public table is read at once: it holds nothing to be protected.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nobounds.engines.keys import all_differ
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.rows.key_codes import KeyCodes
from nobounds.engines.streams.stream import TableStream
from nobounds.expressions.statements.relation import Lookup


def joined(stream: TableStream, public: TableStream, lookup: Lookup) -> TableStream:
    """The stream with the columns of a lookup; missing in rows whose key the public table does not have."""
    reader = _Reader(stream, public, lookup)
    names = lookup.columns
    facts = {new: replace(public.facts[old], nullable=True) for new, old in names.items() if old in public.facts}
    return replace(
        stream,
        facts=stream.facts | facts,
        others=stream.others | {new: public.others[old] for new, old in names.items() if old in public.others},
        kinds=stream.kinds | {new: public.kinds[old] for new, old in names.items() if old in public.kinds},
        batches=reader.batches,
        again=None,
        elsewhere=None,
    )


class _Reader:
    """Reads rows, and the public row that belongs to each of them."""

    def __init__(self, stream: TableStream, public: TableStream, lookup: Lookup) -> None:
        self._stream, self._lookup = stream, lookup
        self._own = [own for own, _ in lookup.on]
        keys = [key for _, key in lookup.on]
        kinds = [name for name in lookup.columns.values() if name in public.kinds]
        numbers = [name for name in lookup.columns.values() if name in public.facts]
        with public.turns:
            read = list(public.batches([*keys, *kinds], numbers))
        self._keys, self._columns, self._numbers = _loaded(read, len(keys), kinds, numbers, public)
        for k, own in enumerate(self._own):
            self._keys[k] = _cast(self._keys[k], stream.kinds.get(own), own)
        if not all_differ(tuple(self._keys)):
            on = ", ".join(keys)
            raise ValueError(f"a join needs a key that is unique in the public table, and {on} is not")

    def batches(self, keys: list[str], values: list[str]) -> Iterator[Any]:
        """As in `TableStream`."""
        pa, names = import_pyarrow(), self._lookup.columns
        own_keys = [name for name in keys if name not in names]
        own_values = [name for name in values if name not in names]
        codes = KeyCodes(tuple(self._keys))
        for batch in self._stream.batches([*self._own, *own_keys], own_values):
            places = codes.codes([batch.column(k) for k in range(len(self._own))])
            at = pa.array(places, mask=places < 0)
            columns = dict(zip(own_keys, batch.columns[len(self._own) :], strict=False))
            floats = dict(zip(own_values, batch.columns[len(self._own) + len(own_keys) :], strict=True))
            arrays = [columns[n] if n in columns else self._columns[names[n]].take(at) for n in keys]
            arrays += [floats[n] if n in floats else _filled(self._numbers[names[n]].take(at)) for n in values]
            if arrays:
                yield pa.record_batch(arrays, names=[*keys, *values])
            else:  # for the number of rows
                yield batch


def _loaded(read: list[Any], many: int, kinds: list[str], numbers: list[str], public: TableStream) -> Any:
    """The keys, the columns in their types, and the columns as floats of a public table; rows without a key are out."""
    pa = import_pyarrow()
    import pyarrow.compute as pc

    if not read:
        return (
            [pa.nulls(0) for _ in range(many)],
            {name: pa.nulls(0, public.kinds[name]) for name in kinds},
            {name: pa.nulls(0, pa.float64()) for name in numbers},
        )
    table = pa.Table.from_batches(read)
    arrays = [column.combine_chunks() for column in table.columns]
    there = pa.array([True] * table.num_rows)
    for key in arrays[:many]:
        there = pc.and_(there, key.is_valid())
    arrays = [array.filter(there) for array in arrays]
    typed = dict(zip(kinds, arrays[many : many + len(kinds)], strict=True))
    return arrays[:many], typed, dict(zip(numbers, arrays[many + len(kinds) :], strict=True))


def _cast(keys: Any, kind: Any, own: str) -> Any:
    """The keys of a public table in the type of the column that is compared with them."""
    if kind is None:
        raise _other_type(kind, own)
    with replacing_errors(lambda: _other_type(kind, own)):
        return keys.cast(kind)


def _other_type(kind: Any, own: str) -> TypeError:
    return TypeError(f"the key of the public table must be of the type of {own!r}, which is {kind}")


def _filled(array: Any) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(array, float("nan"))
