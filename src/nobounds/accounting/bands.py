"""Bands: the epsilon at a delta of several mechanisms with bounded log-ratios, tighter than sums.

A mechanism whose log-ratio lies between t - eta and t is dominated by one with two outcomes: log-ratio t with
probability (1 - e^(t-eta)) / (1 - e^-eta) on x, and t - eta otherwise (Dong, Durfee and Rogers 2020). A `Band` is the
interval of possible t. If each mechanism has a single t, the composition is a convolution. If not, each may have the
worst t given the earlier answers, and the composition is a recursion (docs/proofs/composition.md).

This holds for parameters that are fixed in advance; queries and their data may depend on earlier answers. If parameters
depend on earlier answers, only epsilons and rhos add up, as they do in `PrivacyLoss` and in a budget.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nobounds.accounting.conversions import epsilon_from_rho
from nobounds.accounting.cost import Cost, Sides, aligned
from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.exact import Number, ball, rational, round_up, upper, working_precision
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

_TERMS = 4096  # a convolution of more terms is computed on the grid
_CELLS, _FEWEST = 128, 8  # cells of the grid per average eta, and at least this many ...
_WORK = 4000  # ... for this product of mechanisms and cells: a hundred mechanisms take a second
_SLACK = 2.0**-36  # relative error assumed for doubles, in a bound and in a cell; the result is raised by both


@dataclass(frozen=True, slots=True)
class Band:
    """A mechanism whose log-ratio lies in [t - eta, t], for a t from `low` to `high` that may depend on the pair."""

    eta: Fraction
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, eta: Fraction) -> "Band":
        """The band of an epsilon-private mechanism of range eta whose one-sided losses are unknown."""
        span = min(eta, 2 * epsilon)
        return cls(span, max(Fraction(0), span - epsilon), min(span, epsilon))

    @classmethod
    def fixed(cls, sides: Sides) -> "Band":
        """The band of a mechanism with these one-sided losses, with a single t."""
        return cls(sides.forth + sides.back, sides.forth, sides.forth)


def delta_of(bands: Sequence[Band], epsilon: Number) -> float:
    """The delta at epsilon of mechanisms with these bands, run in this order, rounded up.

    >>> delta_of([Band.of(Fraction(1, 10), Fraction(1, 10))] * 10, 0.5)
    4.42...e-05
    """
    at, steps = rational(epsilon, "epsilon"), tuple(band for band in bands if band.eta)
    if at < 0:
        raise ValueError(f"epsilon must not be negative, got epsilon={epsilon!r}")
    if at >= _most(steps):
        return 0.0
    counts = Counter(steps)
    if all(band.low == band.high for band in counts) and math.prod(n + 1 for n in counts.values()) <= _TERMS:
        return _convolution(tuple(counts.items()), at)
    start, width, curve = _curve(steps)
    place, inside = divmod(float(at) - start, width)
    k, part = int(place), max(0.0, math.expm1(inside) / math.expm1(width) - _SLACK)
    return round_up(Fraction(min(1.0, (1 + _SLACK) * float(curve[k] * (1 - part) + curve[k + 1] * part))))


def epsilon_of(bands: Sequence[Band], delta: Number) -> float:
    """The epsilon at delta of mechanisms with these bands, run in this order, rounded up: the inverse of `delta_of`.

    >>> epsilon_of([Band.of(Fraction(1, 10), Fraction(1, 10))] * 10, 1e-6)
    0.634...
    """
    at, low, high = rational(delta, "delta"), Fraction(0), _most(bands)
    if rational(delta_of(bands, low), "delta") <= at:
        return 0.0
    for _ in range(52 if at > 0 else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if rational(delta_of(bands, middle), "delta") <= at else (middle, high)
    return round_up(high)


def delta_nonadaptive(eta: Fraction, count: int, epsilon: Number) -> float:
    """The delta at epsilon of `count` equal range-bounded mechanisms chosen non-adaptively, rounded up.

    All have the same t, one of (epsilon + l eta) / (count + 1), l = 0, ..., count, clipped to [0, eta] (Dong, Durfee
    and Rogers 2020). Delta is larger if mechanisms depend on earlier answers: see `delta_of`.

    >>> delta_nonadaptive(Fraction(1, 10), 10, 0.5)
    3.99...e-05
    """
    at = rational(epsilon, "epsilon")
    places = {min(max(Fraction(0), (at + i * eta) / (count + 1)), eta) for i in range(count + 1)}
    return max(_convolution(((Band(eta, t, t), count),), at) for t in places)


class Cheapest(NamedTuple):
    """The smallest epsilon of several composition rules, and the rule: "sum", "zCDP", "ranges" or "sides"."""

    epsilon: float
    rule: str


def cheapest(parts: Sequence[Cost] | Sequence[PrivacyLoss], delta: Number) -> Cheapest:
    """The smallest known epsilon at delta of these mechanisms, run in this order, rounded up, and the rule behind it.

    "sum" adds epsilons, "zCDP" adds rhos, and "ranges" is the recursion over bands. "sides" is the convolution; it
    needs costs, whose one-sided losses all have the same orientation.

    >>> from nobounds.accounting.cost import monotonic
    >>> cheapest([monotonic(Fraction(1, 10), Fraction(1, 10))] * 10, 1e-6)
    Cheapest(epsilon=1.9..., rule='sides')
    """
    at = rational(delta, "delta")
    costs = [part for part in parts if isinstance(part, Cost)]
    losses = [part for part in parts if isinstance(part, PrivacyLoss)]
    total = sum(losses[1:], losses[0]) if losses else PrivacyLoss.of(sum(costs[1:], costs[0]), "add-remove")
    epsilons = {
        "sum": total.epsilon if rational(total.delta, "delta") <= at else math.inf,
        "zCDP": math.inf if total.rho == math.inf else epsilon_from_rho(rational(total.rho, "rho"), at),
    }
    if total.eta < math.inf:
        epsilons["ranges"] = epsilon_of([_band(part) for part in parts], at)
        epsilons |= {"sides": max(epsilon_of(bands, at) for bands in oriented(costs))} if costs else {}
    rule = min(epsilons, key=epsilons.__getitem__)
    return Cheapest(epsilons[rule], rule)


def oriented(costs: Sequence[Cost]) -> Iterator[list[Band]]:
    """The bands of all mechanisms for each kind of pairs, in both orientations."""
    for kind in aligned(costs):
        yield [Band.fixed(sides) for sides in kind]
        yield [Band.fixed(Sides(sides.back, sides.forth)) for sides in kind]


def _band(part: Cost | PrivacyLoss) -> Band:
    return Band.of(rational(part.epsilon, "epsilon"), rational(part.eta, "eta"))


def _most(bands: Sequence[Band]) -> Fraction:
    """The largest possible log-ratio."""
    return sum((band.high for band in bands), Fraction(0))


def _convolution(counts: tuple[tuple[Band, int], ...], at: Fraction) -> float:
    """The sum over all outcomes of P(outcome | x) - e^epsilon P(outcome | x'), where it is positive."""
    with working_precision(128):
        terms = (chance * -ball(at - loss).expm1() for loss, chance in _outcomes(counts) if loss > at)
        return min(1.0, round_up(upper(sum(terms, ball(0)))))


@lru_cache(maxsize=16)
def _outcomes(counts: tuple[tuple[Band, int], ...]) -> list[tuple[Fraction, "arb"]]:
    """The log-ratio of each outcome of mechanisms with a single t each, and its probability on x."""
    each = []
    for band, count in counts:
        back, whole = band.eta - band.high, -ball(-band.eta).expm1()
        up, down = -ball(-back).expm1() / whole, ball(-back).exp() * -ball(-band.high).expm1() / whole
        chances = [choose * up ** (count - i) * down**i for i, choose in enumerate(_binomials(count))]
        each.append([(count * band.high - i * band.eta, chance) for i, chance in enumerate(chances)])
    return [
        (sum((loss for loss, _ in one), Fraction(0)), math.prod((chance for _, chance in one), start=ball(1)))
        for one in product(*each)
    ]


@lru_cache(maxsize=16)
def _binomials(n: int) -> list[int]:
    return list(accumulate(range(n), lambda choose, i: choose * (n - i) // (i + 1), initial=1))


@lru_cache(maxsize=16)
def _curve(steps: tuple[Band, ...]) -> tuple[float, float, Floats]:
    """Upper bounds of delta on a grid of epsilons: its first point, its step, and the bounds.

    delta is convex in e^epsilon, so the chord between two points of the grid is never below it. The recursion step of
    an earlier mechanism keeps this order.
    """
    cells = max(_FEWEST, min(_CELLS, _WORK // len(steps)))
    width = math.sqrt(sum(float(step.eta) ** 2 for step in steps) / len(steps)) / cells
    below = math.ceil(sum(float(step.eta - step.low) for step in steps) / width)
    above = math.ceil(float(_most(steps)) / width)
    pad = math.ceil(max(float(step.eta) for step in steps) / width) + 2
    curve = np.maximum(-np.expm1(width * np.arange(-below - pad, above + pad + 1)), 0.0)  # without any mechanism
    for step in reversed(steps):
        curve[pad:-pad] = np.minimum((1 + _SLACK) * _worst(step, curve, width, pad), 1.0)
    return -(below + pad) * width, width, curve


def _worst(step: Band, curve: Floats, width: float, pad: int) -> Floats:
    """The maximum over t of P(t) delta(epsilon - t) + P(t - eta) delta(epsilon - t + eta), on the grid without pads.

    While both arguments stay in their cells of the grid, the sum is c + c1 s + c2 / s with s = e^-t, and concave.
    """
    eta, low, high = float(step.eta), float(step.low), float(step.high)
    shrink, cell = math.exp(-eta), math.expm1(width)
    lattice = np.arange(pad) * width
    ends = np.sort(np.concatenate([lattice, eta - lattice, [low, high]]))
    ends = ends[(ends >= low) & (ends <= high)]
    ends = ends[np.append(True, np.diff(ends) > 1e-12 * width)]
    result = np.zeros(len(curve) - 2 * pad)
    for t0, t1 in zip(ends, np.append(ends[1:], ends[-1]), strict=True):
        pieces = []
        for shift in (0.0, eta):  # the argument is epsilon - t + shift; s and the values at both ends of its cell
            n = math.floor(((t0 + t1) / 2 - shift) / width)
            left, right = (curve[pad - n - i :][: len(result)] for i in (1, 0))
            s = math.exp(-(n + 1) * width - shift)
            slope = (right - left) / (s * cell)
            pieces.append((left, right, slope, left - slope * s, (n + 1) * width + shift))
        (a0, a1, slope_a, start_a, end_a), (b0, b1, slope_b, start_b, end_b) = pieces
        with np.errstate(divide="ignore", invalid="ignore"):
            best = -np.log(np.abs(shrink * (start_b - start_a) / (slope_a - shrink * slope_b))) / 2
        t = np.clip(np.nan_to_num(best, nan=t0), t0, t1)
        up, down = np.expm1(t - eta) / math.expm1(-eta), shrink * np.expm1(t) / -math.expm1(-eta)
        part_a, part_b = (np.clip(np.expm1(end - t) / cell - _SLACK, 0.0, 1.0) for end in (end_a, end_b))
        worst = up * (a0 * (1 - part_a) + a1 * part_a) + down * (b0 * (1 - part_b) + b1 * part_b)
        result = np.maximum(result, worst)
    return result
