"""Methods that are given no bounds: a public measure over numbers, or a search, takes their place.

Floating-point noise, for comparison only, as all baselines.
"""

from nobounds.research.baselines.mapped.exponential import mapped_law, mapped_quantile
from nobounds.research.baselines.mapped.many_quantiles import (
    mapped_joint_law,
    mapped_joint_quantiles,
    mapped_recursive_quantiles,
)
from nobounds.research.baselines.mapped.means import mapped_mean, universal_mean
from nobounds.research.baselines.mapped.piecewise_laplace import piecewise_laplace, piecewise_law
from nobounds.research.baselines.mapped.shifted_inverse import shifted_law, shifted_maximum

__all__ = [
    "mapped_joint_law",
    "mapped_joint_quantiles",
    "mapped_law",
    "mapped_mean",
    "mapped_quantile",
    "mapped_recursive_quantiles",
    "piecewise_laplace",
    "piecewise_law",
    "shifted_law",
    "shifted_maximum",
    "universal_mean",
]
