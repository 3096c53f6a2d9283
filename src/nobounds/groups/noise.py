"""Exact discrete noise for many groups at once, by the same steps as the scalar samplers."""

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.groups.draws import Draws, Words, exponential_bounds
from nobounds.noise.additive import Additive
from nobounds.noise.discrete import Exponential, geometric
from nobounds.noise.gaussian import DiscreteGaussian
from nobounds.noise.source import RandomSource

Wholes: TypeAlias = Ints | NDArray[np.object_]  # object only where a number does not fit into 64 bits

_SLACK = 2.0**-48
_MOST = 2**62
# Relative error assumed in extended precision: 64 of its units. Only the 80 bits of x86 and IEEE quad are used.
_LONG_SLACK = np.longdouble(2.0) ** -57
_LONG = np.finfo(np.longdouble).nmant in (63, 112)


def geometric_many(rate: Fraction, n: int, source: RandomSource) -> Wholes:
    """n exact draws of J with P(J >= j) = exp(-rate * j)."""
    return geometrics(rate, np.arange(n), Draws(source))


def discrete_laplace_many(rate: Fraction, n: int, source: RandomSource) -> Wholes:
    """n exact draws of J with P(J = j) proportional to exp(-rate * |j|)."""
    return laplaces(rate, np.arange(n), Draws(source))


def discrete_gaussian_many(variance: Fraction, n: int, source: RandomSource) -> Wholes:
    """n exact draws of J with P(J = j) proportional to exp(-j**2 / (2 variance))."""
    return gaussians(variance, np.arange(n), Draws(source))


def noise_many(additive: Additive, sensitivity: int, n: int, source: RandomSource) -> Wholes:
    """n draws of the noise of a pure or nominal epsilon."""
    if additive.zcdp:
        return discrete_gaussian_many(sensitivity**2 / additive.epsilon**2, n, source)
    return discrete_laplace_many(additive.epsilon / sensitivity, n, source)


def geometrics(rate: Fraction, who: Ints, draws: Draws) -> Wholes:
    """A draw of `geometric` for each group."""
    drawn = draws.words(who)
    values = np.zeros(len(who), dtype=np.int64)
    r = float(rate) if rate < 10**300 else math.inf
    still = np.arange(len(who))
    if r > 1e-290:
        low, high = exponential_bounds(drawn)
        with np.errstate(over="ignore", invalid="ignore"):
            at_least, at_most = np.floor(low * ((1 - _SLACK) / r)), np.floor(high * ((1 + _SLACK) / r))
        decided = (at_least == at_most) & (at_most < 2.0**52)
        np.copyto(values, at_least, where=decided, casting="unsafe")
        still = np.flatnonzero(~decided)
        if _LONG and len(still) and r < math.inf:
            still = still[~_in_extended_precision(rate, drawn[still], values, still)]
    if not len(still):
        return values
    scalar = [geometric(rate, draws.after(int(who[k]), int(drawn[k]))) for k in still.tolist()]
    return _placed(values, still, scalar)


def _in_extended_precision(rate: Fraction, drawn: Words, values: Ints, where: Ints) -> NDArray[np.bool_]:
    """Fill in the values that long doubles decide; returns which draws are decided."""
    r = np.longdouble(float(rate)) + np.longdouble(float(rate - Fraction(float(rate))))
    whole, rest = drawn.astype(np.longdouble), (~drawn).astype(np.longdouble)
    scale = np.longdouble(2.0) ** -64
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        e = np.where(drawn < 1 << 63, -np.log(whole * scale), -np.log1p(-(rest + 0.5) * scale))
        low, high = e * (1 - _LONG_SLACK) - 1 / whole, e * (1 + _LONG_SLACK) + 1 / whole
        at_least = np.floor(np.maximum(low, 0) / r * (1 - _LONG_SLACK))
        at_most = np.floor(high / r * (1 + _LONG_SLACK))
        decided: NDArray[np.bool_] = (at_least == at_most) & (at_most < 2.0**61)
    values[where[decided]] = at_least[decided].astype(np.int64)
    return decided


def laplaces(rate: Fraction, who: Ints, draws: Draws) -> Wholes:
    """A draw of `discrete_laplace` for each group."""
    values: Wholes = np.zeros(len(who), dtype=np.int64)
    left = np.arange(len(who))
    while len(left):
        negative = draws.flips(who[left])
        size = geometrics(rate, who[left], draws)
        signed = np.where(negative, -size, size)
        if signed.dtype == object:
            values = values.astype(object)
        values[left] = signed
        left = left[negative & (size == 0)]  # zero is accepted with one sign only, or it would be twice as likely
    return values


def gaussians(variance: Fraction, who: Ints, draws: Draws) -> Wholes:
    """A draw of `discrete_gaussian` for each group."""
    law = DiscreteGaussian(variance)
    rate = Fraction(1, math.isqrt(math.floor(variance)) + 1)
    values: Wholes = np.zeros(len(who), dtype=np.int64)
    left = np.arange(len(who))
    while len(left):
        j = laplaces(rate, who[left], draws)
        drawn = draws.words(who[left])
        low, high = exponential_bounds(drawn)
        least, most = _exponent_bounds(variance, rate, np.asarray(abs(j)))
        accepted = low > most
        for k in np.flatnonzero(~accepted & ~(high < least)).tolist():
            e = Exponential(draws.after(int(who[left[k]]), int(drawn[k])))
            accepted[k] = law.accepts(abs(int(j[k])), e)
        if j.dtype == object:
            values = values.astype(object)
        values[left] = j
        left = left[~accepted]
    return values


def _exponent_bounds(variance: Fraction, rate: Fraction, size: Wholes) -> tuple[Floats, Floats]:
    """Doubles below and above x = (size - variance rate)**2 / (2 variance)."""
    if size.dtype == object or not 1e-100 < variance < 1e100:
        return np.zeros(len(size)), np.full(len(size), np.inf)
    center, twice, real = float(variance * rate), float(2 * variance), size.astype(np.float64)
    off, slack = np.abs(real - center), (real + center) * _SLACK
    return np.maximum(off - slack, 0.0) ** 2 / twice * (1 - _SLACK), (off + slack) ** 2 / twice * (1 + _SLACK)


def _placed(values: Ints, where: Ints, numbers: list[int]) -> Wholes:
    """The array with these numbers at `where`, as objects if they need more than 64 bits."""
    if max(numbers) < _MOST:
        values[where] = numbers
        return values
    wide = values.astype(object)
    wide[where] = numbers
    return wide
