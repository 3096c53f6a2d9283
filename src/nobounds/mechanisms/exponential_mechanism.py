"""The exponential mechanism over the rungs of a ladder (McSherry and Talwar 2007; quantiles: Smith 2011).

A rung is selected with probability proportional to exp(-rate * distance), the weights of `runs`, times what it weighs
under a public prior, if there is one. With rate = epsilon / (2 sensitivity) the mechanism costs epsilon, like
permute-and-flip, and is never more accurate. But its range is bounded by epsilon rather than 2 epsilon, so under zCDP
it costs about a quarter as much (Dong, Durfee and Rogers 2020).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import ball
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, RunLaw, Runs, pick, pick_ball
from nobounds.noise.discrete import Uniform, decide, truncated_geometric
from nobounds.noise.source import RandomSource

if TYPE_CHECKING:
    from flint import arb


def weighted_rung(runs: Runs, source: RandomSource, full: Callable[[], Runs] | None = None) -> int:
    """An exact draw of the rung that the exponential mechanism selects; `full` as in `flip.flip_rung`."""
    u = Uniform(source)
    run = _in_doubles(runs, u)
    if run is None:
        runs = full() if full else runs
        run = decide(lambda precision: _in_balls(runs, u, precision))
    if growth := int(runs.growth[run]):
        return runs.rung(run, truncated_geometric(runs.rate * growth, int(runs.lengths[run]), source))
    return runs.drawn(run, source)


def weighted_law(runs: Runs) -> RunLaw:
    """The law of `weighted_rung`: the weights divided by their sum."""
    masses = _weights(runs, np.arange(len(runs.starts)))
    return RunLaw(runs, masses / masses.sum())


def _weights(runs: Runs, some: Ints) -> Floats:
    """The weights of the runs `some`: geometric sums where the distance grows along a run."""
    weights = runs.distances()[some]
    weights *= -float(runs.rate)
    np.exp(weights, out=weights)
    masses = runs.multiplicities(some)
    if runs.growth.strides[0] and (growth := runs.growth[some]).any():  # else it is one 0 for all runs
        x = np.where(growth > 0, growth, 1) * float(runs.rate)
        lengths = runs.lengths[some].astype(np.float64)
        masses = np.where(growth > 0, np.expm1(-x * lengths) / np.expm1(-x) * (masses / lengths), masses)
    weights *= masses
    return weights


def _many(runs: Runs, run: int) -> "arb":
    """The weight of a run divided by the weight of its rung nearest to the target."""
    mass, growth = ball(runs.multiplicity(run)), int(runs.growth[run])
    if not growth:
        return mass
    x, length = ball(runs.rate * growth), int(runs.lengths[run])
    return (-x * length).expm1() / (-x).expm1() * (mass / length)


def _in_doubles(runs: Runs, u: Uniform) -> int | None:
    near = runs.near(DOUBLE_BITS)
    if not runs.trusts(near):
        return None
    weights = _weights(runs, near)
    run = pick(weights * (1 - DOUBLE_ERROR), weights * (1 + DOUBLE_ERROR), 2.0**-DOUBLE_BITS, u)
    return None if run is None else int(near[run])


def _in_balls(runs: Runs, u: Uniform, precision: int) -> int | None:
    from flint import arb

    near = runs.near(precision)
    rate = ball(runs.rate)
    weights = [(-ball(runs.distance(run)) * rate).exp() * _many(runs, run) for run in near.tolist()]
    run = pick_ball(weights, arb(2) ** -precision, u, precision)
    return None if run is None else int(near[run])
