"""How far beyond a rank the ends of its interval aim: a distance in ranks, from public facts and the noisy size.

An end misses if the rank that it lands on passes the one it is for. Three things move that: the choice of the end, the
noise of the size, and for a population the sample itself. `calibrated` takes the laws that these have on data without
ties, and a margin for those with ties. `guaranteed` adds up bounds that hold for every data set.
"""

import math
from functools import lru_cache

import numpy as np

from nobounds.arrays import Floats
from nobounds.values import dataclass

POINTS = 1 << 13  # of a law on a lattice
SMALL = 1e-9  # tails below this are summed up without Fourier transforms
WIDEST = 24.0  # scales that a lattice reaches from 0


@dataclass(frozen=True, slots=True)
class Spread:
    """What moves the rank of an end: ranks of a nat of the choice, noise of the size, deviation of the sample."""

    choice: float
    size: float
    deviation: float


@lru_cache(maxsize=1024)
def calibrated(spread: Spread, tail: float, margin: float) -> float:
    """The distance that the sum of the three, as on smooth data, passes with this probability; and a margin in nats."""
    widest = max(WIDEST * max(spread.choice, spread.size), 9 * spread.deviation)
    places = np.linspace(-widest, widest, POINTS + 1)
    away = np.abs(places) / spread.choice
    law = _lattice((away + 1) * np.exp(-away))  # of one distance, where the larger of two has the weight exp(-away)
    if spread.size * POINTS > widest:
        law = _added(law, _lattice(np.exp(-np.abs(places) / spread.size)), tail)
    if spread.deviation * POINTS > widest:
        law = _added(law, _lattice(np.exp(-((places / spread.deviation) ** 2) / 2)), tail)
    beyond = np.cumsum(law[::-1])[::-1]
    return float(places[np.searchsorted(-beyond, -tail)]) + margin * spread.choice + 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What bounds the rank of an end on every data set.

    choice: the ranks of a nat of the choice, and `behind` the nats that the lightest pair of rungs may be behind all.
    noise: the scale of the noise of the size, and `moved` the part of it that moves the aim of an end.
    """

    choice: float
    behind: float
    noise: float
    moved: float


def guaranteed(bounds: Bounds, size: int, q: float, tail: float, population: bool) -> float:
    """The distance that holds for every data set, by a union bound (docs/proofs/intervals.md)."""
    nats = math.log((1 + (bounds.noise > 0) + population) / tail)
    wrong = bounds.noise * nats  # by which the size may be wrong
    sample = binomial_reach(max(math.ceil(size + wrong), 1), q, math.exp(-nats)) if population else 0.0
    return bounds.choice * (bounds.behind + nats) + bounds.moved * wrong + sample + 1


def binomial_reach(n: int, q: float, tail: float) -> float:
    """Ranks that a binomial(n, q) number lies below or above q n with at most this probability (Chernoff 1952)."""
    return max(_chernoff(n, q, tail), _chernoff(n, 1 - q, tail))


def _chernoff(n: int, q: float, tail: float) -> float:
    """The smallest t with exp(-n KL(q - t/n, q)) at most `tail`."""
    low, high, nats = 0.0, q * n, -math.log(tail)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if n * _divergence(q - middle / n, q) < nats else (low, middle)
    return high


def _divergence(p: float, q: float) -> float:
    """KL divergence of two coins."""
    p = min(max(p, 0.0), 1.0)
    heads = p * math.log(p / q) if p > 0 else 0.0
    tails = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return heads + tails


def _lattice(density: Floats) -> Floats:
    return np.asarray(density / density.sum())


def _added(one: Floats, other: Floats, tail: float) -> Floats:
    """The law of a sum on the same lattice; by Fourier transforms unless their rounding could matter to the tail."""
    if tail < SMALL:
        return np.convolve(one, other, "same")
    many, half = 2 * len(one), len(one) // 2
    whole = np.fft.irfft(np.fft.rfft(one, many) * np.fft.rfft(other, many), many)
    return np.asarray(np.maximum(whole[half : half + len(one)], 0.0))
