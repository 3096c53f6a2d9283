"""Public measures over the line: what the weight of an interval is before anybody looks at the data.

The exponential mechanism may weigh its answers by any public measure (McSherry and Talwar 2007). `FLAT` is the length,
which has to be bounded. `MAGNITUDES` needs no bounds: log10|y| is Cauchy(1.2, 2.5), and both signs are equally likely.
It has no atoms, and it is the same for a mechanism on the line after the public map y -> its distribution function.
"""

import math
from typing import Protocol

import numpy as np

from nobounds.arrays import Floats
from nobounds.values import dataclass

_LARGEST = np.finfo(float).max


class Measure(Protocol):
    """Masses of intervals, and points inside them."""

    def log_masses(self, edges: Floats) -> Floats:
        """ln of the masses between sorted edges; minus infinity between equal ones."""

    def inside(self, left: Floats, right: Floats, share: Floats) -> Floats:
        """The points of the intervals below which these shares of their masses lie."""


@dataclass(frozen=True, slots=True)
class Flat:
    """Length, on a bounded part of the line."""

    def log_masses(self, edges: Floats) -> Floats:
        """ln of the widths."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.diff(edges)))

    def inside(self, left: Floats, right: Floats, share: Floats) -> Floats:
        """By linear interpolation."""
        return np.asarray(left + (right - left) * share)


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """log10 of the magnitude is Cauchy with this centre and scale; the sign is a fair coin.

    Masses are angles: that between magnitudes a and b is a difference of arctangents, computed from b - a itself, so
    that a thin interval far from 0 keeps all of its digits.
    """

    center: float = 1.2
    scale: float = 2.5

    def log_masses(self, edges: Floats) -> Floats:
        """ln of the masses; the edges may be infinite."""
        left, right = edges[:-1], edges[1:]
        near, far = np.minimum(np.abs(left), np.abs(right)), np.maximum(np.abs(left), np.abs(right))
        angles, across = self._angle(near, far), (left < 0) & (right > 0)
        zeros = np.zeros(across.sum())
        angles[across] = self._angle(zeros, right[across]) + self._angle(zeros, -left[across])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(angles) - math.log(2 * math.pi))

    def inside(self, left: Floats, right: Floats, share: Floats) -> Floats:
        """By the inverse of the mass, on the side of 0 where the point lies."""
        left, right, share = np.broadcast_arrays(left, right, share)
        zeros = np.zeros(share.shape)
        below, above = self._angle(zeros, np.maximum(-left, 0)), self._angle(zeros, np.maximum(right, 0))
        cut = np.where(left >= 0, 0.0, np.where(right <= 0, 1.0, below / np.where(below + above > 0, below + above, 1)))
        negative = (share < cut) | (right <= 0)
        near = np.where(negative, np.maximum(-right, 0), np.maximum(left, 0))
        far = np.where(negative, np.maximum(-left, 0), np.maximum(right, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(negative, (cut - share) / cut, (share - cut) / (1 - cut))
        sizes = self._magnitude(near, far, part)
        return np.where(negative, -sizes, sizes)

    def _place(self, magnitude: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray((np.log10(magnitude) - self.center) / self.scale)

    def _angle(self, near: Floats, far: Floats) -> Floats:
        """arctan of the place of `far` minus that of `near`, for 0 <= near <= far; 0 if they are equal."""
        near, far = np.asarray(near, dtype=float), np.asarray(far, dtype=float)
        low, high = self._place(near), self._place(far)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            apart = np.log1p((far - near) / near) / (math.log(10) * self.scale)
            angle = np.arctan2(apart, 1 + low * high)
            angle = np.where(np.isneginf(low), np.arctan2(1.0, -high), angle)
            angle = np.where(np.isposinf(high), np.arctan2(1.0, low), angle)
            angle = np.where(np.isneginf(low) & np.isposinf(high), math.pi, angle)
        return np.where(near < far, angle, 0.0)

    def _magnitude(self, near: Floats, far: Floats, part: Floats) -> Floats:
        """The magnitude with this part of the angle between `near` and `far` below it."""
        low, turn = self._place(near), part * self._angle(near, far)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            tangent = np.tan(turn)
            moved = tangent * (1 + low**2) / (1 - low * tangent)
            moved = np.where(moved < 0, np.inf, moved)  # a turn that rounding took past the end
            sizes = near + near * np.expm1(math.log(10) * self.scale * moved)
            from_zero = 10 ** (self.center - self.scale / tangent)
        sizes = np.where(np.isneginf(low), from_zero, sizes)
        return np.asarray(np.clip(np.nan_to_num(sizes, nan=_LARGEST), near, np.minimum(far, _LARGEST)))


FLAT, MAGNITUDES = Flat(), Magnitudes()
