"""The exact law of a sparse vector on a short list of queries: the probability of each pattern of hits.

A pattern is the positions of the hits. If there are as many as allowed, the answers end with the last; if not, all
queries were answered. An iterated sparse vector has the law of a walk after each hit (see `law`). That of a classical
one is a sum over the lattice of its one threshold noise, given which the queries are independent.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np

from nobounds.arrays import Floats
from nobounds.laws.halting import Law
from nobounds.mechanisms.sparse_vector import Method
from nobounds.mechanisms.walk import Walk, increments
from nobounds.noise.discrete import Noise

Pattern: TypeAlias = tuple[int, ...]

_DEEP = 60.0  # threshold noise is followed until it is exp(-60) times as likely as where most of a pattern comes from


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
    step: Fraction = Fraction(1)  # the lattice of the noise; the sampler's is 1/1024

    @property
    def patterns(self) -> list[Pattern]:
        """Every pattern of hits."""
        return [pattern for k in range(self.hits + 1) for pattern in combinations(range(len(self.queries)), k)]

    def log_pmf(self) -> Floats:
        """The log-probability of each pattern."""
        return self._iterated() if self.method == "iterated" else self._classical()

    def _iterated(self) -> Floats:
        """The sum of the log-probabilities of the walks from hit to hit, and of the one that did not halt."""
        after = [self._walk(start) for start in range(len(self.queries))] + [np.zeros(1)]
        result = []
        for pattern in self.patterns:
            starts = [0, *(hit + 1 for hit in pattern)]
            total = sum(float(after[start][hit - start]) for start, hit in zip(starts, pattern, strict=False))
            result.append(total if len(pattern) == self.hits else total + float(after[starts[-1]][-1]))
        return np.array(result)

    def _walk(self, start: int) -> Floats:
        """The law of where AboveThreshold halts that begins at this query; the last entry is for never."""
        left = list(self.queries[start:])
        walk = Walk.of(left, self.threshold, eps1=self.eps1, eps2=self.eps2, step=self.step, noise=self.noise)
        return Law(walk).log_pmf()

    def _classical(self) -> Floats:
        """For each pattern the sum over noisy thresholds of the product over queries."""
        noise, log_weights = self._threshold_noise()
        gap = np.array([float(self.threshold - query) for query in self.queries])[:, None] + noise
        a = float(self.eps2 * self.step)
        x = np.rint(gap / float(self.step)) * a
        silent = -increments(x, self.noise, a)
        with np.errstate(divide="ignore"):
            above = np.log(-np.expm1(silent))
        result = []
        for pattern in self.patterns:
            answered = pattern[-1] + 1 if len(pattern) == self.hits else len(self.queries)
            below = [k for k in range(answered) if k not in pattern]
            terms = log_weights + silent[below].sum(axis=0) + above[list(pattern)].sum(axis=0)
            result.append(float(np.logaddexp.reduce(terms)))
        return np.array(result)

    def _threshold_noise(self) -> tuple[Floats, Floats]:
        """The values of the threshold's noise and their log-weights."""
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
