"""How far the side of a clip is moved: to where the error that noisy counts of octaves suggest is least.

The counts around the side are fitted by the parabolas among the curves of `excess`: octave t holds about
exp(s + d t - g t**2) records. The posterior on a small grid of (s, d, g) gives the expected error of a sum for each
width near the side: what lies beyond
it, and noise that grows with it. So an octave that holds few records but follows others that fall slowly is believed,
and one like it behind a sharp end is not. An interval must also hold on data that are unlike most, so its grid and its
prior (see `excess`) have heavier tails. Floats throughout: this is post-processing of noisy counts.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.widths import BITS

BELOW = 2  # octaves below the side that curves are fitted to
RELATIVE = 0.2  # standard deviation of a count over its mean, where the mean is large
AWAY = np.arange(-(1 << BITS), (2 << BITS) + 1)  # candidates that a side may end at, from where it is
_WIDTHS = 2.0 ** (AWAY / (1 << BITS))
_SLOPES = np.arange(-4.0, 1.6, 0.5)  # d, at the octave below the side
_CURVES = np.array([0.0, 0.1, 0.3, 0.7, 1.5, 3.0, 6.0])  # g
_PRIOR = np.log(np.array([1.0, 2, 4, 4, 2, 1, 1]) / 15)  # of the curves
_STEEPER = 0.5  # log-prior for each unit by which the first octave beyond the side falls
_FALLS = -1.2  # beyond the side log-means fall by at least this from octave to octave
_EMPTY = math.log(4.0 / (24 * 12))  # prior odds that there are no records at all, over points of the grid
_STEP, _LEAST = 0.5, -4.0  # of s
_AROUND, _SCATTER = 8, 1.6  # scales of noise that a count may be off, and how far it may scatter around its mean
_FAR = 12  # octaves beyond the side
_PARTS = 8  # of an octave
_NOTHING = 60.0  # nats below which a weight is nothing: exp of less takes a hundred times as long
_AT_ONCE = 16  # steps of records that a table grows by
_BLOCK = 512  # points of the grid at a time: memory for more would be mapped anew each time
_RARE = 1e-4  # points of the grid with less than this part of the largest weight are left out


class _Grid(NamedTuple):
    """Shapes of tails, for octaves from BELOW below the side on, where the octave below it has one record."""

    prior: Floats
    means: Floats  # of each octave, and each shape
    beyond: Floats  # what lies beyond each of _WIDTHS


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    slopes, curves = (each.ravel() for each in np.meshgrid(_SLOPES, _CURVES, indexing="ij"))
    rises = np.minimum(slopes[:, None] - curves[:, None] * (2 * np.arange(_FAR) + 1), _FALLS)
    below = np.arange(BELOW - 1, 0, -1)
    before = -slopes[:, None] * below - curves[:, None] * below**2
    logs = np.column_stack([before, np.zeros(len(slopes)), np.cumsum(rises, axis=1)])
    inside = (np.arange(_PARTS) + 0.5) / _PARTS
    beyond = np.zeros((len(slopes), len(AWAY)))
    for octave in range(BELOW - 1, logs.shape[1] - 1):
        slope = (logs[:, octave + 1] - logs[:, octave - 1]) / 2
        parts = np.exp(np.maximum(slope, -12.0)[:, None] * inside)
        numbers = np.exp(logs[:, octave, None]) * parts / parts.sum(axis=1, keepdims=True)
        beyond += numbers @ np.maximum(2.0 ** (octave - BELOW + inside)[:, None] - _WIDTHS, 0.0)
    prior = np.tile(_PRIOR, len(_SLOPES)) - _STEEPER * (slopes - curves)
    return _Grid(prior, np.exp(logs).T.copy(), beyond)


class _Table(NamedTuple):
    """What the fit to counts needs of each octave, each number of records and each shape; for one noise."""

    means: Floats
    scales: Floats  # of the noise and the scatter of counts together, as if they were Laplace noise
    prior: Floats  # of each number of records and each shape, less the logarithms of all scales


@lru_cache(maxsize=16)
def _table(many: int, scale: float, steps: int) -> _Table:
    """The table for `many` octaves, the last of which is of all records beyond, and as many steps of records."""
    grid = _grid()
    shapes = np.concatenate([grid.means[: many - 1], grid.means[many - 1 :].sum(axis=0, keepdims=True)])
    means = np.exp(_LEAST + _STEP * np.arange(steps))[:, None] * shapes[:, None, :]
    scales = np.sqrt((means * (RELATIVE**2 / 2) + 0.5) * means + scale**2)
    return _Table(means, scales, grid.prior - np.log(scales).sum(axis=0))


def errors(noisy: Floats, noise: CountNoise, unit: float, beside: float = 0.0) -> Floats:
    """The expected error of a clipped sum for a side that ends at each of AWAY, in units of its width.

    noisy: the counts of octaves from BELOW below the side on; the last is of all records beyond the last edge.
    unit: the mean noise for a clip of the width of this side. `beside`: the other width of the clip, if it has two.
    """
    return _posterior(noisy, noise).error(unit * (_WIDTHS + beside))


def errors_of_both(noisy: Sequence[Floats], noise: CountNoise, unit: float) -> Floats:
    """The same where all sides have one width: more lies beyond one of them, and of the others their mean is taken."""
    sides = [_posterior(each, noise) for each in noisy]
    means = [side.beyond() for side in sides]
    most = max(range(len(sides)), key=lambda k: float(means[k][-AWAY[0]]))
    others = sum(means[:most] + means[most + 1 :], np.zeros(len(AWAY)))
    return sides[most].error(unit * _WIDTHS, others)


def _error(bias: Floats, scale: Floats) -> Floats:
    """The mean error of Laplace noise of these scales around biases."""
    error = bias / -scale
    np.maximum(error, -_NOTHING, out=error)
    np.exp(error, out=error)
    error *= scale
    error += bias
    return error


def _records(noisy: float, around: float) -> slice:
    """Steps of the mean of the octave below the side that its noisy count leaves likely."""
    low, high = (max(noisy - around, 0.0) / _SCATTER, max(noisy + around, around) * _SCATTER)
    first = math.floor((math.log(low) - _LEAST) / _STEP) if low > math.exp(_LEAST) else 0
    last = max(first, math.ceil((math.log(max(high, math.exp(_LEAST))) - _LEAST) / _STEP))  # with hardly any noise, one
    return slice(first, last + 1)


class _Posterior(NamedTuple):
    """Weights of each number of records and each shape, 0 for those left out, and the weight of no records at all."""

    records: Floats
    weights: Floats
    empty: float

    def beyond(self) -> Floats:
        """What lies beyond each of AWAY, on average."""
        return np.asarray(self.records @ self.weights @ _grid().beyond)

    def error(self, scale: Floats, others: Floats | float = 0.0) -> Floats:
        """The expected error for each of AWAY, with noise of these scales, where `others` lies beyond other sides."""
        start, shape = self.weights.nonzero()
        weights, records, beyond = self.weights[start, shape], self.records[start, None], _grid().beyond
        error = self.empty * _error(others + np.zeros(len(AWAY)), scale)
        for k in range(0, len(start), _BLOCK):
            part = slice(k, k + _BLOCK)
            bias = beyond[shape[part]]
            bias *= records[part]
            bias += others
            error += weights[part] @ _error(bias, scale)
        return error


def _posterior(noisy: Floats, noise: CountNoise) -> _Posterior:
    many, part = len(noisy), _records(float(noisy[BELOW - 1]), _AROUND * noise.scale)
    table = _table(many, noise.scale, -(-part.stop // _AT_ONCE) * _AT_ONCE)
    away = table.means[:, part] - noisy[:, None, None]
    np.abs(away, out=away)
    away /= table.scales[:, part]
    fit = table.prior[part] - np.add.reduce(away, axis=0)
    none = _EMPTY - float(np.abs(noisy).sum()) / noise.scale - many * math.log(noise.scale)
    most = float(fit.max())
    peak = max(most, none)
    fit -= peak
    rare = fit < most - peak + math.log(_RARE)
    weights, empty = np.exp(np.maximum(fit, -_NOTHING, out=fit), out=fit), math.exp(none - peak)
    weights[rare] = 0.0
    whole = float(weights.sum()) + empty
    weights /= whole
    return _Posterior(np.exp(_LEAST + _STEP * np.arange(part.start, part.stop)), weights, empty / whole)
