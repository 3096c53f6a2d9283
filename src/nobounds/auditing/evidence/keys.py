"""Evidence of which keys are shown: each independently, with a chance that depends on the number of its units."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class ShownKeys:
    """The chances of each key with a unit, to be shown and not to be shown; and the keys that were drawn."""

    chances: dict[Any, tuple[float, float]]
    drawn: frozenset[Any]

    def given(self, outcome: frozenset[Any], is_first: bool) -> NDArray[np.bool_]:
        """Whether each key of this run is shown."""
        return np.array([key in outcome for key in self.chances], dtype=bool)

    def shown(self, other: "ShownKeys", worst: bool) -> frozenset[Any]:
        """Keys that both data sets may show, with those that one of them must show: drawn here, or all of them."""
        keys = {*self.chances, *other.chances}
        must = {key for key in keys if 0.0 in (self._chance(key)[1], other._chance(key)[1])}
        may = {key for key in keys if self._chance(key)[0] > 0 < other._chance(key)[0]}
        return frozenset(must | (may if worst else may & self.drawn))

    def epsilon(self, other: "ShownKeys", delta: float) -> float:
        """The smallest epsilon at which the choice of all keys is private with this delta, in both directions."""
        p, q = np.ones(1), np.ones(1)
        for key in {*self.chances, *other.chances}:
            if self._chance(key) != other._chance(key):
                p, q = (np.outer(law, side._chance(key)).ravel() for law, side in ((p, self), (q, other)))
        return least_epsilon(p, q, delta)

    def _chance(self, key: Any) -> tuple[float, float]:
        return self.chances.get(key, (0.0, 1.0))


def least_epsilon(p: Floats, q: Floats, delta: float) -> float:
    """The smallest epsilon at which two laws are (epsilon, delta)-close in both directions, up to 64."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        excess = max(np.maximum(one - math.exp(middle) * two, 0).sum() for one, two in ((p, q), (q, p)))
        low, high = (low, middle) if excess <= delta else (middle, high)
    return high
