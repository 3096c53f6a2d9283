"""nobounds: differentially private quantiles, maxima, sums and means when nobody knows the bounds of the data."""

from nobounds.above_threshold import AboveThreshold, IterativeExponential
from nobounds.budget import Budget, BudgetExceeded
from nobounds.clipped import count, mean, sum
from nobounds.describe import Description, describe
from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.law import Law
from nobounds.loss import PrivacyLoss
from nobounds.quantile import bounds, maximum, minimum, quantile
from nobounds.quantiles import quantiles
from nobounds.release import Release
from nobounds.sparse_vector import SparseVector
from nobounds.vectors import vector_mean, vector_sum

__all__ = [
    "AboveThreshold",
    "Budget",
    "BudgetExceeded",
    "Description",
    "Histogram",
    "IterativeExponential",
    "Ladder",
    "Law",
    "PrivacyLoss",
    "Release",
    "SparseVector",
    "bounds",
    "count",
    "describe",
    "maximum",
    "mean",
    "minimum",
    "quantile",
    "quantiles",
    "sum",
    "vector_mean",
    "vector_sum",
]
