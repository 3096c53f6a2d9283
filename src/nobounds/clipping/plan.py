"""The plan of a sum or a mean: how the spending is split, decided before the data are read."""

import math
from dataclasses import dataclass
from fractions import Fraction

from nobounds.accounting.cost import Cost, added_only, pure
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Clip, ClipStart, ClipView, Search
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.clipping.view import RecordsView
from nobounds.counting.scan import Records
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program

CHANCE = 0.05  # intervals hold 95% of the time


@dataclass(frozen=True, slots=True)
class SumPlan:
    """How the spending is split, decided before the data are read."""

    eps_size: Fraction
    search: Search
    eps_noise: Fraction
    rows: int | None  # public under swap
    centered: bool
    zcdp: bool = False  # whether epsilons are nominal, and the noise Gaussian

    @classmethod
    def of(
        cls, facts: Facts, terms: Terms, stated: Stated, centered: bool, tuning: ClipTuning = CLIP_TUNING
    ) -> "SumPlan":
        """The plan for a sum, or for a mean (`centered`)."""
        ladder, neighbors, rows = stated.ladder(facts), terms.neighbors, facts.rows
        two_sided = centered or neighbors == "swap"

        def plan(total: Fraction, zcdp: bool) -> "SumPlan":
            eps_size = total * tuning.size_share
            eps_clip = total * (tuning.two_sided if two_sided else tuning.one_sided)
            if rows is not None:
                eps_clip = total * (tuning.few if rows * total < tuning.few_rows else tuning.two_sided)
                eps_size = min(eps_size, Fraction(tuning.size_nats, max(rows, 1))) if facts.nullable else Fraction(0)
            if ladder.is_settled:
                eps_size, eps_clip = Fraction(0), Fraction(0)
            search = Search(eps_clip, neighbors, ladder, two_sided, facts.nullable, tuning=tuning)
            eps_noise = total - eps_clip - (eps_size if rows is None else 0)
            return cls(eps_size, search, eps_noise, rows, centered, zcdp)

        return terms.spending.each(facts.unit.rows).plan(plan)

    @classmethod
    def for_groups(
        cls, facts: Facts, terms: Terms, stated: Stated, centered: bool, groups: int, tuning: ClipTuning = CLIP_TUNING
    ) -> "SumPlan":
        """The plan for the sums or means of `groups` groups, which share one clip."""
        ladder = stated.ladder(facts)

        def plan(total: Fraction, zcdp: bool) -> "SumPlan":
            one = tuning.two_sided if centered else tuning.one_sided
            eps_size, eps_clip = total * tuning.size_share, total * max(one / math.isqrt(groups), tuning.least_clip)
            if ladder.is_settled:
                eps_size, eps_clip = Fraction(0), Fraction(0)
            eps_noise = total - eps_clip - eps_size
            # One record more is clipped for each unit of noise in each group.
            outside = math.ceil((groups - 1) / eps_noise)
            search = Search(eps_clip, "add-remove", ladder, centered, facts.nullable, outside, tuning)
            return cls(eps_size, search, eps_noise, None, centered, zcdp)

        return terms.spending.each(facts.unit.rows).plan(plan)

    @property
    def neighbors(self) -> Neighbors:
        """The neighbour relation."""
        return self.search.neighbors

    @property
    def integral(self) -> bool:
        """Whether all candidates are whole numbers."""
        return self.search.ladder.integral

    def cost(self) -> Cost:
        """The cost of the number of records, the clip and the noise.

        Under swap the noise costs less for a record that turns from missing to present, and the rest pays the number.
        """
        return self._size_cost() + self.search.cost() + self._noise_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        size = {"size": self._size_cost()} if self.rows is None else {}
        return size | {"clip": self.search.cost(), "noise": self._noise_cost()}

    def _size_cost(self) -> Cost:
        return pure(self.eps_size) if self.rows is None else added_only(self.eps_size)

    def _noise_cost(self) -> Cost:
        averaged = self.centered or self.neighbors == "swap"
        return self.average.cost() if averaged else self.additive.cost()

    @property
    def additive(self) -> Additive:
        """The noise on a sum under add-remove."""
        return Additive(self.eps_noise, self.zcdp)

    def program(self, records: Records) -> Program[Clip]:
        """The clip; these are the bounds, if there is nothing to search for."""
        if self.search.epsilon == 0:
            low, high = self.search.ladder.lower, self.search.ladder.upper
            assert low is not None
            assert high is not None
            return Clip(low, high, low, True)
        view = RecordsView(records)
        size = yield from self.size(view)
        slack = math.ceil(self.search.tuning.slack / self.eps_size) if self.eps_size else 0
        return (yield from self.search.program(view, size, slack))

    def start(self, view: ClipView) -> Program[ClipStart | None]:
        """Where the search for the clip starts; None if there is nothing to search for."""
        if self.search.epsilon == 0:
            return None
        size = yield from self.size(view)
        return (yield from self.search.start(view, size))

    def size(self, view: ClipView) -> Program[int]:
        """The number of records that are not missing: public, or noisy and at most that of the rows."""
        if self.eps_size == 0:
            assert self.rows is not None
            return self.rows
        noisy: int = yield view.number(Additive(self.eps_size), self._size_cost)
        size = max(0, noisy)
        return size if self.rows is None else min(size, self.rows)

    @property
    def average(self) -> AverageRule:
        """How averages of clipped records are taken."""
        spent = Fraction(0) if self.rows is None else self.eps_size
        return AverageRule(self.eps_noise, self.neighbors, self.rows, self.search.nullable, spent, self.zcdp)
