"""The keywords of the statistics, each written once: its type here, its default and its meaning below.

A function that takes `**options: Unpack[...]` and is decorated with `spelled_out` shows these keywords in its signature
and in its help, as if they were written out.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import wraps
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Chargeable
from nobounds.accounting.terms import Terms
from nobounds.exact import Number
from nobounds.kinds.kind import Given
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.noise.discrete import Noise as Noise
from nobounds.noise.source import Rng
from nobounds.ranks.intervals.interval import Of as Of
from nobounds.ranks.intervals.interval import Wanted
from nobounds.ranks.problem import Method as Method

Keys: TypeAlias = Iterable[Any] | Literal["enum"]
PerColumn = Given | Mapping[str, Given] | None
OfTwo = Given | Mapping[str, Given] | tuple[Given | None, Given | None] | list[Given | None] | None


class Spent(TypedDict, total=False):
    """What a statistic may cost."""

    epsilon: Number | None
    rho: Number | None
    rng: Rng
    marks: bool


class Budgeted(TypedDict, total=False):
    """Whom privacy is for and what the statistic is charged to; a `Table` has both for all of its statistics."""

    neighbors: Neighbors
    budget: Chargeable | None


class Bounded(Spent, total=False):
    """What is public about the values."""

    lower: Given | None
    upper: Given | None
    resolution: Given | None


class Counted(Bounded, total=False):
    """What is public about the number of records."""

    rows: Number | None


class Walked(Bounded, total=False):
    """Expert settings of a walk."""

    beta: Number | None
    noise: Noise
    ladder: Ladder | None


class Ended(Walked, total=False):
    """Expert settings of an extreme, and its interval."""

    interval: Number | None


class Interval(TypedDict, total=False):
    """The interval of a quantile."""

    interval: Number | None
    of: Of
    guarantee: bool


class Searched(Walked, Counted, Interval, total=False):
    """Expert settings of a quantile, and its interval."""

    method: Method
    ranks: bool


class Grouped(Bounded, Interval, total=False):
    """A quantile of each group."""


class GroupedExtreme(Bounded, total=False):
    """An extreme of each group."""

    interval: Number | None


class Each(Spent, total=False):
    """What is public about the values of each column."""

    lower: PerColumn
    upper: PerColumn
    resolution: PerColumn


class Paired(Spent, total=False):
    """What is public about the values of two columns: bounds for both, for each by its place, or by its name."""

    lower: OfTwo
    upper: OfTwo


class PairKeywords(Paired, Budgeted, total=False):
    """The keywords of statistics of two columns."""


class Valued(Spent, total=False):
    """Which values of a column are counted."""

    keys: Keys | None
    delta: Number | None


class ValuedByUnit(Valued, total=False):
    """Likewise, of a table that may have units."""

    groups_per_unit: int | None


class Distinct(Spent, total=False):
    """The number of distinct values of a table that may have units."""

    values_per_unit: int | None


class ValuesOfGroups(Spent, total=False):
    """The public values of a column that is counted by group."""

    keys: Keys | None


class Ranged(Counted, Interval, total=False):
    """An interquartile range."""


class RangeKeywords(Ranged, Budgeted, total=False):
    """The keywords of `iqr`."""


class Binned(Bounded, total=False):
    """The bins of a histogram."""

    edges: Iterable[Given] | None
    bins: int | None


class Pointed(Bounded, total=False):
    """The points of a cumulative distribution."""

    points: Iterable[Given] | None
    bins: int | None


class HistogramKeywords(Binned, Budgeted, total=False):
    """The keywords of `histogram`."""


class CdfKeywords(Pointed, Budgeted, total=False):
    """The keywords of `cdf`."""


class CountKeywords(Spent, Budgeted, total=False):
    """The keywords of `count` and `count_distinct`."""


class ValueKeywords(Valued, Budgeted, total=False):
    """The keywords of `value_counts` and `top_k`."""


class Enclosed(Bounded, total=False):
    """What is public about the values, and the level of an interval."""

    interval: Number | None


class Averaged(Enclosed, total=False):
    """A mean, and its interval."""

    of: Of


class SumKeywords(Enclosed, Budgeted, total=False):
    """The keywords of `sum`, `std` and `variance`."""


class MeanKeywords(Averaged, Budgeted, total=False):
    """The keywords of `mean`."""


class QuantileKeywords(Searched, Budgeted, total=False):
    """The keywords of `quantile`."""


class QuantilesKeywords(Counted, Budgeted, total=False):
    """The keywords of `quantiles`."""


class ExtremeKeywords(Ended, Budgeted, total=False):
    """The keywords of `maximum`, `minimum` and `bounds`."""


class DescribeKeywords(Each, Budgeted, total=False):
    """The keywords of `describe`."""


class VectorKeywords(Budgeted, total=False):
    """The keywords of `vector_sum` and `vector_mean`."""

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    upper: Number | None
    marks: bool
    rng: Rng


DEFAULTS: dict[str, Any] = {"neighbors": "add-remove", "noise": "exponential", "method": "auto"}  # of others None
DEFAULTS |= {"marks": True, "of": "population", "guarantee": False, "ranks": False}
LEVEL = 0.95  # of intervals, where none is requested by itself
WITH_INTERVAL = (Searched, QuantileKeywords, Ended, ExtremeKeywords, Enclosed, SumKeywords, Averaged, MeanKeywords)

MEANINGS = {
    "epsilon": "the total privacy loss; give epsilon or rho.",
    "delta": "given together with epsilon, for approximate differential privacy; instead of `keys`, for keys that are "
    "chosen privately.",
    "rho": "the total privacy loss, as zero-concentrated differential privacy (zCDP).",
    "keys": "the public values of the column; all of them are answered, and no others. Categories of a pandas "
    "category, an Arrow dictionary or a polars Categorical come from records and are not public; 'enum' stands for "
    "those that the type of a polars Enum declares.",
    "groups_per_unit": "how many values of a unit are used at most; by default as many as it has rows that are used.",
    "values_per_unit": "how many distinct values of a unit are used at most; by default `rows_per_unit`.",
    "edges": "public edges of bins, in rising order: numbers, or values of the column's type.",
    "points": "public points, in rising order: numbers, or values of the column's type.",
    "bins": "the most bins to use where edges or points are chosen privately, for a quarter of epsilon; by default 20.",
    "lower": "a public lower bound, if you have one, a number or a value of the column's type; records below it are "
    "clamped.",
    "upper": "a public upper bound, if you have one; records above it are clamped.",
    "resolution": "the grid the values lie on (0.01 for cents, '1h' for hours); integers and booleans imply 1, dates a "
    "day, datetimes a second.",
    "rows": "the number of records, roughly, if you may state it: then no epsilon is spent on learning it.",
    "neighbors": '"add-remove" (one row more or less) or "swap" (one row changed, the number of rows public).',
    "beta": "the largest ratio of neighbouring candidates; by default they grow finer with the number of records.",
    "noise": '"exponential", "laplace" or "gumbel", all exact.',
    "ladder": "candidates of your own, instead of `beta` and `resolution`.",
    "method": '"auto" takes the best by public facts and the noisy size; "walk" is AboveThreshold, "flip" '
    'permute-and-flip, "exponential" the exponential mechanism; with too few records for these, the walk is taken.',
    "interval": "the level of the interval around the answer; None asks for none.",
    "of": 'what the interval is for: "population", of which the rows are a sample, or "sample", the rows themselves.',
    "guarantee": "True gives an interval that holds for every data set, by proven bounds; it is wider.",
    "ranks": "True spends a tenth of epsilon on the percentiles of the answer, in `parameters`.",
    "budget": "a `Budget` that is charged before the data are read.",
    "rng": "a seeded generator for tests and experiments; a release for others must leave it None.",
    "marks": "False answers even where there are too few rows, for research.",
}

_OF_TABLES = "units are those of a table: nb.Table(data, unit='person', rows_per_unit=5)"
_ELSEWHERE = {  # what newcomers look for here
    "unit": _OF_TABLES,
    "rows_per_unit": _OF_TABLES,
    "by": "groups are those of a table: nb.Table(data).group_by('city', keys=['Bonn', 'Rome'])",
    "where": "conditions are those of a table: nb.Table(data).where('age >= 18')",
}

F = TypeVar("F", bound=Callable[..., Any])


EXPERT = ("method", "noise", "beta", "ladder", "ranks", "guarantee")  # settings of walks, and of guaranteed intervals


def default_of(options: Mapping[str, Any], name: str) -> Any:
    """What a keyword says, or its default."""
    return options.get(name, DEFAULTS.get(name))


def level_of(options: Mapping[str, Any]) -> Fraction | None:
    """The level of the requested interval, checked; None for none."""
    given = options.get("interval", LEVEL)
    return None if given is None else Wanted.checked(given, default_of(options, "of"), False).level


def is_expert(options: Mapping[str, Any]) -> bool:
    """Whether a quantile has expert settings."""
    return any(not _is(default_of(options, name), DEFAULTS.get(name)) for name in EXPERT)


def _is(given: Any, default: Any) -> bool:
    """Whether a setting is its default; others may not even be comparable with it."""
    return isinstance(given, type(default)) and bool(given == default)


def spelled_out(function: F) -> F:
    """The function with the keywords of its `**options` in its signature and help; other keywords are refused."""
    plain = inspect.signature(function)
    keywords, defaults = _keywords(plain)
    own = [given for given in plain.parameters.values() if given.kind is not inspect.Parameter.VAR_KEYWORD]
    spelled = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name),
            annotation=keywords[name],
        )
        for name in MEANINGS
        if name in keywords
    ]
    allowed = {given.name for given in [*own, *spelled]}

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        if not options.keys() <= allowed:
            name = next(iter(options.keys() - allowed))
            known = ", ".join(given.name for given in [*own, *spelled] if given.kind is given.KEYWORD_ONLY)
            hint = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}; there are {known}{hint}"
            )
        if absent := [name for name, default in defaults.items() if default is plain.empty and name not in options]:
            raise TypeError(f"{function.__name__}() missing the required keyword argument {absent[0]!r}")
        return function(*args, **options)

    described = [given.name for given in spelled if given.default is not given.empty]
    lines = "".join(f"    {name}: {MEANINGS[name]}\n" for name in described)
    checked.__signature__ = plain.replace(parameters=[*own, *spelled])  # type: ignore[attr-defined]
    checked.__doc__ = f"{function.__doc__ or ''}\n\n    Keywords:\n\n{lines}    " if described else function.__doc__
    return checked  # type: ignore[return-value]


def _keywords(plain: inspect.Signature) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keywords of the TypedDict in `**options: Unpack[...]` with their types, and their defaults, if any."""
    (given,) = (p for p in plain.parameters.values() if p.kind is p.VAR_KEYWORD)
    (listed,) = get_args(given.annotation)
    types = {name: getattr(kind, "__forward_arg__", kind) for name, kind in listed.__annotations__.items()}
    own = {"interval": LEVEL} if listed in WITH_INTERVAL else {}
    return types, DEFAULTS | own | dict.fromkeys(listed.__required_keys__, inspect.Parameter.empty)


def terms_of(options: Mapping[str, Any]) -> Terms:
    """The terms in these keywords."""
    return Terms.of(options.get("epsilon"), options.get("rho"), options.get("neighbors", DEFAULTS["neighbors"]))


def stated_of(options: Mapping[str, Any]) -> Stated:
    """What these keywords state about the values."""
    return Stated.of(*(options.get(name) for name in ("lower", "upper", "resolution")))


def stated_of_two(options: Mapping[str, Any], names: tuple[str | None, str | None]) -> tuple[Stated, Stated]:
    """What these keywords state about the values of two columns with these names."""
    low, high = (_of_two(options.get(name), name, names) for name in ("lower", "upper"))
    return Stated.of(low[0], high[0]), Stated.of(low[1], high[1])


def _of_two(given: Any, name: str, names: tuple[str | None, str | None]) -> tuple[Any, Any]:
    if isinstance(given, Mapping):
        if unknown := [key for key in given if key not in names or key is None]:
            raise ValueError(f"{name} is for the two columns that are asked about, got {unknown[0]!r}")
        return given.get(names[0]), given.get(names[1])
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise ValueError(f"{name} must be a bound for both columns, or a pair with one for each, got {len(given)}")
        return given[0], given[1]
    return given, given


def flag(options: Mapping[str, Any], name: str) -> bool:
    """A keyword that is True or False, checked."""
    given = options.get(name, DEFAULTS[name])
    if not isinstance(given, bool):
        raise TypeError(f"{name} must be True or False, got {name} of type {type(given).__name__}")
    return given
