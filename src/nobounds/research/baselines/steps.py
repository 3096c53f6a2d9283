"""Piecewise constant densities: the laws of the exponential mechanism over the real line."""

from dataclasses import dataclass

import numpy as np

from nobounds.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Laws on the same k intervals, one per row: k + 1 sorted edges, and the logarithms of the masses between them.

    An interval of no width has no mass.
    """

    edges: Floats
    log_masses: Floats

    @property
    def masses(self) -> Floats:
        """The probabilities of the intervals, one law per row."""
        return np.exp(self.log_masses)

    @property
    def log_density(self) -> Floats:
        """The logarithm of the density inside each interval; NaN for an empty interval."""
        widths = np.diff(self.edges)
        return self.log_masses - np.log(widths, out=np.full_like(widths, np.nan), where=widths > 0)

    def draw(self, rng: np.random.Generator, count: int = 1) -> Floats:
        """`count` independent points of each law, one law per row."""
        rows = []
        for masses in self.masses:
            passed = np.cumsum(masses)
            which = np.searchsorted(passed / passed[-1], rng.random(count), side="right")
            rows.append(rng.uniform(self.edges[which], self.edges[which + 1]))
        return np.array(rows)

    def mean_error(self, truths: Floats) -> Floats:
        """The expected distance from the truth, for each law."""
        left, right, t = self.edges[:-1], self.edges[1:], np.asarray(truths, dtype=float)[:, None]
        around = ((t - left) ** 2 + (right - t) ** 2) / (2 * _divisors(right - left))
        away = np.where((left < t) & (t < right), around, np.abs((left + right) / 2 - t))
        return np.asarray((self.masses * away).sum(axis=1))

    def rounded_error(self, truths: Floats, resolution: float) -> Floats:
        """The expected distance for points rounded to the nearest multiple of the resolution."""
        ends = np.rint(self.edges[[0, -1]] / resolution)
        grid = np.arange(ends[0], ends[1] + 1) * resolution
        cuts = np.concatenate([self.edges[:1], grid[:-1] + resolution / 2, self.edges[-1:]])
        away = np.abs(grid - np.asarray(truths, dtype=float)[:, None])
        return np.asarray((np.diff(self.below(cuts), axis=1) * away).sum(axis=1))

    def below(self, points: Floats) -> Floats:
        """The probabilities of answers below these points, one law per row."""
        where = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.edges) - 2)
        left = self.edges[where]
        part = np.clip((points - left) / _divisors(self.edges[where + 1] - left), 0.0, 1.0)
        masses = self.masses
        return np.asarray((np.cumsum(masses, axis=1) - masses)[:, where] + part * masses[:, where])


def _divisors(widths: Floats) -> Floats:
    """The widths, with 1 in place of 0: an empty interval has no mass to divide."""
    return np.where(widths > 0, widths, 1.0)
