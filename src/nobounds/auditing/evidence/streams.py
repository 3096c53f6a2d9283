"""Evidence of the answers to a stream of queries, which are compared with one noisy threshold."""

from dataclasses import field
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.evidence.compare import DEEP
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise
from nobounds.values import dataclass


@dataclass(slots=True, eq=False)
class Stream:
    """A noisy threshold, the queries that were compared with it, and the answers so far."""

    threshold: Fraction
    eps1: Fraction
    eps2: Fraction
    noise: Noise
    lattice: int
    noisy: Any = None  # a drawn threshold, by which likely answers are drawn
    queries: list[Fraction] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)

    def log_pmf(self) -> Floats:
        """Log-probabilities that query k is the first with another answer, for each k, and that there is none."""
        if not self.queries:
            return np.zeros(1)
        levels = [int(query * self.lattice) for query in self.queries]
        eps1, eps2 = (epsilon / self.lattice for epsilon in (self.eps1, self.eps2))
        walk = Walk.of(levels, self.threshold * self.lattice, eps1=eps1, eps2=eps2, noise=self.noise)
        answers, rows = np.array(self.answers), []
        for weight, before, each in Law(walk).given_threshold(DEEP, len(levels)):
            with np.errstate(all="ignore"):
                if self.noise == "gumbel":
                    assert not answers[:-1].any(), "a threshold with Gumbel noise is for one hit"
                    silent = np.log1p(before) - np.log1p(before + each)
                    above = np.log(each) - np.log1p(before + each)
                else:
                    silent, above = -each, np.log(-np.expm1(-each))
                given, other = np.where(answers, above, silent), np.where(answers, silent, above)
                agreed = np.cumsum(np.column_stack([weight, given]), axis=1)
            rows.append(np.column_stack([agreed[:, :-1] + other, agreed[:, -1]]))
        return np.asarray(np.logaddexp.reduce(np.concatenate(rows), axis=0))

    def worst_answer(self, other: "Stream") -> bool:
        """No hit while a record moves all queries the same way, and a hit at a query that it moves otherwise."""
        moves = [mine - yours for mine, yours in zip(self.queries, other.queries, strict=True)]
        return moves[-1] != moves[0]

    def given(self, outcome: None, is_first: bool) -> "Stream":
        """This stream stands in for the noisy threshold of its run."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """Whether the next query of a stream is above its noisy threshold; the law is that of the whole stream."""

    stream: Stream
    drawn: bool

    def given(self, outcome: bool, is_first: bool) -> bool:
        """The answer, which the stream remembers."""
        self.stream.answers.append(outcome)
        return outcome
