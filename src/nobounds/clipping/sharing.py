"""What a clip that groups share cuts off in each of them: the intervals of their sums and means.

The noisy octaves of all groups together give the law of what lies beyond the clip (see `excess`). How much of it is in
one group is read from a noisy number of its records beyond half the width, on each side; a record is in one group and
on one side of the centre, so these numbers cost what one does. Given that number, the records beyond the clip are taken
as a random part of those of all groups. All of it is computed from noisy numbers.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.clipping.interval import CHANCE, USEFUL_NOISE, end_of, ends_of, quantile_of, useful_part
from nobounds.clipping.octaves.excess import POINTS, CountNoise, Fitted, even_points, normal
from nobounds.clipping.tail import Side
from nobounds.clipping.tailing import Tailed
from nobounds.exact import finite_float

ASSUMES = (
    "values beyond the clip become rarer and rarer, in each group about as in all of them, "
    "with no separate cluster of very large ones"
)
_NUMBERS = 24  # noisy numbers that ends are worked out for, if there are more; those of the others lie between them
_SMALL = 40.0  # means up to which a part of a number of records is drawn one by one


class _Ends(NamedTuple):
    """For each group: what its excess hardly passes, and how far an end lies with half the chance and with all."""

    likely: Floats
    half: Floats
    whole: Floats


def reaches(
    tailed: Tailed, near: Mapping[int, Ints], noise: CountNoise, bar: Fraction, totals: Floats
) -> tuple[Floats, Floats]:
    """How far the truth may lie below and above the released sum of each group, infinite where nothing is claimed.

    near: noisy numbers of the records of each group beyond half the width, by the sign of the side, with this noise.
    bar: the 95% half interval of the noise of a sum; `totals` are the released sums, in units of `bar`.
    """
    scale = bar or Fraction(1)
    by_sign = {side.sign: side for side in tailed.sides or ()}
    above, below = (
        _ends(tailed, by_sign[sign], near[sign], noise, bar, scale) if sign in by_sign else _none(bar, tailed, totals)
        for sign in (1, -1)
    )
    limit = np.maximum(USEFUL_NOISE, useful_part(tailed.sides or ()) * np.abs(totals))
    upper, lower = above.likely <= limit, below.likely <= limit
    down = np.where(upper, below.half, below.whole)
    up = np.where(lower, above.half, above.whole)
    return np.where(lower, down, math.inf), np.where(upper, up, math.inf)


def _none(bar: Fraction, tailed: Tailed, groups: Floats | Ints) -> _Ends:
    """The ends of a side that nothing lies beyond, one for each group."""
    each = [end_of(np.zeros(1), float(bool(bar)), tailed.rule.zcdp, chance) for chance in (CHANCE / 2, CHANCE)]
    return _Ends(np.zeros(len(groups)), *(np.full(len(groups), end) for end in each))


def _ends(tailed: Tailed, side: Side, near: Ints, noise: CountNoise, bar: Fraction, scale: Fraction) -> _Ends:
    """The ends of a side, in units of `scale`, worked out for some noisy numbers and interpolated."""
    low, high = tailed.ladder.lower, tailed.ladder.upper
    last, first = (high, tailed.clip.high) if side.sign > 0 else (tailed.clip.low, low)
    room = None if last is None or first is None else last - first
    if room is not None and room <= 0:  # the clip ends at a public bound
        return _none(bar, tailed, near)
    law = side.law(tailed.rule.count_noise)
    if law is None:  # also for a side of no width
        return _Ends(*(np.full(len(near), math.inf) for _ in range(3)))
    most = math.inf if room is None else finite_float(room / side.width)
    real = near.astype(np.float64)
    bent = np.arcsinh(real / noise.scale)  # many near 0, few among large numbers
    at = np.unique(np.linspace(bent.min(initial=0.0), bent.max(initial=0.0), _NUMBERS))
    if len(near) < len(at):
        at = np.unique(bent)
    width, gaussian, units = finite_float(side.width / scale), tailed.rule.zcdp, float(bool(bar))
    points = width * law.excess(shared(law, np.sinh(at) * noise.scale, noise), most)
    likely = np.array([quantile_of(row, 1 - CHANCE / 2) for row in points])
    ends = [ends_of(points, units, gaussian, chance) for chance in (CHANCE / 2, CHANCE)]
    return _Ends(*(np.interp(bent, at, column) for column in (likely, *ends)))


def shared(law: Fitted, noisy: Floats, noise: CountNoise) -> Floats:
    """The part of each group in the numbers of records, given its noisy number beyond half the width."""
    uniform = even_points(len(law.numbers) + 1)
    whole = law.numbers.sum(axis=0)
    own = _within(noisy[:, None], noise, whole, uniform[0])
    share = np.divide(own, whole, out=np.zeros((len(noisy), POINTS)), where=whole > 0)
    return _thinned(law.numbers, share[:, None], uniform[1:])


def _within(noisy: Floats, noise: CountNoise, most: Floats, uniform: Floats) -> Floats:
    """Numbers from 0 to `most` at these points of their law, given a noisy one: all are equally likely before."""
    low, high = (_passed((end - noisy) / noise.scale, noise.gaussian) for end in (np.zeros(1), most))
    part = np.clip(low + uniform * (high - low), 1e-300, 1 - 1e-16)
    laplace = np.where(part < 0.5, np.log(2 * part), -np.log(2 * (1 - part)))
    away = normal(part) if noise.gaussian else laplace
    return np.clip(noisy + noise.scale * away, 0.0, most)


def _passed(away: Floats, gaussian: bool) -> Floats:
    """The probability that noise is below, in units of its scale."""
    if gaussian:
        part = away / math.sqrt(2)
        return np.array([0.5 * math.erfc(-x) for x in part.ravel().tolist()]).reshape(part.shape)
    small = np.exp(-np.abs(away)) / 2
    return np.where(away > 0, 1 - small, small)


def _thinned(numbers: Floats, share: Floats, uniform: Floats) -> Floats:
    """Numbers of records that are left of these, where each is with the probability `share`: nearly Poisson."""
    mean = numbers * share
    large = np.rint(mean + np.sqrt(mean * (1 - share)) * normal(uniform))
    thinned = np.where(mean > _SMALL, large, _poisson(mean, np.broadcast_to(uniform, mean.shape)))
    return np.clip(thinned, 0.0, numbers)


def _poisson(means: Floats, uniform: Floats) -> Floats:
    """Poisson numbers at these points of their laws; 0 for means that are not small."""
    small = np.zeros(means.shape)
    at: Ints = np.flatnonzero(means <= _SMALL)
    mean, until = means.ravel()[at], uniform.ravel()[at]
    chance: Floats = np.exp(-mean)
    passed: Floats = chance.copy()
    for k in range(1, int(3 * _SMALL)):
        further = np.flatnonzero(passed < until)
        if not len(further):
            break
        if len(further) < len(at):
            at, (mean, until, chance, passed) = at[further], (each[further] for each in (mean, until, chance, passed))
        small.ravel()[at] += 1
        chance = chance * mean / k
        passed += chance
    return small
