"""What error to expect of a given release: its statistic is drawn again on data sets of several shapes and sizes.

The shape of the data is unknown, and under add-remove so is their number. Errors are therefore forecast for a few of
both, in ranks, which depend little on either. The shapes are scaled to the released value, which is already noised, so
that public bounds and grids lie where they did for the data.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.planning.families import Shape
from nobounds.planning.forecasters import Forecaster, Statistic
from nobounds.values import dataclass

SIZES = (1_000, 10_000, 100_000)
SHAPES = ("uniform", "lognormal", "pareto")
SHAPES_IN_WORDS = "even, skewed and heavy-tailed data (uniform, lognormal, Pareto), by simulated releases"
_DRAWS = 48  # of a release, for each shape and number of records


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """The parameters of a release that determine its error, for one row; all of them public."""

    statistic: Statistic
    qs: tuple[Fraction, ...]
    spending: Spending
    neighbors: Neighbors
    options: dict[str, Any]  # lower, upper, resolution and interval
    near: float  # the magnitude of a released value, ...
    at: Fraction  # ... and its rank

    def rank_errors(self, n: int) -> tuple[float, float]:
        """The smallest and the largest expected rank error over the shapes, for n records."""
        errors = [self._forecaster(name, n).errors(self.spending, _DRAWS).rank or 0.0 for name in SHAPES]
        return min(errors), max(errors)

    def _forecaster(self, name: str, n: int) -> Forecaster:
        resolution = self.options.get("resolution")
        shape = Shape.of(name, _scale(name, self.near, min(max(float(self.at), 1 / n), 1 - 1 / n)), resolution)
        return Forecaster.of(self.statistic, self.qs, n, shape, self.options | {"neighbors": self.neighbors})


def _scale(name: str, near: float, rank: float) -> str | None:
    """The factor that scales a family's quantile at `rank` to `near`; None to leave the family as it is."""
    unit = float(Shape.of(name).at(np.array([rank]))[0])
    return repr(near / unit) if 1e-30 < near < 1e30 and unit > 0 else None
