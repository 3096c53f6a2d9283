"""Quantiles, maximum, minimum and bounds of data whose bounds nobody knows: the public functions."""

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import Number
from nobounds.programs.program import Program
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_separately, plan_together
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.release.release import Release
from nobounds.statistics.door import Answer, release_column
from nobounds.statistics.keywords import (
    ExtremeKeywords,
    QuantileKeywords,
    QuantilesKeywords,
    spelled_out,
    terms_of,
)


@spelled_out
def quantile(data: object, q: Number, **options: Unpack[QuantileKeywords]) -> Release:
    """A private q-quantile of data whose bounds nobody knows.

    With too few rows for the epsilon (fewer than about 40 / epsilon for a median, more for a tail) it may be far off.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantile(ages, 0.5, epsilon=1, resolution=1, rng=random.Random(1)).value
    47
    """
    rank = check_rank(q)
    return _separate("quantile", f"quantile {rank}", (rank,), data, options)


@spelled_out
def quantiles(data: object, q: Iterable[Number], **options: Unpack[QuantilesKeywords]) -> Release:
    """Private quantiles for one total epsilon or rho, in the order given.

    A larger q never has a smaller answer. One q is answered as `quantile` does; m of them cost as much as
    ceil(log2(m + 1)) would, each for its own epsilon. `rows`, if it is stated, must be accurate to about 1%: some
    of the ranks are counted from it.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantiles(ages, [0.25, 0.5, 0.75], epsilon=1, resolution=1, rng=random.Random(1)).value
    (33, 47, 62)
    """
    ranks = check_ranks(q)
    terms, searched, qs = terms_of(options), Options.of(options), tuple(sorted(set(ranks)))

    def answer(plan: Question | Halving, data: Column) -> Program[Answer]:
        values = dict(zip(qs, (yield from plan.program(View(Counts.of(data.chunks, plan.ladder)))), strict=True))
        parameters = {"q": [str(rank) for rank in ranks], **plan.ladder.describe(), **_stated_rows(searched)}
        return Answer(tuple(values[rank] for rank in ranks), parameters)

    return release_column(
        "quantiles",
        f"quantiles {', '.join(map(str, qs))}",
        terms,
        lambda facts: plan_together(facts, terms, searched, qs),
        answer,
        data,
        options,
        sized=searched.rows is None,
    )


@spelled_out
def maximum(data: object, **options: Unpack[ExtremeKeywords]) -> Release:
    """A private maximum, by a walk up.

    With 1,000 rows over epsilon it is above ten times the true one with probability below 1e-4
    (tests/promises/test_runaway.py); with 100 that was seen once in a thousand runs.
    """
    return _separate("maximum", "maximum", (Fraction(1),), data, options)


@spelled_out
def minimum(data: object, **options: Unpack[ExtremeKeywords]) -> Release:
    """A private minimum: it has the distribution of minus the maximum of the negated data."""
    return _separate("minimum", "minimum", (Fraction(0),), data, options)


@spelled_out
def bounds(data: object, **options: Unpack[ExtremeKeywords]) -> Release:
    """A private (minimum, maximum) for one total epsilon."""
    return _separate("bounds", "bounds", (Fraction(0), Fraction(1)), data, options)


def planned(data: object, qs: tuple[Fraction, ...], **options: Any) -> Question:
    """The plan that these keywords of `quantile` lead to for some data, for laws and experiments."""
    terms = terms_of(options)
    return plan_separately(column(data).public(terms.neighbors == "swap"), terms, Options.of(options), qs)


def _separate(statistic: str, purpose: str, qs: tuple[Fraction, ...], data: object, options: Any) -> Release:
    """Quantiles in equal parts of epsilon, each by the best route."""
    terms, searched = terms_of(options), Options.of(options)

    def answer(plan: Question, data: Column) -> Program[Answer]:
        values = yield from plan.program(View(Counts.of(data.chunks, plan.ladder)))
        parameters: dict[str, Any] = {"q": str(qs[0])} if statistic == "quantile" else {}
        parameters |= {"method": searched.method, "noise": searched.noise} | _stated_rows(searched)
        return Answer(values[0] if len(values) == 1 else tuple(sorted(values)), parameters | plan.ladder.describe())

    plan = partial(plan_separately, terms=terms, options=searched, qs=qs)
    return release_column(statistic, purpose, terms, plan, answer, data, options, sized=searched.rows is None)


def _stated_rows(options: Options) -> dict[str, int]:
    return {} if options.rows is None else {"stated_rows": options.rows}
