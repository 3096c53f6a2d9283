"""Laws of walks and choices to three digits, tens of times as fast as those of `halting` and `runs`: for forecasts.

An outcome of a law is a block: positions from `first` to `last`, and the probability to end in them. Forecasts average
over data sets, so each law needs the noise at a few points only, if these differ from one data set to the next.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk, increments

LEAST = 1e-7  # runs with less probability are left out
_PANELS = np.concatenate([np.arange(0, 4, 0.25), np.arange(4, 17, 1.0)])  # of the threshold's noise, times eps1
_PASSED = 1 - np.exp(-_PANELS)
_GOLDEN = 0.6180339887498949
_NODES = 40
_PARTS = 8  # blocks of a run of rungs that are chosen with equal probability
_NEAR_BITS = 30  # runs of less weight in all are left out
_OFFSETS = np.array(sorted({0, *np.rint(1.4 ** np.arange(62 / np.log2(1.4))).astype(np.int64).tolist()}))


class Blocks(NamedTuple):
    """Positions from `first` to `last`, and the probability of each block."""

    first: Ints
    last: Ints
    masses: Floats


def spread(number: int) -> float:
    """Term `number` of a sequence that fills the interval from 0 to 1 evenly."""
    return (0.5 + number * _GOLDEN) % 1.0


def walk_blocks(walk: Walk, number: int = 0) -> Blocks:
    """The law of the position where a walk with exponential noise halts; the last one if it never halts."""
    begin, end = _that_matter(walk)
    starts, lengths = walk.starts[begin:end], walk.lengths[begin:end]
    weights, before, each = _given_threshold(walk, walk.levels[begin:end], lengths, number)
    reached = weights @ np.exp(-before)
    (kept,) = np.nonzero(reached[:-1] - reached[1:] > LEAST)
    cuts = np.searchsorted(_OFFSETS, lengths[kept])  # blocks of each run: the first queries one by one, then more
    run, ends = np.repeat(kept, cuts), np.cumsum(cuts)
    first = _OFFSETS[np.arange(len(run)) - np.repeat(ends - cuts, cuts)]
    behind = np.append(first[1:], 0)
    behind[ends - 1] = lengths[kept]
    with np.errstate(invalid="ignore"):
        tails = weights @ np.exp(-before[:, run] - np.where(first > 0, each[:, run] * first, 0.0))
    after = np.append(tails[1:], 0.0)
    after[ends - 1] = reached[kept + 1]
    return Blocks(
        np.append(starts[run] + first, walk.length - 1),
        np.append(starts[run] + behind - 1, walk.length - 1),
        np.append(np.maximum(tails - after, 0.0), reached[-1]),
    )


def _that_matter(walk: Walk) -> tuple[int, int]:
    """The first of the rising runs that may halt the walk, and the first that is never reached."""
    sure = walk.threshold + Fraction(_PANELS[-1]) / walk.eps1
    begin, end = np.searchsorted(walk.levels, [float(walk.threshold - 50 / walk.eps2), float(sure) + 1])
    return max(int(begin) - 1, 0), max(int(end) + 1, 1)


def _given_threshold(walk: Walk, levels: Ints, lengths: Ints, number: int) -> tuple[Floats, Floats, Floats]:
    """Weights of points of the threshold's noise; -log P[no halt] before each run, and in each query of it."""
    u = _PASSED[:-1] + np.diff(_PASSED) * spread(number)
    eps2, step, base = float(walk.eps2), float(walk.step), int(walk.threshold)
    noise = np.floor(-np.log1p(-u) / float(walk.eps1 * walk.step)) * step
    gap = (base - levels).astype(np.float64) + float(walk.threshold - base)
    x = (gap[None, :] + noise[:, None]) * eps2
    each = increments(np.where(np.abs(x) < 1e-9 * eps2 * step, 0.0, x), "exponential", eps2 * step)
    before = np.cumsum(each * lengths, axis=1)
    weights = np.diff(_PASSED) / _PASSED[-1]
    return weights, np.concatenate([np.zeros((len(u), 1)), before], axis=1), each


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    """Gauss nodes and weights between 0 and 1: the roots of a Legendre polynomial, by Newton's method."""
    nodes = -np.cos(np.pi * (np.arange(_NODES) + 0.75) / (_NODES + 0.5))
    for _ in range(6):
        before, value = np.ones(_NODES), nodes
        for k in range(2, _NODES + 1):
            before, value = value, ((2 * k - 1) * nodes * value - (k - 1) * before) / k
        slope = _NODES * (before - nodes * value) / (1 - nodes**2)
        nodes = nodes - value / slope
    return (nodes + 1) / 2, 1 / ((1 - nodes**2) * slope**2)


def choice_blocks(runs: Runs, weighted: bool) -> Blocks:
    """The law of the rung that permute-and-flip chooses, or the exponential mechanism (`weighted`).

    With a = exp(-rate * distance) permute-and-flip chooses a rung with probability
    integral from 0 to 1 of a / (1 - a t) * prod (1 - a' t) dt, the product over all rungs.
    """
    near = runs.near(_NEAR_BITS)
    a = np.exp(-runs.distances()[near] * float(runs.rate))
    lengths = runs.multiplicities(near)
    if weighted:
        masses = a * lengths
    else:
        end = min(1.0, 40 / float(a @ lengths))
        nodes, weights = _gauss()
        t, weights = end * nodes**2, 2 * end * nodes * weights
        rest = 1 - a[None, :] * t[:, None]
        product = np.exp(np.log(rest) @ lengths)
        masses = a * lengths * ((weights * product) @ (1 / rest))
    masses /= masses.sum()
    kept = masses > LEAST
    if runs.prior is not None:
        return _by_prior(runs, near[kept], masses[kept])
    starts, many, masses = runs.starts[near][kept][:, None], runs.lengths[near][kept][:, None], masses[kept][:, None]
    parts, which = np.minimum(many, _PARTS), np.arange(_PARTS)
    first, last = starts + many * which // parts, starts + many * (which + 1) // parts - 1
    used = which < parts
    shares = (last - first + 1) / many * masses
    return Blocks((first - runs.starts[0])[used], (last - runs.starts[0])[used], shares[used])


def _by_prior(runs: Runs, some: Ints, masses: Floats) -> Blocks:
    """The runs `some` in parts of about the same mass under the prior."""
    assert runs.prior is not None
    many = np.minimum(np.rint(masses * _NODES * _PARTS), _PARTS).astype(np.int64)
    starts = runs.starts[some]
    whole = starts.tolist(), (starts + runs.lengths[some] - 1).tolist(), masses.tolist()
    blocks: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    done = 0
    for run in np.flatnonzero(many > 1).tolist():  # the others are one block each
        first, last, mass = (each[run] for each in whole)
        parts = runs.prior.parts(first, last, int(many[run]))
        shares = [mass * (runs.prior.mass(*part) / runs.prior.mass(first, last)) for part in parts]
        for block, each, new in zip(blocks, whole, (*zip(*parts, strict=True), shares), strict=True):
            block += each[done:run]
            block += new
        done = run + 1
    first, last, shares = (block + each[done:] for block, each in zip(blocks, whole, strict=True))
    return Blocks(np.array(first) - runs.starts[0], np.array(last) - runs.starts[0], np.array(shares))
