"""nobounds: differentially private quantiles, maxima, sums and means when nobody knows the bounds of the data.

Public are the names in this module, `nobounds.ask`, `nobounds.research`, `nobounds.plots`, `nobounds.pandas`,
`nobounds.polars` and `nobounds.sklearn`; every other path may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from nobounds.accounting.budget import Budget, BudgetExceeded
from nobounds.accounting.loss import PrivacyLoss
from nobounds.counting.histogram import Histogram
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.schemas.schema import Schema
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.above_threshold import AboveThreshold, IterativeExponential
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.sparse_vector import SparseVector
from nobounds.release.description import Description
from nobounds.release.release import Release
from nobounds.statistics.describe import describe
from nobounds.statistics.moments.pairs import correlation, covariance, ratio, weighted_mean
from nobounds.statistics.moments.proportions import proportion
from nobounds.statistics.moments.ranges import iqr
from nobounds.statistics.moments.spreads import std, variance
from nobounds.statistics.quantiles import bounds, maximum, median, minimum, quantile, quantiles
from nobounds.statistics.sums import count, mean, sum
from nobounds.statistics.vectors import vector_mean, vector_sum

if TYPE_CHECKING:
    from nobounds.explaining.explain import explain
    from nobounds.planning.forecast import Forecast
    from nobounds.planning.plan import plan
    from nobounds.planning.rows_needed import rows_needed
    from nobounds.planning.summaries import DescribeForecast, plan_describe
    from nobounds.release.answers import Answers
    from nobounds.release.grouped import GroupedRelease
    from nobounds.statistics.histograms import cdf, histogram
    from nobounds.tables.columns import count_distinct, top_k, value_counts
    from nobounds.tables.table import Table

__all__ = [
    "AboveThreshold",
    "Answers",
    "Budget",
    "BudgetExceeded",
    "Csv",
    "DescribeForecast",
    "Description",
    "Forecast",
    "GroupedRelease",
    "Histogram",
    "IterativeExponential",
    "Ladder",
    "Law",
    "PrivacyLoss",
    "Release",
    "Schema",
    "SparseVector",
    "Table",
    "bounds",
    "cdf",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "describe",
    "explain",
    "histogram",
    "iqr",
    "maximum",
    "mean",
    "median",
    "minimum",
    "plan",
    "plan_describe",
    "proportion",
    "quantile",
    "quantiles",
    "ratio",
    "rows_needed",
    "std",
    "sum",
    "top_k",
    "value_counts",
    "variance",
    "vector_mean",
    "vector_sum",
    "weighted_mean",
]


__version__ = "0.1.0"

# Loaded when first used: they would be half of the time of an import.
_LATER = {
    "Answers": "nobounds.release.answers",
    "DescribeForecast": "nobounds.planning.summaries",
    "Forecast": "nobounds.planning.forecast",
    "GroupedRelease": "nobounds.release.grouped",
    "Table": "nobounds.tables.table",
    "cdf": "nobounds.statistics.histograms",
    "count_distinct": "nobounds.tables.columns",
    "explain": "nobounds.explaining.explain",
    "histogram": "nobounds.statistics.histograms",
    "plan": "nobounds.planning.plan",
    "plan_describe": "nobounds.planning.summaries",
    "rows_needed": "nobounds.planning.rows_needed",
    "top_k": "nobounds.tables.columns",
    "value_counts": "nobounds.tables.columns",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'nobounds' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """The public names; the rooms of the house are private."""
    return [*__all__, "__version__"]
