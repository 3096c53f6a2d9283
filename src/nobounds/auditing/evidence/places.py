"""Evidence of the places that the joint exponential mechanism chooses for all quantiles.

Sums over all places are computed here from the distances of all pairs of stretches, not by the running sums of
`mechanisms.joint.chain`: a second way to the same law.
"""

import math

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.auditing.evidence.compare import ORDERS
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.values import dataclass


@dataclass(frozen=True, eq=False)
class ChosenPlaces:
    """Places in increasing order."""

    stretches: Stretches
    drawn: tuple[int, ...]

    def log_ratio(self, other: "ChosenPlaces", outcome: tuple[int, ...]) -> float:
        """How much more probable the places are here: what they weigh under the prior is the same."""
        pair, places = Pair.of(self.stretches, other.stretches), np.array(outcome)
        mine, yours = (float(made.rate * made.distance(made.stretch(places))) for made in pair.sides)
        return yours - mine - pair.log_sum(1.0) + pair.log_sum(0.0)

    def worst_outcome(self, other: "ChosenPlaces") -> tuple[int, ...]:
        """The places that tell the most: their distances differ by as much as can be."""
        return Pair.of(self.stretches, other.stretches).furthest()

    def divergences(self, other: "ChosenPlaces") -> Floats:
        """Renyi divergences, the larger of both ways."""
        pair = Pair.of(self.stretches, other.stretches)
        mine, yours = pair.log_sum(1.0), pair.log_sum(0.0)
        ways = [
            [pair.log_sum(order) - order * mine - (1 - order) * yours for order in ORDERS],
            [pair.log_sum(1 - order) - order * yours - (1 - order) * mine for order in ORDERS],
        ]
        return np.asarray(np.maximum(np.max(ways, axis=0) / (np.array(ORDERS) - 1), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two data sets on the same places: where both have the same ranks, and their ranks there."""

    sides: tuple[Stretches, Stretches]
    starts: Ints
    log_masses: Floats

    @classmethod
    def of(cls, mine: Stretches, yours: Stretches) -> "Pair":
        """Both, cut where one of them is."""
        starts = np.union1d(mine.starts, yours.starts)
        ends = np.append(starts[1:] - 1, mine.last)
        return cls((mine, yours), starts, np.log(mine.prior.masses(starts, ends)) - mine.log_all)

    def log_sum(self, part: float) -> float:
        """ln of the sum of prior * exp(-rate * d), with d the mean of both distances: `part` of it is the first."""
        m = self.sides[0].many
        entered, left = [np.zeros(0)] * m, [np.zeros(0)] * (m + 1)
        left[m] = self._mixed(m, part)[:, 0]
        for j in reversed(range(m)):
            entered[j], shared = np.full(len(self.starts), -np.inf), 0.0
            for k in range(1, m - j + 1):
                shared += float(self._none(j + k - 1, part)) if k > 1 else 0.0
                volume = k * self.log_masses - math.lgamma(k + 1)
                entered[j] = np.logaddexp(entered[j], volume + shared + left[j + k])
            if j:
                left[j] = np.logaddexp.reduce(np.where(self._later, self._mixed(j, part) + entered[j], -np.inf), axis=1)
        first = entered[0] + self._mixed(0, part)[0]
        return float(np.logaddexp.reduce(first)) + math.lgamma(m + 1)

    def furthest(self) -> tuple[int, ...]:
        """Places for which the distance on the first side is as much below that on the second as can be."""
        m, ways = self.sides[0].many, list[Ints]()
        best = self._difference(m)[:, 0]
        for j in reversed(range(1, m)):
            table = np.where(self._later | np.eye(len(best), dtype=bool), self._difference(j) + best, -np.inf)
            ways.append(np.argmax(table, axis=1))
            best = table.max(axis=1)
        cells = [int(np.argmax(self._difference(0)[0] + best))]
        for way in reversed(ways):
            cells.append(int(way[cells[-1]]))
        return tuple(self.starts[cells].tolist())

    @property
    def _later(self) -> "np.typing.NDArray[np.bool_]":
        many = np.arange(len(self.starts))
        return many[:, None] < many[None, :]

    def _away(self, gap: int) -> tuple[Floats, Floats]:
        """The nats of a gap between two stretches, on each side; the first is from the start, the last to the end."""
        tables = []
        for side in self.sides:
            ranks = side.ranks[side.stretch(self.starts)]
            before = np.zeros(1, dtype=np.int64) if gap == 0 else ranks
            after = np.array([side.total]) if gap == side.many else ranks
            tables.append(float(side.rate) * side.away(gap, after[None, :] - before[:, None]))
        return tables[0], tables[1]

    def _mixed(self, gap: int, part: float) -> Floats:
        mine, yours = self._away(gap)
        return -(part * mine + (1 - part) * yours)

    def _none(self, gap: int, part: float) -> float:
        """The same for a gap without records."""
        mine, yours = (float(side.rate * side.targets[gap]) for side in self.sides)
        return -(part * mine + (1 - part) * yours)

    def _difference(self, gap: int) -> Floats:
        mine, yours = self._away(gap)
        return yours - mine
