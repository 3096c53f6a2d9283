"""The commands for statistics of columns: quantiles, extremes, sums, means, spreads, counts and pairs of columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from nobounds.cli.commands.each import answer_each
from nobounds.cli.commands.groups import answer_once
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped
from nobounds.cli.options.answers import (
    ColumnNames,
    Condition,
    CountedColumns,
    EndOptions,
    FactOptions,
    GroupOptions,
    PerColumn,
    Quantiles,
    RangeOptions,
    SearchOptions,
    WalkOptions,
    level,
    one_of_two,
    per_column,
)
from nobounds.cli.options.common import CommonOptions
from nobounds.cli.sources import Opened
from nobounds.expressions.view import named


@flat
def quantile(
    column: ColumnNames,
    q: Quantiles,
    common: CommonOptions,
    groups: GroupOptions,
    facts: FactOptions,
    walk: WalkOptions,
    search: SearchOptions,
) -> None:
    """Private quantiles. Several --q share one epsilon; --beta, --noise, --method and --interval need a single --q.

    Example: nobounds quantile people.parquet --column income --q 0.5 --q 0.9 --epsilon 1
    """
    own = search.keywords(groups, walk)
    if len(q) == 1:
        _answer(common, groups, "quantile", column, q[0], **facts.known, **own)
    elif walk != WalkOptions() or replace(search, rows=None) != SearchOptions():
        raise ValueError("several --q cannot be combined with --beta, --noise, --method or --interval")
    else:
        rows = {} if groups.by else {"rows": search.rows}
        _answer(common, groups, "quantiles", column, q, **rows, **facts.known)


@flat
def median(
    column: ColumnNames,
    common: CommonOptions,
    groups: GroupOptions,
    facts: FactOptions,
    walk: WalkOptions,
    search: SearchOptions,
) -> None:
    """The private median, with its interval.

    Example: nobounds median people.parquet --column income --epsilon 1
    """
    _answer(common, groups, "median", column, **facts.known, **search.keywords(groups, walk))


def _extreme(name: str, summary: str) -> Callable[..., None]:
    def command(
        column: ColumnNames,
        common: CommonOptions,
        groups: GroupOptions,
        facts: FactOptions,
        walk: WalkOptions,
        ends: EndOptions,
    ) -> None:
        own = walk.refuse_groups(groups)
        _answer(common, groups, name, column, **facts.known, **level(ends.interval, groups), **own)

    return _named(name, summary, command, "--column income")


def _with_clip(name: str, summary: str) -> Callable[..., None]:
    def command(column: ColumnNames, common: CommonOptions, groups: GroupOptions, facts: FactOptions) -> None:
        _answer(common, groups, name, column, **facts.known)

    clipped = "Extreme values are clipped at limits that are chosen privately."
    return _named(name, f"{summary} {clipped}", command, "--column income")


def _named(name: str, summary: str, command: Callable[..., None], example: str) -> Callable[..., None]:
    """A command with its help, of which `example` names the columns."""
    shell = name.replace("_", "-")
    command.__doc__ = f"{summary}\n\nExample: nobounds {shell} data.arrow {example} --epsilon 1"
    return flat(command)


maximum = _extreme("maximum", "The private maximum of a column.")
minimum = _extreme("minimum", "The private minimum of a column.")
bounds = _extreme("bounds", "The private minimum and maximum of a column, for one epsilon.")

sum = _with_clip("sum", "The private sum of a column.")
mean = _with_clip("mean", "The private mean of a column.")
std = _with_clip("std", "The private standard deviation of a column.")
variance = _with_clip("variance", "The private variance of a column.")


@flat
def iqr(
    column: ColumnNames, common: CommonOptions, groups: GroupOptions, facts: FactOptions, ends: RangeOptions
) -> None:
    """The private interquartile range, with an interval if you give --interval.

    Example: nobounds iqr people.parquet --column income --epsilon 1 --interval 0.95
    """
    if groups.by and ends.of != RangeOptions().of:
        raise ValueError("--by cannot be combined with --of")
    of = {} if groups.by else {"of": ends.of}
    _answer(common, groups, "iqr", column, **facts.known, interval=ends.interval, **of)


def _of_two(name: str, summary: str, first: str, second: str, names: tuple[str, str]) -> Callable[..., None]:
    """A command for a statistic of two columns, each an option of its own."""

    def command(
        one: str,
        other: str,
        common: CommonOptions,
        groups: GroupOptions,
        lower: Annotated[list[str] | None, PerColumn] = None,
        upper: Annotated[list[str] | None, PerColumn] = None,
    ) -> None:
        known: dict[str, Any] = {"lower": per_column("lower", lower), "upper": per_column("upper", upper)}
        answer_once(common, groups, name, [one, other], one, other, **known)

    for place, option in (("one", first), ("other", second)):
        command.__annotations__[place] = one_of_two(option)
    return _named(name, summary, command, f"{first} {names[0]} {second} {names[1]}")


_INCOME, _AGE = ("income", "age"), ("age", "income")
ratio = _of_two("ratio", "The private ratio of the sums of two columns.", "--numerator", "--denominator", _INCOME)
weighted_mean = _of_two("weighted_mean", "The private weighted mean of a column.", "--column", "--weights", _INCOME)
covariance = _of_two("covariance", "The private covariance of two columns.", "--x", "--y", _AGE)
correlation = _of_two("correlation", "The private correlation of two columns.", "--x", "--y", _AGE)


@flat
def proportion(condition: Condition, common: CommonOptions, groups: GroupOptions) -> None:
    """The private share of rows for which a condition is true.

    Example: nobounds proportion people.parquet --condition "age > 40" --epsilon 1
    """
    answer_once(common, groups, "proportion", named(condition), condition)


@flat
def count(common: CommonOptions, groups: GroupOptions, column: CountedColumns = None) -> None:
    """The private number of rows, or of numbers in a column.

    Example: nobounds count people.parquet --column income --epsilon 1
    """
    _answer(common, groups, "count", column or [None])


def _answer(
    common: CommonOptions,
    groups: GroupOptions,
    statistic: str,
    columns: Sequence[str | None],
    *given: Any,
    **options: Any,
) -> None:
    """Compute a statistic of columns of the table, or of its groups, and print it."""
    groups.check(common)
    by, names = groups.by or [], list(dict.fromkeys(columns))
    if by and len(names) > 1:
        example = " ".join(f"--ask 'mean({each})'" for each in names)
        raise ValueError(f"--by takes a single --column; for several use nobounds agg, for example with {example}")

    def ask(handle: Opened, name: str | None, amount: dict[str, Any]) -> Any:
        table = grouped(handle, groups) if by else handle.table
        return getattr(table, statistic)(name, *given, **amount, **options)

    answer_each(common, names, ask, beside=by, delta=groups.delta, as_csv=groups.csv)
