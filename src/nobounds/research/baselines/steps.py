"""Piecewise constant densities with regard to a public measure: the laws of the exponential mechanism."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.research.baselines.measures import FLAT, Measure
from nobounds.values import dataclass

Places = np.ndarray[Any, np.dtype[np.intp]]
_EVEN = 1e-12  # tilts below this are none
_FEW, _MANY, _NEVER = 16, 2048, 1e-13  # points in narrow and wide intervals; a probability that is left out


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Laws on the same k intervals, one per row: k + 1 sorted edges, and the logarithms of the masses between them.

    An interval of no width has no mass. Inside an interval a law is that of the measure, or with `tilts` its density is
    exponential in the measure: exp(tilt) times as large at the right end as at the left.
    """

    edges: Floats
    log_masses: Floats
    measure: Measure = FLAT
    tilts: Floats | None = None

    @property
    def masses(self) -> Floats:
        """The probabilities of the intervals, one law per row."""
        return np.exp(self.log_masses)

    @property
    def log_density(self) -> Floats:
        """The logarithm of the density with regard to the measure; NaN for an empty interval."""
        weights = self.measure.log_masses(self.edges)
        return self.log_masses - np.where(np.isneginf(weights), np.nan, weights)

    def draw(self, rng: np.random.Generator, count: int = 1) -> Floats:
        """`count` independent points of each law, one law per row."""
        rows = []
        for masses in self.masses:
            passed = np.cumsum(masses)
            which = np.searchsorted(passed / passed[-1], rng.random(count), side="right")
            rows.append(self._points(which, rng.random(count)))
        return np.array(rows)

    def expectation(self, function: Callable[[Floats], Floats]) -> Floats:
        """The expected value of a function of the answer, for each law, by points of equal probability."""
        left, right = self.edges[:-1], self.edges[1:]
        wide = np.isinf(left) | np.isinf(right) | ((left < 0) & (right > 0))
        totals = np.zeros(len(self.log_masses))
        for row, masses in enumerate(self.masses):
            for points, kind in ((_FEW, ~wide), (_MANY, wide)):
                (which,) = np.nonzero(kind & (masses > _NEVER))
                shares = (np.arange(points) + 0.5) / points
                answers = self._points(which[:, None], shares)
                totals[row] += float(masses[which] @ function(answers).mean(axis=1)) if len(which) else 0.0
        return totals

    def mean_error(self, truths: Floats) -> Floats:
        """The expected distance from the truth, for each law over the flat measure."""
        left, right, t = self.edges[:-1], self.edges[1:], np.asarray(truths, dtype=float)[:, None]
        around = ((t - left) ** 2 + (right - t) ** 2) / (2 * _divisors(right - left))
        away = np.where((left < t) & (t < right), around, np.abs((left + right) / 2 - t))
        return np.asarray((self.masses * away).sum(axis=1))

    def rounded_error(self, truths: Floats, resolution: float) -> Floats:
        """The expected distance for points rounded to the nearest multiple of the resolution, over the flat measure."""
        ends = np.rint(self.edges[[0, -1]] / resolution)
        grid = np.arange(ends[0], ends[1] + 1) * resolution
        cuts = np.concatenate([self.edges[:1], grid[:-1] + resolution / 2, self.edges[-1:]])
        away = np.abs(grid - np.asarray(truths, dtype=float)[:, None])
        return np.asarray((np.diff(self.below(cuts), axis=1) * away).sum(axis=1))

    def below(self, points: Floats) -> Floats:
        """The probabilities of answers below these points, one law per row, over the flat measure."""
        where = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.edges) - 2)
        left = self.edges[where]
        part = np.clip((points - left) / _divisors(self.edges[where + 1] - left), 0.0, 1.0)
        masses = self.masses
        return np.asarray((np.cumsum(masses, axis=1) - masses)[:, where] + part * masses[:, where])

    def _points(self, which: Places, shares: Floats) -> Floats:
        """The points of the intervals below which these shares of their probability lie."""
        if self.tilts is not None:
            tilts = self.tilts[which]
            even = np.abs(tilts) < _EVEN
            shares = np.where(even, shares, np.log1p(shares * np.expm1(tilts)) / np.where(even, 1.0, tilts))
        return self.measure.inside(self.edges[which], self.edges[which + 1], shares)


def _divisors(widths: Floats) -> Floats:
    """The widths, with 1 in place of 0: an empty interval has no mass to divide."""
    return np.where(widths > 0, widths, 1.0)
