"""Lognormal values in a file, written a few at a time: raw float64, or the column x of a Parquet file.

python benchmarks/speed/data.py 1000000 /tmp/values.bin
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 1 << 20  # of a row group


def values(number: int) -> Iterator[Any]:
    """As many values, the same each time."""
    rng = np.random.default_rng(0)
    for start in range(0, number, ROWS):
        yield rng.lognormal(3, 0.8, min(ROWS, number - start))


def write(number: int, path: Path) -> None:
    """The file, of the kind that its name says."""
    if path.suffix != ".parquet":
        with path.open("wb") as file:
            for block in values(number):
                block.tofile(file)
        return
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([("x", pa.float64())])
    with ParquetWriter(path, schema) as writer:
        for block in values(number):
            writer.write_table(pa.table({"x": block}, schema=schema), row_group_size=ROWS)


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
