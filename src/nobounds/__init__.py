"""nobounds: differentially private quantiles, maxima, sums and means when nobody knows the bounds of the data.

Public are the names in this module, `nobounds.ask`, `nobounds.research`, `nobounds.plots`, `nobounds.pandas`,
`nobounds.polars` and `nobounds.sklearn`; every other path may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nobounds.accounting.budget import Budget, BudgetExceeded
    from nobounds.accounting.loss import PrivacyLoss
    from nobounds.counting.histogram import Histogram
    from nobounds.engines.csv.dialect import Csv
    from nobounds.engines.schemas.schema import Schema
    from nobounds.explaining.explain import explain
    from nobounds.ladders.ladder import Ladder
    from nobounds.mechanisms.above_threshold import AboveThreshold, IterativeExponential
    from nobounds.mechanisms.halting import Law
    from nobounds.mechanisms.sparse_vector import SparseVector
    from nobounds.planning.forecast import Forecast
    from nobounds.planning.plan import plan
    from nobounds.planning.rows_needed import rows_needed
    from nobounds.planning.several.summaries import DescribeForecast, plan_describe
    from nobounds.release.answers import Answers
    from nobounds.release.description import Description
    from nobounds.release.grouped import GroupedRelease
    from nobounds.release.release import Release
    from nobounds.statistics.describe import describe
    from nobounds.statistics.histograms import cdf, histogram
    from nobounds.statistics.moments.pairs import correlation, covariance, ratio, weighted_mean
    from nobounds.statistics.moments.proportions import proportion
    from nobounds.statistics.moments.ranges import iqr
    from nobounds.statistics.moments.spreads import std, variance
    from nobounds.statistics.quantiles import bounds, maximum, median, minimum, quantile, quantiles
    from nobounds.statistics.sums import count, mean, sum
    from nobounds.statistics.vectors import vector_mean, vector_sum
    from nobounds.tables.columns import count_distinct, top_k, value_counts
    from nobounds.tables.sql.statement import sql
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
    "sql",
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

# Loaded when first used: an import of nobounds takes no time, and a call loads what it needs.
_LATER = {
    "AboveThreshold": "nobounds.mechanisms.above_threshold",
    "Answers": "nobounds.release.answers",
    "Budget": "nobounds.accounting.budget",
    "BudgetExceeded": "nobounds.accounting.budget",
    "Csv": "nobounds.engines.csv.dialect",
    "DescribeForecast": "nobounds.planning.several.summaries",
    "Description": "nobounds.release.description",
    "Forecast": "nobounds.planning.forecast",
    "GroupedRelease": "nobounds.release.grouped",
    "Histogram": "nobounds.counting.histogram",
    "IterativeExponential": "nobounds.mechanisms.above_threshold",
    "Ladder": "nobounds.ladders.ladder",
    "Law": "nobounds.mechanisms.halting",
    "PrivacyLoss": "nobounds.accounting.loss",
    "Release": "nobounds.release.release",
    "Schema": "nobounds.engines.schemas.schema",
    "SparseVector": "nobounds.mechanisms.sparse_vector",
    "Table": "nobounds.tables.table",
    "bounds": "nobounds.statistics.quantiles",
    "cdf": "nobounds.statistics.histograms",
    "correlation": "nobounds.statistics.moments.pairs",
    "count": "nobounds.statistics.sums",
    "count_distinct": "nobounds.tables.columns",
    "covariance": "nobounds.statistics.moments.pairs",
    "describe": "nobounds.statistics.describe",
    "explain": "nobounds.explaining.explain",
    "histogram": "nobounds.statistics.histograms",
    "iqr": "nobounds.statistics.moments.ranges",
    "maximum": "nobounds.statistics.quantiles",
    "mean": "nobounds.statistics.sums",
    "median": "nobounds.statistics.quantiles",
    "minimum": "nobounds.statistics.quantiles",
    "plan": "nobounds.planning.plan",
    "plan_describe": "nobounds.planning.several.summaries",
    "proportion": "nobounds.statistics.moments.proportions",
    "quantile": "nobounds.statistics.quantiles",
    "quantiles": "nobounds.statistics.quantiles",
    "ratio": "nobounds.statistics.moments.pairs",
    "rows_needed": "nobounds.planning.rows_needed",
    "sql": "nobounds.tables.sql.statement",
    "std": "nobounds.statistics.moments.spreads",
    "sum": "nobounds.statistics.sums",
    "top_k": "nobounds.tables.columns",
    "value_counts": "nobounds.tables.columns",
    "variance": "nobounds.statistics.moments.spreads",
    "vector_mean": "nobounds.statistics.vectors",
    "vector_sum": "nobounds.statistics.vectors",
    "weighted_mean": "nobounds.statistics.moments.pairs",
}


if not TYPE_CHECKING:  # for type checkers there are the names above and no others

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module 'nobounds' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_LATER[name]), name)
        return value


def __dir__() -> list[str]:
    """The public names; the rooms of the house are private."""
    return [*__all__, "__version__"]
