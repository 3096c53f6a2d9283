"""The law of a walk: the probability of each halting position, and of never halting.

Exponential and Laplace noise: given the noisy threshold the queries are independent, so the law is a one-dimensional
sum over the lattice of threshold noise. Gumbel noise has the closed form of Lemma 3.3. All sums have positive terms, so
small probabilities keep their relative precision and laws can be audited by their log-ratios.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from nobounds.arrays import Floats
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.walk import Walk, increments
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

_CELLS = 1 << 16  # threshold nodes times runs (or positions) per block: half a megabyte fits into the cache
_ABSOLUTE = 40.0  # threshold noise beyond 40 / eps1 has probability exp(-40) in all, below double precision
_DEEP = 740.0  # exp(-740) is about the smallest double: threshold noise beyond it has probability 0 in doubles
_SMALL = 1e-200  # far above what underflows
_SHORT = 4096  # up to this many lattice points are summed one by one
_NODES = 24  # Gauss nodes per unit of x: agrees with the full lattice sum to 1e-12 (tests/mechanisms/test_halting.py)


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of the halting position of a walk.

    >>> from fractions import Fraction
    >>> walk = Walk.of([0, 1, 2], Fraction(1), eps1=Fraction(1, 2), eps2=Fraction(1, 2))
    >>> round(float(Law(walk).pmf().sum()), 12)  # the last entry is the probability of never halting
    1.0
    """

    walk: Walk

    @property
    def length(self) -> int:
        """The number of positions."""
        return self.walk.length

    def tail(self, positions: ArrayLike) -> Floats:
        """P(no halt before position k), for each k from 0 to `length`; at `length` it is P(never halted)."""
        k = np.asarray(positions, dtype=np.int64)
        run = np.clip(np.searchsorted(self.walk.starts, k, side="right") - 1, 0, None)
        inside = (k - self.walk.starts[run]).astype(np.float64)
        result = np.zeros(k.shape)
        for weight, before, each in self.given_threshold(_ABSOLUTE, k.size):
            with np.errstate(invalid="ignore", over="ignore"):
                sums = before[:, run] + np.where(inside > 0, each[:, run] * inside, 0.0)
            result += self._no_halt(sums, weight)
        return result

    def between(self, first: ArrayLike, last: ArrayLike) -> Floats:
        """P(halt at one of the positions first, ..., last - 1)."""
        return self.tail(first) - self.tail(last)

    def log_pmf(self, positions: ArrayLike | None = None) -> Floats:
        """Log-probabilities of halting at the positions (all of them if none are given), and of never halting."""
        k = np.arange(self.walk.length) if positions is None else np.asarray(positions, dtype=np.int64)
        where = np.searchsorted(self.walk.starts, k, side="right") - 1
        inside = (k - self.walk.starts[where]).astype(np.float64)
        result, later = np.full(len(k) + 1, -np.inf), inside.nonzero()[0]
        for weight, before, each in self.given_threshold(_DEEP, k.size):
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                at = before[:, where]
                at[:, later] += each[:, where[later]] * inside[later]
                last = before[:, -1] + each[:, -1] * float(self.walk.lengths[-1])
                if self.walk.noise == "gumbel":
                    halt = np.log(each)[:, where] - np.log1p(at) - np.log1p(at + each[:, where])
                    terms = np.column_stack([np.where(np.isnan(halt), -np.inf, halt), -np.log1p(last)])
                    result = np.logaddexp(result, log_sum(terms))
                    continue
            halt = log_sum(np.subtract(weight[:, None], at, out=at), -np.expm1(-each)[:, where])
            result = np.logaddexp(result, np.append(halt, log_sum(weight - last)))
        return result

    def pmf(self) -> Floats:
        """Probabilities of halting at 0, 1, ..., length - 1, and of never halting."""
        return np.exp(self.log_pmf())

    def sample(self, source: RandomSource) -> int | None:
        """An exact draw of the halting position, or None if the walk never halts."""
        return halt_position(self.walk, source)

    def _no_halt(self, sums: Floats, weight: Floats) -> Floats:
        """P(no halt) for sums of increments given each noisy threshold, and the log-weights of the thresholds."""
        if self.walk.noise == "gumbel":
            return np.asarray(1 / (1 + sums[0]))
        return np.asarray(np.exp(-sums + weight.reshape(-1, *[1] * (sums.ndim - 1))).sum(axis=0))

    def given_threshold(self, deep: float, positions: int) -> Iterator[tuple[Floats, Floats, Floats]]:
        """For blocks of noisy thresholds: log-weights, sums of increments before each run, increments in each run."""
        walk = self.walk
        noise, log_weights = _threshold_law(walk, deep)
        base = math.floor(walk.threshold)
        gap = (base - walk.levels).astype(np.float64) + float(walk.threshold - base)
        eps2, a, lengths = float(walk.eps2), float(walk.eps2 * walk.step), walk.lengths.astype(np.float64)
        rows = max(1, _CELLS // max(len(gap), positions, 1))
        for start in range(0, len(noise), rows):
            x = (gap[None, :] + noise[start : start + rows, None]) * eps2
            each = increments(np.where(np.abs(x) < 1e-9 * a, 0.0, x), walk.noise, a)
            with np.errstate(over="ignore"):
                before = np.cumsum(each * lengths, axis=1)
            before = np.concatenate([np.zeros((len(before), 1)), before[:, :-1]], axis=1)
            yield log_weights[start : start + rows], before, each


def log_sum(terms: Floats, times: Floats | None = None) -> Floats:
    """The logarithm of the sum of exponentials along the first axis, each `times` a number from 0 to 1.

    What underflows is less than 2**-1000 for each term. Sums that are not far above that are taken in logarithms.
    """
    top = terms.max(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.exp(terms - top)
        if times is not None:
            parts *= times
        whole = parts.sum(axis=0)
        logs = np.where(np.isneginf(top), -np.inf, top + np.log(whole))
        if times is not None and len(small := np.flatnonzero(whole < _SMALL)):
            logs[small] = log_sum(terms[:, small] + np.log(times[:, small]))
    return logs


def _threshold_law(walk: Walk, deep: float) -> tuple[Floats, Floats]:
    """Values of the threshold noise and their log-weights."""
    if walk.noise == "gumbel":
        return np.zeros(1), np.zeros(1)
    eps1, eps2, step = float(walk.eps1), float(walk.eps2), float(walk.step)
    top = max(0.0, float(int(walk.levels.max()) - walk.threshold)) if len(walk.levels) else 0.0
    reach = min(top + math.log(max(walk.length, 2)) / eps2 + 60 / eps1, deep / eps1)
    # The summand is smooth between the noise values at which a query equals the noisy threshold.
    meet = (np.unique(walk.levels) - math.floor(walk.threshold)).astype(np.float64)
    meet = np.rint((meet - float(walk.threshold - math.floor(walk.threshold))) / step)
    steps, log_weights = _geometric_law(reach, walk, meet)
    if walk.noise == "exponential":
        return steps * step, log_weights
    # Discrete Laplace: from 0 up as above, from -1 down mirrored, with weights divided by 1 + exp(-eps1 step).
    mirror, log_mirror = _geometric_law(reach, walk, -meet[::-1] - 1)
    half = math.log1p(math.exp(-eps1 * step))
    noise = np.concatenate([-(mirror + 1) * step, steps * step])
    return noise, np.concatenate([log_mirror - eps1 * step, log_weights]) - half


def _geometric_law(reach: float, walk: Walk, cuts: Floats) -> tuple[Floats, Floats]:
    """Numbers of lattice steps j and their log-weights under P(J = j) = (1 - p) p**j; the last one takes the tail.

    A short sum is computed term by term. A long one (a fine lattice or a small epsilon) is replaced by Gauss rules on
    blocks, which end at the cuts, where the summand is not smooth, and are at most one unit of x long.
    """
    rate = float(walk.eps1 * walk.step)
    count = math.ceil(reach / float(walk.step)) + 1
    longest = max(1, math.floor(1 / (float(max(walk.eps1, walk.eps2)) * float(walk.step))))
    inside = cuts[(cuts > 0) & (cuts < count)]
    if count <= _SHORT or min(longest, count / (len(inside) + 1)) <= 2 * _NODES:
        steps = np.arange(count, dtype=np.float64)
        log_weights = -rate * steps + math.log(-math.expm1(-rate))
        log_weights[-1] = -rate * steps[-1]
        return steps, log_weights
    ends = [0, *inside.astype(np.int64).tolist(), count]
    blocks = [
        (low + (high - low) * i // pieces, low + (high - low) * (i + 1) // pieces)
        for low, high in pairwise(ends)
        for pieces in [math.ceil((high - low) / longest)]
        for i in range(pieces)
    ]
    rules = [(low, *_discrete_gauss(high - low, rate)) for low, high in blocks]
    steps = np.concatenate([low + nodes for low, nodes, _ in rules] + [np.array([float(count)])])
    logs = [np.log(weights) - rate * low for low, _, weights in rules] + [np.array([-rate * count])]
    return steps, np.concatenate(logs)


@lru_cache(maxsize=64)
def _discrete_gauss(n: int, rate: float) -> tuple[Floats, Floats]:
    """The Gauss rule for the weights (1 - e^-rate) e^(-rate j), j = 0, ..., n - 1."""
    fine = min(n, 4096)
    if n <= fine:
        points = np.arange(n, dtype=np.float64)
        masses = np.exp(-rate * points) * -math.expm1(-rate)
    else:  # the lattice is so fine that its continuous limit agrees to 1e-13
        inner, weights = np.polynomial.legendre.leggauss(64)
        points = (inner + 1) / 2 * n - 0.5
        masses = weights * np.exp(-rate * (points + 0.5))
        masses *= -math.expm1(-rate * n) / masses.sum()
    return _lanczos(points, masses, min(_NODES, len(points)))


def _lanczos(points: Floats, masses: Floats, size: int) -> tuple[Floats, Floats]:
    """The Gauss rule of a discrete measure by the Lanczos process (Golub and Welsch 1969)."""
    total = masses.sum()
    vector, previous = np.sqrt(masses / total), np.zeros(len(points))
    basis: list[Floats] = []
    diagonal, off = [], []
    beta = 0.0
    for _ in range(size):
        basis.append(vector)
        image = points * vector - beta * previous
        alpha = float(vector @ image)
        image -= alpha * vector
        for _again in range(2):  # keep the basis orthogonal
            for other in basis:
                image -= (other @ image) * other
        diagonal.append(alpha)
        beta = float(np.linalg.norm(image))
        off.append(beta)
        previous, vector = vector, image / beta if beta > 0 else image
    matrix = np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, total * vectors[0] ** 2
