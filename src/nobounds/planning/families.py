"""Shapes of data to plan with: a few named families, and public samples. A shape is its quantile function.

| name | P(X > x) | median |
|---|---|---|
| uniform | 1 - x between 0 and 1 | 0.5 |
| normal | mean 0, standard deviation 1 | 0 |
| lognormal | that of exp(Z) for a normal Z | 1 |
| exponential | exp(-x) from 0 on | 0.693 |
| pareto | x**-2 from 1 on: finite mean, infinite variance | 1.414 |
| poisson | counts of mean 10 (of mean `scale`, if given): whole numbers with many ties | 10 |

All but the last are multiplied by `scale`, and lie on a grid if a resolution is stated. A public sample is resampled:
whole numbers, records with a stated resolution and samples of mostly tied values as they are, others along straight
lines between some of them.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import gathered
from nobounds.engines.memory.arrays import Column, column
from nobounds.exact import Number, positive
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

_POISSON_MEAN, _MOST_MEAN = 10.0, 1e6
_LARGEST = 1e100  # of numbers to plan with: sums and squares are floats
_FLOATS = Facts(integral=False, nullable=True)
_POINTS = 2000  # of a shape, to see its heaps
_LOGITS = 36  # probabilities down to 2e-16


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The quantile function for probabilities between 0 and 1, the facts of that type, and the size of a sample."""

    name: str
    at: Callable[[Floats], Floats]
    facts: Facts
    size: int | None = None

    @classmethod
    def of(cls, data: object, scale: Number | None = None, resolution: Number | None = None) -> "Shape":
        """The shape of a named family or of a public sample."""
        if not isinstance(data, str):
            if scale is not None:
                raise ValueError("scale is for the named families; multiply the sample itself")
            return _of_sample(column(data), resolution is not None)
        if data not in FAMILIES:
            raise ValueError(f"data must be one of {', '.join(FAMILIES)}, or a public sample, got data={data!r}")
        times = None if scale is None else float(positive(scale, "scale"))
        if times is not None and not 1 / _LARGEST <= times <= _LARGEST:
            raise ValueError(f"scale must be between {1 / _LARGEST:g} and {_LARGEST:g}, got scale={scale!r}")
        if data == "poisson":
            return cls(data, _poisson(_POISSON_MEAN if times is None else times), Facts(integral=True, nullable=False))
        unit, factor = _CONTINUOUS[data], 1.0 if times is None else times
        if resolution is None:
            return cls(data, lambda u: factor * unit(u), _FLOATS)
        grid = float(positive(resolution, "resolution"))
        return cls(data, lambda u: np.rint(factor * unit(u) / grid) * grid, _FLOATS)

    def heap(self) -> float:
        """The part of the data that have the most frequent value, such as 0; 0 if hardly any two are the same."""
        _, counts = np.unique(self.at((np.arange(_POINTS) + 0.5) / _POINTS), return_counts=True)
        return 0.0 if counts.max() == 1 else float(counts.max() / _POINTS)


def normal_quantile(u: Floats) -> Floats:
    """The quantile function of the standard normal law, to 1e-6."""
    with np.errstate(divide="ignore"):
        logits = np.log(u) - np.log1p(-u)
    return np.asarray(np.interp(logits, *_normal_table()))


@lru_cache(maxsize=1)
def _normal_table() -> tuple[Floats, Floats]:
    logits = np.linspace(-_LOGITS, 0, 3601)
    lower = np.array([NormalDist().inv_cdf(1 / (1 + math.exp(-logit))) for logit in logits[:-1].tolist()])
    return np.concatenate([logits, -logits[-2::-1]]), np.concatenate([lower, [0.0], -lower[::-1]])


def _poisson(mean: float) -> Callable[[Floats], Floats]:
    if mean > _MOST_MEAN:
        raise ValueError(f"scale must be at most {_MOST_MEAN:g} for poisson, got scale={mean!r}")
    low, high = (max(math.floor(mean + sign * (40 + 10 * math.sqrt(mean))), 0) for sign in (-1, 1))
    counts = np.arange(low, high + 1)
    logs = counts * math.log(mean) - np.array([math.lgamma(k + 1.0) for k in counts.tolist()])
    up_to = np.cumsum(np.exp(logs - logs.max()))
    return lambda u: counts[np.searchsorted(up_to[:-1] / up_to[-1], u)].astype(np.float64)


def _of_sample(sample: Column, gridded: bool) -> Shape:
    records = gathered(sample.chunks())
    ordered = np.sort(records[np.isfinite(records)])
    if not len(ordered):
        raise ValueError("data must have at least one number to resample, got none")
    if max(-ordered[0], ordered[-1]) > _LARGEST:
        raise ValueError(f"data must be a sample of numbers within {_LARGEST:g}, got larger ones")
    size, name = len(ordered), "public sample"
    if sample.facts.integral or gridded or 2 * len(np.unique(ordered)) < size:
        return Shape(name, lambda u: ordered[np.minimum((u * size).astype(np.int64), size - 1)], sample.facts, size)
    knots = _knots(size)
    return Shape(name, lambda u: np.interp(u * (size - 1), knots, ordered[knots]), sample.facts, size)


def _knots(size: int) -> Ints:
    """Ranks from 0 to size - 1, about the square root of their distance from the nearer end apart.

    Lines between all records would repeat the gaps and clusters of the sample, which the data have elsewhere.
    """
    steps = np.arange(math.isqrt(2 * size) + 2) ** 2 // 4
    steps = steps[steps <= size // 2]
    return np.unique(np.concatenate([steps, size - 1 - steps]))


_CONTINUOUS: dict[str, Callable[[Floats], Floats]] = {
    "uniform": lambda u: u,
    "normal": normal_quantile,
    "lognormal": lambda u: np.exp(normal_quantile(u)),
    "exponential": lambda u: -np.log1p(-u),
    "pareto": lambda u: 1 / np.sqrt(1 - u),
}
FAMILIES = (*_CONTINUOUS, "poisson")
