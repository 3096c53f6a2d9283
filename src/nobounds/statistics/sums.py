"""Sum, mean and count of data whose bounds nobody knows: the public functions."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Unpack

from nobounds.accounting.cost import Cost, added_only, pure
from nobounds.accounting.terms import Terms
from nobounds.answers.totals import Clip, found_clip, mean_of, standard_errors, sum_of, total
from nobounds.counting.lattice import totals
from nobounds.counting.order import Order
from nobounds.engines.column import Column
from nobounds.exact import MAX, finite_float
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Noisy
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.release.release import Release, Single
from nobounds.release.schema import Interval
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import (
    LEVEL,
    CountKeywords,
    MeanKeywords,
    SumKeywords,
    default_of,
    level_of,
    spelled_out,
    terms_of,
)
from nobounds.statistics.quantiles import DRAWN, LinePlan
from nobounds.values import dataclass

OPEN = (-math.inf, math.inf)
THINNING = (
    "beyond the clip, values thin out at least as fast as they were seen to do up to it; "
    "a separate group far out would not be covered"
)


@spelled_out
def sum(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private sum of data whose bounds nobody knows.

    `.interval` is a 95% interval for the sum of the rows: for what noise changed, and for what clipping cut off. Where
    too much may lie beyond the clip, an end is infinite. The interval costs nothing.

    >>> import random
    >>> release = sum([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> release.value
    28...
    """
    return _clipped("sum", data, options)


@spelled_out
def mean(data: object, **options: Unpack[MeanKeywords]) -> Single:
    """A private mean of data whose bounds nobody knows.

    `.interval` is for the mean of the population that the rows are a sample of, or with `of="sample"` for that of the
    rows themselves. An end is infinite as for `sum`.

    >>> import random
    >>> mean([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    47...
    """
    return _clipped("mean", data, options)


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


def _clipped(statistic: str, data: object, options: Any) -> Release:
    terms, level = terms_of(options), level_of(options)
    centered = statistic == "mean" or terms.neighbors == "swap"
    population = statistic == "mean" and default_of(options, "of") == "population"

    def answer(plan: LinePlan, data: Column) -> Answering:
        at, wanted = LEVEL if level is None else float(level), interval_described(level, population)
        order = Order(data.chunks, plan.ladder)
        clip = yield from found_clip(order, data.chunks, plan.part, plan.own, centered=centered, level=at)
        if not isinstance(clip, Clip):
            return Answer(None, wanted | plan.described(), () if level is None else (OPEN,), clip, TOO_FEW, 0)
        whole, unit = plan.ladder.integral or plan.unit is not None, plan.unit or Fraction(1)
        clip, noisy = yield from total(data.chunks, clip, clip.left, whole, unit, at)
        parts = clip.parts | {"noise": clip.left.cost}
        if statistic == "sum":
            value, low, high = sum_of(clip, noisy, order.line)
        else:
            value, low, high = mean_of(clip, noisy, order.line, standard_errors(at) if population else 0.0)
        exact = finite_float(value) + 0.0 if plan.unit is None else value
        if statistic == "sum" and plan.unit is None and plan.ladder.integral:
            exact = round(min(max(value, Fraction(-MAX)), Fraction(MAX)))
        parameters = clip_described(clip, plan) | wanted
        intervals: tuple[Interval, ...] = () if level is None else ((low, high),)
        size = clip.size if "size" in parts else None
        return Answer(exact, parameters | {"noise_scale": min(noisy.scale, MAX)}, intervals, parts, size=size)

    return release_column(
        statistic, statistic, terms, lambda facts: LinePlan.of(facts, terms, options), answer, data, options
    )


def clip_described(clip: Clip, plan: LinePlan) -> dict[str, Any]:
    """What a release says about its clip and its noise."""
    plain: Callable[[Fraction], int | float] = int if plan.ladder.integral else lambda x: finite_float(x) + 0.0
    return {"clip": [plain(clip.low), plain(clip.high)], "noise": plan.part.additive.name} | plan.described()


def interval_described(level: Fraction | None, population: bool) -> dict[str, Any]:
    """What a release says about its interval, if it has one."""
    if level is None:
        return {}
    assumes = f"{DRAWN}; {THINNING}" if population else THINNING
    of = "population" if population else "sample"
    return {"interval": {"level": float(level), "of": of, "assumes": assumes}}


@dataclass(frozen=True)
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
    bar = math.ceil(plan.noise.half_interval(scale, 0.0, (1 - LEVEL)))
    interval = (float(max(noisy - bar, 0)), float(max(noisy + bar, 0)))
    parameters = {"noise": plan.noise.name, "noise_scale": scale, "interval": {"level": LEVEL, "of": "sample"}}
    return Answer(max(noisy, 0), parameters, (interval,))
