"""Standard deviation and variance of data whose bounds nobody knows: the public functions."""

import math
from fractions import Fraction
from typing import Any, Unpack

from nobounds.answers.totals import Clip, found_clip, squares, total, variance_of
from nobounds.counting.order import Order
from nobounds.engines.column import Column
from nobounds.exact import MAX, finite_float
from nobounds.release.release import Release, Single
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import LEVEL, SumKeywords, level_of, spelled_out, terms_of
from nobounds.statistics.quantiles import LinePlan
from nobounds.statistics.sums import clip_described, interval_described

FIRST = Fraction(1, 4)  # of what is left for both sums, for that of the deviations; the squares get the rest


@spelled_out
def std(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private standard deviation of data whose bounds nobody knows: the root of `variance`.

    Of dates and times it is a duration.

    >>> import random
    >>> release = std([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> round(release.value)
    17
    """
    return _spread("std", data, options)


@spelled_out
def variance(data: object, **options: Unpack[SumKeywords]) -> Single:
    """A private variance of data whose bounds nobody knows: the mean squared distance from the mean.

    Records are clipped as for a mean, and `.interval` is a 95% interval for the variance of the rows: for what noise
    changed, and for what clipping cut off. The lower end holds whatever lies beyond the clip. The upper end is infinite
    where the tail of the data cannot be seen well enough: then the value is too small rather than too large.

    >>> import random
    >>> variance([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    30...
    """
    return _spread("variance", data, options)


def _spread(statistic: str, data: object, options: Any) -> Release:
    terms, level = terms_of(options), level_of(options)

    def answer(plan: LinePlan, data: Column) -> Answering:
        at, wanted = LEVEL if level is None else float(level), interval_described(level, False)
        order = Order(data.chunks, plan.ladder)
        clip = yield from found_clip(order, data.chunks, plan.part, plan.own, centered=True, level=at)
        if not isinstance(clip, Clip):
            return Answer(
                None, wanted | plan.described(), () if level is None else ((0.0, math.inf),), clip, TOO_FEW, 0
            )
        own = clip.left.of(FIRST)
        clip, first = yield from total(data.chunks, clip, own, False, Fraction(1), at)
        second = yield from squares(data.chunks, clip, clip.left.less(own), at)
        value, low, high = variance_of(clip, first, second, order.line)
        written = root if statistic == "std" else _float
        number = min(written(value), MAX)
        bar = (min(written(low), number), max(written(high), number))
        parts = clip.parts | {"noise": clip.left.cost}
        parameters = clip_described(clip, plan) | wanted
        size = clip.size if "size" in parts else None
        return Answer(number, parameters, () if level is None else (bar,), parts, size=size)

    return release_column(
        statistic, statistic, terms, lambda facts: LinePlan.of(facts, terms, options), answer, data, options
    )


def _float(number: Fraction | float) -> float:
    """The nearest float, infinite beyond the floats."""
    return math.inf if number > MAX else finite_float(Fraction(number))


def root(variance: Fraction | float) -> float:
    """The root of a variance, which may lie beyond the floats where its root does not."""
    if isinstance(variance, float):
        return math.sqrt(variance)
    octaves = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    return _float(Fraction(math.sqrt(variance / Fraction(4) ** octaves)) * Fraction(2) ** octaves)
