"""Quantiles, maximum, minimum and bounds of data whose bounds nobody knows: the public functions."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

from nobounds.accounting.cost import Cost
from nobounds.accounting.terms import Terms
from nobounds.answers.many import quantiles as several
from nobounds.answers.quantile import Bracket, Wanted, extremes
from nobounds.answers.quantile import quantile as one
from nobounds.answers.spent import Known, Part, short_rank
from nobounds.counting.order import Order
from nobounds.engines.column import Column
from nobounds.exact import Number, finite_float
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.problem import check_rank, check_ranks, check_rows
from nobounds.release.answer import later
from nobounds.release.release import Release, Several, Single
from nobounds.release.schema import Interval
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import (
    ExtremeKeywords,
    QuantileKeywords,
    QuantilesKeywords,
    default_of,
    is_expert,
    level_of,
    spelled_out,
    stated_of,
    terms_of,
)
from nobounds.values import dataclass

MOST_ROWS = 2**53  # that a statement may name: more are as good, and no floats
DRAWN = "the rows are independent draws from the population"


@spelled_out
def quantile(data: object, q: Number, **options: Unpack[QuantileKeywords]) -> Single:
    """A private q-quantile of data whose bounds nobody knows.

    `.interval` is a 95% interval for the population that the rows are a sample of, or with `of="sample"` for the rows
    themselves; an end that too few rows lie beyond is infinite. With `interval=None` all of epsilon is for the number.
    Of an extreme (q = 0 or 1) the interval says what it is at most or at least.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantile(ages, 0.5, epsilon=1, resolution=1, rng=random.Random(1)).value
    48
    """
    return _quantile("quantile", check_rank(q), data, options)


@spelled_out
def median(data: object, **options: Unpack[QuantileKeywords]) -> Single:
    """A private median: `quantile` at 1/2, with the same keywords.

    >>> import random
    >>> median([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    48
    """
    return _quantile("median", Fraction(1, 2), data, options)


@spelled_out
def quantiles(data: object, q: Iterable[Number], **options: Unpack[QuantilesKeywords]) -> Several:
    """Private quantiles for one total epsilon or rho, in the order given, without intervals.

    A larger q never has a smaller answer. m of them cost as much as ceil(log2(m + 1)) would, each for its own epsilon.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantiles(ages, [0.25, 0.5, 0.75], epsilon=1, resolution=1, rng=random.Random(1)).value
    (33, 47, 62)
    """
    ranks = check_ranks(q)
    qs = tuple(sorted(set(ranks)))

    def answer(plan: LinePlan, data: Column) -> Answering:
        order = Order(data.chunks, plan.ladder)
        drawn = yield from several(order, qs, plan.part, plan.known)
        values = dict(zip(qs, (plan.value(order, key) for key in drawn.values), strict=True))
        parameters = {"q": [str(rank) for rank in ranks], **plan.described()}
        reason = TOO_FEW if drawn.size is None else None
        answered = tuple(values[rank] for rank in ranks)
        return Answer(answered, parameters, (), drawn.parts, reason, drawn.size or 0)

    return _released("quantiles", f"quantiles {', '.join(map(str, qs))}", answer, data, options)


@spelled_out
def maximum(data: object, **options: Unpack[ExtremeKeywords]) -> Single:
    """A private maximum, by a walk outward from a private median.

    `.interval` gives the value that it is at least: that holds for every data set. The upper end is infinite, or
    `upper`: no private method can say how far the largest record lies above all others.
    """
    return _extremes("maximum", (Fraction(1),), data, options)


@spelled_out
def minimum(data: object, **options: Unpack[ExtremeKeywords]) -> Single:
    """A private minimum, as `maximum`; `.interval` gives the value that it is at most."""
    return _extremes("minimum", (Fraction(0),), data, options)


@spelled_out
def bounds(data: object, **options: Unpack[ExtremeKeywords]) -> Several:
    """A private (minimum, maximum) for one total epsilon.

    The intervals give what the minimum is at most, and the maximum at least; both hold together.
    """
    return _extremes("bounds", (Fraction(0), Fraction(1)), data, options)


@dataclass(frozen=True)
class LinePlan:
    """What a statistic of one column may spend, and what is public about its numbers."""

    part: Part
    ladder: Ladder
    known: Known
    unit: Fraction | None = None  # of a type whose values are whole numbers of it, and whose sums are too
    stated: int | None = None  # the number of records, by the user

    @classmethod
    def of(cls, facts: Facts, terms: Terms, options: Any) -> "LinePlan":
        """The plan for a column."""
        spending = terms.spending.each(facts.unit.rows)
        stated = None if options.get("rows") is None else min(check_rows(options["rows"]), MOST_ROWS)
        unit = facts.kind.resolution if facts.kind.name == "decimal" else None
        known = Known(facts.rows, facts.nullable, facts.size if stated is None else stated)
        return cls(
            Part(spending.amount, spending.zcdp, terms.neighbors), stated_of(options).ladder(facts), known, unit, stated
        )

    def cost(self) -> Cost:
        """All of it, whatever it is spent on."""
        return self.part.cost

    def parts(self) -> dict[str, Cost]:
        """The answer says what each part costs."""
        return {}

    @property
    def own(self) -> Known:
        """What is public about the number of records, for what divides by it: one that is paid for is too careful."""
        return replace(self.known, size=None)

    def described(self) -> dict[str, Any]:
        """What is public about the numbers, for a release."""
        facts = {
            name: given for name, given in self.ladder.describe().items() if name in ("resolution", "lower", "upper")
        }
        return facts if self.stated is None else facts | {"stated_rows": self.stated}

    def value(self, order: Order, key: int | None) -> int | float | None:
        """The number of a key, as it is released."""
        return None if key is None else self.ladder.within(order.line.number(key))

    def ends(self, order: Order, bracket: Bracket) -> Interval:
        """The ends of an interval, where those that are not known are infinite, or public bounds."""
        assert bracket.ends is not None
        low, high = (None if key is None else float(self.ladder.within(order.line.number(key))) for key in bracket.ends)
        least, most = self.ladder.lower, self.ladder.upper
        return (
            (-math.inf if least is None else finite_float(least)) if low is None else low,
            (math.inf if most is None else finite_float(most)) if high is None else high,
        )


def _quantile(statistic: str, rank: Fraction, data: object, options: Any) -> Release:
    if is_expert(options):
        from nobounds.statistics.searched import searched_quantile  # seldom used, and takes long to load

        return searched_quantile(statistic, rank, data, options)
    if short_rank(rank) in (0, 1):
        return _extremes(statistic, (short_rank(rank),), data, options, {"q": str(rank)})
    named, level = statistic != "quantile", level_of(options)
    wanted = None if level is None else Wanted(level, default_of(options, "of") == "population")

    def answer(plan: LinePlan, data: Column) -> Answering:
        order = Order(data.chunks, plan.ladder)
        bracket = yield from one(order, short_rank(rank), plan.part, plan.known, wanted)
        parameters: dict[str, Any] = ({} if named else {"q": str(rank)}) | plan.described()
        if wanted is not None:
            of = {"of": "population", "assumes": DRAWN} if wanted.population else {"of": "sample"}
            parameters["interval"] = {"level": float(wanted.level), **of}
        return _answer(plan, order, (bracket,), parameters)

    return _released(statistic, statistic if named else f"quantile {rank}", answer, data, options)


def _extremes(
    statistic: str, qs: tuple[Fraction, ...], data: object, options: Any, more: dict[str, Any] | None = None
) -> Release:
    if is_expert(options):
        from nobounds.statistics.searched import searched_extremes

        return searched_extremes(statistic, statistic, qs, data, options)
    level = level_of(options)

    def answer(plan: LinePlan, data: Column) -> Answering:
        order = Order(data.chunks, plan.ladder)
        brackets = yield from extremes(order, qs, plan.part, plan.known, level)
        parameters = (more or {}) | plan.described()
        if level is not None:
            parameters["interval"] = {"level": float(level), "of": "sample", "guarantee": True}
        return _answer(plan, order, tuple(brackets), parameters)

    purpose = statistic if more is None else f"{statistic} {qs[0]}"
    return _released(statistic, purpose, answer, data, options)


def _answer(plan: LinePlan, order: Order, brackets: tuple[Bracket, ...], parameters: dict[str, Any]) -> Answer:
    first = brackets[0]
    values = tuple(plan.value(order, bracket.value) for bracket in brackets)
    intervals = () if first.ends is None else later(lambda: tuple(plan.ends(order, bracket) for bracket in brackets))
    reason = TOO_FEW if first.size is None else None
    value = values[0] if len(values) == 1 else values
    return Answer(value, parameters, intervals, first.parts, reason, first.size or 0)


def _released(
    statistic: str, purpose: str, answer: Callable[[LinePlan, Column], Answering], data: object, options: Any
) -> Release:
    terms = terms_of(options)
    return release_column(
        statistic,
        purpose,
        terms,
        lambda facts: LinePlan.of(facts, terms, options),
        answer,
        data,
        options,
        sized=options.get("rows") is None,
    )
