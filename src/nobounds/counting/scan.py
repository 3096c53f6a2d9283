"""One pass over records, in chunks in this process or in parts on other machines.

A pass is a function from chunks to a small result, and a function that merges two results. In this process the first is
called once. `Remote` chunks call it on the machine of each part and return only the results, so the functions and their
results must be picklable.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias, TypeVar

import numpy as np

from nobounds.arrays import Floats, Ints

P = TypeVar("P")

Chunk: TypeAlias = Floats | tuple[Floats, Ints]
"""An array of records, or distinct values with the number of records of each."""

CHUNK = 1 << 17  # values per step: temporaries stay in the cache and steps are few (fastest of 2**14 to 2**17)
FEW = 1 << 13  # records that are read once and kept in order: every later pass then takes a fraction of the time


class Remote:
    """Records on other machines. A class, since every pass asks whether chunks are remote."""

    __slots__ = ()

    @abstractmethod
    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The merged result of `part` over all records."""
        ...

    @abstractmethod
    def paired(self, other: "Remote", join: "Join") -> "Chunks":
        """A record for each row, by a function of its records in this column and in another of the same rows."""
        ...


Chunks: TypeAlias = Iterable[Chunk] | Remote

Records: TypeAlias = Callable[[], Chunks]
"""The records of a column: each call starts a pass over them."""

Join: TypeAlias = Callable[[Floats, Floats], Floats]
"""A record for each row of two columns, from its two records alone; missing if one of them is."""

Joined: TypeAlias = Callable[[Join], Records]
"""The rows of two columns, as records that a join makes of them."""


def scan(chunks: Chunks, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
    """The result of `part` over all chunks, merged if they are remote."""
    return chunks.scan(part, merge) if isinstance(chunks, Remote) else part(chunks)


class InOrder(list[Chunk]):
    """One chunk of records in rising order, none of which is missing. Sensitive: its repr hides them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "InOrder(hidden)"


def read_once(records: Records) -> Records:
    """The same records; if there are few, only the first pass reads them, and they are in order without the missing.

    So few records are the same for every later pass, however they were divided into chunks.
    """
    kept: list[Chunks] = []

    def chunks() -> Chunks:
        if kept:
            return kept[0]
        read = records()
        if isinstance(read, Remote | InOrder):
            return read
        some, many = list[Chunk](), 0
        for chunk in (rest := iter(read)):
            some.append(chunk)
            many += int(chunk[1].sum()) if isinstance(chunk, tuple) else len(chunk)
            if many > FEW:
                return chain(some, rest)
        values = np.sort(_joined(some))  # missing ones come last
        kept.append(InOrder([values[: np.searchsorted(values, np.nan)]]))
        return kept[0]

    return chunks


def first_of(x: Floats, y: Floats) -> Floats:
    """The records of the first of two columns, in rows that have both."""
    return np.where(np.isnan(y), np.nan, x)


def second_of(x: Floats, y: Floats) -> Floats:
    """Those of the second."""
    return np.where(np.isnan(x), np.nan, y)


def paired(first: Chunks, second: Chunks, join: Join) -> Chunks:
    """A record for each row of two columns, by a function of its two records alone."""
    if isinstance(first, Remote) and isinstance(second, Remote):
        return first.paired(second, join)
    assert not isinstance(first, Remote) and not isinstance(second, Remote), "columns of one table"
    return joined(first, second, join)


def joined(first: Iterable[Chunk], second: Iterable[Chunk], join: Join) -> Iterator[Chunk]:
    """Like `paired`, for chunks in this process, which may be of different lengths."""
    others, left = (values for values, _ in blocks(second)), np.zeros(0)
    for values, _ in blocks(first):
        while len(values):
            if not len(left):
                left = next(others)
            size = min(len(values), len(left))
            yield join(values[:size], left[:size])
            values, left = values[size:], left[size:]


def changed(chunks: Iterable[Chunk], change: Callable[[Floats], Floats]) -> Iterator[Chunk]:
    """The records with `change` applied to each one, which may depend on that record alone."""
    for values, counts in blocks(chunks):
        yield change(values) if counts is None else (change(values), counts)


def gathered(chunks: Chunks) -> Floats:
    """All records in one array, missing ones included; for data known to be small."""
    return scan(chunks, _joined, _appended)


def _joined(chunks: Iterable[Chunk]) -> Floats:
    parts = [values if counts is None else np.repeat(values, counts) for values, counts in blocks(chunks)]
    return np.concatenate([np.zeros(0), *parts])


def _appended(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])


def blocks(chunks: Iterable[Chunk]) -> Iterator[tuple[Floats, Ints | None]]:
    """Blocks of at most CHUNK values, with the number of records of each value, or None for one each."""
    for chunk in chunks:
        raw, counts = chunk if isinstance(chunk, tuple) else (chunk, None)
        values = np.asarray(raw, dtype=np.float64)
        for start in range(0, len(values), CHUNK):
            window = slice(start, start + CHUNK)
            yield values[window], None if counts is None else counts[window]


def present(values: Floats, counts: Ints | None) -> tuple[Floats, Ints | None]:
    """A block without its missing records."""
    if not math.isnan(np.maximum.reduce(values, initial=0.0)):  # the fastest way to see that none is missing
        return values, counts
    kept = (~np.isnan(values)).nonzero()[0]  # faster than to select by marks
    return values[kept], None if counts is None else counts[kept]
