"""JointExp: many quantiles by one exponential mechanism (Gillenwater, Joseph and Kulesza 2021).

Points o_1 <= ... <= o_m have density proportional to exp(-rate * sum over j of |n_j - (q_j - q_{j-1}) n|), where n_j
records lie between o_{j-1} and o_j, and the bounds have ranks 0 and 1. Only the intervals of the points matter, so the
law is a chain of intervals: it is summed forwards, in logarithms, and sampled backwards. k points in one interval of
width w have the volume w**k / k!; over another measure w is the mass of the interval.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_ranks
from nobounds.release.release import Release
from nobounds.research.baselines.measures import FLAT, Measure
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.statistics.keywords import spelled_out
from nobounds.values import dataclass


@spelled_out
def joint_quantiles(
    data: object,
    qs: Iterable[Number],
    *,
    neighbors: Neighbors = "swap",
    **options: Unpack[Ranged],
) -> Release:
    """Quantiles by JointExp, for `qs` in increasing order; floating-point noise, for comparison only.

    All together cost epsilon, which bounds the range as well.
    """
    ranks, (low, high), generator = (
        increasing(qs),
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
    )
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = JointLaw.of(records_of(data, low, high), ranks, joint_rate(ranks, total, neighbors), low, high)
    parameters = described("JointExp (Gillenwater, Joseph and Kulesza 2021)", low, high, q=[str(q) for q in ranks])
    return Release("quantiles", tuple(law.draw(generator).tolist()), loss, parameters)


def joint_law(
    data: object, qs: Iterable[Number], *, epsilon: Number, lower: Number, upper: Number, neighbors: Neighbors = "swap"
) -> "JointLaw":
    """The law of `joint_quantiles`, to draw from more than once."""
    ranks, (low, high), neighbors = increasing(qs), check_bounds(lower, upper), check_neighbors(neighbors)
    rate = joint_rate(ranks, privacy_parameter(epsilon, "epsilon"), neighbors)
    return JointLaw.of(records_of(data, low, high), ranks, rate, low, high)


def joint_rate(qs: tuple[Fraction, ...], epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """epsilon / (2 sensitivity); the sensitivity is 2 under swap, 2 (1 - smallest gap of ranks) under add-remove."""
    return epsilon / (4 if neighbors == "swap" else 4 * (1 - min(_gaps(qs))))


@dataclass(frozen=True, slots=True, eq=False)
class JointLaw:
    """The chain of intervals. Interval i has i records at or below it, and its entries are logarithms of weights.

    `entering[j]` is the weight with quantiles 0 to j - 1 in lower intervals and quantile j in this one, `leaving[j]`
    the weight with quantiles 0 to j placed and j the last in this one.
    """

    edges: Floats
    log_widths: Floats
    targets: Floats  # wanted numbers of records: before the first quantile, between neighbouring ones, after the last
    rate: float
    entering: list[Floats]
    leaving: list[Floats]
    measure: Measure = FLAT

    @classmethod
    def of(
        cls,
        ordered: Floats,
        qs: tuple[Fraction, ...],
        rate: Fraction,
        lower: float,
        upper: float,
        measure: Measure = FLAT,
    ) -> "JointLaw":
        """The law on sorted records between the bounds."""
        edges, n = np.concatenate([[lower], ordered, [upper]]), len(ordered)
        log_widths = measure.log_masses(edges)
        targets, slope = np.array([float(gap * n) for gap in _gaps(qs)]), float(rate)
        law = cls(edges, log_widths, targets, slope, [-slope * np.abs(np.arange(n + 1) - targets[0])], [], measure)
        for j in range(len(qs)):
            law.leaving.append(np.logaddexp.reduce(law._stays(j, slice(None))))
            if j + 1 < len(qs):
                law.entering.append(_passed_on(law.leaving[j], slope, targets[j + 1]))
        return law

    def draw(self, rng: np.random.Generator) -> Floats:
        """The quantiles, in increasing order."""
        places: list[int] = []
        i = _choose(self.final, rng)
        while True:
            repeats = 1 + _choose(self._stays(len(self.leaving) - 1 - len(places), i), rng)
            places += [i] * repeats
            j = len(self.leaving) - len(places)
            if j == 0:
                which = np.array(places)
                points = self.measure.inside(self.edges[which], self.edges[which + 1], rng.random(len(which)))
                return np.sort(points)
            i = _choose(self.leaving[j - 1][:i] - self.rate * np.abs(i - np.arange(i) - self.targets[j]), rng)

    @property
    def final(self) -> Floats:
        """The logarithm of the weight of all chains whose last quantile is in each interval."""
        n = len(self.log_widths) - 1
        return np.asarray(self.leaving[-1] - self.rate * np.abs(n - np.arange(n + 1) - self.targets[-1]))

    def log_chance(self, places: tuple[int, ...]) -> float:
        """The logarithm of the probability that the quantiles, in increasing order, are in these intervals."""
        ends = np.diff(np.array([0, *places, len(self.log_widths) - 1]))
        volume = sum(self.log_widths[i] for i in places) - sum(math.lgamma(1 + places.count(i)) for i in set(places))
        return float(volume - self.rate * np.abs(ends - self.targets).sum() - np.logaddexp.reduce(self.final))

    def _stays(self, j: int, where: int | slice) -> Floats:
        """The weights of quantile j being the last in an interval, by the number of quantiles in it."""
        rows, held = [], 0.0
        for k in range(1, j + 2):
            volume = k * self.log_widths[where] - math.lgamma(k + 1)
            rows.append(volume - self.rate * held + self.entering[j + 1 - k][where])
            held += self.targets[j + 1 - k]
        return np.array(rows)


def _passed_on(weights: Floats, rate: float, target: float) -> Floats:
    """ln of the sum over i' < i of exp(weights[i'] - rate |i - i' - target|), for every i, in linear time.

    Intervals beyond the target and nearer ones are summed separately; no sum is computed as a difference.
    """
    n, near = len(weights), min(max(math.ceil(target) - 1, 0), len(weights))
    slopes = rate * np.arange(n)
    sums = np.full(n, -np.inf)
    far = np.logaddexp.accumulate(weights + slopes)
    sums[near + 1 :] = far[: max(n - near - 1, 0)] - slopes[near + 1 :] + rate * target
    return np.logaddexp(sums, _window_sums(weights - slopes, near) + slopes - rate * target) if near else sums


def _window_sums(weights: Floats, width: int) -> Floats:
    """ln of the sum of exp over the `width` entries before each, from running sums inside blocks of that length."""
    n = len(weights)
    blocks = np.full((-(-n // width) + 1) * width, -np.inf)
    blocks[width : width + n] = weights
    grid = blocks.reshape(-1, width)
    heads = np.logaddexp.accumulate(grid, axis=1).ravel()
    tails = np.logaddexp.accumulate(grid[:, ::-1], axis=1)[:, ::-1].ravel()
    starts = np.arange(n)
    return np.where(starts % width, np.logaddexp(tails[:n], heads[width - 1 : width - 1 + n]), tails[:n])


def _choose(log_weights: Floats, rng: np.random.Generator) -> int:
    """An index with probability proportional to its weight."""
    passed = np.cumsum(np.exp(log_weights - log_weights.max()))
    return int(np.searchsorted(passed / passed[-1], rng.random(), side="right"))


def _gaps(qs: tuple[Fraction, ...]) -> list[Fraction]:
    return [b - a for a, b in zip((Fraction(0), *qs), (*qs, Fraction(1)), strict=True)]


def increasing(qs: Iterable[Number]) -> tuple[Fraction, ...]:
    """The ranks, checked to be in increasing order."""
    ranks = check_ranks(qs, "qs")
    if any(gap < 0 for gap in _gaps(ranks)):
        raise ValueError(f"qs must be in increasing order, got qs={[str(q) for q in ranks]}")
    return ranks
