"""The exponential mechanism over the rungs of a ladder (McSherry and Talwar 2007; quantiles: Smith 2011).

A rung is chosen with probability proportional to exp(-rate * distance), the weights of `runs`. With
rate = epsilon / (2 sensitivity) it costs epsilon like permute-and-flip, and is never more accurate; but its range is
bounded by epsilon and not by twice of it, so under zCDP it costs about a quarter as much (Dong, Durfee, Rogers 2020).
"""

from collections.abc import Callable

import numpy as np

from nobounds.exact import ball
from nobounds.noise import Source, Uniform, decide, uniform_below
from nobounds.runs import DOUBLE_BITS, DOUBLE_ERROR, RunLaw, Runs, pick, pick_ball


def weighted_rung(runs: Runs, bits: Source, full: Callable[[], Runs] | None = None) -> int:
    """The rung that the exponential mechanism selects, drawn exactly; `full` as in `flip.flip_rung`."""
    u = Uniform(bits)
    run = _in_doubles(runs, u)
    if run is None:
        runs = full() if full else runs
        run = decide(lambda precision: _in_balls(runs, u, precision))
    return int(runs.starts[run]) + uniform_below(int(runs.lengths[run]), bits)


def weighted_law(runs: Runs) -> RunLaw:
    """The weights, divided by their sum."""
    x = runs.distances() * float(runs.rate)
    masses = runs.lengths * np.exp(-x)
    return RunLaw(runs, masses / masses.sum())


def _in_doubles(runs: Runs, u: Uniform) -> int | None:
    near = runs.near(DOUBLE_BITS)
    if not runs.trusts(near):
        return None
    weights = np.exp(-runs.distances()[near] * float(runs.rate)) * runs.lengths[near].astype(np.float64)
    run = pick(weights * (1 - DOUBLE_ERROR), weights * (1 + DOUBLE_ERROR), 2.0**-DOUBLE_BITS, u)
    return None if run is None else int(near[run])


def _in_balls(runs: Runs, u: Uniform, precision: int) -> int | None:
    from flint import arb

    near = runs.near(precision)
    rate = ball(runs.rate)
    weights = [(-ball(runs.distance(run)) * rate).exp() * int(runs.lengths[run]) for run in near.tolist()]
    run = pick_ball(weights, arb(2) ** -precision, u, precision)
    return None if run is None else int(near[run])
