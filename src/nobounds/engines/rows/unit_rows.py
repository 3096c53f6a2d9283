"""Which rows of a unit count: at most `Bounding.rows`, in at most `Bounding.groups` groups (see docs/units.md).

A unit keeps the groups with the smallest hashes of unit, key and salt. Of its r rows in them, in the order of their
keys and values, it keeps every (r / rows)-th from a hashed start on. The choice depends on the rows of that unit alone:
rows with equal key and value are the same. A unit with few rows keeps all of them, so only the others are sorted.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.source import Bounding

Words = NDArray[np.uint64]
_LEADING = 24  # bits of a value that are enough to tell most values apart
_WIDE = 4  # places of a matrix with a line for each unit, for each row, at most
_BLOCK = 1 << 14  # rows that are sorted at a time
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
    if not len(sort):
        return np.flatnonzero(stays), numbers
    sort = _unit_by_unit(sort, numbers[sort])
    first, size = _runs(numbers[sort])
    start = (starts(words(units(numbers[sort[first]])), bounding.salt) % size.astype(np.uint64)).astype(np.int64)
    for part in _blocks(first):
        block = sort[first[part][0] : first[part][-1] + size[part][-1]]
        in_order = _in_order(
            size[part], order.places[rows.codes[block]], len(order.places), [each[block] for each in rows.values]
        )
        stays[block[in_order[_evenly(size[part], start[part], most)]]] = True
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


def _unit_by_unit(rows: Ints, units: Ints) -> Ints:
    """Some rows in the order of their units."""
    ranks = np.cumsum(np.bincount(units) > 0) - 1
    return _stably(rows, ranks[units], int(ranks[-1]).bit_length())


def _blocks(first: Ints) -> list[slice]:
    """The units in blocks of about as many rows as the caches of a processor hold; `first` says where units start."""
    cuts = np.searchsorted(first, np.arange(0, int(first[-1]) + 1, _BLOCK)).tolist()
    return [slice(*ends) for ends in pairwise(sorted({*cuts, len(first)}))]


def _evenly(size: Ints, start: Ints, most: int) -> NDArray[np.bool_]:
    """Which rows of units with these numbers of rows stay: row j of r rows if (j * most + start) mod r < most."""
    ahead = start - (np.cumsum(size) - size) * most
    rows = np.arange(0, int(size.sum()) * most, most)
    return np.asarray((rows + np.repeat(ahead, size)) % np.repeat(size, size) < most)


def _in_order(size: Ints, places: Ints, groups: int, values: list[Floats]) -> Ints:
    """The order of rows within units of these sizes, by the places of their keys and by their values."""
    of_units, of_keys = (len(size) - 1).bit_length(), (groups - 1).bit_length()
    left = 64 - of_units - of_keys
    each = [_ordered_bits(column) for column in values]
    if len(each) == 1 and (order := _in_lines(size, places, of_keys, each[0])) is not None:
        return order
    units = np.repeat(np.arange(len(size)), size)
    if len(each) == 1 and left >= _LEADING:  # in one word with the leading bits of the value
        word = units.astype(np.uint64) << np.uint64(64 - of_units) if of_units else np.zeros(len(units), np.uint64)
        if of_keys:
            word |= places.astype(np.uint64) << np.uint64(left)
        word |= each[0] >> np.uint64(64 - left)
        order = np.argsort(word)
        word, exact = word[order], each[0][order]
        if not bool(np.any((word[1:] == word[:-1]) & (exact[1:] < exact[:-1]))):  # no other bit of a value matters
            return order
    order = np.arange(len(units))
    for bits in reversed(each):
        order = _stably(order, bits[order], 64)
    order = _stably(order, places[order], of_keys)
    return _stably(order, units[order], of_units)


def _in_lines(size: Ints, places: Ints, of_keys: int, bits: Words) -> Ints | None:
    """The order of rows by unit, place and value, each unit a line of a matrix; None if that is not fit for these rows.

    Lines are filled up with a word above all others: the value of none has all bits set. The last bits of a value give
    way to its place; None if that puts two rows in the wrong order.
    """
    widest = int(size.max())
    if len(size) * widest > _WIDE * len(bits):
        return None
    word = bits >> np.uint64(of_keys)
    if of_keys:
        word |= places.astype(np.uint64) << np.uint64(64 - of_keys)
    inside = np.arange(widest) < size[:, None]
    lines = np.full((len(size), widest), np.uint64(_ALL))
    lines[inside] = word
    first = np.cumsum(size) - size
    order: Ints = (np.argsort(lines, axis=1) + first[:, None])[inside]
    word, exact = word[order], bits[order]
    is_wrong = (word[1:] == word[:-1]) & (exact[1:] < exact[:-1])
    is_wrong[first[1:] - 1] = False  # the last row of a unit and the first of the next
    return None if bool(is_wrong.any()) else order


def _ordered_bits(values: Floats) -> Words:
    """Whole numbers in the order of some floats; -0.0 is 0.0, and NaN is the last."""
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return (bits ^ ((bits >> 63) | np.int64(-(1 << 63)))).view(np.uint64)


def _stably(rows: Ints, numbers: Ints | Words, bits: int) -> Ints:
    """The rows in the order of whole numbers of `bits` bits, else as before; sixteen bits at a time, which is fast."""
    for shift in range(0, bits, 16):
        order = np.argsort((numbers >> numbers.dtype.type(shift)).astype(np.uint16), kind="stable")
        rows = rows[order]
        if shift + 16 < bits:
            numbers = numbers[order]
    return rows


def _runs(numbers: Ints) -> tuple[Ints, Ints]:
    """Where the runs of equal numbers start, and how long they are."""
    first = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    return first, np.diff(first, append=len(numbers))
