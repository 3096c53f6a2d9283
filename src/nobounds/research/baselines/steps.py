"""Densities that are constant between edges: how the exponential mechanism over the real line is distributed."""

from dataclasses import dataclass

import numpy as np

from nobounds.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Laws on the same k intervals, one a row: k + 1 edges in order, and the logarithms of the masses between them.

    An interval of no width has no mass.
    """

    edges: Floats
    log_masses: Floats

    @property
    def masses(self) -> Floats:
        """The probabilities of the intervals, one law a row."""
        return np.exp(self.log_masses)

    @property
    def log_density(self) -> Floats:
        """The logarithm of the density inside each interval; NaN where there is no inside."""
        widths = np.diff(self.edges)
        return self.log_masses - np.log(widths, out=np.full_like(widths, np.nan), where=widths > 0)

    def draw(self, rng: np.random.Generator, count: int = 1) -> Floats:
        """So many independent points of each law, one law a row."""
        rows = []
        for masses in self.masses:
            passed = np.cumsum(masses)
            which = np.searchsorted(passed / passed[-1], rng.random(count), side="right")
            rows.append(rng.uniform(self.edges[which], self.edges[which + 1]))
        return np.array(rows)

    def mean_error(self, truths: Floats) -> Floats:
        """The expected distance from the truth, one for each law."""
        left, right, t = self.edges[:-1], self.edges[1:], np.asarray(truths, dtype=float)[:, None]
        around = ((t - left) ** 2 + (right - t) ** 2) / (2 * _divisors(right - left))
        away = np.where((left < t) & (t < right), around, np.abs((left + right) / 2 - t))
        return np.asarray((self.masses * away).sum(axis=1))

    def rounded_error(self, truths: Floats, resolution: float) -> Floats:
        """The same for points that are rounded to the nearest multiple of the resolution."""
        ends = np.rint(self.edges[[0, -1]] / resolution)
        grid = np.arange(ends[0], ends[1] + 1) * resolution
        cuts = np.concatenate([self.edges[:1], grid[:-1] + resolution / 2, self.edges[-1:]])
        away = np.abs(grid - np.asarray(truths, dtype=float)[:, None])
        return np.asarray((np.diff(self.below(cuts), axis=1) * away).sum(axis=1))

    def below(self, points: Floats) -> Floats:
        """The probabilities of answers below these points, one law a row."""
        where = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.edges) - 2)
        left = self.edges[where]
        part = np.clip((points - left) / _divisors(self.edges[where + 1] - left), 0.0, 1.0)
        masses = self.masses
        return np.asarray((np.cumsum(masses, axis=1) - masses)[:, where] + part * masses[:, where])


def _divisors(widths: Floats) -> Floats:
    """The widths, and 1 for none: what is divided by it has no mass."""
    return np.where(widths > 0, widths, 1.0)
