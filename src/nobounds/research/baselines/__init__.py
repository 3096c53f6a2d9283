"""Previous methods for quantiles, bounds and clipped sums: floating-point noise, for comparison only.

Each returns a `Release` with its loss, and takes a numpy Generator as `rng`, without a default. Those that are given no
bounds either are in `mapped`.
"""

from nobounds.research.baselines.aggregate_tree import tree_quantiles
from nobounds.research.baselines.clipped_sum import clipped_sum, clipped_sum_errors
from nobounds.research.baselines.doubling import doubling_bound
from nobounds.research.baselines.emq import emq_law, emq_quantile
from nobounds.research.baselines.interquartile import interquartile_bounds
from nobounds.research.baselines.joint_exponential import JointLaw, joint_law, joint_quantiles
from nobounds.research.baselines.recursive_quantiles import recursive_quantiles
from nobounds.research.baselines.smooth_sensitivity import smooth_quantile
from nobounds.research.baselines.steps import Steps

__all__ = [
    "JointLaw",
    "Steps",
    "clipped_sum",
    "clipped_sum_errors",
    "doubling_bound",
    "emq_law",
    "emq_quantile",
    "interquartile_bounds",
    "joint_law",
    "joint_quantiles",
    "recursive_quantiles",
    "smooth_quantile",
    "tree_quantiles",
]
