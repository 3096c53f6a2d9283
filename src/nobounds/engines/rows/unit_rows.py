"""Which rows of a unit count: at most `Bounding.rows`, in at most `Bounding.groups` groups (see docs/units.md).

A unit keeps the groups with the smallest hashes of unit, key and salt. Of its r rows in them, in the order of their
keys and values, it keeps every (r / rows)-th from a hashed start on. The choice depends on the rows of that unit alone:
rows with equal key and value are the same. A unit with few rows keeps all of them, so only the others are sorted.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.source import Bounding

Words = NDArray[np.uint64]
_BLOCK = 1 << 14  # rows that are looked at together, which fit the caches of a processor
_DENSE = 4  # a table of all whole numbers between the least and the largest may have this many places for each row


class UnitRows(NamedTuple):
    """Rows with a unit, a key and, if there is one column of values, a value: what a choice is made among. Sensitive.

    units: in the form of `keys.plain`; codes: the group of each row.
    """

    units: Any
    codes: Ints
    values: list[Floats]


class KeyOrder(NamedTuple):
    """The place of each group in the order of the keys, and a hash of its key, by its code."""

    places: Ints
    words: Words

    @classmethod
    def of(cls, keys: tuple[Any, ...]) -> "KeyOrder":
        """The natural order of some keys. Two keys compare alike whatever other keys there are."""
        pa = import_pyarrow()
        import pyarrow.compute as pc

        number = len(keys[0]) if keys else 1
        places = np.zeros(number, dtype=np.int64)
        if keys and number:
            table = pa.table(list(keys), names=[str(k) for k in range(len(keys))])
            order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])
            places[np.asarray(order)] = np.arange(number)
        return cls(places, key_words(keys))


def key_words(keys: tuple[Any, ...]) -> Words:
    """A hash of each key; without columns of keys there is one group."""
    hashed = np.zeros(len(keys[0]) if keys else 1, dtype=np.uint64)
    for array in keys:
        hashed = mixed(hashed + words(array))
    return hashed


def chosen(rows: UnitRows, order: KeyOrder, bounding: Bounding) -> tuple[Ints, Ints]:
    """The rows that count, and the unit of each row as a number, also of those that do not."""
    units, numbers = _numbered(rows.units)
    sizes, most = np.bincount(numbers), bounding.rows
    if bounding.groups < most and len(order.places) > 1:
        stays = (sizes <= bounding.groups)[numbers]  # these cannot be in more groups
        some = _in_few_groups(np.flatnonzero(~stays), numbers, units, rows.codes, order, bounding)
        stays[some] = True
        sizes = np.bincount(numbers[stays], minlength=len(sizes))
        sort = some[(sizes > most)[numbers[some]]]
        stays[sort] = False
    else:
        stays = (sizes <= most)[numbers]
        sort = np.flatnonzero(~stays)
    if len(sort):
        is_many = sizes > most
        ranks = np.cumsum(is_many) - 1
        size = sizes[is_many]
        start = starts(words(units(np.flatnonzero(is_many))), bounding.salt) % size.astype(np.uint64)
        in_order = _in_order(sort, _Sorted(numbers, ranks, rows.codes, order.places, rows.values))
        stays[in_order[_evenly(size, start.astype(np.int64), most)]] = True
    return np.flatnonzero(stays), numbers


def starts(of_units: Words, salt: int) -> Words:
    """The hash of each unit with the salt."""
    return mixed(of_units ^ mixed(np.array([salt & _ALL], dtype=np.uint64)))


def of_groups(of_units: Words, of_keys: Words, salt: int) -> Words:
    """The hash of each unit and key with the salt."""
    return mixed(starts(of_units, salt) + of_keys)


def words(array: Any) -> Words:
    """A hash of each element of an Arrow array without nulls, in the form of `keys.plain`; its bits, of a number."""
    pa = import_pyarrow()
    types, kind = pa.types, array.type
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if types.is_decimal(kind):
        array = array.cast(pa.large_string())
    if types.is_large_string(array.type) or types.is_large_binary(array.type):
        return _of_bytes(array)
    if types.is_null(kind):
        return np.zeros(len(array), dtype=np.uint64)
    if types.is_floating(kind):
        return np.asarray(array.cast(pa.float64()).to_numpy()).view(np.uint64)
    if types.is_boolean(kind):
        array = array.cast(pa.uint8())
    if types.is_date32(kind) or types.is_time32(kind):
        array = array.cast(pa.int32())
    if types.is_date64(kind) or types.is_time64(kind) or types.is_timestamp(kind):
        array = array.cast(pa.int64())
    return np.asarray(array.to_numpy()).astype(np.uint64)


def mixed(numbers: Words) -> Words:
    """Each number with its bits mixed, one to one (the last steps of SplitMix64: Steele, Lea and Flood, 2014)."""
    with np.errstate(over="ignore"):
        mix = numbers + _GOLDEN
        mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mix ^ (mix >> np.uint64(31)))


_ALL = (1 << 64) - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _of_bytes(array: Any) -> Words:
    """The bytes of each element times odd numbers by their places, added up modulo 2**64."""
    if not len(array):
        return np.zeros(0, dtype=np.uint64)
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    lengths, begin = np.diff(offsets), offsets[:-1] - offsets[0]
    place = np.arange(len(data)) - np.repeat(begin, lengths)
    odd = mixed(np.arange(int(lengths.max()) + 1, dtype=np.uint64)) | np.uint64(1)
    terms = (data.astype(np.uint64) + np.uint64(1)) * odd[place]
    passed = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return mixed(passed[begin + lengths] - passed[begin])


def _numbered(units: Any) -> tuple[Any, Ints]:
    """A number for each unit, and a function from some numbers to their units."""
    pa = import_pyarrow()
    kind, whole = units.type, None
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind) and len(units):
        whole = np.asarray(units.to_numpy()).astype(np.int64, copy=False)
        low, high = int(whole.min()), int(whole.max())
        if low >= 0 and high < _DENSE * len(whole):
            return pa.array, whole
        if high - low < _DENSE * len(whole):
            return (lambda numbers: pa.array(numbers + low)), whole - low
    encoded = units.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return (lambda numbers: encoded.dictionary.take(pa.array(numbers))), np.asarray(encoded.indices).astype(np.int64)


def _in_few_groups(places: Ints, numbers: Ints, units: Any, codes: Ints, order: KeyOrder, bounding: Bounding) -> Ints:
    """Those of some rows, with all rows of their units, that are in the groups which their unit keeps."""
    if not len(places):
        return places
    distinct, unit = np.unique(numbers[places], return_inverse=True)
    of_keys = order.words[codes[places]]
    hashed = of_groups(words(units(distinct))[unit], of_keys, bounding.salt)
    place = order.places[codes[places]]
    sort = np.lexsort((place, hashed, unit))
    unit, place = unit[sort], place[sort]
    new_unit = np.append(True, unit[1:] != unit[:-1])
    new = new_unit | np.append(True, place[1:] != place[:-1])
    group = np.cumsum(new)
    first, size = _runs(unit)
    stays = group - np.repeat(group[first], size) < bounding.groups
    return np.asarray(places[sort[stays]])


def _evenly(size: Ints, start: Ints, most: int) -> Ints:
    """Where rows stay, of units with these numbers of rows: row j of r rows if (j * most + start) mod r < most.

    For `most` successive whole numbers k, that is the least j with j * most + start >= k * r.
    """
    rows = ((start >= most)[:, None] + np.arange(most)) * size[:, None]
    rows += (most - 1 - start)[:, None]
    rows //= most
    rows += (np.cumsum(size) - size)[:, None]
    return np.asarray(rows.ravel())


class _Sorted(NamedTuple):
    """What rows are sorted by: the rank of the unit, the place of the key, and the values."""

    numbers: Ints
    ranks: Ints
    codes: Ints
    places: Ints
    values: list[Floats]

    def units(self, rows: Ints) -> Ints:
        """The ranks of the units of some rows."""
        return self.ranks[self.numbers[rows]]

    def keys(self, rows: Ints) -> Ints:
        """The places of the keys of some rows."""
        return self.places[self.codes[rows]]

    def are_less(self, rows: Ints, others: Ints) -> NDArray[np.bool_]:
        """Whether the values of some rows come before those of others."""
        less = np.zeros(len(rows), dtype=bool)
        for column in reversed(self.values):
            one, other = _ordered_bits(column[rows]), _ordered_bits(column[others])
            less = (one < other) | ((one == other) & less)
        return less

    def exactly(self, rows: Ints) -> Ints:
        """Some rows in order, by all bits of what they are sorted by."""
        each = [self.units(rows), self.keys(rows), *(_ordered_bits(column[rows]) for column in self.values)]
        return np.asarray(rows[np.lexsort(each[::-1])])


def _in_order(rows: Ints, by: _Sorted) -> Ints:
    """The rows in order.

    What is sorted is words of unit, key, leading bits of the first value and the number of the row: that is faster than
    to sort rows by words. Where these bits do not tell rows apart, all rows of their units are sorted again.
    """
    of_units, of_keys, of_rows = (int(last).bit_length() for last in (by.ranks[-1], len(by.places) - 1, len(rows) - 1))
    left = 64 - of_units - of_keys - of_rows
    if left < 0:
        return by.exactly(rows)
    some, low, spare = by.values[:1], np.uint64(0), np.uint64(0)
    for column in some:  # what values differ in
        low, high = _ordered_bits(np.array([np.fmin.reduce(column), np.max(column)]))
        spare = np.uint64(max(int(high - low).bit_length() - left, 0))
    word = np.empty(len(rows), dtype=np.uint64)
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        bits = by.units(block).astype(np.uint64) << np.uint64(of_keys) | by.keys(block).astype(np.uint64)
        for column in some:
            bits = bits << np.uint64(left) | (_ordered_bits(column[block]) - low) >> spare
        numbers = np.arange(begin, begin + len(block), dtype=np.uint64)
        word[begin : begin + _BLOCK] = bits << np.uint64(of_rows) | numbers
    word.sort()
    order: Ints = rows[word & np.uint64((1 << of_rows) - 1)]
    word >>= np.uint64(of_rows)
    alike = np.flatnonzero(word[1:] == word[:-1])
    wrong = order[alike[by.are_less(order[alike + 1], order[alike])]]
    if len(wrong):
        again = np.bincount(by.units(wrong), minlength=len(by.ranks)) > 0
        places = np.flatnonzero(again[by.units(order)])
        order[places] = by.exactly(order[places])
    return order


def _ordered_bits(values: Floats) -> Words:
    """Whole numbers in the order of some floats; -0.0 is 0.0, and NaN is the last."""
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return (bits ^ ((bits >> 63) | np.int64(-(1 << 63)))).view(np.uint64)


def _runs(numbers: Ints) -> tuple[Ints, Ints]:
    """Where the runs of equal numbers start, and how long they are."""
    first = np.flatnonzero(np.append(numbers[:1] == numbers[:1], numbers[1:] != numbers[:-1]))
    return first, np.diff(first, append=len(numbers))
