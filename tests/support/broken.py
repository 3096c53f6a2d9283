"""Broken variants of the Sparse Vector Technique, and the right ones, as exact laws over what is answered.

Lyu, Su and Li (2017), Understanding the Sparse Vector Technique: their Algorithm 1 is private, their Algorithms 3 to 6
are published variants that are not, or not for the epsilon claimed. Three more are bugs of the kind one makes by hand.
All have discrete Laplace noise on the whole numbers, whole-number queries of sensitivity 1 and threshold 0, and claim
to be `epsilon`-private with at most `c` hits.

For tests only: hardly anything here is private, and nobounds does not contain it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

# True for above, False for below, and a whole number where the noisy query itself is the answer.
Answers = tuple[bool | int, ...]

_DEEP = 60.0  # threshold noise of probability exp(-60) and less is left out


def at_least(rate: float, j: np.ndarray) -> np.ndarray:
    """P(J >= j) for discrete Laplace noise; an infinite rate is no noise."""
    if math.isinf(rate):
        return (j <= 0).astype(float)
    p = math.exp(-rate)
    return np.where(j > 0, p ** np.maximum(j, 0) / (1 + p), 1 - p ** np.maximum(1 - j, 0) / (1 + p))


def exactly(rate: float, j: np.ndarray | int) -> np.ndarray:
    """P(J = j) for discrete Laplace noise."""
    return math.tanh(rate / 2) * np.exp(-rate * np.abs(j))


@dataclass(frozen=True)
class Variant:
    """A noisy threshold for all queries, fresh noise for each, and an end after `hits` hits (None: no end).

    `shared_rate` is the rate of one draw of query noise that all queries get in common.
    """

    threshold_rate: float
    query_rate: float
    hits: int | None = 1
    releases: bool = False
    shared_rate: float = math.inf

    def probability(self, queries: Sequence[int], answers: Answers) -> float:
        """P(these answers): the sum over noisy thresholds of the product over queries."""
        noisy_threshold, weight = self._noisy_thresholds()
        for query, answer in zip(queries, answers, strict=False):  # answers may end before the queries do
            if answer is True:
                weight = weight * at_least(self.query_rate, noisy_threshold - query)
            elif answer is False:
                weight = weight * at_least(self.query_rate, query - noisy_threshold + 1)  # symmetric noise
            else:
                weight = weight * exactly(self.query_rate, answer - query) * (noisy_threshold <= answer)
        return float(weight.sum())

    def outcomes(self, length: int) -> Iterator[Answers]:
        """All answers to so many queries; not for variants that release a noisy query, which have too many."""
        for answers in product((False, True), repeat=length):
            if self.hits is None or sum(answers[:-1]) < self.hits:
                yield answers
        if self.hits is not None:  # those that ended early
            for shorter in range(self.hits, length):
                for answers in product((False, True), repeat=shorter):
                    if sum(answers) == self.hits and answers[-1]:
                        yield answers

    def law(self, queries: Sequence[int]) -> dict[Answers, float]:
        """The probability of each outcome."""
        return {answers: self.probability(queries, answers) for answers in self.outcomes(len(queries))}

    def log_ratio(self, x: Sequence[int], y: Sequence[int], answers: Answers) -> float:
        """ln P(answers | x) - ln P(answers | y)."""
        p, q = self.probability(x, answers), self.probability(y, answers)
        return 0.0 if p == q else -math.inf if p == 0 else math.inf if q == 0 else math.log(p / q)

    def worst_log_ratio(self, x: Sequence[int], y: Sequence[int]) -> float:
        """What the audit reports for one pair: the largest of |log-ratio| over all outcomes."""
        return max(abs(self.log_ratio(x, y, answers)) for answers in self.outcomes(len(x)))

    def _noisy_thresholds(self) -> tuple[np.ndarray, np.ndarray]:
        reach = math.ceil(_DEEP / self.threshold_rate)
        noise = np.arange(-reach, reach + 1)
        weight = exactly(self.threshold_rate, noise)
        if math.isinf(self.shared_rate):
            return noise, weight
        more = math.ceil(_DEEP / self.shared_rate)
        shared = exactly(self.shared_rate, np.arange(-more, more + 1))
        return np.arange(-reach - more, reach + more + 1), np.convolve(weight, shared)


# --- private ------------------------------------------------------------------------------------------------------


def correct(epsilon: float, c: int = 1) -> Variant:
    """Algorithm 1 of Lyu et al.: threshold noise of scale 1 / eps1 and query noise of 2 c / eps2, eps1 = eps2."""
    return Variant(epsilon / 2, epsilon / 2 / (2 * c), c)


def correct_monotonic(epsilon: float, c: int = 1) -> Variant:
    """The same for monotonic queries: query noise of scale c / eps2."""
    return Variant(epsilon / 2, epsilon / 2 / c, c)


# --- not private, or not for the epsilon claimed ------------------------------------------------------------------


def releases_the_noisy_query(epsilon: float, c: int = 1) -> Variant:
    """Algorithm 3 (Roth 2011): answers the noisy query that was compared, and so tells of the noisy threshold too."""
    return Variant(epsilon / 2, epsilon / 2 / c, c, releases=True)


def does_not_scale_with_hits(epsilon: float, c: int = 1) -> Variant:
    """Algorithm 4 (Lee and Clifton 2014): query noise of scale 1 / eps2 however many hits are allowed."""
    return Variant(epsilon / 4, epsilon * 3 / 4, c)


def leaves_the_queries_bare(epsilon: float, c: int = 1) -> Variant:
    """Algorithm 5 (Stoddard et al. 2014): no noise on the queries, and no end."""
    return Variant(epsilon / 2, math.inf, None)


def never_ends(epsilon: float, c: int = 1) -> Variant:
    """Algorithm 6 (Chen et al. 2015): query noise of scale 1 / eps2, and any number of hits."""
    return Variant(epsilon / 2, epsilon / 2, None)


def shares_one_draw(epsilon: float, c: int = 1) -> Variant:
    """One draw of query noise for all queries: it might as well be the threshold's, and the queries are bare."""
    return Variant(epsilon / 2, math.inf, c, shared_rate=epsilon / 4)


def halves_the_query_noise(epsilon: float, c: int = 1) -> Variant:
    """Monotonic queries with a factor of two lost in the scale of the query noise."""
    return Variant(epsilon / 2, epsilon / c, c)


def doubles_eps1(epsilon: float, c: int = 1) -> Variant:
    """Monotonic queries with a factor of two lost in the scale of the threshold noise."""
    return Variant(epsilon, epsilon / 2 / c, c)
