"""Rows of numbers as vectors of whole numbers in a ball: clipped by Euclidean norm, and added up without rounding.

What a row becomes depends on that row alone, and its norm is checked in whole numbers. So the sum changes by no more
than the radius when a row is added, exactly, and whole numbers add up in any order.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.engines.column import refuse_type
from nobounds.engines.memory.arrow import speaks_arrow
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.refusals import replacing_errors
from nobounds.exact import MAX, finite_float

_BLOCK = 1 << 20  # numbers that are worked on at a time
_LEAST_EXPONENT = -1074
_FRAMES = frozenset({"DataFrame", "LazyFrame", "Table", "RecordBatch"})
_LISTS = {"pandas": "tolist", "polars": "to_list", "pyarrow": "to_pylist"}


@dataclass(frozen=True, slots=True)
class Ball:
    """Vectors of whole numbers of steps of 2**exponent with a Euclidean norm of at most `radius`."""

    exponent: int
    radius: int
    reach: float  # the clip in steps: where rows are scaled to before they are rounded, which adds sqrt(d) / 2 at most

    @classmethod
    def of(cls, clip: Fraction, dimensions: int) -> "Ball":
        """The lattice for a clip: 2**28 steps, or as many as let the squares of d whole numbers add up to 2**62."""
        bits = min(28, (60 - dimensions.bit_length()) // 2)
        exponent = math.frexp(finite_float(clip))[1] - bits if clip else _LEAST_EXPONENT
        reach = clip / Fraction(2) ** exponent
        return cls(exponent, math.ceil(reach) + math.isqrt(dimensions - 1) // 2 + 1, float(reach))

    @property
    def step(self) -> Fraction:
        """What one step is worth."""
        return Fraction(2) ** self.exponent

    def steps(self, rows: Floats) -> Ints:
        """The rows that are not missing, scaled into the ball and rounded to whole numbers."""
        scaled, exponents, lengths = _scaled(rows[np.isfinite(rows).all(axis=1)])
        with np.errstate(over="ignore", under="ignore"):
            whole = np.minimum(np.ldexp(1.0, exponents - self.exponent), self.reach / np.maximum(lengths, 0.5))
            found = np.rint(scaled * whole[:, None]).astype(np.int64)
        return self.enforced(found)

    def enforced(self, whole: Ints) -> Ints:
        """The same vectors, with those outside the ball drawn towards 0 until they are inside.

        Rounding leaves none outside; this makes it so whatever the floats do.
        """
        whole = np.clip(whole, -self.radius, self.radius)  # so that the squares cannot overflow
        while (outside := np.square(whole).sum(axis=1) > self.radius**2).any():
            whole[outside] -= np.sign(whole[outside])
        return whole


@dataclass(frozen=True, slots=True)
class Rows:
    """A matrix of numbers, one record a row. Its width is public, and whether a row can be missing."""

    data: NDArray[Any]
    declared: bool = True  # whether the type of `data` was declared, and not found by a library in the records

    @classmethod
    def of(cls, data: object) -> "Rows":
        """The rows of a two-dimensional array, of numpy or of any library that speaks its array protocol or DLPack.

        DLPack and `__array_interface__` have one type for all records. An `__array__` may choose another type if there
        is a null: what it gives counts as floats that can be missing.
        """
        matrix = _matrix(data)
        declared = any(hasattr(data, way) for way in ("__array_interface__", "__dlpack__"))
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

    def blocks(self) -> Iterator[Floats]:
        """Some rows at a time, as fresh float64 arrays."""
        height = max(1, _BLOCK // self.dimensions)
        for start in range(0, len(self.data), height):
            with np.errstate(all="ignore"):
                yield np.array(self.data[start : start + height], dtype=np.float64, order="C", copy=True)

    def norms(self) -> Floats:
        """The norm of each row; NaN if it is missing, and the largest float if it is larger."""
        return np.concatenate([np.zeros(0), *(_norms(rows) for rows in self.blocks())])

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
    speaks = [hasattr(data, way) for way in ("__array__", "__array_interface__", "__dlpack__")]
    if not any(speaks):
        raise TypeError(
            f"data must be a two-dimensional array, got {name}; "
            "convert it first, for example np.asarray(data, dtype=float)"
        )
    fix = "for a tensor pass data.detach().cpu().float()"
    with replacing_errors(lambda: TypeError(f"data must be readable as a numpy array, got {name} that is not; {fix}")):
        found: NDArray[Any] = np.asarray(data) if speaks[0] or speaks[1] else np.from_dlpack(data)  # type: ignore[arg-type]
    return found


def _scaled(rows: Floats) -> tuple[Floats, NDArray[np.int32], Floats]:
    """Each row over a power of two that leaves its largest magnitude in [1/2, 1), the exponent, and its norm then.

    No square overflows, and none that matters underflows. They are added up in halves, by operations on single numbers:
    the order in which a library sums a row may depend on the rows around it, and a norm must not.
    """
    exponents = np.frexp(np.abs(rows).max(axis=1))[1]
    with np.errstate(under="ignore"):
        scaled = np.ldexp(rows, -exponents[:, None])
        squares = np.square(scaled)
        while (width := squares.shape[1]) > 1:
            half = (width + 1) // 2
            squares[:, : width - half] += squares[:, half:]
            squares = squares[:, :half]
    return scaled, exponents, np.sqrt(squares[:, 0])


def _norms(rows: Floats) -> Floats:
    present = np.isfinite(rows).all(axis=1)
    _, exponents, lengths = _scaled(rows[present])
    norms = np.full(len(rows), np.nan)
    with np.errstate(over="ignore", under="ignore"):
        norms[present] = np.minimum(np.ldexp(lengths, exponents), MAX)
    return norms
