"""For researchers: the paper's algorithms, their exact laws, an auditor, and previous methods, each under one name.

With the paper in hand:

- Algorithm 1: `AboveThreshold` on a stream of queries; `Walk` and `halt_position` on a list of them. `SparseVector`
  goes on after a hit.
- Algorithm 2: `unbounded_quantile`, on the candidates of `Ladder.geometric`. Algorithm 4: `fully_unbounded_quantile`.
- Algorithm 3: `IterativeExponential`.
- Theorem 1: `rho_monotonic`. Definition A.1: `one_sided_loss`.
- Section 6.3: `clipped_sum`, at the clip of any private quantile.

The law of a mechanism is its exact output distribution: `Law` of a walk, `SparseLaw` of SparseVector, `flip_law` of
permute-and-flip, `weighted_law` of the exponential mechanism, `answer_law` of `nobounds.quantile`.

`audit` computes the largest privacy loss of a mechanism over all small data sets from its law, `sampled_loss` bounds
the loss on two data sets from runs. `cheapest` composes losses, and `epsilon_from_rho`, `rho_from_approximate`,
`rho_from_pure` and `rho_from_range` convert them.

Previous methods return a `Release` with its loss, and draw floating-point noise: they are for comparison only. They
are `emq_quantile`, `joint_quantiles`, `recursive_quantiles`, `tree_quantiles`, `smooth_quantile`,
`interquartile_bounds`, `doubling_bound` and `clipped_sum`.

`Histogram`, `Walk`, `Runs` and all laws hold raw counts: they are sensitive. The paper's figures and tables are made
by `nobounds paper`.
"""

from nobounds.accounting.bands import cheapest
from nobounds.accounting.conversions import epsilon_from_rho, rho_from_approximate, rho_from_pure, rho_from_range
from nobounds.accounting.cost import one_sided_loss, rho_monotonic
from nobounds.auditing.audit import Finding, all_data, audit, neighbors_of, pair_loss
from nobounds.auditing.divergences import delta_between, rho_between
from nobounds.auditing.sampling import Sampled, sampled_loss
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.above_threshold import AboveThreshold, IterativeExponential
from nobounds.mechanisms.exponential_mechanism import weighted_law, weighted_rung
from nobounds.mechanisms.flip import flip_law, flip_rung
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.sparse_vector import SparseVector
from nobounds.mechanisms.walk import Walk
from nobounds.noise.source import random_source
from nobounds.ranks.law import AnswerLaw
from nobounds.research.answers import answer_law
from nobounds.research.baselines import (
    JointLaw,
    Steps,
    clipped_sum,
    clipped_sum_errors,
    doubling_bound,
    emq_law,
    emq_quantile,
    interquartile_bounds,
    joint_law,
    joint_quantiles,
    recursive_quantiles,
    smooth_quantile,
    tree_quantiles,
)
from nobounds.research.reference import fully_unbounded_quantile, unbounded_quantile

__all__ = [
    "AboveThreshold",
    "AnswerLaw",
    "Finding",
    "Histogram",
    "IterativeExponential",
    "JointLaw",
    "Ladder",
    "Law",
    "RunLaw",
    "Runs",
    "Sampled",
    "SparseLaw",
    "SparseVector",
    "Steps",
    "Walk",
    "all_data",
    "answer_law",
    "audit",
    "cheapest",
    "clipped_sum",
    "clipped_sum_errors",
    "delta_between",
    "doubling_bound",
    "emq_law",
    "emq_quantile",
    "epsilon_from_rho",
    "flip_law",
    "flip_rung",
    "fully_unbounded_quantile",
    "halt_position",
    "interquartile_bounds",
    "joint_law",
    "joint_quantiles",
    "neighbors_of",
    "one_sided_loss",
    "pair_loss",
    "random_source",
    "recursive_quantiles",
    "rho_between",
    "rho_from_approximate",
    "rho_from_pure",
    "rho_from_range",
    "rho_monotonic",
    "sampled_loss",
    "smooth_quantile",
    "tree_quantiles",
    "unbounded_quantile",
    "weighted_law",
    "weighted_rung",
]


def __dir__() -> list[str]:
    """The public names, without the modules that define them."""
    return list(__all__)
