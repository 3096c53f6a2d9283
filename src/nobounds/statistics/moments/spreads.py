"""Standard deviation, variance and interquartile range of data whose bounds nobody knows: the public functions."""

import math
from typing import Any, Unpack

from nobounds.clipping.moments.variance import Variance, VariancePlan
from nobounds.clipping.plan import Settled
from nobounds.engines.column import Column
from nobounds.exact import finite_float
from nobounds.programs.program import Program
from nobounds.release.release import Release
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, release_column
from nobounds.statistics.keywords import SumKeywords, flag, spelled_out, stated_of, terms_of


@spelled_out
def std(data: object, **options: Unpack[SumKeywords]) -> Release:
    """A private standard deviation of data whose bounds nobody knows: the root of `variance`.

    Of dates and times it is a duration.

    >>> import random
    >>> release = std([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> round(release.value, 1), release.parameters["clip"]
    (17.3, [16, 79])
    """
    return _spread("std", data, options)


@spelled_out
def variance(data: object, **options: Unpack[SumKeywords]) -> Release:
    """A private variance of data whose bounds nobody knows: the mean squared distance from the mean.

    Records are clipped as for a mean, and `interval` is a 95% interval for the variance of the sample: for what noise
    changed, and for what clipping cut off. The lower end holds whatever lies beyond the clip. The upper end is infinite
    where the tail of the data cannot be seen well enough, as with long tails or few rows: then the value is too small
    rather than too large. With too few rows the value is None.

    >>> import random
    >>> variance([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    29...
    """
    return _spread("variance", data, options)


def _spread(statistic: str, data: object, options: Any) -> Release:
    terms, stated, marks = terms_of(options), stated_of(options), flag(options, "marks")

    def answer(plan: VariancePlan, data: Column) -> Program[Answer]:
        settled, noisy = yield from plan.program(data.chunks)
        return _answered(statistic, settled, noisy, marks)

    return release_column(
        statistic, statistic, terms, lambda facts: VariancePlan.of(facts, terms, stated), answer, data, options
    )


def _answered(statistic: str, settled: Settled, noisy: Variance, marks: bool) -> Answer:
    """The answer, with the interval that its clip allows; without any end it is left out."""
    plan, clip = settled.plan, settled.clip
    value, bar = finite_float(noisy.value), noisy.interval(settled.tailed)
    known = clip.trusted and bar != (0.0, math.inf)
    if statistic == "std":
        value, bar = math.sqrt(value), (math.sqrt(bar[0]), math.sqrt(bar[1]))
    parameters: dict[str, Any] = {
        "clip": [finite_float(clip.low) + 0.0, finite_float(clip.high) + 0.0],
        "interval": settled.tailed.describe(),
        "noise": plan.additive.name,
        **plan.search.ladder.describe(),
    }
    reason = None if known or not marks else TOO_FEW
    if reason is not None:
        parameters["needed"] = settled.needed()
    learned = plan.eps_size > 0 and not plan.search.ladder.is_settled
    size = settled.size if learned else None
    return Answer(value if reason is None else None, parameters, (bar,), plan.parts(), reason, size)
