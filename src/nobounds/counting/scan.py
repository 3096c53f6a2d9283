"""One pass over records, in chunks in this process or in parts on other machines.

A pass is a function from chunks to a small result, and a function that merges two results. In this process the first is
called once. `Remote` chunks call it on the machine of each part and return only the results, so the functions and their
results must be picklable.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from nobounds.arrays import Floats, Ints

P = TypeVar("P")

Chunk: TypeAlias = Floats | tuple[Floats, Ints]
"""An array of records, or distinct values with the number of records of each."""

CHUNK = 1 << 17  # values per step: temporaries stay in the cache and steps are few (fastest of 2**14 to 2**17)


@runtime_checkable
class Remote(Protocol):
    """Records on other machines."""

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The merged result of `part` over all records."""
        ...

    def mapped(self, change: Callable[[Floats], Floats]) -> "Remote":
        """The records with `change` applied to each one."""
        ...


Chunks: TypeAlias = Iterable[Chunk] | Remote

Records: TypeAlias = Callable[[], Chunks]
"""The records of a column: each call starts a pass over them."""


def scan(chunks: Chunks, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
    """The result of `part` over all chunks, merged if they are remote."""
    return chunks.scan(part, merge) if isinstance(chunks, Remote) else part(chunks)


def mapped(chunks: Chunks, change: Callable[[Floats], Floats]) -> Chunks:
    """The records with `change` applied to each one, which may depend on that record alone."""
    return chunks.mapped(change) if isinstance(chunks, Remote) else changed(chunks, change)


def changed(chunks: Iterable[Chunk], change: Callable[[Floats], Floats]) -> Iterator[Chunk]:
    """Like `mapped`, for chunks in this process."""
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
    if not np.isnan(np.max(values, initial=0.0)):  # the fastest way to see that none is missing
        return values, counts
    kept = ~np.isnan(values)
    return values[kept], None if counts is None else counts[kept]
