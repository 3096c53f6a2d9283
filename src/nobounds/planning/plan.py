"""Planning: the error to expect before anything is spent, and the epsilon that an error needs.

Data sets are drawn from a family or a public sample with fixed seeds, and the statistic is answered on each of them,
with seeds too. Mean errors are good to about a quarter; those of counts are exact.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Spending
from nobounds.exact import Number, positive, rational, shown
from nobounds.ladders.stated import Stated
from nobounds.planning.answerable import WANTED, Answerable
from nobounds.planning.counts.counted import COUNTED, Counted
from nobounds.planning.errors import Errors
from nobounds.planning.families import Shape
from nobounds.planning.forecast import Forecast, ForecastRow
from nobounds.planning.forecasters import DRAWS, RANKED, WITH_INTERVAL, Forecaster, Statistic, check_statistic
from nobounds.planning.groups import PlannedGroups
from nobounds.planning.needed import MOST, smallest
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.statistics.keywords import LEVEL, level_of

EPSILONS = ("0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
MOST_RECORDS = 10**12
FEW, SEVERAL = 24, 48  # draws for a first look, and for each epsilon of several


def plan(
    statistic: Statistic,
    *,
    data: object = None,
    n: Number | None = None,
    q: Number | Iterable[Number] | None = None,
    epsilon: Number | Iterable[Number] | None = None,
    rho: Number | Iterable[Number] | None = None,
    rank_error: Number | None = None,
    value_error: Number | None = None,
    scale: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    groups: int | None = None,
    delta: Number | None = None,
    rows_per_unit: int | None = None,
    groups_per_unit: int | None = None,
    bins: int | None = None,
    edges: Iterable[Any] | None = None,
    points: Iterable[Any] | None = None,
    interval: Number | None = LEVEL,
    quick: bool = False,
) -> Forecast:
    """The error to expect of a statistic of n records, for one or more epsilon or rho; nothing is spent.

    statistic: "quantile", "median", "quantiles", "maximum", "minimum", "bounds", "sum", "mean", "count", "std",
    "variance", "iqr", "proportion" (of a share near a half), "ratio", "weighted_mean", "covariance" or "correlation"
    (of a column and the sum of that and an independent one); or "histogram", "cdf", "value_counts", "top_k" or
    "count_distinct", whose noise is the same for all data: these need no `data`, and only "cdf" needs n.
    data: "uniform", "normal", "lognormal", "exponential", "pareto" or "poisson" (see `families`), or a public sample
    with the shape of the data. Never the sensitive data themselves: a forecast protects nobody.
    n: the number of records; that of the sample by default.
    q: for "quantile" a number, for "quantiles" a list.
    rank_error, value_error: an expected error, instead of epsilon: the smallest epsilon that reaches it is computed.
    scale: a family is multiplied by it.
    groups: the number of groups, if the statistic is answered by group; the n records are in groups of equal size. For
    "value_counts" and "top_k" it is the number of values.
    delta: of keys that are chosen privately; then `units` of a row says how many units a group needs to be shown.
    `rows_needed` of a row says how many records, of each group, it takes for an answer 95% of the time.
    rows_per_unit, groups_per_unit: of a table with a unit.
    interval: the level of the interval, which costs a quantile or an extreme a part of epsilon; None for none.
    quick: use a few data sets only, for errors good to about a third in less time.

    The others are those of the statistic's function. A family has the resolution that is given.

    >>> plan("quantile", q=0.5, n=1000, data="lognormal", epsilon=1).rows[0].rank_error
    1...
    """
    statistic, neighbors = check_statistic(statistic), check_neighbors(neighbors)
    cells = {"bins": bins, "edges": edges, "points": points}
    if statistic in COUNTED:
        requested_ranks(statistic, q)
        unused = {"data": data, "scale": scale, "lower": lower, "upper": upper, "resolution": resolution}
        each = PlannedGroups.of(groups, delta, rows_per_unit, groups_per_unit, neighbors)
        counted = Counted.of(statistic, each, neighbors, None if n is None else _whole(n), cells | unused)
        goals = {"rank_error": rank_error, "value_error": value_error}
        return _of_counts(counted, _requested(counted, goals, epsilon, rho))
    if wrong := [name for name, given in cells.items() if given is not None]:
        raise ValueError(f"{wrong[0]} is for histogram and cdf, got it for {statistic}")
    if data is None:
        raise ValueError("data must be given: a family such as 'lognormal', or a public sample")
    shape = Shape.of(data, scale, resolution)
    options = {"lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors}
    options["interval"] = level_of({"interval": interval})
    ranks = requested_ranks(statistic, q)
    size, grouping = _size(n, shape), PlannedGroups.of(groups, delta, rows_per_unit, groups_per_unit, neighbors)
    forecaster = Forecaster.of(statistic, ranks, grouping.size(size), shape, options, grouping.groups)
    if grouping != PlannedGroups() and (rank_error is not None or value_error is not None):
        raise ValueError("with groups or units give epsilon or rho, not an error")
    grouping = replace(grouping, counting=statistic == "count")
    spendings = _requested(forecaster, {"rank_error": rank_error, "value_error": value_error}, epsilon, rho)
    searched = rank_error is not None or value_error is not None
    draws = FEW if quick else SEVERAL if searched or len(spendings) > 1 else DRAWS
    wanted = None if interval is None else WANTED
    stated_facts = Stated.of(lower, upper, resolution)
    answerable = Answerable(statistic, forecaster.qs, neighbors, stated_facts, grouping, shape.heap(), wanted)
    rows = tuple(
        _row(
            spending,
            forecaster.errors(grouping.spending(spending), draws),
            grouping.needed(spending),
            None if statistic == "count" else answerable.rows(spending),
        )
        for spending in spendings
    )
    parameters: dict[str, Any] = {"n": forecaster.sampling.n, "data": shape.name, "neighbors": neighbors}
    if ranks:
        parameters["q"] = str(ranks[0]) if statistic == "quantile" else [str(rank) for rank in ranks]
    if statistic in WITH_INTERVAL and interval is None:
        parameters["interval"] = None
    stated = {"scale": scale, "lower": lower, "upper": upper, "resolution": resolution}
    parameters |= {name: str(value) for name, value in stated.items() if value is not None} | grouping.stated()
    kind: Literal["epsilon", "rho"] = "rho" if spendings[0].zcdp else "epsilon"
    return Forecast(statistic, kind, rows, forecaster.typical(), parameters, statistic != "count")


def _of_counts(counted: Counted, spendings: list[Spending]) -> Forecast:
    """The forecast of counts, in closed form."""
    rows = tuple(_row(each, counted.errors(each), counted.grouping.needed(each)) for each in spendings)
    nearest = min(spendings, key=lambda each: abs(math.log(each.amount)))  # of which the sentences are
    parameters = {"neighbors": counted.neighbors} | counted.stated() | counted.grouping.stated()
    kind: Literal["epsilon", "rho"] = "rho" if spendings[0].zcdp else "epsilon"
    return Forecast(counted.statistic, kind, rows, counted.typical(), parameters, notes=counted.notes(nearest))


def _row(spending: Spending, errors: Errors, units: int | None, needed: int | None = None) -> ForecastRow:
    return ForecastRow(float(spending.amount), errors.rank, errors.mean, errors.median, errors.most, units, needed)


def requested_ranks(statistic: Statistic, q: Number | Iterable[Number] | None) -> tuple[Fraction, ...]:
    """The requested ranks, in increasing order."""
    if statistic not in ("quantile", "quantiles"):
        if q is not None:
            raise ValueError(f"q is for quantile and quantiles, got q={shown(q)} for {statistic}")
        return ()
    if q is None:
        raise ValueError(
            f"{statistic} needs q, for example q={'0.5' if statistic == 'quantile' else '[0.25, 0.5, 0.75]'}"
        )
    if statistic == "quantile":
        return (check_rank(q),)  # type: ignore[arg-type]
    return tuple(sorted(set(check_ranks(q))))  # type: ignore[arg-type]


def _size(n: Number | None, shape: Shape) -> int:
    if n is None:
        if not shape.size:
            raise ValueError(f"n must be given with data={shape.name!r}: the number of records")
        return shape.size
    return _whole(n)


def _whole(n: Number) -> int:
    size = rational(n, "n")
    if size.denominator != 1 or not 1 <= size <= MOST_RECORDS:
        raise ValueError(f"n must be a whole number of records between 1 and {MOST_RECORDS:.0e}, got n={shown(n)}")
    return int(size)


def _requested(
    forecaster: Forecaster | Counted,
    goals: dict[str, Number | None],
    epsilon: Number | Iterable[Number] | None,
    rho: Number | Iterable[Number] | None,
) -> list[Spending]:
    """What was given, or the epsilon that an error needs."""
    if all(goal is None for goal in goals.values()):
        return _spendings(epsilon, rho)
    return [_needed(forecaster, **goals, spent=epsilon is not None or rho is not None)]


def _spendings(epsilon: Number | Iterable[Number] | None, rho: Number | Iterable[Number] | None) -> list[Spending]:
    """One or more, of one kind; by default a grid of epsilons."""
    if epsilon is not None and rho is not None:
        raise ValueError("give epsilon (pure) or rho (zCDP), got both")
    if rho is not None:
        spendings = [Spending.of(None, each) for each in _each(rho)]
    else:
        spendings = [Spending.of(each, None) for each in _each(EPSILONS if epsilon is None else epsilon)]
    if not spendings:
        raise ValueError(f"{'epsilon' if rho is None else 'rho'} must have at least one number, got none")
    return spendings


def _each(numbers: Number | Iterable[Number]) -> list[Any]:
    return list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str | bytes) else [numbers]


def _needed(
    forecaster: Forecaster | Counted, *, rank_error: Number | None, value_error: Number | None, spent: bool
) -> Spending:
    """The smallest epsilon with three digits whose expected error is within the one given."""
    if spent or (rank_error is not None and value_error is not None):
        raise ValueError(
            "give one of rank_error, value_error, epsilon and rho: with an error the epsilon is looked for"
        )
    name, wanted = ("rank_error", rank_error) if rank_error is not None else ("value_error", value_error)
    if name == "rank_error" and forecaster.statistic not in RANKED:
        raise ValueError(f"rank_error is for quantiles and extremes; for a {forecaster.statistic} give value_error")
    most = float(positive(wanted, name))

    def reached(epsilon: Fraction, draws: int = SEVERAL) -> bool:
        errors = forecaster.errors(Spending(epsilon, False), draws)
        return (errors.mean if errors.rank is None or name == "value_error" else errors.rank) <= most

    least = smallest(lambda epsilon: reached(epsilon, FEW), reached)
    if least is None:
        raise ValueError(
            f"no epsilon up to {int(MOST)} has an expected {name} of {shown(wanted)} or less for so few rows; "
            "with more of them, or a larger error, there may be one"
        )
    return Spending(least, False)
