"""Synthetic data: families of known spread, at any distance from 0, the same draws at every distance."""

from collections.abc import Callable
from zlib import crc32

import numpy as np

from nobounds.arrays import Floats
from nobounds.values import dataclass

Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True, slots=True)
class Family:
    """How to draw records, and a spread: the standard deviation, or the interquartile range if that is infinite."""

    draw: Draw
    spread: float
    resolution: float | None = None  # of data with ties: offsets are multiples of it

    def sample(self, key: str, offset: float, n: int) -> Floats:
        """`n` records, shifted by `offset` spreads; the key fixes the draws."""
        shift = offset * self.spread
        if self.resolution is not None:
            shift = float(np.rint(shift / self.resolution)) * self.resolution
        return self.draw(np.random.default_rng([crc32(key.encode()), n]), n) + shift


def _zeros(rng: np.random.Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(3, 0.8, n))


def _salaries(rng: np.random.Generator, n: int) -> Floats:
    step = rng.choice([10_000.0, 1_000.0, 100.0], n, p=[0.5, 0.3, 0.2])
    return np.asarray(np.maximum(np.rint(rng.lognormal(10.8, 0.5, n) / step), 1) * step)


SMOOTH = {
    "normal": Family(lambda rng, n: rng.normal(0, 5, n), 5.0),
    "uniform": Family(lambda rng, n: rng.uniform(-5, 5, n), 10 / np.sqrt(12)),
    "lognormal": Family(lambda rng, n: rng.lognormal(3, 0.8, n), 26.18),
    "pareto": Family(lambda rng, n: 10 * (rng.pareto(2, n) + 1), 8.45),
}
TIED = {
    "zeros": Family(_zeros, 21.4),
    "rounded": Family(lambda rng, n: np.rint(rng.normal(0, 5, n)), 5.0, 1.0),
    "ages": Family(lambda rng, n: np.rint(np.clip(rng.normal(38.6, 13.6, n), 17, 90)), 13.0, 1.0),
    "salaries": Family(_salaries, 29_600.0, 100.0),
}
POSITIVE = {  # for sums
    "uniform-0-100": Family(lambda rng, n: rng.uniform(0, 100, n), 28.87),
    "compact": Family(lambda rng, n: 100 * rng.beta(20, 1, n), 4.54),
    "exponential": Family(lambda rng, n: rng.exponential(50, n), 50.0),
    "lognormal": SMOOTH["lognormal"],
    "pareto": SMOOTH["pareto"],
    "normal-40-12": Family(lambda rng, n: np.abs(rng.normal(40, 12, n)), 12.0),
    "gamma-ties": Family(lambda rng, n: np.rint(rng.gamma(8, 5, n)), 14.14, 1.0),
}
PRESSURE = Family(lambda rng, n: np.rint(rng.normal(10_130, 100, n)) / 10, 10.0, 0.1)  # hectopascals, to one decimal
FAMILIES = SMOOTH | TIED | POSITIVE | {"pressure": PRESSURE}
