"""How far the side of a clip is moved: to where the error that noisy counts of octaves suggest is least.

The counts around the side are fitted by the parabolas among the curves of `excess`: octave t holds about
exp(s + d t - g t**2) records. The posterior on a small grid of (s, d, g) gives the expected error of a sum for each
width near the side: what lies beyond
it, and noise that grows with it. So an octave that holds few records but follows others that fall slowly is believed,
and one like it behind a sharp end is not. An interval must also hold on data that are unlike most, so its grid and its
prior (see `excess`) have heavier tails.

What lies beyond the one side and beyond the other have opposite signs. Where both sides may well have one shape, as
those of symmetric data, a narrower clip of one width is better: `alike` weighs that. Floats throughout: this is
post-processing of noisy counts.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.clipping.octaves.excess import CountNoise, normal
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
_FAR = 17  # octaves beyond the side
_PARTS = 8  # of an octave
_NOTHING = 60.0  # nats below which a weight is nothing: exp of less takes a hundred times as long
_AT_ONCE = 16  # steps of records that a table grows by
_ALIKE = 0.2  # prior odds that both sides have one shape
_SCATTERS, _UNLIKE = 0.2, 0.2  # how far what lies beyond them differs all the same, and their widths, over what it is
_UNLIKELY = 0.02  # odds below which a clip of one width is not considered
_POINTS = 48  # that stand for a posterior
_EVENLY = (np.arange(_POINTS) + 0.5) / _POINTS
_NORMAL, _OTHERS = (
    normal(_EVENLY[29 * np.arange(_POINTS) % _POINTS])[:, None],
    _EVENLY[19 * np.arange(_POINTS) % _POINTS],
)
_RARE = 1e-4  # points of the grid with less than this part of the largest weight are left out


class _Grid(NamedTuple):
    """Shapes of tails, for octaves from BELOW below the side on, where the octave below it has one record."""

    prior: Floats
    means: Floats  # of each octave, and each shape
    beyond: Floats  # what lies beyond each of _WIDTHS
    squares: Floats  # the same for the squares of what it is beyond
    numbers: Floats  # and how many records do


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    slopes, curves = (each.ravel() for each in np.meshgrid(_SLOPES, _CURVES, indexing="ij"))
    rises = np.minimum(slopes[:, None] - curves[:, None] * (2 * np.arange(_FAR) + 1), _FALLS)
    below = np.arange(BELOW - 1, 0, -1)
    before = -slopes[:, None] * below - curves[:, None] * below**2
    logs = np.column_stack([before, np.zeros(len(slopes)), np.cumsum(rises, axis=1)])
    inside = (np.arange(_PARTS) + 0.5) / _PARTS
    beyond, squares, many = np.zeros((3, len(slopes), len(AWAY)))
    for octave in range(BELOW - 1, logs.shape[1] - 1):
        slope = (logs[:, octave + 1] - logs[:, octave - 1]) / 2
        parts = np.exp(np.maximum(slope, -12.0)[:, None] * inside)
        numbers = np.exp(logs[:, octave, None]) * parts / parts.sum(axis=1, keepdims=True)
        over = np.maximum(2.0 ** (octave - BELOW + inside)[:, None] - _WIDTHS, 0.0)
        beyond += numbers @ over
        squares += numbers @ over**2
        many += numbers @ np.where(over > 0, 1.0, 0.0)
    prior = np.tile(_PRIOR, len(_SLOPES)) - _STEEPER * (slopes - curves)
    return _Grid(prior, np.exp(logs).T.copy(), beyond, squares, many)


class _Table(NamedTuple):
    """What the fit to counts needs of each octave, each number of records and each shape; for one noise."""

    means: Floats  # over the scales of the noise and the scatter of counts together, as if they were Laplace noise
    narrow: Floats  # one over these scales
    prior: Floats  # of each number of records and each shape, less the logarithms of all scales
    numbers: Floats  # of records in the octave below the side


@lru_cache(maxsize=16)
def _table(many: int, scale: float, steps: int) -> _Table:
    """The table for `many` octaves, the last of which is of all records beyond, and as many steps of records."""
    grid = _grid()
    shapes = np.concatenate([grid.means[: many - 1], grid.means[many - 1 :].sum(axis=0, keepdims=True)])
    numbers = np.exp(_LEAST + _STEP * np.arange(steps))
    means = numbers[:, None] * shapes[:, None, :]
    scales = np.sqrt((means * (RELATIVE**2 / 2) + 0.5) * means + scale**2)
    tables = means / scales, 1 / scales, grid.prior - np.log(scales).sum(axis=0)
    over, narrow, prior = (
        table.astype(np.float32) for table in tables
    )  # half as large: most time goes to reading them
    return _Table(over, narrow, prior, numbers)


def errors(noisy: Floats, noise: CountNoise, unit: float, beside: float = 0.0) -> Floats:
    """The expected error of a clipped sum for a side that ends at each of AWAY, in units of its width.

    noisy: the counts of octaves from BELOW below the side on; the last is of all records beyond the last edge.
    unit: the mean noise for a clip of the width of this side. `beside`: the other width of the clip, if it has two.
    """
    return posteriors([noisy], noise)[0].errors(unit, beside)


def errors_of_both(noisy: Sequence[Floats], noise: CountNoise, unit: float) -> Floats:
    """The same where all sides have one width: more lies beyond one of them, and of the others their mean is taken."""
    sides = [posteriors([each], noise)[0] for each in noisy]
    means = [side.mean() for side in sides]
    most = max(range(len(sides)), key=lambda k: float(means[k][-AWAY[0]]))
    return sides[most].errors(unit, 0.0, sum(means[:most] + means[most + 1 :], np.zeros(len(AWAY))))


def alike(sides: Sequence["Posterior"], unit: float, off: float, ends: Sequence[int]) -> int | None:
    """The candidate that both sides end at, if a clip of one width has a smaller expected error than one with `ends`.

    sides: those of both sides, around one width; unit: the mean noise for a clip as wide as that alone.
    off: how far the centre may lie from that of the data, in units of the width. Candidates are counted from it.
    """
    grid, one = _grid(), np.arange(len(AWAY))
    numbers, prior = sides[0].numbers, np.exp(grid.prior)
    same = sides[0].weights * sides[1].weights / prior
    odds = float(same.sum()) * float(prior.sum()) * len(numbers) * _ALIKE
    if odds < _UNLIKELY:
        return None
    chance = odds / (1 + odds)
    above, below = (np.append(one, min(max(end, AWAY[0]), AWAY[-1]) - AWAY[0]) for end in ends)
    scale = unit * np.append(2 * _WIDTHS, sum(2.0 ** (end / (1 << BITS)) for end in ends))
    start, shape = _drawn(same, 0.0, _EVENLY)
    beyond, squares, many = (numbers[start, None] * each[shape] for each in (grid.beyond, grid.squares, grid.numbers))
    shifts = many * (off + _UNLIKE * _WIDTHS)
    spread = squares[:, above] + squares[:, below] + (shifts[:, above] + shifts[:, below]) ** 2
    spread += _SCATTERS**2 / 2 * (beyond[:, above] ** 2 + beyond[:, below] ** 2)
    together = beyond[:, above] - beyond[:, below] + _NORMAL * np.sqrt(spread)
    apart = sides[0].points(_EVENLY)[:, above] - sides[1].points(_OTHERS)[:, below]
    errors = [_error(np.abs(each), scale).mean(axis=0) for each in (together, apart)]
    best = int(np.argmin(chance * errors[0] + (1 - chance) * errors[1]))
    return int(AWAY[best]) if best < len(AWAY) else None


def _drawn(weights: Floats, empty: float, points: Floats) -> tuple[Ints, Ints]:
    """The rows and columns that weights have at points between 0 and 1; one row more stands for `empty`."""
    passed = np.cumsum(weights)
    places = np.searchsorted(passed, points * (passed[-1] + empty))
    return np.divmod(places, weights.shape[1])


def _error(bias: Floats, scale: Floats) -> Floats:
    """The mean error of Laplace noise of these scales around biases."""
    error = _exp(bias / -scale)
    error *= scale
    error += bias
    return error


def _records(noisy: Sequence[float], around: float) -> slice:
    """Steps of the mean of the octave below the side that its noisy count leaves likely, or those of several sides."""
    low, high = (max(min(noisy) - around, 0.0) / _SCATTER, max(max(noisy) + around, around) * _SCATTER)
    first = math.floor((math.log(low) - _LEAST) / _STEP) if low > math.exp(_LEAST) else 0
    last = max(first, math.ceil((math.log(max(high, math.exp(_LEAST))) - _LEAST) / _STEP))  # with hardly any noise, one
    return slice(first, last + 1)


class Posterior(NamedTuple):
    """Weights of each number of records and each shape, 0 for those left out, and the weight of no records at all."""

    numbers: Floats
    weights: Floats
    empty: float

    def points(self, points: Floats) -> Floats:
        """What lies beyond each of AWAY, at points of the posterior between 0 and 1."""
        start, shape = _drawn(self.weights, self.empty, points)
        return np.append(self.numbers, 0.0)[start, None] * _grid().beyond[shape]

    def mean(self) -> Floats:
        """What lies beyond each of AWAY, on average."""
        return self.numbers @ self.weights @ _grid().beyond

    def errors(self, unit: float, beside: float, others: Floats | float = 0.0) -> Floats:
        """The expected error for each of AWAY (see `errors`), where `others` lies beyond other sides.

        Noise of the scale s around a bias b has the mean error b + s exp(-b / s).
        """
        rate = -1 / (unit * (_WIDTHS + beside))
        start, shape = likely = self.weights.nonzero()
        away = (_grid().beyond * rate)[shape]
        away *= self.numbers[start, None]
        hidden = self.weights[likely] @ _exp(away) + self.empty
        return self.mean() + others - _exp(others * rate) * hidden / rate


def _exp(x: Floats) -> Floats:
    """exp(x), in place, and never nearly nothing."""
    return np.exp(np.maximum(x, -_NOTHING, out=x), out=x)


def posteriors(noisy: Sequence[Floats], noise: CountNoise) -> list[Posterior]:
    """The posterior of each side given its counts, all for the same numbers of records."""
    steps = _records([float(each[BELOW - 1]) for each in noisy], _AROUND * noise.scale)
    return [_posterior(each, noise, steps) for each in noisy]


def _posterior(noisy: Floats, noise: CountNoise, steps: slice) -> Posterior:
    many = len(noisy)
    table = _table(many, noise.scale, -(-steps.stop // _AT_ONCE) * _AT_ONCE)
    away = table.narrow[:, steps] * noisy.astype(np.float32)[:, None, None]
    away -= table.means[:, steps]
    np.abs(away, out=away)
    fit = table.prior[steps].astype(np.float64) - np.add.reduce(away, axis=0)
    none = _EMPTY - float(np.add.reduce(np.abs(noisy))) / noise.scale - many * math.log(noise.scale)
    most = float(np.maximum.reduce(fit, axis=None))
    peak = max(most, none)
    fit -= peak
    weights, empty = _exp(fit), math.exp(none - peak)
    weights *= weights >= _RARE * math.exp(most - peak)
    whole = float(np.add.reduce(weights, axis=None)) + empty
    weights /= whole
    return Posterior(table.numbers[steps], weights, empty / whole)
