"""What a sum or a mean spends on what, decided before the data are read."""

import math
from dataclasses import dataclass
from fractions import Fraction

from nobounds.accounting.cost import Cost, added_only, pure
from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Spending
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Clip, Search
from nobounds.counting.lattice import totals
from nobounds.engines.memory.arrays import Column
from nobounds.exact import Number
from nobounds.ladders.ladder import Ladder
from nobounds.noise.additive import Additive
from nobounds.noise.discrete import discrete_laplace
from nobounds.noise.source import RandomSource
from nobounds.statistics.quantile import ladder_for

# Parts of epsilon (benchmarks/clipping.py; docs/clipping.md has its table).
ONE_SIDED = Fraction(1, 3)  # for the clip of a sum under add-remove

TWO_SIDED = Fraction(1, 3)  # for the interval of all others; with few rows under swap, which have no scale:

FEW, FEW_ROWS = Fraction(9, 20), 400  # this part, if there are fewer rows over epsilon

SIZE_SHARE = Fraction(1, 50)  # for the number of records, where it is private

SIZE_NATS = 40  # under swap so much over the rows will do

SLACK = 4  # over its epsilon: a private number of records is too large by more in less than 1 of 100 cases

CHANCE = 0.05  # error bars hold 95 times of 100


@dataclass(frozen=True, slots=True)
class SumPlan:
    """What is spent on what, decided before the data are read."""

    size: Fraction  # epsilon for the number of records
    search: Search
    noise: Fraction
    neighbors: Neighbors
    integral: bool
    rows: int | None
    centered: bool
    zcdp: bool = False  # whether epsilons are nominal, and the noise Gaussian

    @classmethod
    def of(
        cls,
        data: Column,
        spending: Spending,
        lower: Number | None,
        upper: Number | None,
        resolution: Number | None,
        neighbors: Neighbors,
        centered: bool,
    ) -> "SumPlan":
        """The plan for a sum, or for a mean (`centered`)."""
        relation, ladder = check_neighbors(neighbors), ladder_for(data, lower, upper, resolution)
        rows = data.rows() if relation == "swap" else None  # public
        nullable, each = data.nullable, spending.each(data.unit.rows)
        return each.plan(lambda total, zcdp: cls._of(rows, nullable, total, ladder, relation, centered, zcdp))

    @classmethod
    def _of(
        cls,
        rows: int | None,
        nullable: bool,
        total: Fraction,
        ladder: Ladder,
        relation: Neighbors,
        centered: bool,
        zcdp: bool,
    ) -> "SumPlan":
        two_sided = centered or relation == "swap"
        size, part = total * SIZE_SHARE, total * (TWO_SIDED if two_sided else ONE_SIDED)
        if rows is not None:
            part = total * (FEW if rows * total < FEW_ROWS else TWO_SIDED)
            size = min(size, Fraction(SIZE_NATS, max(rows, 1))) if nullable else Fraction(0)
        if ladder.size <= 2 and ladder.lower is not None and ladder.upper is not None:
            size, part = Fraction(0), Fraction(0)  # the bounds leave nothing to search for
        search = Search(part, relation, ladder, two_sided, nullable)
        noise = total - part - (size if rows is None else 0)
        return cls(size, search, noise, relation, ladder.integral, rows, centered, zcdp)

    def cost(self) -> Cost:
        """The cost of the number of records, the clip and the noise.

        Under swap the number is paid by what the noise leaves for a record that turns from missing to present.
        """
        size = pure(self.size) if self.rows is None else added_only(self.size)
        return size + self.search.cost() + self._noise_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        size = {"size": pure(self.size)} if self.rows is None else {}
        return size | {"clip": self.search.cost(), "noise": self._noise_cost()}

    def _noise_cost(self) -> Cost:
        averaged = self.centered or self.neighbors == "swap"
        return self.average.cost() if averaged else self.additive.cost()

    @property
    def additive(self) -> Additive:
        """The noise on a sum under add-remove."""
        return Additive(self.noise, self.zcdp)

    def clip(self, data: Column, source: RandomSource) -> Clip:
        """The clip; if the bounds leave nothing to search for, it is the bounds."""
        if self.search.epsilon == 0:
            low, high = self.search.ladder.lower, self.search.ladder.upper
            assert low is not None
            assert high is not None
            return Clip(low, high, low, True)
        if self.size == 0:
            assert self.rows is not None
            return self.search.find(data, self.rows, 0, source)
        size = max(0, totals(data.chunks())[0] + discrete_laplace(self.size, source))
        size = size if self.rows is None else min(size, self.rows)
        return self.search.find(data, size, math.ceil(SLACK / self.size), source)

    @property
    def average(self) -> AverageRule:
        """How averages of clipped records are taken."""
        spent = Fraction(0) if self.rows is None else self.size
        return AverageRule(self.noise, self.neighbors, self.rows, self.search.nullable, spent, self.zcdp)
