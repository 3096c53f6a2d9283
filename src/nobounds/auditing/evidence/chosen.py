"""Evidence of the numbers that a choice, a clock and a cut lead to: their exact laws on two data sets, side by side.

The laws are constant between the records of both, or nearly so, and they are compared there.
"""

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.auditing.evidence.compare import KNOWN, both_ways, largest
from nobounds.mechanisms.choice import Choice, drawn
from nobounds.mechanisms.clock import Ring
from nobounds.mechanisms.cut import BITS, Cut

_SEED = 0  # of the number that stands for its cell


@dataclass(frozen=True, eq=False)
class ChosenNumber:
    """The number that a choice draws."""

    choice: Choice
    drawn: int

    def log_ratio(self, other: "ChosenNumber", outcome: int) -> float:
        """How much more probable the number is here."""
        at = np.array([outcome])
        return float(self.choice.log_masses(at, at)[0] - other.choice.log_masses(at, at)[0])

    def worst_outcome(self, other: "ChosenNumber") -> int:
        """A number that tells the most."""
        first, last, mine, yours = self._compared(other)
        best = largest(mine, yours, mine, KNOWN)
        if best is None:
            return self.drawn
        source = random.Random(_SEED).getrandbits
        return drawn(self.choice.line.prior, int(first[best]), int(last[best]), source)

    def divergences(self, other: "ChosenNumber") -> Floats:
        """Renyi divergences, the larger of both ways."""
        return both_ways(*self._compared(other)[2:])

    def _compared(self, other: "ChosenNumber") -> tuple[Ints, Ints, Floats, Floats]:
        first = np.union1d(self.choice.whole.first, other.choice.whole.first)
        last = np.append(first[1:] - 1, self.choice.line.ends[1])
        mine, yours = (each.choice.log_masses(first, last) for each in (self, other))
        some = mine > -np.inf
        return first[some], last[some], mine[some], yours[some]


@dataclass(frozen=True, eq=False)
class RungAt:
    """The rung at which a clock rings, or None."""

    ring: Ring
    drawn: int | None

    def log_ratio(self, other: "RungAt", outcome: int | None) -> float:
        """How much more probable the rung is here."""
        edges = self._edges(other, outcome)
        place = -1 if outcome is None else self._places(edges).index(outcome)
        return float(self.ring.log_chances(edges)[place] - other.ring.log_chances(edges)[place])

    def worst_outcome(self, other: "RungAt") -> int | None:
        """The end of a run that tells the most."""
        edges = self._edges(other, None)
        places = self._places(edges)
        mine, yours = (each.ring.log_chances(edges) for each in (self, other))
        single = np.array([abs(a - b) == 1 for a, b in zip(edges[1:], edges[:-1], strict=True)] + [True])
        best = largest(np.where(single, mine, -np.inf), yours, np.where(single, mine, -np.inf), KNOWN)
        return self.drawn if best is None else None if best == len(places) else places[best]

    def divergences(self, other: "RungAt") -> Floats:
        """Of the stretch where it rings: a lower bound, because a stretch tells less, and rare ones are left out."""
        edges = self._edges(other, None)
        mine, yours = self.ring.log_chances(edges), other.ring.log_chances(edges)
        known = (mine > -KNOWN) & (yours > -KNOWN)
        return both_ways(mine[known], yours[known])

    def _places(self, edges: list[int]) -> list[int]:
        """The smallest rung of each interval."""
        return edges[1:] if self.ring.inward else edges[:-1]

    def _edges(self, other: "RungAt", outcome: int | None) -> list[int]:
        """Where runs of both begin and end, with the first and the last rung of each by itself."""
        cuts = {0, self.ring.way.end} | (set() if outcome is None else {outcome, outcome + 1})
        for ring in (self.ring, other.ring):
            for first in ring.whole.first:
                cuts |= {first - 1, first, first + 1}
        kept = sorted(cut for cut in cuts if 0 <= cut <= self.ring.way.end)
        return kept[::-1] if self.ring.inward else kept


@dataclass(frozen=True, eq=False)
class CutAt:
    """The pair at which records are cut. Tags are fixed: of many records at a number, the first ones have those of few.

    Given the tags of the records that both data sets have, the cost holds, and so it does on average.
    """

    cut: Cut
    drawn: tuple[int, int]  # a number and a tag

    def log_ratio(self, other: "CutAt", outcome: tuple[int, int]) -> float:
        """How much more probable the pair is here."""
        return self._log_weight(outcome) - self._log_total - other._log_weight(outcome) + other._log_total

    def worst_outcome(self, other: "CutAt") -> tuple[int, int]:
        """A pair that tells the most."""
        pairs, sizes = self._compared(other)
        mine = np.array([self._log_weight(pair) for pair in pairs]) - self._log_total
        yours = np.array([other._log_weight(pair) for pair in pairs]) - other._log_total
        best = largest(mine, yours, mine + sizes, KNOWN)
        return self.drawn if best is None else pairs[best]

    def divergences(self, other: "CutAt") -> Floats:
        """Renyi divergences, the larger of both ways."""
        pairs, sizes = self._compared(other)
        mine, yours = (
            sizes + np.array([each._log_weight(pair) for pair in pairs]) - each._log_total for each in (self, other)
        )
        return both_ways(mine, yours)

    def given(self, outcome: tuple[int, int], is_first: bool) -> tuple[int, int]:
        """What a run is given: the number, and how many of its records lie below the pair."""
        return outcome[0], self._rank(outcome)

    def _rank(self, pair: tuple[int, int]) -> int:
        low, high = self.cut.ranks(pair[0])
        return low + sum(tag < pair[1] for tag in tags(high - low))

    def _log_weight(self, pair: tuple[int, int]) -> float:
        """Without the prior mass of the number."""
        rank = self._rank(pair)
        losses = self.cut.losses(np.array([rank]), np.array([rank]))
        return -float(losses[0]) * float(self.cut.rate) / self.cut.q.denominator

    @cached_property
    def _log_total(self) -> float:
        pairs, sizes = self._compared(self)
        return float(np.logaddexp.reduce(sizes + np.array([self._log_weight(pair) for pair in pairs])))

    def _compared(self, other: "CutAt") -> tuple[list[tuple[int, int]], Floats]:
        """A pair of each stretch with the same rank on both data sets, and the logarithm of its mass."""
        piece, prior = self.cut.piece, self.cut.prior
        starts = np.union1d(*(each.cut.order.cells(0, each.cut.order.total, 0).first for each in (self, other)))
        starts = np.union1d(starts[(starts > piece.first) & (starts <= piece.last)], [piece.first])
        ends = np.append(starts[1:] - 1, piece.last)
        pairs, sizes = list[tuple[int, int]](), list[float]()
        for first, last, mass in zip(starts.tolist(), ends.tolist(), prior.masses(starts, ends).tolist(), strict=True):
            if not mass:
                continue
            many = max(high - low for low, high in (each.cut.ranks(first) for each in (self, other)))
            cuts = [0, *sorted(tag + 1 for tag in tags(many)), 1 << BITS] if first == last else [0, 1 << BITS]
            for low, high in pairwise(cuts):
                pairs.append((first, low))
                sizes.append(float(np.log(mass)) + float(np.log((high - low) / (1 << BITS))))
        return pairs, np.array(sizes)


def tags(many: int) -> list[int]:
    """The tags of `many` records at a number: the halves, then the quarters, and so on, each a little apart."""
    return [(int(f"{k:064b}"[::-1], 2) + k) % (1 << BITS) for k in range(1, many + 1)]
