"""Evidence of two rungs that are chosen at once, by the larger of their distances from two targets.

The sum over all pairs is taken over the runs of both targets, not step by step as in `mechanisms.joint.pair`: a second
way to the same law.
"""

from functools import cached_property

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.auditing.evidence.compare import both_ways, largest
from nobounds.mechanisms.runs import Runs
from nobounds.values import dataclass

NATS = 35.0  # how improbable a forced outcome may be


@dataclass(frozen=True, eq=False)
class ChosenPair:
    """A rung for each of two targets."""

    runs: tuple[Runs, Runs]
    drawn: tuple[int, int]

    def log_ratio(self, other: "ChosenPair", outcome: tuple[int, int]) -> float:
        """How much more probable the pair is here: what it weighs under the prior is the same."""
        rungs = [np.array([rung]) for rung in outcome]
        mine, yours = (pair.log_density(*rungs)[0, 0] for pair in (self, other))
        return float(mine - yours)

    def worst_outcome(self, other: "ChosenPair") -> tuple[int, int]:
        """The pair that tells the most."""
        cells, mine, yours, masses = self._compared(other)
        best = largest(mine.ravel(), yours.ravel(), (mine + masses).ravel(), NATS)
        if best is None:
            return self.drawn
        row, column = divmod(best, mine.shape[1])
        return int(cells[0][row]), int(cells[1][column])

    def divergences(self, other: "ChosenPair") -> Floats:
        """Renyi divergences, the larger of both ways."""
        _, mine, yours, masses = self._compared(other)
        return both_ways((mine + masses).ravel(), (yours + masses).ravel())

    def _compared(self, other: "ChosenPair") -> tuple[list[Ints], Floats, Floats, Floats]:
        """Where stretches of equal distances begin, for both targets, and on both sides the law there."""
        cells = [np.union1d(one.starts, two.starts) for one, two in zip(self.runs, other.runs, strict=True)]
        masses = [_log_masses(self.runs[0], starts) for starts in cells]
        mine, yours = (pair.log_density(*cells) for pair in (self, other))
        return cells, mine, yours, masses[0][:, None] + masses[1][None, :]

    def log_density(self, first: Ints, second: Ints) -> Floats:
        """The log-probability of each pair of these rungs, over what it weighs under the prior."""
        near, far = (_distances(runs, rungs) for runs, rungs in zip(self.runs, (first, second), strict=True))
        return np.asarray(-np.maximum(near[:, None], far[None, :]) - self._log_sum)

    @cached_property
    def _log_sum(self) -> float:
        """ln of the sum of all weights."""
        near, far = (_distances(runs, runs.starts) for runs in self.runs)
        masses = [_log_masses(runs, runs.starts) for runs in self.runs]
        return float(np.logaddexp.reduce((masses[0][:, None] + masses[1] - np.maximum(near[:, None], far)).ravel()))


def _distances(runs: Runs, rungs: Ints) -> Floats:
    """The distance of each rung from the target, times the rate."""
    run = np.searchsorted(runs.starts, rungs, side="right") - 1
    return np.asarray((runs.distances()[run] + float(runs.least)) * float(runs.rate))


def _log_masses(runs: Runs, starts: Ints) -> Floats:
    """ln of what the rungs from each start to before the next weigh."""
    assert runs.prior is not None
    end = int(runs.starts[-1] + runs.lengths[-1]) - 1
    return np.log(runs.prior.masses(starts, np.append(starts[1:] - 1, end)))
