"""A spool: float64 columns kept for data that can be read only once, in memory if they are few, else in a file.

The file has no name once it is open, so nothing is left behind when the process ends, however it ends. It is written
when the spool is made and never after that, and each read states its position: threads and forked processes, which
share the file and its offset, read the same records.
"""

import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

_BYTES = 8
_HELD = 1 << 23  # numbers that are kept in memory: 64 MB
T = TypeVar("T")


class Spool:
    """Columns of equal length, from batches with an array for each column, to be read any number of times."""

    def __init__(self, names: list[str], batches: Iterable[dict[str, NDArray[np.float64]]]) -> None:
        self._names = list(dict.fromkeys(names))
        self._lengths: list[int] = []  # of the batches
        self._held: list[list[NDArray[np.float64]]] = []  # the columns of each batch, unless they are in the file
        self._file: IO[bytes] | None = None
        self._seeking = threading.Lock()
        waiting = 0
        for batch in batches:
            self._held.append([_read_only(batch[name]) for name in self._names])
            self._lengths.append(len(next(iter(batch.values()), ())))
            waiting += self._lengths[-1] * len(self._names)
            if waiting > _HELD:
                self._write()
                waiting = 0
        if self._file is not None:
            self._write()
            self._file.flush()
        self.rows = sum(self._lengths)

    def chunks(self, name: str) -> Iterator[NDArray[np.float64]]:
        """The records of a column; several passes may run at once."""
        width, place, start = len(self._names), self._names.index(name), 0
        if self._file is None:
            yield from (columns[place] for columns in self._held)
            return
        for length in self._lengths:
            yield self._read(self._file, (start * width + place * length) * _BYTES, length)
            start += length

    def _write(self) -> None:
        """Move what is held to the file."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        for columns in self._held:
            for column in columns:
                self._file.write(column.data)
        self._held = []

    def _read(self, file: IO[bytes], place: int, length: int) -> NDArray[np.float64]:
        """`length` numbers from byte `place` of the file on."""
        if not hasattr(os, "pread"):  # on Windows; there is no fork either
            with self._seeking:
                file.seek(place)
                return np.fromfile(file, dtype=np.float64, count=length)
        data = bytearray()
        while len(data) < length * _BYTES:  # the system may return less than requested
            more = os.pread(file.fileno(), length * _BYTES - len(data), place + len(data))
            if not more:
                raise OSError("a temporary file is shorter than what was written to it")
            data += more
        return np.frombuffer(data, dtype=np.float64)


def _read_only(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of a column as every pass gets them: none of them can change what the next one reads."""
    numbers = np.ascontiguousarray(column, dtype=np.float64).view()
    numbers.flags.writeable = False
    return numbers


def once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that makes a value at its first call, in whichever thread, and returns that value ever after."""
    turn, made = threading.Lock(), list[T]()

    def get() -> T:
        with turn:
            if not made:
                made.append(make())
            return made[0]

    return get
