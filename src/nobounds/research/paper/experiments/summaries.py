"""Summaries of the results: means, standard errors, and ranges of repetitions."""

import numpy as np

from nobounds.arrays import Floats
from nobounds.research.paper.experiments import quantile_errors
from nobounds.research.paper.published import published
from nobounds.research.paper.work import Result
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class QuantileErrors:
    """The absolute errors of Figure 3 on one data set, by method: a row for each sample."""

    errors: dict[str, Floats]
    step: int

    @classmethod
    def of(cls, results: dict[str, Result], name: str) -> "QuantileErrors":
        """All samples of a data set together."""
        parts = [result for key, result in results.items() if key.split()[0] == name]
        errors = {
            method: np.concatenate([np.array(part[method]) for part in parts]) for method in quantile_errors.METHODS
        }
        return cls(errors, parts[0]["step"])

    def qs(self, method: str) -> Floats:
        """The quantiles of a method's columns."""
        swap = method == "nobounds, swap"
        return np.array((quantile_errors.SWAP_QS if swap else quantile_errors.QS)[:: self.step])

    def mean(self, method: str, qs: Floats | None = None) -> Floats:
        """Mean errors, at some of the quantiles."""
        means: Floats = self.errors[method].mean(axis=0)
        return means if qs is None else means[np.isin(np.round(self.qs(method), 2), np.round(qs, 2))]

    def ratio(self, method: str) -> tuple[Floats, Floats, Floats]:
        """Quantiles, mean errors relative to UQE's, and standard errors of these ratios; NaN where UQE has no error."""
        qs = self.qs(method)
        mine = self.errors[method]
        theirs = self.errors["UQE"][:, np.isin(np.round(self.qs("UQE"), 2), np.round(qs, 2))]
        a, b = mine.mean(axis=0), theirs.mean(axis=0)
        b = np.where(b > 1e-9, b, np.nan)
        mine_error, their_error = (x.std(axis=0) / np.sqrt(len(x)) for x in (mine, theirs))
        return qs, a / b, np.hypot(mine_error / b, a / b * their_error / b)

    def average_ratio(self, method: str) -> float:
        """The method's mean error over its quantiles, relative to that of UQE."""
        qs = self.qs(method)
        return float(self.mean(method).mean() / max(self.mean("UQE", qs).mean(), 1e-12))


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Table 1: the paper's number, and the median and the range of our repetitions."""

    paper: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, results: dict[str, Result], name: str, epsilon: str, method: str) -> "Cell":
        """The cell of one of the paper's methods."""
        errors = np.array(results[f"{name} {epsilon} {method}"]["errors"])
        low, high = (float(np.quantile(errors, q)) for q in (0.05, 0.95))
        return cls(published(epsilon, method, name), float(np.median(errors)), low, high)

    @property
    def inside(self) -> bool:
        """Whether the paper's number lies between the 5% and 95% quantiles of the repetitions."""
        return self.low <= self.paper <= self.high


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean and its standard error."""
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values)))


def repeated(errors: list[float], times: int = 100) -> tuple[float, float]:
    """The median over repetitions of the mean of `times` errors, as in Table 1, and its standard error."""
    size = min(times, max(len(errors) // 3, 1))
    means = np.array(errors[: len(errors) // size * size]).reshape(-1, size).mean(axis=1)
    low, middle, high = np.quantile(means, [0.25, 0.5, 0.75])
    return float(middle), float(1.25 * (high - low) / 1.35 / np.sqrt(len(means)))
