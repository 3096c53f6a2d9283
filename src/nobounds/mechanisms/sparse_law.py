"""The exact law of a sparse vector on a short list of queries: the probability of each pattern of hits.

A pattern is the tuple of positions of the hits. With all allowed hits the answers end at the last one; otherwise all
queries are answered. An iterated sparse vector has the law of a new walk after each hit (see `halting`). The law of a
classical one is a sum over the lattice of its one threshold noise, given which the queries are independent.
"""

import math
from fractions import Fraction
from itertools import combinations, groupby
from typing import TypeAlias

import numpy as np

from nobounds.arrays import Floats
from nobounds.mechanisms.halting import Law, log_sum
from nobounds.mechanisms.sparse_vector import Method
from nobounds.mechanisms.walk import Walk, increments
from nobounds.noise.discrete import Noise
from nobounds.values import dataclass

Pattern: TypeAlias = tuple[int, ...]

_CELLS = 1 << 16  # patterns times thresholds at a time: half a megabyte fits into the cache
_DEEP = 60.0  # threshold noise is summed until it is exp(-60) times as likely as where most of a pattern's mass lies


@dataclass(frozen=True, slots=True)
class SparseLaw:
    """The law of the hits of a sparse vector on whole-number queries, in units of the sensitivity.

    >>> law = SparseLaw((0, 3, 1), Fraction(2), hits=2, eps1=Fraction(1), eps2=Fraction(1), method="classical")
    >>> law.patterns
    [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    >>> round(float(np.exp(law.log_pmf()).sum()), 12)
    1.0
    """

    queries: tuple[int, ...]
    threshold: Fraction
    hits: int
    eps1: Fraction
    eps2: Fraction
    method: Method = "iterated"
    noise: Noise = "exponential"
    step: Fraction = Fraction(1)  # lattice step of the noise; the sampler's is 1/1024

    @property
    def patterns(self) -> list[Pattern]:
        """All patterns of hits."""
        return [pattern for k in range(self.hits + 1) for pattern in combinations(range(len(self.queries)), k)]

    def log_pmf(self) -> Floats:
        """The log-probability of each pattern."""
        return self._iterated() if self.method == "iterated" else self._classical()

    def _iterated(self) -> Floats:
        """The sums of the log-probabilities of the walks from hit to hit, and of the last one if it never halted."""
        many = len(self.queries)
        halts, never = np.full((many + 1, many), -np.inf), np.zeros(many + 1)
        for first in range(many):
            walk = self._walk(first)
            halts[first, first:], never[first] = walk[:-1], walk[-1]
        result = []
        for hits, same in groupby(self.patterns, key=len):  # they come in this order
            patterns = np.array(list(same), dtype=np.int64)
            start, total = np.zeros(len(patterns), dtype=np.int64), np.zeros(len(patterns))
            for hit in patterns.T:
                total += halts[start, hit]
                start = hit + 1
            result.append(total if hits == self.hits else total + never[start])
        return np.concatenate(result)

    def _walk(self, start: int) -> Floats:
        """Log-probabilities of the halting positions of a walk from query `start`; the last entry is never halting."""
        left = list(self.queries[start:])
        walk = Walk.of(left, self.threshold, eps1=self.eps1, eps2=self.eps2, step=self.step, noise=self.noise)
        return Law(walk).log_pmf()

    def _classical(self) -> Floats:
        """For each pattern, the sum over noisy thresholds of the product over queries, in logs."""
        noise, log_weights = self._threshold_noise()
        gap = np.array([float(self.threshold - query) for query in self.queries])[:, None] + noise
        a = float(self.eps2 * self.step)
        x = np.rint(gap / float(self.step)) * a
        log_below = -increments(x, self.noise, a)
        with np.errstate(divide="ignore"):
            log_above = np.log(-np.expm1(log_below))
        # Sums over the first queries and how many of their terms are -inf, so that those of hits can be taken out.
        never = np.isneginf(log_below)
        finite = np.where(never, 0.0, log_below)
        sums, many = (np.cumsum(np.vstack([0 * each[:1], each]), axis=0) for each in (finite, never.astype(np.int64)))
        hit = np.where(never, log_above, log_above - finite)
        result = []
        for hits, same in groupby(self.patterns, key=len):  # they come in this order
            patterns = np.array(list(same), dtype=np.int64)
            for some in np.array_split(patterns, -(-len(patterns) * len(noise) // _CELLS)):
                answered = some[:, -1] + 1 if hits == self.hits else np.full(len(some), len(self.queries))
                terms, left = log_weights + sums[answered], many[answered]
                for at in some.T:
                    terms += hit[at]
                    left = left - never[at]
                terms[left > 0] = -np.inf
                result.append(log_sum(terms.T))
        return np.concatenate(result)

    def _threshold_noise(self) -> tuple[Floats, Floats]:
        """Values of the noise on the threshold and their log-weights."""
        if self.noise == "gumbel":
            raise ValueError("a classical sparse vector has exponential or Laplace noise")
        rate = float(self.eps1 * self.step)
        top = max(0.0, *(float(query - self.threshold) for query in self.queries))
        reach = top + math.log(len(self.queries) + 1) / float(self.eps2) + _DEEP / float(self.eps1)
        most = math.ceil(reach / float(self.step))
        if self.noise == "exponential":
            steps = np.arange(most + 1, dtype=np.float64)
            return steps * float(self.step), math.log(-math.expm1(-rate)) - rate * steps
        steps = np.arange(-most, most + 1, dtype=np.float64)
        return steps * float(self.step), math.log(math.tanh(rate / 2)) - rate * np.abs(steps)
