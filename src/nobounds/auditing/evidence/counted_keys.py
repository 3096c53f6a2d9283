"""Evidence of which keys are shown, and with which noisy counts: each independently, from the rows that it has."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats
from nobounds.auditing.evidence.keys import least_epsilon
from nobounds.groups.key_counts import KeyCounts
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class CountedKeys:
    """The rows of each key, and the noisy counts of the keys that were drawn."""

    counted: KeyCounts
    rows: dict[Any, int]
    drawn: dict[Any, int]

    def given(self, outcome: dict[Any, int], is_first: bool) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Whether each key of this run is shown, and the noisy counts of those that are."""
        shown = [key in outcome for key in self.rows]
        return np.array(shown, dtype=bool), np.array([outcome[key] for key in self.rows if key in outcome], dtype=int)

    def shown(self, other: "CountedKeys", worst: bool) -> dict[Any, int]:
        """Counts that both data sets may show: those drawn here, or those that tell the most."""
        chosen = {}
        for key in self.rows.keys() & other.rows.keys():
            mine, yours = (_law(side.counted, side.rows[key], self._most(other, key)) for side in (self, other))
            both = (mine > 0) & (yours > 0)
            place = self.drawn.get(key, self.counted.most - 1) - self.counted.most + 1
            if worst or not both[place]:
                with np.errstate(divide="ignore", invalid="ignore"):
                    place = int(np.argmax(np.where(both, np.log(mine) - np.log(yours) if worst else mine, -np.inf)))
            if place:
                chosen[key] = self.counted.most - 1 + place
        return chosen

    def epsilon(self, other: "CountedKeys", delta: float) -> float:
        """The smallest epsilon at which all keys and counts are private with this delta, in both directions."""
        differ = [key for key in {*self.rows, *other.rows} if self.rows.get(key, 0) != other.rows.get(key, 0)]
        p, q = np.ones(1), np.ones(1)
        for key in differ:
            p, q = (
                np.outer(law, _law(side.counted, side.rows.get(key, 0), self._most(other, key))).ravel()
                for law, side in ((p, self), (q, other))
            )
        return least_epsilon(p, q, delta)

    def _most(self, other: "CountedKeys", key: Any) -> int:
        return max(self.rows.get(key, 0), other.rows.get(key, 0))


def _law(counted: KeyCounts, rows: int, most: int) -> Floats:
    """The probabilities that a key with `rows` rows is not shown, or with the noisy count `counted.most` + j.

    j goes from 0 to `most`: with the smaller limit of the noise, a count may be shown that is the larger one.
    """
    law = np.zeros(most + 2)
    for limit, share in counted.limits():
        noise = np.arange(-limit, limit + 1)
        masses = np.exp(-float(counted.rate) * np.abs(noise))
        masses *= share / masses.sum()
        places = np.maximum(rows + noise - counted.most + 1, 0)
        np.add.at(law, np.where(rows + noise > limit, places, 0), masses)
    return law
