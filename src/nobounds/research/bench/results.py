"""Errors of the methods in each cell, and ratios of them with standard errors."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from nobounds.research.bench.cells import Cell
from nobounds.values import dataclass

OURS = "nobounds"
LEAST = 1e-9  # errors in spreads below this count as this: there is nothing to compare
FLOOR = 0.01  # in geometric means a ratio counts for at least this, and for at most its inverse


@dataclass(frozen=True, slots=True)
class Outcome:
    """The errors of every method in one cell, one for each repetition."""

    cell: Cell
    errors: dict[str, list[float]]

    def mean(self, method: str) -> float:
        """The mean error, in spreads."""
        return float(np.mean(self.errors[method]))

    def deviation(self, method: str) -> float:
        """The standard error of the mean."""
        values = self.errors[method]
        return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan

    def ratio(self, method: str, to: str) -> tuple[float, float]:
        """The ratio of two mean errors and its standard error."""
        return ratio(self.errors[method], self.errors[to])

    def best(self, besides: Iterable[str] = (OURS,)) -> str | None:
        """The method with the least mean error apart from these."""
        others = [name for name in self.errors if name not in besides]
        return min(others, key=self.mean, default=None)


def ratio(over: Sequence[float], under: Sequence[float], least: float = LEAST) -> tuple[float, float]:
    """The ratio of two mean errors and its standard error; a mean below `least` counts as that.

    Repetitions are paired: they have the same data. If one method has fewer of them the two are treated as independent,
    which overstates the standard error.
    """
    top, bottom = max(float(np.mean(over)), least), max(float(np.mean(under)), least)
    first, second = np.array(over) / top, np.array(under) / bottom
    if len(first) == len(second):
        variance = float(np.var(first - second)) / len(first)
    else:
        variance = float(np.var(first)) / len(first) + float(np.var(second)) / len(second)
    return top / bottom, top / bottom * math.sqrt(variance)


def geometric(ratios: Iterable[float]) -> float:
    """The geometric mean of ratios, each within FLOOR and its inverse."""
    logs = [math.log(min(max(ratio, FLOOR), 1 / FLOOR)) for ratio in ratios]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan
