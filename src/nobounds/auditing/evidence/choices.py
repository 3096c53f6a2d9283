"""Evidence of the rung that permute-and-flip or the exponential mechanism chooses."""

from functools import cached_property

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.auditing.evidence.compare import both_ways, largest
from nobounds.mechanisms.runs import Runs
from nobounds.values import dataclass

NATS = 35.0  # how improbable a forced outcome may be: samplers drop what is below 2**-60
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, eq=False)
class ChosenRung:
    """A rung, chosen among runs of rungs."""

    runs: Runs
    exponential: bool
    drawn: int

    def log_ratio(self, other: "ChosenRung", outcome: int) -> float:
        """How much more probable the rung is here."""
        mine, yours = (float(choice.log_pmf(np.array([outcome]))[0]) for choice in (self, other))
        return mine - yours

    def worst_outcome(self, other: "ChosenRung") -> int:
        """The rung that tells the most."""
        first, lengths = self._cells(other)
        mine = self.log_pmf(first)
        best = largest(mine, other.log_pmf(first), mine + np.log(lengths), NATS)
        return self.drawn if best is None else int(first[best])

    def divergences(self, other: "ChosenRung") -> Floats:
        """Renyi divergences, the larger of both ways."""
        first, lengths = self._cells(other)
        mine, yours = (choice.log_pmf(first) + np.log(lengths) for choice in (self, other))
        return both_ways(mine, yours)

    def log_pmf(self, rungs: Ints) -> Floats:
        """The log-probability of each rung."""
        starts, lengths = self.runs.starts, self.runs.lengths
        run = np.maximum(np.searchsorted(starts, rungs, side="right") - 1, 0)
        place = rungs - starts[run]
        inside = (place >= 0) & (place < lengths[run])
        place = np.where(self.runs.below[run] >= 0, lengths[run] - 1 - place, place)
        logs = self._nearest[run] - self._slope[run] * place
        if (prior := self.runs.prior) is not None:
            kept = np.clip(rungs, starts[0], starts[-1] + lengths[-1] - 1)
            logs = logs + np.log(prior.masses(kept, kept))
        return np.where(inside, logs, -np.inf)

    @property
    def _slope(self) -> Floats:
        """By what the distance, times the rate, grows from one rung of a run to the next."""
        return np.asarray(self.runs.growth * float(self.runs.rate))

    @cached_property
    def _nearest(self) -> Floats:
        """The log-probability of the nearest rung of each run, over what it weighs under the prior."""
        x = self.runs.distances() * float(self.runs.rate)
        lengths, masses = self.runs.lengths.astype(float), self.runs.multiplicities(np.arange(len(x)))
        if not self.exponential:
            return log_flip(x, lengths)
        slope = np.where(self._slope > 0, self._slope, 1.0)
        geometric = np.expm1(-slope * lengths) / np.expm1(-slope) * (masses / lengths)
        weight = np.where(self._slope > 0, geometric, masses)
        return np.asarray(-x - np.logaddexp.reduce(-x + np.log(weight)))

    def _cells(self, other: "ChosenRung") -> tuple[Ints, Ints]:
        """Where stretches of equally probable rungs begin, and how long they are."""
        cuts = [
            end for choice in (self, other) for end in (choice.runs.starts, choice.runs.starts + choice.runs.lengths)
        ]
        sloped = [
            np.arange(start, start + length)
            for runs in (self.runs, other.runs)
            for start, length, growth in zip(runs.starts, runs.lengths, runs.growth, strict=True)
            if growth > 0
        ]
        priors = [runs.prior.starts for runs in (self.runs, other.runs) if runs.prior is not None]
        first = np.unique(np.concatenate([*cuts, *sloped, *priors]))
        first = first[(first >= min(map(np.min, cuts))) & (first <= max(map(np.max, cuts)))]
        return first[:-1], np.diff(first)


def log_flip(x: Floats, lengths: Floats) -> Floats:
    """The log-probability of one rung of each run under permute-and-flip, which is report-noisy-max (Ding et al. 2021).

    With a = exp(-x) it is a times the integral, over t from 0 to 1, of the product of 1 - a_j t over all other rungs j.
    The product falls like exp(-w t), w the sum of all a, so the integral is taken in parts.
    """
    x = x - x.min()
    a = np.exp(-x)
    edges = np.unique(np.minimum(np.array([0, 0.25, 0.5, 1, 2, 4, 8, 16, 40]) / float(a @ lengths), 1.0))
    t = ((edges[1:] + edges[:-1]) / 2 + np.diff(edges) / 2 * _NODES[:, None]).ravel()
    w = (np.diff(edges) / 2 * _WEIGHTS[:, None]).ravel()
    others = np.log1p(-a[:, None] * np.minimum(t, 1 - 2.0**-53))
    return np.asarray(-x + np.log(np.exp(lengths @ others - others) @ w))
