"""Permute-and-flip over the rungs of a ladder: the rung whose rank is nearest to the target, noisily.

Permute-and-flip (McKenna and Sheldon 2020) is report-noisy-max with exponential noise (Ding et al. 2021). The paper's
appendix considers it, with an infinite domain as the obstacle; a ladder is finite (see `runs`).

Let a = exp(-rate * distance) for each rung, one of which has distance 0. The sampler raises a time s from 0 until some
rung is selected: none is selected up to s with probability exp(-H(s)), H(s) = -sum of ln(1 - a (1 - e^-s)). One
exponential variable E gives s by H(s) = E, and given s the rung is selected with weights a / (1 - a (1 - e^-s)). Every
comparison is certified. With rate = epsilon / (2 sensitivity) the mechanism costs epsilon.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nobounds.arrays import Floats
from nobounds.exact import ball
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, RunLaw, Runs, pick, pick_ball, together
from nobounds.noise.discrete import Exponential, Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource

if TYPE_CHECKING:
    from flint import arb

_PANELS = (
    0.0,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    40.0,
)  # intervals of E for `flip_law`; E > 40 is left out, with probability exp(-40)


def flip_rung(runs: Runs, source: RandomSource, full: Callable[[], Runs] | None = None) -> int:
    """An exact draw of the rung that permute-and-flip selects; `full` returns the runs of the full histogram."""
    e, u = Exponential(source), Uniform(source)
    run = _in_doubles(runs, e, u)
    if run is None:
        runs = full() if full else runs
        run = decide(lambda precision: _in_balls(runs, e, u, precision))
    return int(runs.starts[run]) + uniform_below(int(runs.lengths[run]), source)


def flip_law(runs: Runs) -> RunLaw:
    """The law of `flip_rung`: the expectation over E of the normalised weights, to about 1e-12, by Gauss rules."""
    near = runs.near(DOUBLE_BITS)
    x, lengths = runs.distances()[near] * float(runs.rate), runs.lengths[near].astype(np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    masses = np.zeros(len(runs.lengths))
    for low, high in pairwise(_PANELS):
        goals = (low + high) / 2 + (high - low) / 2 * nodes
        s = _solve(x, lengths, goals)
        shares = _weights(np.exp(-x), -np.expm1(-x), s[:, None]) * lengths
        shares /= shares.sum(axis=1, keepdims=True)
        masses[near] += (weights * (high - low) / 2 * np.exp(-goals)) @ shares
    return RunLaw(runs, masses)


def _increments(a: Floats, rest: Floats, s: Floats | np.float64) -> Floats:
    """-ln(1 - a (1 - e^-s)), for a and `rest`, which is 1 - a without cancellation."""
    part = a * -np.expm1(-s)
    with np.errstate(divide="ignore"):
        far = -np.log1p(-np.minimum(part, 0.5))
        return np.asarray(np.where(part < 0.5, far, -np.log(rest + a * np.exp(-s))))


def _weights(a: Floats, rest: Floats, s: Floats | np.float64) -> Floats:
    """a / (1 - a (1 - e^-s)), for a and `rest`, which is 1 - a without cancellation."""
    return np.asarray(a / (rest + a * np.exp(-s)))


def _solve(x: Floats, lengths: Floats, goals: Floats) -> Floats:
    """The s with H(s) = goal, for each goal. H is concave, so Newton's method from 0 never overshoots.

    It ends with a step below 1e-13 times s; the step squares the error.
    """
    s = np.zeros(len(goals))
    a, rest = np.exp(-x)[None, :], -np.expm1(-x)[None, :]
    for _ in range(200):
        value = (_increments(a, rest, s[:, None]) * lengths).sum(axis=1)
        slope = (_weights(a, rest, s[:, None]) * lengths).sum(axis=1) * np.exp(-s)
        step = (goals - value) / slope
        s = s + np.maximum(step, 0.0)
        if np.all(step <= 1e-13 * s):
            break
    return s


def _approximate(a: Floats, lengths: Floats, goal: float) -> float:
    """Like `_solve` for one goal, to about 2**-40, and without care for the last digits."""
    s = 0.0
    for _ in range(200):
        part = a * math.expm1(-s)
        value, slope = float(np.log1p(part) @ lengths), float((a / (1 + part)) @ lengths) * math.exp(-s)
        step = (goal + value) / slope if slope > 0 else 0.0
        s += max(step, 0.0)
        if step <= 1e-6 * s:
            break
    return s


def _in_doubles(runs: Runs, e: Exponential, u: Uniform) -> int | None:
    """The selected run, or None if double precision does not decide."""
    low, high = e.bounds()
    near = runs.near(DOUBLE_BITS)
    if high == math.inf or low <= 0 or not runs.trusts(near):
        return None
    some = together(near)
    x = runs.distances()[some] * -float(runs.rate)
    lengths = runs.lengths[some].astype(np.float64)
    error = DOUBLE_ERROR + len(near) * 2.0**-50
    a, rest = np.exp(x), -np.expm1(x)
    s = _approximate(a, lengths, low)  # to about 2**-40; what follows is certified
    ends = s * (1 - 2.0**-30), s * (1 + 2.0**-30)
    sums = [float(_increments(a, rest, np.float64(end)) @ lengths) for end in ends]
    if not (sums[0] * (1 + error) + 2.0**-DOUBLE_BITS < low and sums[1] * (1 - error) > high):
        return None
    light, heavy = ((_weights(a, rest, np.float64(end)) * lengths).cumsum() for end in ends)
    run = pick(light, heavy, error, 2.0**-DOUBLE_BITS * math.exp(s), u)
    return None if run is None else int(near[run])


def _in_balls(runs: Runs, e: Exponential, u: Uniform, precision: int) -> int | None:
    """The selected run in ball arithmetic, or None if the working precision does not decide."""
    from flint import arb

    near = runs.near(2 * precision)
    rate = ball(runs.rate)
    xs = [(ball(runs.distance(run)) * rate, int(runs.lengths[run])) for run in near.tolist()]
    shares = [((-x).exp(), -(-x).expm1(), n) for x, n in xs]
    goal = e.ball(precision)

    def total(s: "arb") -> "arb":
        return sum((-(rest + a * (-s).exp()).log() * n for a, rest, n in shares), arb(0))

    def weights(s: "arb") -> "list[arb]":
        return [a / (rest + a * (-s).exp()) * n for a, rest, n in shares]

    doubles = runs.distances()[near] * float(runs.rate)
    s = arb(float(_solve(doubles, runs.lengths[near].astype(np.float64), np.array([float(goal.mid())]))[0]))
    for _ in range(precision.bit_length()):  # each step of Newton's method doubles the digits
        slope = sum(weights(s), arb(0)) * (-s).exp()
        s = (s + (goal - total(s)) / slope).mid()
    slack = arb(2) ** -(precision // 2)
    left_out = arb(2) ** -(2 * precision)
    if not (total(s * (1 - slack)) + left_out < goal and total(s * (1 + slack)) > goal):
        return None
    run = pick_ball(weights(arb(s, s * slack)), left_out * s.exp(), u, precision)
    return None if run is None else int(near[run])
