"""Keys of groups to integer codes and back: one Arrow array per key column, one code per row.

A row with a missing key belongs to no group and has code -1. With public keys, so does a row with any other key.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nobounds.arrays import Ints
from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow

_MOST = 1 << 62
_SPARSE = 8  # places of a table for each key, at most
_TOGETHER = 1 << 21  # rows whose keys are looked up together


def together(batches: Iterator[Any]) -> Iterator[Any]:
    """Fewer and larger tables: looking up keys has a cost per table."""
    pa = import_pyarrow()
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _TOGETHER:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


class KeyCodes:
    """The codes of keys: the positions of public keys; otherwise numbers in order of appearance."""

    def __init__(self, known: tuple[Any, ...] | None = None) -> None:
        import_pyarrow()
        self._known = known is not None
        self._columns = [_Codes(array) for array in known] if known is not None else []
        self._tuples: dict[tuple[int, ...], int] = {}
        if known is not None and len(known) > 1:
            rows = zip(*(column.of(array) for column, array in zip(self._columns, known, strict=True)), strict=True)
            self._tuples = {tuple(map(int, row)): k for k, row in enumerate(rows)}

    def codes(self, columns: list[Any]) -> Ints:
        """The codes of some rows."""
        if not self._columns:
            self._columns = [_Codes(None) for _ in columns]
        parts = [
            codes.of(plain(array), grow=not self._known) for codes, array in zip(self._columns, columns, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        _, firsts, where = np.unique(self._packed(parts), return_index=True, return_inverse=True)
        rows = zip(*(part[firsts].tolist() for part in parts), strict=True)
        return np.array([self._one(row) for row in rows], dtype=np.int64)[where]

    def keys(self) -> tuple[Any, ...]:
        """One array per key column: the keys in the order of their codes; no arrays if there was no batch."""
        arrays = [column.values for column in self._columns]
        if len(arrays) == 1 or not arrays:
            return tuple(arrays)
        rows = np.array(list(self._tuples), dtype=np.int64).reshape(-1, len(arrays))
        return tuple(array.take(import_pyarrow().array(rows[:, k])) for k, array in enumerate(arrays))

    def _packed(self, parts: list[Ints]) -> Ints:
        """An integer for each row of codes; different rows have different integers."""
        packed = np.zeros(len(parts[0]), dtype=np.int64)
        size = 1
        for part, column in zip(parts, self._columns, strict=True):
            many = len(column.values) + 1
            if size * many > _MOST:  # renumber, with at most one number per row
                distinct, packed = np.unique(packed, return_inverse=True)
                size = len(distinct)
            packed, size = packed * many + part + 1, size * many
        return packed

    def _one(self, row: tuple[int, ...]) -> int:
        if min(row) < 0:
            return -1
        return self._tuples.get(row, -1) if self._known else self._tuples.setdefault(row, len(self._tuples))


class _Codes:
    """The codes of one column."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self._table = None if values is None else _Table.of(values)

    def of(self, array: Any, grow: bool = False) -> Ints:
        pa = import_pyarrow()
        import pyarrow.compute as pc

        if not grow and self._table is not None:
            return self._table.codes(array)
        if not grow:
            return _whole(pc.index_in(array, value_set=self.values, skip_nulls=True))
        encoded = array.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        dictionary, codes = encoded.dictionary, _whole(encoded.indices)
        if self.values is None:
            self.values = dictionary
            return codes
        places = pc.index_in(dictionary, value_set=self.values)
        new = dictionary.filter(places.is_null())
        places = _whole(places)
        places[places < 0] = len(self.values) + np.arange(len(new))
        self.values = pa.concat_arrays([self.values, new])
        return np.where(codes >= 0, places[codes], -1) if len(places) else codes


class _Table:
    """The codes of whole numbers that lie close together, by their distance from the least."""

    def __init__(self, low: int, codes: Ints) -> None:
        self._low, self._codes = low, codes

    @classmethod
    def of(cls, values: Any) -> "_Table | None":
        """The table of some keys, if they are whole numbers and few between them are missing."""
        types = import_pyarrow().types
        if not types.is_integer(values.type) or types.is_uint64(values.type) or not len(values):
            return None
        keys = values.to_numpy().astype(np.int64)
        low, high = int(keys.min()), int(keys.max())
        if high - low > _SPARSE * len(keys) or low < -_MOST or high > _MOST:
            return None
        codes = np.full(high - low + 2, -1, dtype=np.int64)  # the last is that of all others
        codes[keys - low] = np.arange(len(keys))
        return cls(low, codes)

    def codes(self, array: Any) -> Ints:
        numbers = _without_nulls(array, self._low - 1)
        last = self._low + len(self._codes) - 2
        if len(numbers) and self._low <= int(numbers.min()) and int(numbers.max()) <= last:
            return self._codes[numbers - self._low]
        inside = (numbers >= self._low) & (numbers <= last)
        codes: Ints = self._codes[np.where(inside, numbers, last + 1) - self._low]
        return codes


def _without_nulls(array: Any, instead: int) -> Ints:
    """Whole numbers of Arrow as int64, with another number for nulls."""
    pa = import_pyarrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if array.null_count:
        array = array.cast(pa.int64()).fill_null(instead)
    return np.asarray(array.to_numpy()).astype(np.int64, copy=False)


def _whole(indices: Any) -> Ints:
    """Indices as int64, with -1 for nulls."""
    pa = import_pyarrow()
    if isinstance(indices, pa.ChunkedArray):
        indices = indices.combine_chunks()
    if indices.null_count:
        indices = indices.fill_null(-1)
    return np.asarray(indices.to_numpy()).astype(np.int64)
