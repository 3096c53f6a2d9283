"""Two-dimensional arrays to Rows: one vector per row, refused by their type and shape alone."""

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats
from nobounds.counting.ball import Ball, norms
from nobounds.engines.column import refuse_type
from nobounds.engines.memory.arrow import speaks_arrow
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.refusals import replacing_errors
from nobounds.ladders.facts import Facts, VectorFacts
from nobounds.values import dataclass

_FRAMES = frozenset({"DataFrame", "LazyFrame", "Table", "RecordBatch"})
_LISTS = {"pandas": "tolist", "polars": "to_list", "pyarrow": "to_pylist"}


@dataclass(frozen=True, slots=True)
class Rows:
    """A matrix of numbers, one record per row. Its width is public, and whether a row can be missing."""

    data: NDArray[Any] = field(repr=False)
    declared: bool = True  # whether the type of `data` was declared, and not inferred from the records
    block: int = 1 << 20  # numbers that are worked on at a time

    @classmethod
    def of(cls, data: object) -> "Rows":
        """The rows of a two-dimensional array, of numpy or of any library that speaks its array protocol or DLPack.

        DLPack and `__array_interface__` have one type for all records. An `__array__` may choose another type if there
        is a null: its result is treated as floats that can be missing.
        """
        matrix = _matrix(data)
        declared = any(hasattr(data, protocol) for protocol in ("__array_interface__", "__dlpack__"))
        if not declared and matrix.dtype.kind == "O":
            records = [nearest_float(record) for record in matrix.ravel().tolist()]
            matrix = np.array(records, dtype=np.float64).reshape(matrix.shape)
        if matrix.dtype.kind not in "biuf":
            raise refuse_type(f"dtype {matrix.dtype.type.__name__}", "convert it first, for example to float32")
        if matrix.ndim != 2:
            raise ValueError(
                f"data must have two dimensions, one record a row, got ndim={matrix.ndim}; "
                "reshape it first, for example data.reshape(len(data), -1)"
            )
        if matrix.shape[1] == 0:
            raise ValueError("data must have at least one column, got a width of 0")
        return cls(matrix, declared)

    @property
    def dimensions(self) -> int:
        """The number of columns."""
        return int(self.data.shape[1])

    @property
    def nullable(self) -> bool:
        """Whether a row can be missing."""
        return self.data.dtype.kind == "f" or not self.declared

    def public(self, sized: bool) -> VectorFacts:
        """The public facts; under swap the number of rows is one of them."""
        norms = Facts(False, self.nullable, lower=0, rows=len(self.data) if sized else None)
        return VectorFacts(self.dimensions, norms)

    def blocks(self) -> Iterator[Floats]:
        """Some rows at a time, as fresh float64 arrays."""
        height = max(1, self.block // self.dimensions)
        for start in range(0, len(self.data), height):
            with np.errstate(all="ignore"):
                yield np.array(self.data[start : start + height], dtype=np.float64, order="C", copy=True)

    def norms(self) -> Floats:
        """The norm of each row; NaN if it is missing, and the largest float if it is larger."""
        return np.concatenate([np.zeros(0), *(norms(rows) for rows in self.blocks())])

    def total(self, ball: Ball) -> list[int]:
        """The exact sum of the clipped rows."""
        total: NDArray[Any] = np.zeros(self.dimensions, dtype=object)
        for rows in self.blocks():
            total += ball.steps(rows).sum(axis=0).astype(object)  # 2**20 numbers below 2**30 each; then Python's own
        return [int(x) for x in total]


def _matrix(data: object) -> NDArray[Any]:
    """The array, without a copy where its library allows; refused by its type alone."""
    name = type(data).__name__
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("data must not be masked; pass data.filled(np.nan), which makes a row with a mask missing")
    library = type(data).__module__.partition(".")[0]
    if library in _LISTS or speaks_arrow(data) or name in _FRAMES:
        # What numpy makes of these depends on whether a record is missing.
        to_list = f"np.array(data.{_LISTS.get(library, 'to_pylist')}(), dtype=float)"
        fix = "df.to_numpy(dtype=float)" if name in _FRAMES else to_list
        raise TypeError(f"data must be an array, got a {name}; convert it first, for example {fix}")
    speaks = [hasattr(data, protocol) for protocol in ("__array__", "__array_interface__", "__dlpack__")]
    if not any(speaks):
        raise TypeError(
            f"data must be a two-dimensional array, got {name}; "
            "convert it first, for example np.asarray(data, dtype=float)"
        )
    fix = "for a tensor pass data.detach().cpu().float()"
    with replacing_errors(lambda: TypeError(f"data must be readable as a numpy array, got {name} that is not; {fix}")):
        matrix: NDArray[Any] = np.asarray(data) if speaks[0] or speaks[1] else np.from_dlpack(data)  # type: ignore[arg-type]
    return matrix
