"""Standard deviation, variance and interquartile range of data whose bounds nobody knows: the public functions."""

import math
from fractions import Fraction
from typing import Any, Unpack

from nobounds.accounting.spending import Spending
from nobounds.clipping.moments.variance import Variance, VariancePlan
from nobounds.clipping.plan import Settled
from nobounds.engines.column import Column
from nobounds.exact import MAX, finite_float
from nobounds.programs.program import Program
from nobounds.release.release import Release, Single
from nobounds.statistics.door import Answer, release_column
from nobounds.statistics.keywords import SumKeywords, flag, spelled_out, stated_of, terms_of
from nobounds.statistics.unanswered import unanswered


@spelled_out
def std(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private standard deviation of data whose bounds nobody knows: the root of `variance`.

    Of dates and times it is a duration.

    >>> import random
    >>> release = std([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> round(release.value, 1), release.parameters["clip"]
    (17.3, [8.0, 84.0])
    """
    return _spread("std", data, options)


@spelled_out
def variance(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private variance of data whose bounds nobody knows: the mean squared distance from the mean.

    Records are clipped as for a mean, and `interval` is a 95% interval for the variance of the sample: for what noise
    changed, and for what clipping cut off. The lower end holds whatever lies beyond the clip. The upper end is infinite
    where the tail of the data cannot be seen well enough, as with long tails or few rows: then the value is too small
    rather than too large. With too few rows the value is None.

    >>> import random
    >>> variance([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    300.0...
    """
    return _spread("variance", data, options)


def _spread(statistic: str, data: object, options: Any) -> Release:
    terms, stated, marks = terms_of(options), stated_of(options), flag(options, "marks")

    def answer(plan: VariancePlan, data: Column) -> Program[Answer]:
        settled, noisy = yield from plan.program(data.chunks)
        return _answered(statistic, settled, noisy, marks, terms.spending)

    return release_column(
        statistic, statistic, terms, lambda facts: VariancePlan.of(facts, terms, stated), answer, data, options
    )


def _float(number: Fraction | float) -> float:
    """The nearest float, infinite beyond the floats."""
    return math.inf if number > MAX else finite_float(Fraction(number))


def _root(variance: Fraction | float) -> float:
    """The root of a variance, which may lie beyond the floats where its root does not."""
    if isinstance(variance, float):
        return math.sqrt(variance)
    octaves = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    return _float(Fraction(math.sqrt(variance / Fraction(4) ** octaves)) * Fraction(2) ** octaves)


def _answered(statistic: str, settled: Settled, noisy: Variance, marks: bool, spending: Spending) -> Answer:
    """The answer, with the interval that its clip allows; without any end it is left out."""
    plan, clip = settled.plan, settled.clip
    low, high = noisy.interval(settled.tailed)
    known = clip.trusted and (low > 0 or high < math.inf)
    written = _root if statistic == "std" else _float
    value, bar = min(written(noisy.value), MAX), (min(written(low), MAX), written(high))
    parameters: dict[str, Any] = {
        "clip": [finite_float(clip.low) + 0.0, finite_float(clip.high) + 0.0],
        "interval": settled.tailed.describe(),
        "noise": plan.additive.name,
        **plan.search.ladder.describe(),
    }
    reason = None
    if marks and not known:
        reason, more = unanswered(statistic, (settled,), spending, noisy.average)
        parameters |= more
    learned = plan.eps_size > 0 and not plan.search.ladder.is_settled
    size = settled.size if learned else None
    return Answer(value if reason is None else None, parameters, (bar,), plan.parts(), reason, size)
