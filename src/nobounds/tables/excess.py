"""How many rows lie beyond the first m of each unit, from noisy numbers of units by their number of rows.

A unit lies in one cell: of the units with 1, 2 ... m rows, or, for a large m, in the octave below m; and of those with
more in the octaves (m, 2m], (2m, 4m] and so on. Beyond m the numbers of units are assumed to fall log-concavely from
their peak on: octave j has about exp(a + b j - g j^2) units with g >= 0, and far out each octave has at most half as
many as the one before. Large counts speak for themselves, small ones are read through this assumption. All of it is
computed from noisy counts, by a posterior on a fixed lattice and fixed draws from it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nobounds.arrays import Floats, Ints

ASSUMES = "units with more and more rows become fewer and fewer; none with far more rows than the others"
OCTAVES = 16  # beyond m; the last cell is open
_SINGLE = 8  # up to this m, cells below it are single numbers
_LOOSE = 0.3  # how far the number of units in an octave may lie from the curve, in parts of it
_SPREAD = 0.15  # how far the mean number of rows in an octave may lie from that of the curve, in parts of it
_APART = (
    0.05  # the chance that the number of units in an octave has nothing to do with the curve; half of it in the next
)
_SETTLED = 3  # octaves after the peak, from which on each has at most half as many units
_SLOPES = np.linspace(-8, 4, 49)  # from octave to octave, for which mean numbers of rows are tabled
_DRAWS = 2000
_HERMITE = 48


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells for at most m rows per unit: the largest number of rows in each; the last one is open."""

    most: int
    edges: tuple[int, ...]

    @classmethod
    def of(cls, most: int) -> "Cells":
        """The cells for a public number of rows."""
        below = list(range(1, most + 1))
        if most > _SINGLE:
            below = sorted({max(most >> k, 1) for k in range(most.bit_length())})
        return cls(most, (*below, *(most << j for j in range(1, OCTAVES))))

    @property
    def kept(self) -> int:
        """The number of cells whose units have no row left out."""
        return self.edges.index(self.most) + 1

    def counts(self, rows: Floats) -> Ints:
        """How many units lie in each cell, by their numbers of rows; sensitive."""
        return np.bincount(np.searchsorted(self.edges, rows), minlength=len(self.edges) + 1).astype(np.int64)

    @property
    def lows(self) -> tuple[int, ...]:
        """The smallest number of rows in each cell."""
        return (1, *(edge + 1 for edge in self.edges))

    @property
    def highs(self) -> tuple[int, ...]:
        """The largest number of rows in each cell, as if the open one were an octave."""
        return (*self.edges, 2 * self.edges[-1])

    def sizes(self, place: int, slopes: Floats) -> Floats:
        """The mean number of rows in a cell, where the numbers of units have these slopes from octave to octave."""
        low, high = self.lows[place], self.highs[place]
        numbers = np.arange(low, high + 1) if high - low < 64 else np.linspace(low, high, 64)
        weights = (numbers / low) ** (_SLOPES[:, None] / math.log(2) - 1)
        return np.asarray(np.interp(slopes, _SLOPES, weights @ numbers / weights.sum(axis=1)))


def share_beyond(noisy: Sequence[int], cells: Cells, scale: float, gaussian: bool) -> tuple[float, float, float]:
    """The share of rows beyond the first m of each unit: its median, and a 95% interval.

    noisy: the numbers of units with noise, Laplace noise of this scale or (`gaussian`) of this deviation.
    """
    counts, number = np.array(noisy, dtype=np.float64), cells.kept
    variance = scale**2 * (1 if gaussian else 2)
    most = float(np.maximum(counts, 0).sum()) + 10 * scale
    noise = _Noise(scale, variance, gaussian, most)
    curves = _curves(most, len(counts) - number)
    logs = noise.log_likelihood(counts[number:], curves)
    rng = np.random.default_rng(0)  # of the computation, not of the release
    inside = np.concatenate([cells.sizes(place, np.zeros(1)) for place in range(number)])
    kept, loose = max(float(counts[:number] @ inside), 0.0), math.sqrt(variance * float(inside @ inside))
    slopes = np.gradient(curves, axis=1)
    sizes = np.column_stack([cells.sizes(number + j, slope) for j, slope in enumerate(slopes.T)])
    beyond = (np.exp(curves) * (sizes - cells.most)).sum(axis=1)
    logs = logs - np.log1p(beyond / max(kept, 1.0)) / 2  # most rows are rather kept than left out
    weights = np.exp(logs - logs.max())
    passed = np.cumsum(weights) / weights.sum()
    chosen = np.minimum(np.searchsorted(passed, (np.arange(_DRAWS) + 0.5) / _DRAWS), len(passed) - 1)
    rates = np.exp(curves[chosen])
    spread = rates + (_LOOSE * rates) ** 2
    pull = spread / (spread + variance)
    apart = rng.random(rates.shape) < noise.apart(counts[number:], curves[chosen])
    middle = np.where(apart, counts[number:], rates + pull * (counts[number:] - rates))
    width = np.sqrt(np.where(apart, variance, pull * variance))
    units = np.rint(np.maximum(middle + width * _normals(rng, rates), 0))
    low, high = np.array(cells.lows)[number:], np.array(cells.highs)[number:]
    curved = np.clip(sizes[chosen] * (1 + _SPREAD * _normals(rng, rates)), low, high)
    rows = np.where(apart, low + (high - low) * rng.random(rates.shape), curved)
    beyond = (units * (rows - cells.most)).sum(axis=1)
    within = np.maximum(kept + loose * _normals(rng, beyond), 0) + cells.most * units.sum(axis=1)
    shares = beyond / np.maximum(within + beyond, 1)
    first, middle, last = np.quantile(shares, [0.025, 0.5, 0.975])
    return float(middle), float(first), float(last)


def _normals(rng: np.random.Generator, like: Floats) -> Floats:
    return rng.standard_normal(like.shape)


def _curves(most: float, octaves: int) -> Floats:
    """The logarithms of the numbers of units by octave: a curve in each row."""
    heights = np.linspace(np.log(0.02), np.log(most), 60)
    slopes = np.linspace(-5, 3, 41)
    bends = np.array([0.0, 0.0, 0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.2])  # a third of them straight
    a, b, g = (each.ravel()[:, None] for each in np.meshgrid(heights, slopes, bends, indexing="ij"))
    j = np.arange(octaves)
    curves = a + b * j - g * j**2
    peak = np.argmax(curves, axis=1)[:, None]
    falls = np.diff(curves, axis=1) <= -np.log(2)
    settled = (falls | (j[1:] <= peak + _SETTLED)).all(axis=1) & (curves.max(axis=1) <= np.log(most))
    return np.asarray(curves[settled])


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise on numbers of units, and the most units that there may be."""

    scale: float
    variance: float
    gaussian: bool
    most: float

    def log_likelihood(self, counts: Floats, curves: Floats) -> Floats:
        """The log-likelihood of the noisy counts of all octaves, for each curve."""
        at = np.linspace(curves.min(), curves.max(), 400)
        total = np.zeros(len(curves))
        for count, column, far in zip(counts, curves.T, self._far(len(counts)), strict=True):
            total += np.interp(column, at, np.logaddexp(self._near(count, np.exp(at)), far))
        return total

    def apart(self, counts: Floats, curves: Floats) -> Floats:
        """The chances that the numbers of units have nothing to do with their curves."""
        at = np.linspace(curves.min(), curves.max(), 400)
        near = [
            np.interp(curve, at, self._near(count, np.exp(at))) for count, curve in zip(counts, curves.T, strict=True)
        ]
        return np.asarray(1 / (1 + np.exp(np.minimum(np.column_stack(near) - self._far(len(counts)), 700))))

    def _far(self, octaves: int) -> Floats:
        """The log-density of noisy counts that have nothing to do with a curve, times the chance of that."""
        return np.asarray(math.log(_APART / self.most) - math.log(2) * np.arange(octaves))

    def _near(self, count: float, rates: Floats) -> Floats:
        """The log-density of a noisy count, for each expected number of units on a curve."""
        spread = rates + (_LOOSE * rates) ** 2
        whole = spread + self.variance
        normal = -((count - rates) ** 2) / (2 * whole) - np.log(2 * np.pi * whole) / 2
        if self.gaussian:
            return np.asarray(normal)
        points, weights = np.polynomial.hermite_e.hermegauss(_HERMITE)
        units = np.maximum(rates[:, None] + np.sqrt(spread)[:, None] * points, 0)
        laplace = np.exp(-np.abs(count - units) / self.scale) @ (weights / weights.sum())
        exact = np.log(np.maximum(laplace, 1e-300)) - math.log(2 * self.scale)
        return np.where(spread > 9 * self.variance, normal, exact)
