"""Statistics of two columns of the same rows: ratio, weighted mean, covariance and correlation, the public functions.

A row with a missing record in either column is missing. Each column is clipped by itself.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, Unpack

from nobounds.accounting.cost import Cost
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import Average
from nobounds.clipping.averaged import averaged
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.moments.pairs import Clips, PairPlan, products
from nobounds.clipping.moments.pairs import weighted_mean as weighted_program
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.engines.column import Column
from nobounds.engines.pairs import Pair
from nobounds.exact import finite_float
from nobounds.kinds.kind import NUMBER, Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.programs.program import Program
from nobounds.release.release import Release, Single
from nobounds.release.words import OF_CLIPPED
from nobounds.statistics.door import Answer, ColumnPlan, release_column
from nobounds.statistics.keywords import PairKeywords, flag, spelled_out, stated_of_two, terms_of
from nobounds.statistics.typed import require_type
from nobounds.statistics.unanswered import unanswered
from nobounds.values import dataclass

C = TypeVar("C", bound=ColumnPlan)


@spelled_out
def ratio(numerator: object, denominator: object, **options: Unpack[PairKeywords]) -> Single:
    """A private ratio of two sums over the same rows, such as claims per exposure.

    It is that of two means, each for half of epsilon; `interval` follows from the intervals of both, which include what
    clipping cut off. Where the denominator is not clearly apart from 0, the value is None. `lower` and `upper` are for
    both columns, or pairs with one for each.

    >>> import random
    >>> claims, exposure = [i % 5 for i in range(9000)], [1 + i % 2 for i in range(9000)]
    >>> ratio(claims, exposure, epsilon=2, rng=random.Random(1)).value
    1.33...
    """
    return ratio_of(Pair.of(numerator, denominator), options)


@spelled_out
def weighted_mean(data: object, weights: object, **options: Unpack[PairKeywords]) -> Single:
    """A private weighted mean: the sum of records times weights over the sum of weights; negative weights count as 0.

    Records and weights are clipped, and `interval` is for the clipped records. `lower` and `upper` are for both
    columns, or pairs with one for each: `upper=(None, 10)` bounds the weights.

    >>> import random
    >>> values, weights = [i % 5 for i in range(9000)], [1 + i % 2 for i in range(9000)]
    >>> weighted_mean(values, weights, epsilon=1, rng=random.Random(1)).value
    1.99...
    """
    return weighted_mean_of(Pair.of(data, weights), options)


@spelled_out
def covariance(x: object, y: object, **options: Unpack[PairKeywords]) -> Single:
    """A private covariance of two columns: the mean product of the deviations from their means.

    Both are clipped, and `interval` is for the covariance of the clipped records: that of all records may lie outside.
    `lower` and `upper` are for both columns, or pairs with one for each.

    >>> import random
    >>> covariance(range(9000), range(9000), epsilon=5, rng=random.Random(1)).value / 9000**2
    0.08...
    """
    return covariance_of(Pair.of(x, y), options)


@spelled_out
def correlation(x: object, y: object, **options: Unpack[PairKeywords]) -> Single:
    """A private correlation (Pearson's) of two columns, from -1 to 1.

    Both are clipped, and `interval` is for the correlation of the clipped records: a few far beyond the clips may
    change it. `lower` and `upper` are for both columns, or pairs with one for each.

    >>> import random
    >>> correlation(range(9000), range(9000), epsilon=5, rng=random.Random(1)).value > 0.9
    True
    """
    return correlation_of(Pair.of(x, y), options)


def ratio_of(pair: Pair, options: Any) -> Release:
    """The ratio of two columns of a table."""

    def answer(plan: RatioPlan, marked: Spending | None) -> Program[Answer]:
        over = yield from averaged(plan.x, pair.x.chunks)
        under = yield from averaged(plan.y, pair.y.chunks)
        low, high = _quotients(over.interval(CHANCE / 2), under.interval(CHANCE / 2))
        settled = over.settled, under.settled
        parameters = _parameters(*settled) | {"interval": _described(*settled)}
        apart = abs(under.value) > 2 * under.bar  # of 0, for the noise; what clipping changed may leave no interval
        known = apart and all(each.clip.trusted for each in settled)
        value = finite_float(over.value / under.value) if under.value else 0.0
        return _answer("ratio", value, parameters, (low, high), known, marked, settled, under.average)

    return _released("ratio", pair, options, RatioPlan.of, answer, _kind_of_ratio(pair))


def weighted_mean_of(pair: Pair, options: Any) -> Release:
    """The weighted mean of a column of a table, by another."""
    if pair.y.facts.kind.name in ("date", "datetime", "time"):
        raise TypeError(f"weights must be numbers, got a column of type {pair.y.facts.kind}")

    def answer(plan: PairPlan, marked: Spending | None) -> Program[Answer]:
        noisy = yield from weighted_program(plan, pair.records)
        bar = (-math.inf, math.inf) if noisy.interval is None else noisy.interval
        return _clipped("weighted_mean", noisy.value, bar, noisy.interval is not None, marked, noisy.clips)

    return _released("weighted_mean", pair, options, PairPlan.weighted, answer, pair.x.facts.kind)


def covariance_of(pair: Pair, options: Any) -> Release:
    """The covariance of two columns of a table."""
    for facts in (pair.x.facts, pair.y.facts):
        require_type("covariance", facts)

    def answer(plan: PairPlan, marked: Spending | None) -> Program[Answer]:
        noisy = yield from products(plan, pair.records, squares=False)
        value, low, high = noisy.covariance()
        return _clipped("covariance", value, (low, high), noisy.clips.trusted, marked, noisy.clips, noisy.average)

    return _released("covariance", pair, options, PairPlan.products, answer, NUMBER)


def correlation_of(pair: Pair, options: Any) -> Release:
    """The correlation of two columns of a table."""

    def answer(plan: PairPlan, marked: Spending | None) -> Program[Answer]:
        noisy = yield from products(plan, pair.records, squares=True)
        value, low, high = noisy.correlation()
        known = noisy.clips.trusted and (low, high) != (-1.0, 1.0)
        return _clipped("correlation", value, (low, high), known, marked, noisy.clips, noisy.average)

    return _released("correlation", pair, options, PairPlan.products, answer, NUMBER)


@dataclass(frozen=True, slots=True)
class RatioPlan:
    """Two means, each for half of the spending: over the same rows, their ratio is that of the sums.

    Means are clipped around a centre of the data, and sums around 0, which is much noisier for data far from 0.
    """

    x: SumPlan
    y: SumPlan

    @classmethod
    def of(cls, x: Facts, y: Facts, terms: Terms, stated: tuple[Stated, Stated]) -> "RatioPlan":
        """The plans of both means."""
        half = replace(terms, spending=Spending(terms.spending.amount / 2, terms.spending.zcdp))
        return cls(
            *(SumPlan.of(facts, half, known, centered=True) for facts, known in zip((x, y), stated, strict=True))
        )

    def cost(self) -> Cost:
        """The cost of both."""
        return self.x.cost() + self.y.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return _added(self.x.parts(), self.y.parts())


def _released(
    statistic: str,
    pair: Pair,
    options: Any,
    plan: Callable[[Facts, Facts, Terms, tuple[Stated, Stated]], C],
    answer: Callable[[C, Spending | None], Program[Answer]],
    kind: Kind,
) -> Release:
    """The release of a statistic of two columns, whose answers are of this kind.

    answer: the program from the plan, and from the spending if what is mostly noise is marked.
    """
    terms, x, y = terms_of(options), pair.x, pair.y
    marked = terms.spending if flag(options, "marks") else None
    stated = stated_of_two(options, (x.facts.name, y.facts.name))
    formulas = tuple(dict([*x.facts.formulas, *y.facts.formulas]).items())
    lead = replace(x, facts=replace(x.facts, name=pair.named(), formulas=formulas, kind=kind))

    def planned(facts: Facts) -> C:
        return plan(replace(x.facts, rows=facts.rows), replace(y.facts, rows=facts.rows), terms, stated)

    def answered(plan: C, data: Column) -> Program[Answer]:
        return answer(plan, marked)

    return release_column(statistic, statistic.replace("_", " "), terms, planned, answered, lead, options)


def _kind_of_ratio(pair: Pair) -> Kind:
    """A duration or an amount of money over a number is one; over another it is a number. Others have no ratio."""
    over, under = pair.x.facts, pair.y.facts
    for facts in (over, under):
        require_type("sum", facts)
    if not under.kind.typed:
        return over.kind
    if over.kind.name == under.kind.name:
        return NUMBER
    if not over.kind.typed and under.kind.name == "decimal":
        return NUMBER
    raise TypeError(f"a ratio of {over.kind} to {under.kind} has no type; convert one of the columns to numbers first")


def _quotients(over: tuple[float, float], under: tuple[float, float]) -> tuple[float, float]:
    """The ends of all quotients of numbers in two intervals; infinite if the second has 0 in it."""
    if under[0] <= 0 <= under[1]:
        return -math.inf, math.inf
    if under[1] < 0:
        over, under = (-over[1], -over[0]), (-under[1], -under[0])
    low = over[0] / under[1] if over[0] > 0 else over[0] / under[0]
    high = over[1] / under[0] if over[1] > 0 else over[1] / under[1]
    return (0.0 if math.isnan(low) else low), (0.0 if math.isnan(high) else high)


def _clipped(
    statistic: str,
    value: float,
    bar: tuple[float, float],
    known: bool,
    marked: Spending | None,
    clips: Clips,
    average: Average | None = None,
) -> Answer:
    """The answer of a statistic of clipped products, whose interval is for the clipped records."""
    settled = clips.x, clips.y
    parameters = _parameters(*settled) | {"interval": {"level": 1 - CHANCE, "of": OF_CLIPPED}}
    return _answer(statistic, value, parameters, bar, known, marked, settled, average)


def _answer(
    statistic: str,
    value: float,
    parameters: dict[str, Any],
    bar: tuple[float, float],
    known: bool,
    marked: Spending | None,
    settled: tuple[Settled, Settled],
    average: Average | None,
) -> Answer:
    parts = _added(*(each.plan.parts() for each in settled))
    if known or marked is None:
        return Answer(value + 0.0, parameters, (bar,), parts)
    reason, more = unanswered(statistic, settled, marked, average)
    return Answer(None, parameters | more, (bar,), parts, reason)


def _parameters(x: Settled, y: Settled) -> dict[str, Any]:
    """What a release says of both columns."""
    clips = [[finite_float(end) + 0.0 for end in (each.clip.low, each.clip.high)] for each in (x, y)]
    return {"clips": clips, "noise": x.plan.additive.name}


def _described(x: Settled, y: Settled) -> dict[str, object]:
    return x.tailed.describe() | y.tailed.describe()


def _added(first: dict[str, Cost], second: dict[str, Cost]) -> dict[str, Cost]:
    return {name: first[name] + second[name] for name in first}
