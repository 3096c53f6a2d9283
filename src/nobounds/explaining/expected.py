"""What error to expect of a given release: from its public parameters and exact laws, for several shapes of data.

The shape of the data is unknown, and under add-remove so is their number. Errors are therefore forecast for a few of
both, in ranks, which depend little on either. The shapes are scaled to the released value, which is already noised, so
that public bounds and grids lie where they did for the data.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.planning import sum_errors
from nobounds.planning.expectation import expect
from nobounds.planning.families import Shape
from nobounds.planning.forecasters import Forecaster, Statistic
from nobounds.values import dataclass

SIZES = (1_000, 10_000, 100_000)
SHAPES = ("uniform", "lognormal", "pareto")
SHAPES_IN_WORDS = "even, skewed and heavy-tailed data (uniform, lognormal, Pareto)"
_SETS = 8  # data sets, stratified: errors are as accurate as with 32 independent ones, to 1% to 7%
_RELEASES = 32  # data sets where releases have to be simulated
_LEAST = 1e-4  # routes with less probability change an error by less than data sets do
_CLIPS = 12  # data sets for the number of records outside a clip, which varies more
_FACTS = ("lower", "upper", "resolution")


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """The parameters of a release that determine its error, for one row; all of them public."""

    statistic: str
    qs: tuple[Fraction, ...]
    spending: Spending
    neighbors: Neighbors
    options: dict[str, Any]  # lower, upper, resolution; and for quantiles method, noise, beta and rows
    near: float  # the magnitude of a released value, ...
    at: Fraction  # ... and its rank

    def rank_errors(self, n: int) -> tuple[float, float]:
        """The smallest and the largest expected rank error over the shapes, for n records."""
        simulated = self.statistic == "quantiles" and len(self.qs) > 1
        sets = (_RELEASES if simulated else _SETS,)
        forecasts = [self._forecaster(name, n).errors(self.spending, sets, _LEAST).rank for name in _shapes(simulated)]
        errors = [error for error in forecasts if error is not None]
        return min(errors), max(errors)

    def outside(self, n: int) -> tuple[float, float]:
        """The smallest and the largest expected number of records outside the clip over the shapes, for n records."""
        counts = [self._outside(self._forecaster(name, n)) for name in SHAPES]
        return min(counts), max(counts)

    def _outside(self, forecaster: Forecaster) -> float:
        plan = forecaster.sum_plan(self.spending)
        starts = sum_errors.clip_starts(plan, forecaster.sampling.typical())
        return (
            expect(starts, lambda start, k: sum_errors.outside(*start, forecaster.fresh(k), k), 1.0, (_CLIPS,)).rank
            or 0.0
        )

    def _forecaster(self, name: str, n: int) -> Forecaster:
        resolution = self.options.get("resolution")
        shape = Shape.of(name, _scale(name, self.near, min(max(float(self.at), 1 / n), 1 - 1 / n)), resolution)
        options = self.options | {"neighbors": self.neighbors}
        for fact in _FACTS:
            options.setdefault(fact, None)
        return Forecaster.of(_statistic(self.statistic), self.qs, n, shape, options, strata=_SETS)


def _shapes(simulated: bool) -> Sequence[str]:
    """The shapes to use: fewer where releases have to be simulated."""
    return SHAPES[1:2] if simulated else SHAPES


def _statistic(name: str) -> Statistic:
    return name  # type: ignore[return-value]  # callers pass only those names


def _scale(name: str, near: float, rank: float) -> str | None:
    """The factor that scales a family's quantile at `rank` to `near`; None to leave the family as it is."""
    unit = float(Shape.of(name).at(np.array([rank]))[0])
    return repr(near / unit) if 1e-30 < near < 1e30 and unit > 0 else None
