"""Several statistics of several columns for one epsilon, charged once and split by need.

The noisy sizes of the columns are bought first, each of them once: a count that is requested is one of them. What is
left is split by need (see `split`), and each statistic is answered by its own program, which knows the size already.
The cost is proven in docs/proofs/agg.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import PrivacyLoss, rows_of
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.engines.column import Column
from nobounds.engines.pairs import Pair
from nobounds.ladders.facts import Facts, viewed, where_in_words
from nobounds.programs.program import Program
from nobounds.release.answers import Answers
from nobounds.release.release import Release
from nobounds.statistics.door import INSIDE, Request, admit
from nobounds.statistics.moments.pairs import correlation_of, covariance_of, ratio_of, weighted_mean_of
from nobounds.statistics.moments.proportions import proportion
from nobounds.statistics.moments.ranges import iqr
from nobounds.statistics.moments.spreads import std, variance
from nobounds.statistics.quantiles import bounds, maximum, median, minimum, quantile, quantiles
from nobounds.statistics.split import AggPlan, Name, column_of
from nobounds.statistics.sums import count, mean, sum
from nobounds.values import dataclass

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "mean": mean,
    "sum": sum,
    "count": count,
    "median": median,
    "quantile": quantile,
    "quantiles": lambda column, *q, **options: quantiles(column, q, **options),
    "minimum": minimum,
    "maximum": maximum,
    "bounds": bounds,
    "std": std,
    "variance": variance,
    "iqr": iqr,
    "proportion": proportion,
    "ratio": lambda x, y, **options: ratio_of(Pair(x, y), options),
    "weighted_mean": lambda x, y, **options: weighted_mean_of(Pair(x, y), options),
    "covariance": lambda x, y, **options: covariance_of(Pair(x, y), options),
    "correlation": lambda x, y, **options: correlation_of(Pair(x, y), options),
}


@dataclass(frozen=True, slots=True)
class AskedColumns:
    """The columns that are asked about, not read yet; None stands for the rows."""

    columns: Mapping[Name, Column]
    where: str | None = None
    formulas: tuple[tuple[str, str], ...] = ()

    def public(self, sized: bool) -> dict[Name, Facts]:
        """The public facts of each column."""
        return {name: column.facts for name, column in self.columns.items()}


def agg(data: AskedColumns, asks: tuple[Ask, ...], terms: Terms, marks: bool, options: Mapping[str, Any]) -> Answers:
    """All answers, through the door; `options` has the budget and the generator."""
    check_asks(asks)

    def planned(facts: dict[Name, Facts]) -> AggPlan:
        for ask in asks:  # whatever is wrong with a request is said before the charge
            _program(ask, data.columns, {**_keywords(terms, terms.spending.amount), "marks": marks})
        return AggPlan.of(asks, facts, terms)

    def answer(plan: AggPlan, facts: dict[Name, Facts], data: AskedColumns, loss: PrivacyLoss) -> Program[Answers]:
        sizes: dict[Name, Release] = {}
        for name, amount in plan.counted.items():
            sizes[name] = yield from _sized(data.columns[name], _keywords(terms, amount))
        split = plan.split(sizes)
        first, *others = (release.loss for release in sizes.values())
        counts = _added(first, others)
        releases: dict[str, Release] = {}
        for ask, amount in zip(asks, split.parts, strict=True):
            if ask.statistic == "count":
                releases[ask.name] = sizes[column_of(ask)]
            elif not amount:
                releases[ask.name] = split.few(ask, counts)
            else:
                known: dict[Name, Column] = {
                    name: _known(data.columns[name], split.size(ask, name)) for name in ask.columns
                }
                release = yield from _program(ask, known, {**_keywords(terms, amount), "marks": marks})
                releases[ask.name] = replace(release, loss=counts + release.loss)
        parameters: dict[str, Any] = viewed(data.where, data.formulas) | split.described()
        return Answers(releases, loss, parameters | rows_of(any(each.query for each in facts.values())))

    request = Request(
        terms.neighbors,
        planned,
        lambda plan, facts: plan.loss(),
        lambda facts: f"agg {', '.join(ask.name for ask in asks)}{where_in_words(data.where)}",
        answer,
        sized=False,
    )
    return admit(request, data, options.get("budget"), options.get("rng"))


def check_asks(asks: tuple[Ask, ...]) -> None:
    """ValueError if nothing is requested, or something twice."""
    if not asks:
        raise ValueError("agg needs a statistic, for example agg(mean('income'), count(), epsilon=1)")
    names = [ask.name for ask in asks]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"agg needs each statistic once, got {twice} twice")


def _keywords(terms: Terms, amount: Fraction) -> dict[str, Any]:
    """The keywords of a statistic that may spend this amount, as a part of others."""
    return {"rho" if terms.spending.zcdp else "epsilon": amount, "neighbors": terms.neighbors, "rng": INSIDE}


def _program(ask: Ask, columns: Mapping[Name, Column], keywords: Mapping[str, Any]) -> Program[Release]:
    """The program of a statistic; errors of its request come here, and no record is read."""
    given = [columns[name] for name in ask.columns or (None,)]
    program: Program[Release] = FUNCTIONS[ask.statistic](*given, *ask.q, **dict(ask.options), **keywords)
    return program


def _sized(column: Column, keywords: Mapping[str, Any]) -> Program[Release]:
    program: Any = count(column, **keywords)
    return program  # type: ignore[no-any-return]


def _known(column: Column, size: int | None) -> Column:
    """The column with its size among the facts."""
    return replace(column, facts=replace(column.facts, size=size))


def _added(first: PrivacyLoss, others: list[PrivacyLoss]) -> PrivacyLoss:
    for loss in others:
        first += loss
    return first
