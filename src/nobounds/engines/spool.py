"""A spool: float64 columns kept in a nameless temporary file, for data that can be read only once.

The file has no name once it is open, so nothing is left behind when the process ends, however it ends.
"""

import tempfile
import weakref
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_BYTES = 8


class Spool:
    """Columns of equal length, written batch by batch and then read as often as needed."""

    def __init__(self, names: list[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._lengths: list[int] = []  # of the batches
        self.rows = 0
        weakref.finalize(self, self._file.close)

    def add(self, batch: dict[str, NDArray[np.float64]]) -> None:
        """Append one array for each column, all of one length."""
        for name in self._names:
            self._file.write(np.ascontiguousarray(batch[name], dtype=np.float64).data)
        self._lengths.append(len(next(iter(batch.values()), ())))
        self.rows += self._lengths[-1]

    def chunks(self, name: str) -> Iterator[NDArray[np.float64]]:
        """The records of a column; several passes may be under way, one after the other."""
        width, place, start = len(self._names), self._names.index(name), 0
        for length in self._lengths:
            self._file.seek((start * width + place * length) * _BYTES)
            yield np.fromfile(self._file, dtype=np.float64, count=length)
            start += length
