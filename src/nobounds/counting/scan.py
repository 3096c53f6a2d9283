"""One pass over records, wherever they lie: chunks in this process, or parts of them on other machines.

A pass is a function from chunks to something small, and a way to put two of those together. In this process it is
called once. `Remote` chunks call it where each part of the records lies, and bring only its results here; so it and
its results must be picklable.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from nobounds.arrays import Floats, Ints

P = TypeVar("P")

Chunk: TypeAlias = Floats | tuple[Floats, Ints]
"""Some records; or values, and how many records have each of them."""

CHUNK = 1 << 17  # values a step: the temporaries stay in the cache, and steps are few (best of 2**14 to 2**17)


@runtime_checkable
class Remote(Protocol):
    """Records on other machines."""

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The pass over all of them."""
        ...

    def mapped(self, change: Callable[[Floats], Floats]) -> "Remote":
        """The same records, each changed by a function of it alone."""
        ...


Chunks: TypeAlias = Iterable[Chunk] | Remote

Records: TypeAlias = Callable[[], Chunks]
"""The records of a column: each call starts a pass over them."""


def scan(chunks: Chunks, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
    """What `part` makes of all chunks."""
    return chunks.scan(part, merge) if isinstance(chunks, Remote) else part(chunks)


def mapped(chunks: Chunks, change: Callable[[Floats], Floats]) -> Chunks:
    """The same records, each changed by a function of it alone."""
    return chunks.mapped(change) if isinstance(chunks, Remote) else changed(chunks, change)


def changed(chunks: Iterable[Chunk], change: Callable[[Floats], Floats]) -> Iterator[Chunk]:
    """The same for chunks in this process."""
    for values, counts in blocks(chunks):
        yield change(values) if counts is None else (change(values), counts)


def gathered(chunks: Chunks) -> Floats:
    """All records in one array, missing ones too; for data that are known to be few."""
    return scan(chunks, _joined, _appended)


def _joined(chunks: Iterable[Chunk]) -> Floats:
    parts = [values if counts is None else np.repeat(values, counts) for values, counts in blocks(chunks)]
    return np.concatenate([np.zeros(0), *parts])


def _appended(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])


def blocks(chunks: Iterable[Chunk]) -> Iterator[tuple[Floats, Ints | None]]:
    """A few at a time: values, and how many records have each (None: one)."""
    for chunk in chunks:
        found, counts = chunk if isinstance(chunk, tuple) else (chunk, None)
        values = np.asarray(found, dtype=np.float64)
        for start in range(0, len(values), CHUNK):
            window = slice(start, start + CHUNK)
            yield values[window], None if counts is None else counts[window]


def present(values: Floats, counts: Ints | None) -> tuple[Floats, Ints | None]:
    """A block without its missing records."""
    if not np.isnan(np.max(values, initial=0.0)):  # the quickest way to see that none is missing
        return values, counts
    there = ~np.isnan(values)
    return values[there], None if counts is None else counts[there]
