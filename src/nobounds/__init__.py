"""nobounds: differentially private quantiles, maxima, sums and means when nobody knows the bounds of the data."""

from typing import TYPE_CHECKING

from nobounds.above_threshold import AboveThreshold, IterativeExponential
from nobounds.budget import Budget, BudgetExceeded
from nobounds.clipped import count, mean, sum
from nobounds.describe import Description, describe
from nobounds.engines.csv.dialect import Csv
from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.law import Law
from nobounds.loss import PrivacyLoss
from nobounds.quantile import bounds, maximum, minimum, quantile
from nobounds.quantiles import quantiles
from nobounds.release import Release
from nobounds.sparse_vector import SparseVector
from nobounds.vectors import vector_mean, vector_sum

if TYPE_CHECKING:
    from nobounds.explaining.explain import explain
    from nobounds.grouped_release import GroupedRelease
    from nobounds.planning.forecast import Forecast
    from nobounds.planning.plan import plan
    from nobounds.table import Table

__all__ = [
    "AboveThreshold",
    "Budget",
    "BudgetExceeded",
    "Csv",
    "Description",
    "Forecast",
    "GroupedRelease",
    "Histogram",
    "IterativeExponential",
    "Ladder",
    "Law",
    "PrivacyLoss",
    "Release",
    "SparseVector",
    "Table",
    "bounds",
    "count",
    "describe",
    "explain",
    "maximum",
    "mean",
    "minimum",
    "plan",
    "quantile",
    "quantiles",
    "sum",
    "vector_mean",
    "vector_sum",
]


def __getattr__(name: str) -> object:
    """Planning, tables and explanations are loaded when first used: they would be half of the time of an import."""
    if name in ("GroupedRelease", "Table"):
        from nobounds.grouped_release import GroupedRelease
        from nobounds.table import Table

        return {"GroupedRelease": GroupedRelease, "Table": Table}[name]
    if name == "explain":
        from nobounds.explaining.explain import explain

        return explain
    if name not in ("Forecast", "plan"):
        raise AttributeError(f"module 'nobounds' has no attribute {name!r}")
    from nobounds.planning.forecast import Forecast
    from nobounds.planning.plan import plan

    return {"Forecast": Forecast, "plan": plan}[name]
