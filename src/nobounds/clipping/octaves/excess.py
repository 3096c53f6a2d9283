"""The excess: how much the records beyond a clip, or their squares, are beyond it, from noisy counts of octaves.

The true sum is the clipped sum plus the excess, which no private method can bound without an assumption. Ours: the
logarithm of the number of records in an octave falls along a curve that bends down, by 2 g before the clip and by r
times as much with each octave further out. So r = 1 is a parabola (lognormal data), 2 and 4 end like
exponential and normal data, and g = 0 is a Pareto tail. Counts scatter by RELATIVE around that as well as like Poisson
counts. The posterior under a public prior on a grid of (s, d, g, r), where s is the level and d the slope at the clip,
gives points that fill the law of the excess evenly. All of it is post-processing of noisy counts, in floats.
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints

POINTS = 512  # that stand for the law of the excess
BELOW = 5  # octaves below the clip that the model is fitted to
ASSUMES = "values beyond the clip become rarer and rarer, with no separate group of very large ones"
RELATIVE = 0.13  # standard deviation of a count over its mean, where the mean is large
_CURVES = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2, 3.2, 4.5])  # g
_PRIOR = np.log(np.array([40.0, 6, 4, 3, 2, 1.5, 1, 1, 0.7, 0.6, 0.5, 0.5]))
_PRIOR -= np.logaddexp.reduce(_PRIOR)
_RATIOS = np.array([0.6, 1.0, 2.0, 4.0])  # r
_RATIO_PRIOR = np.log(np.array([0.3, 1, 1, 1]) / 3.3)
_EMPTY = math.log(4.0)  # prior odds that a side has no records at all in these octaves
_FALLS = -1.0  # beyond the clip log-means fall by at least this from octave to octave
_SLOPES = np.arange(-4.0, 1.6, 0.35)  # d, at the octave below the clip
_STEP, _LEAST = 0.4, -4.0  # of s
_FINE, _LOWEST = 0.2, -10.0  # of the logarithms of means in tables
_NUMBERS = 100  # numbers of records in a table
_SMALL = 50  # and small ones: far octaves have few records, however large the noise
_NEAR, _FAR = 3, 16  # octaves beyond the last edge, to fit the model and for the excess
_FARTHEST = 1e150  # a bound farther out is none: its square may be no float
_AROUND = 14  # scales of the noise that a count may be off
_LN2 = math.log(2)
_PLACES = 2.0 ** ((np.arange(16) + 0.5) / 16)  # that stand for an octave
_FIRST = 0.4  # the same as RELATIVE for the first octave: the further below the clip, the less it says
_BEGINS, _BEGINNING = 3.0, 0.6  # data begin where counts rise by this factor, and the scatter there
_SHAPES = len(_SLOPES) * len(_CURVES) * len(_RATIOS)


class CountNoise(NamedTuple):
    """The noise of a count: Laplace of this scale, or Gaussian of this standard deviation."""

    scale: float
    gaussian: bool

    def log_density(self, away: Floats) -> Floats:
        """The log-density, up to a constant."""
        part = away / self.scale
        return -(part**2) / 2 if self.gaussian else -np.abs(part)

    def reach(self, chance: float) -> float:
        """The noise is above this with at most this probability."""
        return self.scale * (NormalDist().inv_cdf(1 - chance) if self.gaussian else -math.log(chance))

    def deviation(self, many: int) -> float:
        """The standard deviation of the noise of `many` counts together."""
        return self.scale * math.sqrt((1 if self.gaussian else 2) * many)


class _Cell(NamedTuple):
    """What a noisy count tells: a log-likelihood for each log-mean, and the law of the number of records given it."""

    numbers: Floats
    likelihood: Floats
    masses: Floats  # probabilities times `whole`, one row for each log-mean
    whole: Floats


class Fitted(NamedTuple):
    """Points of the law of what lies beyond the clip, from the noisy counts of octaves around it."""

    numbers: Floats  # of records: in the octave below the clip, in each beyond it, and beyond the last edge, by rows
    means: Floats  # log-means from two octaves below the clip on, a row for each point
    uniform: Floats
    power: int = 1

    def excess(self, numbers: Floats, most: float = math.inf, clip: float = 1.0) -> Floats:
        """How much these numbers of records beyond an edge, or their squares, exceed the clip, in units of the edge.

        The clip lies at the edge, or less than an octave from it. The numbers of several groups may stand below each
        other, before the rows.
        """
        power, means, uniform = self.power, self.means[:, 1:], self.uniform
        *octaves, last = range(0 if clip < 1 else 1, numbers.shape[-2])
        most = math.inf if most > _FARTHEST else (clip + most) ** power - clip**power
        total = np.zeros((*numbers.shape[:-2], POINTS))
        for k in octaves:
            slope = means[:, k + 1] - means[:, k]
            if 2.0 ** (k - 1) < clip < 2.0**k:  # where records lie within it matters most: as those around it say
                slope = (means[:, k + 1] - self.means[:, k]) / 2
            total += _octave(numbers[..., k, :], 2.0 ** (k - 1), slope, uniform[k], clip**power, most, power)
        far = 2.0 ** (last - 1)
        return total + _beyond(numbers[..., last, :], far, means[:, last:], uniform[last], clip**power, most, power)


def excess(noisy: Ints, noise: CountNoise, most: float = math.inf, power: int = 1) -> Floats:
    """Points of the law of the excess over the clip, from the noisy counts of octaves (see `tail`).

    The first BELOW ones are below the clip, the last one is of all records beyond the last edge. No record exceeds the
    clip by more than `most`, in units of the clip. With `power` 2 it is that of the squared deviations. These depend so
    much on far octaves that less is assumed there: logarithms of counts fall no faster and faster, but along a straight
    line beyond the clip, and no side counts as empty.
    """
    law = fitted(noisy, noise, power)
    return law.excess(law.numbers, most)


def fitted(noisy: Ints, noise: CountNoise, power: int = 1) -> Fitted:
    """The posterior given the noisy counts of octaves; points without any records beyond the clip have none at all."""
    top = math.log(max(float(np.max(noisy)), 0.0) + 4 * noise.scale + 4)
    table = math.ceil((top + 3 - _LOWEST) / _FINE)
    kept, scatters = _scatters(noisy, noise)
    cells = [_cell(float(count), noise, table, 1 / each**2) for count, each in zip(noisy[kept:], scatters, strict=True)]
    starts = math.ceil((top + 1 - _LEAST) / _STEP)
    places = _places(len(noisy), 1 << starts.bit_length(), power > 1)[:, : starts * _SHAPES]
    fit = np.tile(np.add.outer(_PRIOR, _RATIO_PRIOR).ravel(), starts * len(_SLOPES))
    for at, cell in zip(places[kept:], cells, strict=True):
        fit += np.take(cell.likelihood, at, mode="clip")
    fit -= math.log(starts * len(_SLOPES))
    empty = _EMPTY + float(noise.log_density(noisy.astype(np.float64)).sum()) if power == 1 else -math.inf
    peak = max(float(fit.max()), empty)
    passed = np.cumsum(np.exp(fit - peak))
    whole = passed[-1] + math.exp(empty - peak)
    which = np.searchsorted(passed, (np.arange(POINTS) + 0.5) / POINTS * whole)
    some = which < len(fit)
    which = np.minimum(which, len(fit) - 1)
    places = np.minimum(places[:, which], table - 1)
    means = _means(*_parameters(which), len(noisy) + _FAR, straight=power > 1)
    uniform = even_points(2 * len(noisy) + 2)
    first = BELOW - 1
    numbers = [_number(cells[k - kept], places[k], uniform[2 * k]) for k in range(first, len(noisy))]
    return Fitted(np.where(some, numbers, 0.0), means[:, first - 1 :], uniform[2 * first + 1 :: 2], power)


def _scatters(noisy: Ints, noise: CountNoise) -> tuple[int, list[float]]:
    """The first octave that the model is fitted to, and for each from there on how much its count scatters.

    Where counts rise at once, data begin sharply: octaves before say nothing about the tail, and this one little. In
    the octave below the clip they do so only behind a gap, as between heaps of equal records, which no curve fits.
    """
    scatters = [_FIRST] * (BELOW - 2) + [RELATIVE] * (len(noisy) - BELOW + 2)
    most = _BEGINS * np.maximum(noisy[: BELOW - 1], noise.scale)
    at_once = noisy[1:BELOW] > most
    at_once[-1] &= np.max(noisy[: BELOW - 2]) > most[-1]
    begins = np.flatnonzero(at_once)
    if not len(begins):
        return 0, scatters
    kept = int(begins[-1]) + 1
    return kept, [_BEGINNING, *scatters[kept + 1 :]]


def _means(s: Floats, d: Floats, g: Floats, r: Floats, many: int, straight: bool) -> Floats:
    """The log-means of octaves; beyond the clip they fall, `straight` or along the curve."""
    last = (d + g)[:, None]  # how much the octave below the clip is above the one before
    earlier = last + 2 * g[:, None] * np.cumsum(r[:, None] ** -np.arange(BELOW - 2.0), axis=1)
    bends = np.ones((len(s), 1)) if straight else np.cumsum(r[:, None] ** np.arange(1.0, many - BELOW + 1), axis=1)
    rises = np.minimum(np.broadcast_to(last - 2 * g[:, None] * bends, (len(s), many - BELOW)), _FALLS)
    before = s[:, None] - np.cumsum(np.column_stack([last, earlier]), axis=1)
    return np.column_stack([before[:, ::-1], s, s[:, None] + np.cumsum(rises, axis=1)])


def _parameters(which: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """The grid of (s, d, g, r) at these places."""
    start, shape = np.divmod(which, _SHAPES)
    starts = np.arange(_LEAST, _LEAST + (2 + start.max()) * _STEP, _STEP)
    slope, curve, ratio = np.unravel_index(shape, (len(_SLOPES), len(_CURVES), len(_RATIOS)))
    return starts[start], _SLOPES[slope], _CURVES[curve], _RATIOS[ratio]


@lru_cache(maxsize=32)
def _places(many: int, starts: int, straight: bool) -> Ints:
    """Where the log-means of `many` counts lie in tables, one row for each; the last count has no upper edge."""
    means = _means(*_parameters(np.arange(starts * _SHAPES)), many + _NEAR, straight=straight)
    open_means = np.logaddexp.reduce(means[:, many - 1 :], axis=1)
    places = np.rint((np.column_stack([means[:, : many - 1], open_means]) - _LOWEST) / _FINE)
    return np.ascontiguousarray(np.maximum(places, 0).T.astype(np.int64))


@lru_cache(maxsize=64)
def _logs(many: int, shape: float) -> tuple[Floats, Floats]:
    """Log-probabilities of negative binomial laws at `many` log-means: of `shape` failures, and of one success."""
    mean = np.exp(np.arange(_LOWEST, _LOWEST + (many + 1) * _FINE, _FINE)[:many])[:, None]
    return shape * -np.log1p(mean / shape), -np.log1p(shape / mean)


@lru_cache(maxsize=1 << 16)
def _ways(number: float, shape: float) -> float:
    return math.lgamma(number + shape) - math.lgamma(number + 1)


def _cell(count: float, noise: CountNoise, table: int, shape: float) -> _Cell:
    """A noisy count: numbers of records around it, negative binomial with variance m + (RELATIVE m)**2, and noise."""
    around = _AROUND * noise.scale
    low, high = max(math.floor(count - around), 0), max(math.ceil(count + around), math.ceil(around))
    evenly, small = np.linspace(low, high, _NUMBERS), np.geomspace(1, max(high, 2), _SMALL)
    numbers = np.unique(np.rint(np.append(evenly, small[small > low])))
    middles = (numbers[1:] + numbers[:-1]) / 2
    steps = np.diff(middles, prepend=numbers[0] - 0.5, append=numbers[-1] + 0.5)  # whole numbers that each stands for
    own = np.array([_ways(x, shape) for x in numbers.tolist()]) - math.lgamma(shape)
    own += np.log(steps) + noise.log_density(numbers - count)
    failures, success = _logs(table, shape)
    joint = own + failures + numbers * success
    peak = joint.max(axis=1, keepdims=True)
    joint -= peak
    masses = np.exp(joint, out=joint)
    whole = masses.sum(axis=1)
    return _Cell(numbers, peak[:, 0] + np.log(whole), masses, whole)


def _number(cell: _Cell, rows: Ints, uniform: Floats) -> Floats:
    """A number of records for each point, by the inverse of its law."""
    distinct, which = np.unique(rows, return_inverse=True)
    passed = np.cumsum(cell.masses[distinct], axis=1) / cell.whole[distinct, None]
    passed[:, -1] = 1.0
    at = np.argmax(passed[which] >= uniform[:, None], axis=1)
    numbers: Floats = cell.numbers[at]
    return numbers


def _octave(
    number: Floats, edge: float, slope: Floats, uniform: Floats, clip: float, most: float, power: int
) -> Floats:
    """How much `number` records in the octave from this edge are beyond the clip, together; it is in this power."""
    if clip > edge**power:  # within this octave
        values = np.maximum((edge * _PLACES) ** power - clip, 0.0)
        parts = np.exp(np.clip(slope, -12.0, 3.0)[:, None] * np.log2(_PLACES))
        parts /= parts.sum(axis=1, keepdims=True)
        mean, square = parts @ values, parts @ values**2
    else:
        inside = inside_octave(slope, power)
        mean = edge**power * inside - clip
        square = edge ** (2 * power) * (inside_octave(slope, 2 * power) - inside**2) + mean**2
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    total = number * mean + np.sqrt(number) * spread * normal(uniform)
    least, last = max(edge**power - clip, 0.0), (2 * edge) ** power - clip
    return np.asarray(np.clip(total, number * min(least, most), number * min(last, most)))


def _beyond(
    number: Floats, edge: float, means: Floats, uniform: Floats, clip: float, most: float, power: int
) -> Floats:
    """The same for all records beyond an edge: the largest one by its law, and the others at their mean below it."""
    parts = np.exp(means - means.max(axis=1, keepdims=True))
    passed = np.cumsum(parts, axis=1)
    reached = uniform ** (1 / np.maximum(number, 1)) * passed[:, -1]
    at = (passed < reached[..., None]).sum(axis=-1)
    at = np.minimum(at, parts.shape[1] - 1)
    mean = inside_octave(means[:, 1:] - means[:, :-1], power)
    values = (edge * 2.0 ** np.arange(parts.shape[1] - 1)) ** power * mean
    values = np.minimum(np.column_stack([values, 2**power * values[:, -1:]]) - clip, most)
    up_to = np.cumsum(parts * values, axis=1) / passed
    rows = np.arange(len(means))
    return np.where(number > 0, values[rows, at] + np.maximum(number - 1, 0) * up_to[rows, at], 0.0)


def inside_octave(slope: Floats, power: int = 1) -> Floats:
    """Mean of 2**(power u) for u in [0, 1] with density exp(slope u)."""
    slope = np.minimum(np.maximum(slope, -12.0), 3.0)  # faster than np.clip for few
    slope = np.where(np.abs(slope) < 1e-3, 1e-3, slope)
    rate = slope + power * _LN2
    rate = np.where(np.abs(rate) < 1e-3, 1e-3, rate)
    return np.asarray(slope / rate * np.expm1(rate) / np.expm1(slope))


@lru_cache(maxsize=8)
def even_points(many: int) -> Floats:
    """Points that fill the unit cube evenly, without the order of any coordinate."""
    root = 2.0
    for _ in range(60):  # the root of x**(many + 1) = x + 1
        root = (1 + root) ** (1 / (many + 1))
    steps = root ** -np.arange(1.0, many + 1)
    return np.asarray((0.5 + np.outer(steps, np.arange(1, POINTS + 1))) % 1.0)


def normal(uniform: Floats) -> Floats:
    """Normal variables at these points of their law, nearly."""
    return _INVERSE[(uniform * len(_INVERSE)).astype(np.int64)]


_INVERSE = np.array([NormalDist().inv_cdf((k + 0.5) / 256) for k in range(256)])
