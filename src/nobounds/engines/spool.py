"""A spool: float64 columns kept in a nameless temporary file, for data that can be read only once.

The file has no name once it is open, so nothing is left behind when the process ends, however it ends.
"""

import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import windows

_BYTES = 8


class Spool:
    """Columns of equal length, written batch by batch and then read as often as needed."""

    def __init__(self, names: list[str]) -> None:
        self._files: dict[str, IO[bytes]] = {name: tempfile.TemporaryFile() for name in names}  # noqa: SIM115
        self.rows = 0

    def add(self, batch: dict[str, NDArray[np.float64]]) -> None:
        """Append one array for each column, all of one length."""
        for name, file in self._files.items():
            file.write(np.ascontiguousarray(batch[name], dtype=np.float64).data)
        self.rows += len(next(iter(batch.values()), ()))

    def chunks(self, name: str) -> Iterator[NDArray[np.float64]]:
        """The records of a column; several passes may be under way, one after the other."""
        file = self._files[name]
        for window in windows(self.rows):
            file.seek(window.start * _BYTES)
            yield np.fromfile(file, dtype=np.float64, count=min(window.stop, self.rows) - window.start)
