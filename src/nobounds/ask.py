"""What to ask of a table: `table.agg(mean("income"), median("age"), count(), epsilon=1)`.

A function here names a statistic of a column and what is public about it, and computes nothing. The same as text is
`"mean(income)"`, `"quantile(fare, 0.95)"` or `"sum(claims, lower=0)"`; a name with a comma, a parenthesis or a quote
stands in double quotes, in which a double quote is written twice.
"""

import re
from collections.abc import Iterable
from inspect import signature
from typing import Any

from nobounds.exact import Number
from nobounds.values import dataclass

__all__ = [
    "Ask",
    "bounds",
    "correlation",
    "count",
    "covariance",
    "iqr",
    "maximum",
    "mean",
    "median",
    "minimum",
    "proportion",
    "quantile",
    "quantiles",
    "ratio",
    "std",
    "sum",
    "variance",
    "weighted_mean",
]

_EXAMPLES = {"quantile": "(income, 0.95)", "quantiles": "(income, 0.25, 0.75)"}
_EXAMPLES |= dict.fromkeys(("ratio", "weighted_mean", "covariance", "correlation"), "(claims, exposure)")
_SHORT = {"max": "maximum", "min": "minimum", "avg": "mean", "average": "mean"}
_SHORT |= {"stddev": "std", "stddev_samp": "std", "var_samp": "variance", "corr": "correlation"}
_CALL = re.compile(r"\s*(\w+)\s*(?:\((.*)\)\s*)?", re.DOTALL)
_PLACE = re.compile(r'\s*(?:(\w+)\s*=)?\s*("(?:[^"]|"")*"|[^",()]*?)\s*(,|$)', re.DOTALL)
_PLAIN = re.compile(r"[^\s\",()=](?:[^\",()=]*[^\s\",()=])?")


@dataclass(frozen=True, slots=True)
class Ask:
    """A statistic of one or more columns, with its keywords; `Ask.parse` reads one from text."""

    statistic: str
    columns: tuple[str, ...] = ()
    q: tuple[Number, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for name in self.columns:
            if not isinstance(name, str):
                raise TypeError(f"a column is called by its name, a text, got {type(name).__name__}")

    @classmethod
    def of(cls, given: "Ask | str") -> "Ask":
        """What is asked, as it is or from text."""
        if isinstance(given, str):
            return cls.parse(given)
        if not isinstance(given, Ask):
            raise TypeError(
                f"ask for a statistic by a function of nobounds.ask, such as mean('income'), or by text, such as "
                f"'mean(income)'; got {type(given).__name__}"
            )
        return given

    @classmethod
    def parse(cls, text: str) -> "Ask":
        """What a text asks for.

        >>> Ask.parse("quantile(fare, 0.95)") == quantile("fare", "0.95")
        True
        >>> Ask.parse("count") == count()
        True
        """
        call = _CALL.fullmatch(text)
        if call is None:
            raise ValueError(f"{text!r} does not name a statistic of a column; write it like 'mean(income)'")
        return cls.call(call[1], *_places(call[2] or "", text), repr(text))

    @classmethod
    def call(cls, name: str, positional: list[str], keywords: dict[str, str], text: str, prefix: str = "") -> "Ask":
        """What a call of a statistic asks for; `text` is how it was written, with its quotes.

        prefix: what stands before the names of statistics there.
        """
        statistic = statistic_of(name)
        if statistic is None:
            raise ValueError(f"there is no statistic {name!r}; there are {', '.join(STATISTICS)}")
        takes = signature(_ASKS[statistic]).parameters.values()
        known = [given.name for given in takes if given.kind is given.KEYWORD_ONLY]
        if unknown := [keyword for keyword in keywords if keyword not in known]:
            there = f"there are {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{text} has no keyword {unknown[0]!r}; {there}")
        try:
            if statistic == "quantiles":
                return quantiles(positional[0], positional[1:], **keywords)
            return _ASKS[statistic](*positional, **keywords)  # type: ignore[no-any-return]
        except (TypeError, IndexError):
            example = _EXAMPLES.get(statistic, "(income)")
            raise ValueError(
                f"{text} is not complete, or says too much; write it like '{prefix}{statistic}{example}'"
            ) from None

    @property
    def name(self) -> str:
        """What is asked as text: `mean(income)`, `quantile(fare, 0.95)`.

        >>> quantile("fare, net", 0.95).name
        'quantile("fare, net", 0.95)'
        """
        shown = [_quoted(name) for name in self.columns]
        shown += [str(q) for q in self.q]
        return f"{self.statistic}({', '.join(shown)})"

    def __str__(self) -> str:
        return self.name


def _ask(statistic: str, columns: tuple[str, ...], q: tuple[Number, ...] = (), **options: Any) -> Ask:
    return Ask(statistic, columns, q, tuple((name, given) for name, given in options.items() if given is not None))


def mean(column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None) -> Ask:
    """The mean of a column."""
    return _ask("mean", (column,), lower=lower, upper=upper, resolution=resolution)


def sum(column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None) -> Ask:
    """The sum of a column."""
    return _ask("sum", (column,), lower=lower, upper=upper, resolution=resolution)


def std(column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None) -> Ask:
    """The standard deviation of a column."""
    return _ask("std", (column,), lower=lower, upper=upper, resolution=resolution)


def variance(column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None) -> Ask:
    """The variance of a column."""
    return _ask("variance", (column,), lower=lower, upper=upper, resolution=resolution)


def iqr(
    column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None, interval: Number | None = None
) -> Ask:
    """The interquartile range of a column."""
    return _ask("iqr", (column,), lower=lower, upper=upper, resolution=resolution, interval=interval)


def ratio(numerator: str, denominator: str, *, lower: Any = None, upper: Any = None) -> Ask:
    """The sum of a column over that of another."""
    return _ask("ratio", (numerator, denominator), lower=lower, upper=upper)


def weighted_mean(column: str, weights: str, *, lower: Any = None, upper: Any = None) -> Ask:
    """The mean of a column, weighted by another."""
    return _ask("weighted_mean", (column, weights), lower=lower, upper=upper)


def covariance(x: str, y: str, *, lower: Any = None, upper: Any = None) -> Ask:
    """The covariance of two columns."""
    return _ask("covariance", (x, y), lower=lower, upper=upper)


def correlation(x: str, y: str, *, lower: Any = None, upper: Any = None) -> Ask:
    """The correlation of two columns."""
    return _ask("correlation", (x, y), lower=lower, upper=upper)


def proportion(condition: str) -> Ask:
    """The share of the rows for which a condition is true: a boolean column, or SQL text such as "delay > 15"."""
    return _ask("proportion", (condition,))


def count(column: str | None = None) -> Ask:
    """The number of rows, or of those with a value in a column."""
    return _ask("count", () if column is None else (column,))


def quantile(
    column: str,
    q: Number,
    *,
    lower: Any = None,
    upper: Any = None,
    resolution: Any = None,
    interval: Number | None = None,
    of: str | None = None,
) -> Ask:
    """A quantile of a column; `interval=0.95` with an interval."""
    return _ask("quantile", (column,), (q,), lower=lower, upper=upper, resolution=resolution, interval=interval, of=of)


def median(
    column: str,
    *,
    lower: Any = None,
    upper: Any = None,
    resolution: Any = None,
    interval: Number | None = None,
    of: str | None = None,
) -> Ask:
    """The median of a column."""
    return _ask("median", (column,), lower=lower, upper=upper, resolution=resolution, interval=interval, of=of)


def quantiles(column: str, q: Iterable[Number], *, lower: Any = None, upper: Any = None, resolution: Any = None) -> Ask:
    """Several quantiles of a column."""
    return _ask("quantiles", (column,), tuple(q), lower=lower, upper=upper, resolution=resolution)


def maximum(
    column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None, interval: Number | None = None
) -> Ask:
    """The maximum of a column."""
    return _ask("maximum", (column,), lower=lower, upper=upper, resolution=resolution, interval=interval)


def minimum(
    column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None, interval: Number | None = None
) -> Ask:
    """The minimum of a column."""
    return _ask("minimum", (column,), lower=lower, upper=upper, resolution=resolution, interval=interval)


def bounds(
    column: str, *, lower: Any = None, upper: Any = None, resolution: Any = None, interval: Number | None = None
) -> Ask:
    """The minimum and the maximum of a column."""
    return _ask("bounds", (column,), lower=lower, upper=upper, resolution=resolution, interval=interval)


_FUNCTIONS = (
    mean,
    median,
    sum,
    count,
    quantile,
    quantiles,
    minimum,
    maximum,
    bounds,
    std,
    variance,
    iqr,
    proportion,
    ratio,
    weighted_mean,
    covariance,
    correlation,
)
_ASKS: dict[str, Any] = {each.__name__: each for each in _FUNCTIONS}


STATISTICS = tuple(_ASKS)
"""The names of all statistics."""


def statistic_of(name: str) -> str | None:
    """The statistic of this name, or of a short form of it such as `avg`; None if there is none."""
    full = _SHORT.get(name, name)
    return full if full in _ASKS else None


def columns_of(statistic: str) -> int:
    """How many columns a statistic is of, at most."""
    parameters = signature(_ASKS[statistic]).parameters.values()
    return len([each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name != "q"])


def _places(text: str, whole: str) -> tuple[list[str], dict[str, str]]:
    """The arguments of a call in a text: by position, and by keyword."""
    positional: list[str] = []
    keywords: dict[str, str] = {}
    at = 0
    while text.strip() and at <= len(text):
        place = _PLACE.match(text, at)
        if place is None or not place[2] or (keywords and place[1] is None):
            raise ValueError(f"{whole!r} cannot be read; put a name with a comma or a parenthesis in double quotes")
        value = place[2][1:-1].replace('""', '"') if place[2].startswith('"') else place[2]
        if place[1] is None:
            positional.append(value)
        else:
            keywords[place[1]] = value
        at = place.end() if place[3] else len(text) + 1
    return positional, keywords


def _quoted(name: str) -> str:
    """The name of a column as `Ask.parse` reads it."""
    return name if _PLAIN.fullmatch(name) else '"{}"'.format(name.replace('"', '""'))
