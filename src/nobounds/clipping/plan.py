"""The plan of a sum or a mean: how the spending is split, decided before the data are read."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from nobounds.accounting.cost import Cost, added_only, gaussian, pure, pure_parts
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import rest, share
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import Average, AverageRule, more_present
from nobounds.clipping.clip import Clip, ClipStart, ClipView, Search
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.tail import TailRule
from nobounds.clipping.tailing import Tailed, Tailing
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.clipping.view import RecordsView
from nobounds.counting.lattice import Lattice
from nobounds.counting.scan import Records
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.values import dataclass

_DIGITS = 6  # of a noisy size that a plan tells apart


@dataclass(frozen=True, slots=True)
class Settled:
    """The plan for a noisy size, and the clip with what is known of its tail."""

    plan: "SumPlan"
    size: int
    tailed: Tailed

    @property
    def clip(self) -> Clip:
        """The clip."""
        return self.tailed.clip

    def among(self, average: Average) -> "Settled":
        """The same for the noisy number of records of an average (see `Tailed.among`)."""
        more = more_present(self.plan.average, average, CHANCE / 2)
        return replace(self, tailed=self.tailed.among(average.count, more))

    @property
    def heap(self) -> Fraction | None:
        """The number that nearly all records are, where that is the answer."""
        return self.clip.center if self.clip.trusted and self.tailed.others is not None else None

    @property
    def short(self) -> bool:
        """Whether the clip is not trusted because there are too few records; else because hardly any lie around it."""
        return not self.clip.trusted and not self.plan.enough(max(self.size, 1))


@dataclass(frozen=True, slots=True)
class SumPlan:
    """How the spending is split, decided before the data are read.

    What is left after the noisy size is split by that size: `at` is the plan for one. Its parts cost as much for every
    size, so the cost is known before.
    """

    eps_size: Fraction
    left: Fraction  # for the clip and the noise
    search: Search
    eps_noise: Fraction
    rows: int | None  # public under swap
    centered: bool
    zcdp: bool = False  # whether epsilons are nominal, and the noise Gaussian
    groups: int = 1  # that share one clip
    eps_octaves: Fraction = Fraction(0)  # for the octaves around the clip, where they are counted
    eps_tail: Fraction = Fraction(0)  # the same, or 0
    eps_count: Fraction = Fraction(0)  # for the number of rows of each group, beside its sum
    eps_near: Fraction = Fraction(0)  # for the number of records of each group near the common clip and beyond
    unit: Fraction | None = None  # of a type whose values are whole numbers of it, and whose sums are too
    known: int | None = None  # a noisy number of records that is paid for already
    power: int = 1  # 2 if the clip is for squares
    outer: tuple[float, float] | None = None  # where the outer parts of what is between public bounds begin

    @classmethod
    def of(
        cls,
        facts: Facts,
        terms: Terms,
        stated: Stated,
        centered: bool,
        tuning: ClipTuning = CLIP_TUNING,
        power: int = 1,
    ) -> "SumPlan":
        """The plan for a sum, or for a mean (`centered`), of records or (`power` 2) of their squared deviations."""
        return _planned(facts, terms, stated, centered, tuning, power)

    @classmethod
    def _of(
        cls, facts: Facts, terms: Terms, stated: Stated, centered: bool, tuning: ClipTuning, power: int
    ) -> "SumPlan":
        ladder, neighbors, rows = stated.ladder(facts), terms.neighbors, facts.rows
        search = Search(Fraction(0), neighbors, ladder, centered or neighbors == "swap", facts.nullable, tuning=tuning)
        outer = search.outer if rows is None and facts.size is None and power == 1 else None

        def plan(total: Fraction, zcdp: bool) -> "SumPlan":
            eps_size = total * (tuning.size_share if outer is None else tuning.bounded_share)
            if rows is not None:
                eps_size = min(eps_size, Fraction(tuning.size_nats, max(rows, 1))) if facts.nullable else Fraction(0)
            if ladder.is_settled or facts.size is not None:
                eps_size = Fraction(0)
            left = total - (eps_size if rows is None else 0)
            tail = Fraction(0) if ladder.is_settled else share(left, 1 / tuning.tail_part(neighbors), zcdp)
            own = facts.kind.resolution if facts.kind.name == "decimal" else None
            first = cls(
                eps_size, left, search, left, rows, centered, zcdp, eps_octaves=tail, unit=own, known=facts.size
            )
            return replace(first, power=power, outer=outer).at(rows or 0)

        return terms.spending.each(facts.unit.rows).plan(plan)

    @classmethod
    def for_groups(
        cls, facts: Facts, terms: Terms, stated: Stated, centered: bool, groups: int, tuning: ClipTuning = CLIP_TUNING
    ) -> "SumPlan":
        """The plan for the sums or means of `groups` groups, which share one clip."""
        ladder = stated.ladder(facts)
        search = Search(Fraction(0), "add-remove", ladder, centered, facts.nullable, tuning=tuning)

        def plan(total: Fraction, zcdp: bool) -> "SumPlan":
            eps_size = Fraction(0) if ladder.is_settled else total * tuning.size_share
            left = total - eps_size
            counted = Fraction(0) if centered else share(left, 1 / tuning.counted, zcdp)
            plan = cls(eps_size, left, search, left, None, centered, zcdp, groups, eps_count=counted)
            if not ladder.is_settled:
                octaves, near = share(left, 1 / tuning.group_tail, zcdp), share(left, 1 / tuning.near, zcdp)
                plan = replace(plan, eps_octaves=octaves, eps_near=near)
            return plan.at(0)

        return terms.spending.each(facts.unit.rows).plan(plan)

    def __hash__(self) -> int:
        """Of what differs most: hashing all of it would take much longer."""
        return hash((self.left, self.search, self.eps_size))

    @lru_cache(maxsize=1024)  # noqa: B019 - a plan is a small public value, and so is a noisy size
    def at(self, size: int) -> "SumPlan":
        """The plan for about `size` records: a frame costs nats, and what it leaves is shared by walks and noise."""
        counted = self.rows is None or size * self.left >= self.search.tuning.counted_from
        plan = replace(self, eps_tail=self.eps_octaves if counted else Fraction(0))
        return plan._split(size)

    def _split(self, size: int) -> "SumPlan":
        """The same once it is known whether octaves are counted."""
        search, tuning = self.search, self.search.tuning
        eps_clip, walked = Fraction(0), True
        if not search.ladder.is_settled:
            given = self.careful(size), search.neighbors, search.two_sided
            walked = self.power > 1 or self.groups > 1 or tuning.walks_for(self.after_tail, *given)
            eps_clip = self._shared(tuning.clip_part(self.after_tail, *given, walked=walked))
            if not walked and search.neighbors == "swap" and search.nullable:
                eps_clip = max(eps_clip, tuning.sparse_part(self.after_tail, size))
        eps_noise = rest(self.after_tail, [eps_clip], self.zcdp)
        # One record more is clipped for each unit of noise in each group.
        outside = math.ceil((self.groups - 1) / eps_noise)
        return replace(
            self, search=replace(search, epsilon=eps_clip, outside=outside, walked=walked), eps_noise=eps_noise
        )

    @property
    def total(self) -> Fraction:
        """The epsilon of all parts; nominal under zCDP."""
        return self.left + (self.eps_size if self.rows is None else 0)

    def enough(self, size: int) -> bool:
        """Whether about `size` records are enough for the search for a clip; under swap, as many rows."""
        rows = None if self.rows is None else size
        plan = replace(self, rows=rows).at(size)
        if plan.eps_octaves and not plan.eps_tail:
            return False
        rule = plan.search.frame(self.careful(size))
        octave, spent = (None, Fraction(0)) if rule is None else (0, rule.epsilon)
        start = ClipStart(plan.search.within(Fraction(0)), octave, plan.search.epsilon - spent)
        if not plan.search.walks_from(start):
            return True
        outside = min(plan.search.outside, size // plan.search.tuning.most_outside)
        return plan.search.trusts(size - self.slack - outside, plan.search.rates(start, size)[1])

    @property
    def after_tail(self) -> Fraction:
        """What is left for the clip and the noise, after octaves and numbers of rows."""
        spent = [each for each in (self.eps_tail, self.eps_count, self.eps_near) if each]
        return rest(self.left, spent, self.zcdp) if spent else self.left

    @property
    def for_counts(self) -> Additive:
        """The noise on the number of rows of each group."""
        return Additive(self.eps_count, self.zcdp)

    @property
    def for_near(self) -> Additive:
        """The noise on the number of records of each group near the common clip and beyond."""
        return Additive(self.eps_near, self.zcdp)

    @property
    def tail(self) -> TailRule:
        """How the octaves around the clip are counted."""
        return TailRule(self.eps_tail, self.neighbors, self.zcdp)

    @property
    def neighbors(self) -> Neighbors:
        """The neighbour relation."""
        return self.search.neighbors

    @property
    def integral(self) -> bool:
        """Whether all candidates are whole numbers."""
        return self.search.ladder.integral

    def lattice(self, clip: Clip) -> Lattice:
        """The whole numbers that clipped records become."""
        if self.unit is not None:
            return Lattice.of(clip.low, clip.high, True, self.unit)
        return Lattice.of(clip.low, clip.high, self.integral)

    def cost(self) -> Cost:
        """The cost of the number of records, and of the clip and the noise, whatever the number is.

        Under swap the noise costs less for a record that turns from missing to present, and the rest pays the number.
        """
        if self.rows is not None:
            return self._size_cost() + self.search.cost() + self.tail.cost() + self._noise_cost()
        return self._size_cost() + (gaussian(self.left**2 / 2) if self.zcdp else self._pure_cost())

    def _pure_cost(self) -> Cost:
        """The cost of the clip and the noise, whatever part of epsilon a size gives to the clip."""
        if self.outer is not None:  # all of it may be for the noise, as one mechanism
            return pure(self.left)
        search = self.search
        left = self.after_tail
        parts = search.tuning.clip_parts(left, search.neighbors, search.two_sided)
        ends = [Fraction(0)] if search.ladder.is_settled else [*map(self._shared, parts)]
        return self.tail.cost() + self.for_counts.cost() + self.for_near.cost() + pure_parts(left, ends)

    def _shared(self, eps_clip: Fraction) -> Fraction:
        """What a clip that all groups share costs, where that of one would cost `eps_clip`."""
        if self.groups == 1:
            return eps_clip
        left = self.after_tail
        return left * max(eps_clip / left / math.isqrt(self.groups), self.search.tuning.least_clip)

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        size = {"size": self._size_cost()} if self.rows is None else {}
        beside = {"tail": self.tail.cost() + self.for_near.cost(), "counts": self.for_counts.cost()}
        return size | {"clip": self.search.cost(), **beside, "noise": self._noise_cost()}

    def _size_cost(self) -> Cost:
        return pure(self.eps_size) if self.rows is None else added_only(self.eps_size)

    def _noise_cost(self) -> Cost:
        averaged = self.centered or self.neighbors == "swap"
        return self.average.cost() if averaged else self.additive.cost()

    @property
    def additive(self) -> Additive:
        """The noise on a sum under add-remove."""
        return Additive(self.eps_noise, self.zcdp)

    def program(self, records: Records) -> Program["Settled"]:
        """The plan for the noisy size, and the clip; these are the bounds, if there is nothing to search for."""
        view = RecordsView(records, self.search.ladder)
        plan, size, start = yield from self.begun(view)
        if start is None:
            low, high = self.search.ladder.lower, self.search.ladder.upper
            assert low is not None
            assert high is not None
            return Settled(plan, size, plan.tailing.bounded(Clip(low, high, low, True)))
        rungs, trusted = yield from plan.search.halted(view, start, size - self.slack)
        if not self.eps_tail:
            return Settled(plan, size, plan.tailing.unknown(plan.search.clip_at(start, rungs, False)))
        return Settled(plan, size, (yield from plan.tailing.program(view, start, rungs, trusted)))

    @property
    def tailing(self) -> Tailing:
        """How the clip is moved, and what is said of its tail."""
        return Tailing(self.search, self.tail, self.eps_noise, self.power, self.groups)

    @property
    def slack(self) -> int:
        """How much larger than the number of records its noisy number may be."""
        return math.ceil(self._noises * self.search.tuning.slack / self.eps_size) if self.eps_size else 0

    def start(self, view: ClipView) -> Program[tuple["SumPlan", ClipStart | None]]:
        """The plan for the noisy size, and where its search starts; None if there is nothing to search for."""
        plan, _, start = yield from self.begun(view)
        return plan, start

    def begun(self, view: ClipView) -> Program[tuple["SumPlan", int, ClipStart | None]]:
        """What `start` returns, with the noisy size between them."""
        if self.search.ladder.is_settled:
            return self, 0, None
        if self.outer is None:
            size = yield from self.size(view)
        else:
            below, between, above = yield view.outer(*self.outer, Additive(self.eps_size), self._size_cost)
            size = max(0, below + between + above)
            if self.search.fills(below, above, self.eps_size):
                return self._unsearched(), size, None
        if self.rows is not None:
            return self, size, (yield from self.search.start(view, self.framed(size)))
        plan = self.at(planned(size))
        return plan, size, (yield from plan.search.start(view, plan.framed(planned(size))))

    def _unsearched(self) -> "SumPlan":
        """The plan where the public bounds are the clip: what is left is for the noise."""
        search = replace(self.search, epsilon=Fraction(0))
        return replace(self, search=search, eps_octaves=Fraction(0), eps_tail=Fraction(0), eps_noise=self.left)

    def careful(self, size: int) -> int:
        """The size without what may well be noise in it: a frame that fails does much harm."""
        return max(size - self.size_noise, 0)

    def framed(self, size: int) -> int:
        """The size that a frame is bought for: three quarters of the rows where noise may well have hidden the others.

        A plan for public rows has the epsilon of a frame for them, and without a frame data far from 0 are lost.
        """
        careful = self.careful(size)
        if self.rows is None or self.search.frame(careful) is not None:
            return careful
        hidden = (self.rows - size) * self.eps_size <= self.search.tuning.hidden
        return max(careful, 3 * self.rows // 4) if hidden else careful

    @property
    def _noises(self) -> int:
        """A sum of three counts is off by about twice as much as one."""
        return 1 if self.outer is None else 2

    @property
    def size_noise(self) -> int:
        """The scale of the noise in the size, 0 if that is public or paid for already."""
        return math.ceil(self._noises / self.eps_size) if self.eps_size else 0

    def size(self, view: ClipView) -> Program[int]:
        """The number of records that are not missing: public, or noisy and at most that of the rows."""
        if self.known is not None:
            return self.known if self.rows is None else min(self.known, self.rows)
        if self.eps_size == 0:
            assert self.rows is not None
            return self.rows
        noisy: int = yield view.number(Additive(self.eps_size), self._size_cost)
        size = max(0, noisy)
        return size if self.rows is None else min(size, self.rows)

    @property
    def average(self) -> AverageRule:
        """How averages of clipped records are taken."""
        spent = Fraction(0) if self.rows is None else self.eps_size - self.tail.spare
        return AverageRule(self.eps_noise, self.neighbors, self.rows, self.search.nullable, spent, self.zcdp)


def planned(size: int) -> int:
    """The size that a plan is made for: rounded down to six binary digits, so that calls for about as many share it."""
    spare = max(size.bit_length() - _DIGITS, 0)
    return size >> spare << spare


@lru_cache(maxsize=256)  # public arguments: the second call of a kind costs nothing
def _planned(facts: Facts, terms: Terms, stated: Stated, centered: bool, tuning: ClipTuning, power: int) -> SumPlan:
    return SumPlan._of(facts, terms, stated, centered, tuning, power)
