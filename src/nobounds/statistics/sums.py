"""Sum, mean and count of data whose bounds nobody knows: the public functions.

Part of epsilon buys a clip (see `clipping.clip`), the rest pays for noise on the exact sum of the clipped records (see
`counting.lattice` and `clipping.average`). Under add-remove a sum changes by the largest magnitude, so its clip is
[-c, c]; the sum under swap and all means change by the width of an interval around a noisy centre.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Unpack

from nobounds.accounting.cost import Cost, added_only, pure
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import Average, missing_range
from nobounds.clipping.interval import CHANCE, mean_range, summed_range, within
from nobounds.clipping.needed import needed
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.counting.lattice import steps_total, totals
from nobounds.counting.scan import Records
from nobounds.engines.column import Column
from nobounds.exact import finite_float
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Noisy
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.release.answer import later
from nobounds.release.release import Release, Single
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import CountKeywords, SumKeywords, flag, spelled_out, stated_of, terms_of
from nobounds.statistics.unanswered import why_unanswered
from nobounds.values import dataclass


@spelled_out
def sum(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private sum of data whose bounds nobody knows.

    The release states the clip, the scale of the noise, and in `interval` a 95% interval for the sum of the sample: for
    what noise changed, and for what clipping cut off. Where too much may lie beyond the clip, an end is infinite. With
    too few rows the value is None.

    >>> import random
    >>> release = sum([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> release.value, release.parameters["clip"]
    (284862, [-104, 104])
    """
    return _clipped("sum", data, options, _sum)


@spelled_out
def mean(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private mean of data whose bounds nobody knows; the release is like that of `sum`.

    >>> import random
    >>> mean([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    47.4...
    """
    return _clipped("mean", data, options, _mean)


@spelled_out
def count(data: object, **options: Unpack[CountKeywords]) -> Single:
    """A private number of records that are not missing; under swap it is public if none can be missing.

    >>> import random
    >>> count([1, 2, None, 4], epsilon=1, rng=random.Random(1)).value
    3
    """
    terms = terms_of(options)
    return release_column(
        "count", "count", terms, lambda facts: CountPlan.of(facts, terms), counted, data, options, sized=False
    )


def _clipped(
    statistic: str, data: object, options: Any, answer: Callable[[SumPlan, Column, Spending], Program[Answer]]
) -> Release:
    terms, stated = terms_of(options), stated_of(options)

    def plan(facts: Facts) -> SumPlan:
        return SumPlan.of(facts, terms, stated, centered=statistic == "mean")

    def marked(plan: SumPlan, data: Column) -> Answering:
        return _marked((yield from answer(plan, data, terms.spending)), flag(options, "marks"))

    return release_column(statistic, statistic, terms, plan, marked, data, options)


def _marked(noisy: Answer, marks: bool) -> Answer:
    """An answer from too few rows is left out, or with `marks` False its reason is."""
    if noisy.reason is None:
        return noisy
    if marks:
        return replace(noisy, value=None)
    parameters = {name: each for name, each in noisy.parameters.items() if name != "needed"}
    return replace(noisy, parameters=parameters, reason=None)


def _sum(plan: SumPlan, data: Column, spending: Spending) -> Program[Answer]:
    noisy = yield from summed(plan, data.chunks)
    return _answered(noisy, plan.integral, spending)


class Summed(NamedTuple):
    """A noisy sum of clipped records, and the scale of its noise, in steps.

    `missing` says how many records more may be present than the sum counts, at least and at most, each about `middle`.
    """

    settled: Settled
    value: Fraction
    step: Fraction
    each: float
    middle: Fraction = Fraction(0)
    missing: Callable[[], tuple[int, int]] = lambda: (0, 0)

    @property
    def bar(self) -> Fraction:
        """The 95% half interval of the noise on the sum; where it is that of a heap there is none."""
        if self.settled.heap is not None:
            return Fraction(0)
        return Fraction(self.settled.plan.additive.half_steps(self.each, 0.0, CHANCE)) * self.step

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return Fraction(self.each) * self.step

    @property
    def half_interval(self) -> Fraction:
        """The 95% half interval of all noise, with that on the number of missing records."""
        return self.bar + max(map(abs, self._beside()))

    def interval(self, chance: float = CHANCE) -> tuple[float, float]:
        """The interval around the sum, for noise and clipping; it fails with probability `chance`."""
        low, high = self.settled.tailed.interval(self.value, self.bar, Fraction(1), chance)
        below, above = map(finite_float, self._beside())
        return low + below, high + above

    def _beside(self) -> list[Fraction]:
        return sorted(self.middle * each * self.step for each in self.missing())


def summed(plan: SumPlan, records: Records) -> Program[Summed]:
    """The noisy sum of clipped records."""
    settled = yield from plan.program(records)
    plan = settled.plan
    lattice = plan.lattice(settled.clip)
    count, total = steps_total(records(), lattice)
    if plan.neighbors == "swap":
        middle, rule = lattice.low + Fraction(lattice.width, 2), plan.average
        average = yield from rule.release(count, total, lattice.width, finite_float(middle))
        value, scale = (average.count * lattice.low + average.total) * lattice.step, rule.noise.scale(lattice.width)
        missing = partial(missing_range, rule, average, CHANCE / 2)
        settled = settled.among(average)
        if settled.heap is not None:  # which the missing records are in too, wherever the clip lies
            value, middle = average.count * settled.heap, settled.heap / lattice.step
        return Summed(settled, value, lattice.step, scale, middle, missing)
    noise = plan.additive
    noisy = Fraction((yield Noisy(total + lattice.low * count, noise, noise.cost, lattice.largest)))
    return Summed(settled, noisy * lattice.step, lattice.step, noise.scale(lattice.largest))


def _mean(plan: SumPlan, data: Column, spending: Spending) -> Program[Answer]:
    noisy = yield from averaged(plan, data.chunks)
    return _answered(noisy, False, spending)


class Averaged(NamedTuple):
    """A noisy mean of clipped records, and the average that it comes from, in steps."""

    settled: Settled
    value: Fraction
    step: Fraction
    average: Average

    @property
    def bar(self) -> Fraction:
        """The 95% half interval of the noise; where the mean is that of a heap there is none."""
        if self.settled.heap is not None:
            return Fraction(0)
        return Fraction(self.average.half_interval(CHANCE)) * self.step

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return Fraction(math.hypot(*self.average.scales)) * self.step / self.records

    @property
    def records(self) -> Fraction:
        """The noisy number of records that a sum was divided by."""
        return max(self.average.count, Fraction(1))

    @property
    def half_interval(self) -> Fraction:
        """The 95% half interval of all noise."""
        return self.bar

    def interval(self, chance: float = CHANCE) -> tuple[float, float]:
        """The interval around the mean, for noise and clipping; it fails with probability `chance`."""
        return self.settled.tailed.interval(self.value, self.bar, self.records, chance)


def averaged(plan: SumPlan, records: Records) -> Program[Averaged]:
    """The noisy mean of clipped records."""
    settled = yield from plan.program(records)
    plan, clip = settled.plan, settled.clip
    lattice = plan.lattice(clip)
    count, total = steps_total(records(), lattice)
    average = yield from plan.average.release(count, total, lattice.width)
    value = min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high)
    settled = settled.among(average)
    return Averaged(settled, value if settled.heap is None else settled.heap, lattice.step, average)


def _answered(noisy: Summed | Averaged, whole: bool, spending: Spending) -> Answer:
    """The answer; intervals are worked out when they are read."""
    settled, value = noisy.settled, noisy.value
    plan = settled.plan
    ladder, spread = plan.search.ladder, mean_range if plan.centered else summed_range
    low, high = spread(ladder.lower, ladder.upper)
    value = value if plan.centered or low <= value <= high else Fraction(0)  # a mean lies in its clip
    exact = value if plan.unit is not None else int(value) if whole else finite_float(value) + 0.0
    learned = plan.eps_size > 0 and not plan.search.ladder.is_settled
    why = why_unanswered(settled)
    if why is None and settled.tailed.faint and all(map(math.isinf, noisy.interval())):
        why = TOO_FEW
    return Answer(
        exact,
        later(lambda: _parameters(noisy) | ({"needed": _needed(noisy, spending)} if why == TOO_FEW else {})),
        later(lambda: (within(noisy.interval(), low, high),)),
        later(plan.parts),
        why,
        settled.size if learned else None,
    )


def _needed(noisy: Summed | Averaged, spending: Spending) -> dict[str, Any]:
    """What would do where there are too few rows."""
    settled, average = noisy.settled, noisy.average if isinstance(noisy, Averaged) else None
    return needed("sum" if average is None else "mean", (settled,), spending, average)


def _parameters(noisy: Summed | Averaged) -> dict[str, Any]:
    """What a release says about its clip and its noise."""
    plan, clip = noisy.settled.plan, noisy.settled.clip
    plain: Callable[[Fraction], int | float] = int if plan.integral else lambda x: finite_float(x) + 0.0
    return {
        "clip": [plain(clip.low), plain(clip.high)],
        "interval": noisy.settled.tailed.describe(),
        "half_interval": finite_float(noisy.half_interval) if clip.trusted else None,  # of the noise alone
        "noise": plan.additive.name,
        "noise_scale": finite_float(noisy.scale),
        **plan.search.ladder.describe(),
    }


@dataclass(frozen=True, slots=True)
class CountPlan:
    """The noise on a number of records, or the number itself where it is public."""

    noise: Additive
    swap: bool
    public: bool  # whether the number of records is public: no record can be missing, and neighbours have equal sizes

    @classmethod
    def of(cls, facts: Facts, terms: Terms) -> "CountPlan":
        """The plan for a count."""
        swap = terms.neighbors == "swap"
        return cls(terms.spending.each(facts.unit.rows).plan(Additive), swap, swap and not facts.nullable)

    def cost(self) -> Cost:
        """The cost of the noise; under swap only a record that turns from missing to present changes the number."""
        if self.public:
            return pure(Fraction(0))
        return added_only(self.noise.epsilon) if self.swap and not self.noise.zcdp else self.noise.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"noise": self.cost()}


def counted(plan: CountPlan, data: Column) -> Program[Answer]:
    """The number of records, and its interval."""
    noisy: int = data.rows() if plan.public else (yield Noisy(totals(data.chunks())[0], plan.noise, plan.cost))
    scale = 0.0 if plan.public else plan.noise.scale(1)
    bar = math.ceil(plan.noise.half_interval(scale, 0.0, CHANCE))
    interval = (float(max(noisy - bar, 0)), float(max(noisy + bar, 0)))
    parameters = {"noise": plan.noise.name, "noise_scale": scale, "interval": {"level": 1 - CHANCE, "of": "sample"}}
    return Answer(max(noisy, 0), parameters, (interval,))
