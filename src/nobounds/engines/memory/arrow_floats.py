"""Floats between Arrow and numpy by their buffers.

pyarrow's own conversions import pandas, wherever it is installed, and that takes longer than a small table.
"""

from typing import Any

import numpy as np

from nobounds.arrays import Floats


def floats_in(array: Any) -> Floats:
    """The numbers of an Arrow array of type float64, or of its chunks; NaN for nulls."""
    if hasattr(array, "chunks"):
        array = array.chunks[0] if array.num_chunks == 1 else array.combine_chunks()
    validity, data = array.buffers()
    if data is None:
        return np.full(len(array), np.nan)
    values = np.frombuffer(data, np.float64, len(array), 8 * array.offset)
    values.flags.writeable = False  # they are the data
    if not array.null_count:
        return values
    first, start = divmod(array.offset, 8)  # a part of a long array has the bits of all of it
    bits = np.frombuffer(validity, np.uint8, (start + len(array) + 7) // 8, first)
    valid = np.unpackbits(bits, count=start + len(array), bitorder="little")[start:]
    return np.where(valid.view(bool), values, np.nan)


def arrow_floats(values: Floats, pa: Any) -> Any:
    """The Arrow array of type float64 with these numbers."""
    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])
