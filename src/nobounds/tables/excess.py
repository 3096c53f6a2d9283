"""How many rows lie beyond the first m of each unit, from noisy numbers of units by their number of rows.

A unit lies in one cell: of those with 1, 2 ... 8 rows up to m, else in a half octave. From the most frequent number of
rows on, the numbers of units are assumed to fall log-concavely: at u octaves from there, an octave has about
exp(a + b u - g u^2) units, or exp(a + b u - c (2^u - 1 - u ln 2)) (power laws, lognormal and gamma-like laws are among
them). Large counts speak for themselves, small ones are read through this assumption. The ends of the interval are the
outer ones of posteriors whose priors favour few and many rows beyond: where the counts do not decide, they lie far
apart. All of it is computed from noisy counts, by posteriors on a fixed lattice and fixed draws from them.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.values import dataclass

ASSUMES = "units with more and more rows become fewer and fewer; none with far more rows than the others"
OCTAVES = 16  # beyond m; the last cell is open
_SINGLE = 8  # up to this m, cells below it are single numbers
_LOOSE = 0.35  # how far the number of units in a cell may lie from the curve, in parts of it
_SPREAD = 0.2  # how far the mean number of rows in a cell may lie from that of the curve, in parts of the cell
_APART = 0.05  # the chance that a cell has nothing to do with the curve; half of it an octave further
_SLOPES = np.linspace(-16, 4, 81)  # from octave to octave, for which mean numbers of rows are tabled
# Of the median and of the two ends: the power of 1 + rows beyond over rows kept in the prior, and the prior weight of
# curves without a bend over that of others.
_PRIORS = ((-0.5, 3.0), (-1.0, 1.0), (1.0, 18.0))
_DRAWS = 1000
_HERMITE = 48


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells for at most m rows per unit: the largest number of rows in each; the last one is open."""

    most: int
    edges: tuple[int, ...]

    @classmethod
    def of(cls, most: int) -> "Cells":
        """The cells for a public number of rows."""
        first = 0 if most <= _SINGLE else -2 * most.bit_length()
        halves = {max(round(most * 2 ** (k / 2)), 1) for k in range(first, 2 * OCTAVES)}
        return cls(most, tuple(sorted(halves | set(range(1, min(most, _SINGLE) + 1)))))

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

    def octaves(self) -> tuple[Floats, Floats]:
        """The middle of each cell and its width, in octaves."""
        low, high = np.log2(self.lows), np.log2(np.array(self.highs) + 1)
        return (low + high) / 2, high - low

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
    counts = np.array(noisy, dtype=np.float64)
    noise = _Noise(scale, scale**2 * (1 if gaussian else 2), gaussian, float(np.maximum(counts, 0).sum()) + 10 * scale)
    middles, widths = cells.octaves()
    peak = int(np.argmax((counts - 2 * scale) / widths))
    curves, slopes, straight = _curves(
        math.log(max(counts[peak], scale) / widths[peak]), middles[peak:] - middles[peak]
    )
    curves = curves + np.log(widths[peak:])
    logs = noise.log_likelihood(counts[peak:], curves, middles[peak:] - middles[peak])
    sizes = np.column_stack([cells.sizes(peak + j, slope) for j, slope in enumerate(slopes.T)])
    tail = (np.exp(curves) * np.maximum(sizes - cells.most, 0)).sum(axis=1)
    kept = max(float(np.maximum(counts, 0) @ np.minimum(cells.lows, cells.most)), 1.0)
    shares = []
    for tilt, weight in _PRIORS:
        weights = np.where(straight, weight, 1) * np.exp(logs - logs.max()) * (1 + tail / kept) ** tilt
        passed = np.cumsum(weights) / weights.sum()
        chosen = np.minimum(np.searchsorted(passed, (np.arange(_DRAWS) + 0.5) / _DRAWS), len(passed) - 1)
        shares.append(_shares(counts, cells, noise, peak, curves[chosen], sizes[chosen]))
    ends = np.quantile(shares, [0.025, 0.5, 0.975], axis=1)
    low, high = math.floor(100 * ends[0].min()) / 100, math.ceil(100 * ends[2].max()) / 100
    return float(ends[1, 0]), low, high


def _shares(counts: Floats, cells: Cells, noise: "_Noise", peak: int, curves: Floats, sizes: Floats) -> Floats:
    """Draws of the share, for curves from the peak on: the cells before it speak for themselves."""
    rng = np.random.default_rng(0)  # of the computation, not of the release
    middles, _ = cells.octaves()
    rates = np.exp(curves)
    spread = rates + (_LOOSE * rates) ** 2
    pull = spread / (spread + noise.variance)
    apart = rng.random(rates.shape) < noise.apart(counts[peak:], curves, middles[peak:] - middles[peak])
    middle = np.where(apart, counts[peak:], rates + pull * (counts[peak:] - rates))
    width = np.sqrt(np.where(apart, noise.variance, pull * noise.variance))
    after = middle + width * rng.standard_normal(rates.shape)
    rare = (pull < 0.25) & ~apart  # the noise says nothing of them
    after = np.where(rare, rng.poisson(np.where(rare, rates, 0)), after)
    before = counts[:peak] + math.sqrt(noise.variance) * rng.standard_normal((len(rates), peak))
    units = np.hstack([before, after])  # below 0 as well: cut off at 0, noise would add up
    low, high = np.array(cells.lows), np.array(cells.highs)
    # All units of a cell may have one number of rows, also that at its ends.
    rows = low + (high - low) * np.clip(rng.uniform(-0.25, 1.25, units.shape), 0, 1)
    curved = sizes + _SPREAD * (high - low)[peak:] * rng.standard_normal(sizes.shape)
    smooth = ~apart & (np.arange(sizes.shape[1]) > 0)
    rows[:, peak:] = np.where(smooth, np.clip(curved, low[peak:], high[peak:]), rows[:, peak:])
    beyond = np.maximum((units * np.maximum(rows - cells.most, 0)).sum(axis=1), 0)
    within = np.maximum((units * np.minimum(rows, cells.most)).sum(axis=1), 1)
    return np.asarray(beyond / (within + beyond))


def _curves(height: float, octaves: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The logarithms of the numbers of units per octave, their slopes, and which are straight: a curve in each row."""
    heights = height + np.linspace(-0.8, 0.8, 7)
    slopes = np.concatenate([np.linspace(-16, -4, 13), np.linspace(-3.75, 0.5, 35)])
    bends = [(0.0, 0.0)] + [(g, 0.0) for g in (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0)]
    bends += [(0.0, c) for c in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)]
    a, b, k = (each.ravel()[:, None] for each in np.meshgrid(heights, slopes, np.arange(len(bends)), indexing="ij"))
    g, c = np.array(bends)[k[:, 0]].T[:, :, None]
    curves = a + b * octaves - g * octaves**2 - c * (2**octaves - 1 - octaves * math.log(2))
    steep = b - 2 * g * octaves - c * math.log(2) * (2**octaves - 1)
    return np.maximum(curves, -50), steep, k[:, 0] == 0


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise on numbers of units, and the most units that there may be."""

    scale: float
    variance: float
    gaussian: bool
    most: float

    def log_likelihood(self, counts: Floats, curves: Floats, octaves: Floats) -> Floats:
        """The log-likelihood of the noisy counts of all cells, for each curve."""
        total = np.zeros(len(curves))
        at = self._at()
        for count, column, far in zip(counts, curves.T, self._far(octaves), strict=True):
            total += np.interp(column, at, np.logaddexp(self._near(count, np.exp(at)), far))
        return total

    def apart(self, counts: Floats, curves: Floats, octaves: Floats) -> Floats:
        """The chances that the numbers of units have nothing to do with their curves."""
        at = self._at()
        near = [
            np.interp(curve, at, self._near(count, np.exp(at))) for count, curve in zip(counts, curves.T, strict=True)
        ]
        return np.asarray(1 / (1 + np.exp(np.minimum(np.column_stack(near) - self._far(octaves), 700))))

    def _at(self) -> Floats:
        """Logarithms of rates for which likelihoods are computed."""
        return np.linspace(-7, math.log(self.most) + 2, 300)

    def _far(self, octaves: Floats) -> Floats:
        """The log-density of noisy counts that have nothing to do with a curve, times the chance of that."""
        return np.asarray(math.log(_APART / self.most) - math.log(2) * octaves)

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
