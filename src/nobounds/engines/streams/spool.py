"""A spool: float64 columns kept in a nameless temporary file, for data that can be read only once.

The file has no name once it is open, so nothing is left behind when the process ends, however it ends. It is written
when the spool is made and never after that, and each read states its position: threads and forked processes, which
share the file and its offset, read the same records.
"""

import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_BYTES = 8
T = TypeVar("T")


class Spool:
    """Columns of equal length, from batches with an array for each column, to be read any number of times."""

    def __init__(self, names: list[str], batches: Iterable[dict[str, NDArray[np.float64]]]) -> None:
        self._names = list(dict.fromkeys(names))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._lengths: list[int] = []  # of the batches
        self._seeking = threading.Lock()
        for batch in batches:
            for name in self._names:
                self._file.write(np.ascontiguousarray(batch[name], dtype=np.float64).data)
            self._lengths.append(len(next(iter(batch.values()), ())))
        self._file.flush()
        self.rows = sum(self._lengths)

    def chunks(self, name: str) -> Iterator[NDArray[np.float64]]:
        """The records of a column; several passes may run at once."""
        width, place, start = len(self._names), self._names.index(name), 0
        for length in self._lengths:
            yield self._read((start * width + place * length) * _BYTES, length)
            start += length

    def _read(self, place: int, length: int) -> NDArray[np.float64]:
        """`length` numbers from byte `place` of the file on."""
        if not hasattr(os, "pread"):  # on Windows; there is no fork either
            with self._seeking:
                self._file.seek(place)
                return np.fromfile(self._file, dtype=np.float64, count=length)
        data = bytearray()
        while len(data) < length * _BYTES:  # the system may return less than requested
            more = os.pread(self._file.fileno(), length * _BYTES - len(data), place + len(data))
            if not more:
                raise OSError("a temporary file is shorter than what was written to it")
            data += more
        return np.frombuffer(data, dtype=np.float64)


def once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that makes a value at its first call, in whichever thread, and returns that value ever after."""
    turn, made = threading.Lock(), list[T]()

    def get() -> T:
        with turn:
            if not made:
                made.append(make())
            return made[0]

    return get
