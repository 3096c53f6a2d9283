"""How many rows are needed, for an expected error or for an answer at all: the public function."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Spending
from nobounds.exact import Number, positive, shown
from nobounds.ladders.stated import Stated
from nobounds.planning.answerable import Answerable
from nobounds.planning.counts.counted import COUNTED, Counted
from nobounds.planning.errors import Errors
from nobounds.planning.families import Shape
from nobounds.planning.forecasters import RANKED, Forecaster, Statistic, check_statistic
from nobounds.planning.groups import PlannedGroups
from nobounds.planning.plan import FEW, MOST_RECORDS, SEVERAL, requested_ranks

_CLOSE = 1.05  # to which the number is searched


def rows_needed(
    statistic: Statistic,
    *,
    data: object = None,
    q: Number | Iterable[Number] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    percentiles: Number | None = None,
    value_error: Number | None = None,
    relative_error: Number | None = None,
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
) -> int:
    """The number of rows that a statistic needs at an epsilon or a rho; nothing is spent, and no data are read.

    percentiles: the expected error of a quantile or an extreme, in percentiles.
    value_error, relative_error: the expected error in value, or as a part of the true value.
    Give one of the three, and `data`, the shape of the data as for `plan`; without them, it is the number of rows with
    which the statistic is answered at all, 95% of the time, and a quantile or a median has an interval with an end. The
    others are those of `plan`; with `groups` the number is that of all groups together, and with `rows_per_unit` of the
    rows that count.

    >>> rows_needed("quantile", q=0.5, epsilon=1)
    240
    """
    statistic, spending = check_statistic(statistic), Spending.of(epsilon, rho)
    ranks = requested_ranks(statistic, q)
    neighbors, cells = check_neighbors(neighbors), {"bins": bins, "edges": edges, "points": points}
    if statistic not in COUNTED and (wrong := _given(cells)):
        raise ValueError(f"{next(iter(wrong))} is for histogram and cdf, got it for {statistic}")
    grouping = PlannedGroups.of(groups, delta, rows_per_unit, groups_per_unit, neighbors)
    goals = {"percentiles": percentiles, "value_error": value_error, "relative_error": relative_error}
    given = _given(goals)
    if len(given) > 1:
        raise ValueError(f"give one of percentiles, value_error and relative_error, got {' and '.join(given)}")
    if statistic in COUNTED:
        unused = {"data": data, "scale": scale, "lower": lower, "upper": upper, "resolution": resolution}
        counted = Counted.of(statistic, grouping, neighbors, None, cells | unused)
        name, goal = next(iter(given.items()), (None, None))
        return counted.rows(spending, name, math.inf if name is None else float(positive(goal, name)))
    shape = None if data is None else Shape.of(data, scale, resolution)
    grouping = replace(grouping, counting=statistic == "count")
    stated, heap = Stated.of(lower, upper, resolution), 0.0 if shape is None else shape.heap()
    least = Answerable(statistic, ranks, neighbors, stated, grouping, heap).rows(spending)
    if not given:
        return grouping.groups * max(least, grouping.needed(spending) or 1)
    if grouping.groups > 1 or grouping.rows_per_unit > 1:
        raise ValueError("with groups or units leave out the error: the number is that of rows for an answer")
    ((name, goal),) = given.items()
    if name == "percentiles" and statistic not in RANKED:
        raise ValueError(f"percentiles are for quantiles and extremes; for a {statistic} give relative_error")
    if shape is None:
        raise ValueError(f"{name} needs data, the shape of the data: a family such as 'lognormal', or a public sample")
    most = float(positive(goal, name))
    options: dict[str, Any] = {"lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors}

    def reached(n: int, draws: int) -> bool:
        forecaster = Forecaster.of(statistic, ranks, n, shape, options)
        return _error(name, forecaster.errors(spending, draws), forecaster) <= most

    enough = _smallest(lambda n: reached(n, FEW), lambda n: reached(n, SEVERAL), least)
    if enough is None:
        raise ValueError(f"no number of rows up to {MOST_RECORDS:.0e} has an expected {name} of {shown(goal)} or less")
    return enough


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: given for name, given in options.items() if given is not None}


def _error(name: str, errors: Errors, forecaster: Forecaster) -> float:
    """The expected error of the requested kind."""
    if name == "percentiles":
        return 100 * (errors.rank or 0.0) / forecaster.sampling.n
    if name == "value_error":
        return errors.mean
    truth = max(map(abs, forecaster.typical()))
    return errors.mean / truth if truth else math.inf


def _smallest(quick: Callable[[int], bool], reached: Callable[[int], bool], start: int) -> int | None:
    """The smallest number from `start` on that is enough, to 5%, where more is enough too."""
    low = high = start
    while not quick(high):
        low, high = high, 2 * high
        if high > MOST_RECORDS:
            return None
    while high - low > 1 and high > low * _CLOSE:
        middle = max(math.isqrt(low * high), low + 1)
        low, high = (low, middle) if quick(middle) else (middle, high)
    while not reached(high):
        high = math.ceil(high * _CLOSE)
        if high > MOST_RECORDS:
            return None
    return high
