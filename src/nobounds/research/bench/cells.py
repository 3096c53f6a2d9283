"""Cells of the comparison: a statistic of a family at an offset, with n, epsilon and a relation."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from nobounds.arrays import Floats
from nobounds.research.bench.families import FAMILIES
from nobounds.values import dataclass

Relation = Literal["add-remove", "swap"]
CAP = 10  # an error counts for at most this many times the range of the data
DECILES = tuple(i / 10 for i in range(1, 10))


@dataclass(frozen=True, slots=True)
class Cell:
    """What is estimated, from which data, at which price."""

    part: str
    statistic: str
    family: str
    offset: float
    n: int
    epsilon: float
    relation: Relation
    scale: float = 1.0  # the data are multiplied by it: another unit
    stated: str = ""  # what nobounds is given: lower, upper, resolution or rows

    @property
    def budget(self) -> float:
        """n epsilon: what decides how hard the task is."""
        return self.n * self.epsilon

    @property
    def qs(self) -> tuple[float, ...]:
        """The ranks of the quantiles; none for a mean or a sum."""
        fixed = {"maximum": (1.0,), "minimum": (0.0,), "deciles": DECILES, "mean": (), "sum": ()}
        return fixed[self.statistic] if self.statistic in fixed else (float(self.statistic.removeprefix("q=")),)

    def data(self, repetition: int) -> Floats:
        """The records of one repetition: the same draws for every offset, statistic, epsilon, relation and unit."""
        return FAMILIES[self.family].sample(f"{self.family}/{repetition}", self.offset, self.n) * self.scale

    def samples(self, repetitions: int) -> Iterable[Floats]:
        """The records of each repetition."""
        return map(self.data, range(repetitions))

    def truth(self, data: Floats) -> Floats:
        """The statistic of the sample: one number, or one for each quantile."""
        if self.qs:
            return np.quantile(data, self.qs)
        return np.array([data.mean() if self.statistic == "mean" else data.sum()])

    def losses(self, answers: Floats, truth: Any, data: Floats) -> Floats:
        """The capped absolute errors in units of the spread; or whether answers fail, in parts that count failures."""
        off = np.abs(answers - truth)
        off = np.where(np.isnan(off), np.inf, off)
        if self.part == "few":  # by half of the median or of the interquartile range
            return np.asarray(
                off > max(abs(float(truth)), float(np.diff(np.quantile(data, [0.25, 0.75]))[0])) / 2, float
            )
        if self.part == "wild":
            return np.asarray(off > np.ptp(data), float)
        return np.asarray(np.minimum(off, self._cap(data)) / self._unit())

    def error(self, answer: Any, data: Floats) -> float:
        """The loss of one answer, averaged over the quantiles."""
        answers, truth = np.atleast_1d(np.asarray(answer, dtype=float)), self.truth(data)
        return float(self.losses(answers, truth if len(truth) > 1 else truth[0], data).mean())

    def _unit(self) -> float:
        return FAMILIES[self.family].spread * self.scale * (self.n if self.statistic == "sum" else 1)

    def _cap(self, data: Floats) -> float:
        """The largest error that counts; for a sum that of answering 0."""
        return float(np.abs(data).sum()) if self.statistic == "sum" else CAP * float(np.ptp(data))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
