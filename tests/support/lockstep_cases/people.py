"""Tables of people and their neighbours, and what can be asked of a table or of its groups."""

import numpy as np

import nobounds as nb
from support.lockstep_cases.columns import at_a_level
from support.lockstep_cases.data import AMOUNTS, INF, LOGNORMAL, NAN, changed


def table(users, cities, values):
    """Columns of a table."""
    return {"user": np.array(users), "city": np.array(cities), "x": np.array(values, dtype=float)}


def without_rows(rows, gone):
    """A table, and the same without some of its rows."""
    return rows, {name: column[~gone] for name, column in rows.items()}


N = len(AMOUNTS)
PEOPLE = table([f"u{i % 17}" for i in range(N)], [f"c{(i * i) % 3}" for i in range(N)], AMOUNTS)
ODD = table(
    ["a", "a", "a", "a", "b", "b", "c", "d", "d", "e", "f"],
    ["x", "x", "y", "y", "x", "z", "y", "x", "y", "x", "w"],
    [1.0, 1e300, -5.0, 0.0, 3.0, NAN, 2.0, 2.0, -INF, 7.0, 9.0],
)
SPREAD = table([f"u{i}" for i in range(25)], ["x"] * 25, LOGNORMAL)
ROWS = [
    without_rows(SPREAD, np.arange(25) == 0),
    *(without_rows(ODD, np.arange(11) == place) for place in (1, 9, 10, 5)),
    without_rows(PEOPLE, np.arange(N) == 5),
]
ONLY = without_rows(
    table(["a", "b", "c"], ["x", "x", "y"], [1.0, 3.0, 2.0]), np.arange(3) == 2
)  # the only row of a group
USERS = [
    without_rows(PEOPLE, PEOPLE["user"] == "u3"),
    *(without_rows(ODD, ODD["user"] == user) for user in "afdb"),
]
LOW = table([*range(N), *[N] * 4], ["x"] * (N + 4), [*AMOUNTS, *[0.0] * 4])
LOW_USER = without_rows(LOW, LOW["user"] == N)  # whichever of its rows count, they lie on one side of the median
HIGH = table([*range(N), *[N] * 4], ["x"] * (N + 4), [*AMOUNTS, *[100.0] * 4])
HIGH_USER = without_rows(HIGH, HIGH["user"] == N)
WIDE = table([*ODD["user"], "g", "g", "g"], [*ODD["city"], "p", "q", "r"], [*ODD["x"], 1.0, 2.0, 3.0])
WIDE_USER = without_rows(WIDE, WIDE["user"] == "g")  # the only one with some of the cities
LEVEL = at_a_level(4)  # of 5, what the noisy sizes of groups leave
AT_A_LEVEL = table(range(len(LEVEL)), ["x"] * len(LEVEL), LEVEL)
CITY_MOVED = [({**ODD}, {**ODD, "city": changed(ODD["city"], place, city)[1]}) for place, city in ((9, "v"), (10, "x"))]
ROW_MOVED = [({**ODD}, {**ODD, "x": changed(ODD["x"], 7, -1e9)[1]})]

OF_A_TABLE = {
    "quantile": lambda table, **options: table.quantile("x", 0.5, marks=False, **options),
    "median": lambda table, **options: table.median("x", marks=False, **options),
    "quantiles": lambda table, **options: table.quantiles("x", [0.25, 0.5], marks=False, **options),
    "maximum": lambda table, **options: table.maximum("x", marks=False, **options),
    "minimum": lambda table, **options: table.minimum("x", marks=False, **options),
    "bounds": lambda table, **options: table.bounds("x", marks=False, **options),
    "sum": lambda table, **options: table.sum("x", **options),
    "mean": lambda table, **options: table.mean("x", **options),
    "std": lambda table, **options: table.std("x", **options),
    "iqr": lambda table, **options: table.iqr("x", marks=False, **options),
    "ratio": lambda table, **options: table.with_columns(y="x * 2 + 1").ratio("x", "y", **options),
    "weighted_mean": lambda table, **options: table.weighted_mean("x", "x", **options),
    "covariance": lambda table, **options: table.covariance("x", "x", **options),
    "correlation": lambda table, **options: table.correlation("x", "x", **options),
    "variance": lambda table, **options: table.variance("x", **options),
    "proportion": lambda table, **options: table.proportion("x > 3", **options),
    "count": lambda table, **options: table.count("x", **options),
    "count of rows": lambda table, **options: table.count(**options),
    "describe": lambda table, **options: table.describe(["x"], **options),
    "agg": lambda table, **options: table.agg("mean(x)", "median(x)", "count()", marks=False, **options),
    "histogram": lambda table, **options: table.histogram("x", edges=[0, 3, 100], **options),
    "cdf": lambda table, **options: table.cdf("x", points=[0, 3, 100], **options),
}
OF_GROUPS = {
    "quantile": lambda groups, **options: groups.quantile("x", 0.5, **options),
    "median": lambda groups, **options: groups.median("x", **options),
    "maximum": lambda groups, **options: groups.maximum("x", **options),
    "minimum": lambda groups, **options: groups.minimum("x", **options),
    "sum": lambda groups, **options: groups.sum("x", **options),
    "mean": lambda groups, **options: groups.mean("x", **options),
    "count": lambda groups, **options: groups.count("x", **options),
}

ONE_BY_ONE = {  # groups whose programs run one after the other
    "quantiles": lambda groups, **options: groups.quantiles("x", [0.25, 0.5], marks=False, **options),
    "bounds": lambda groups, **options: groups.bounds("x", marks=False, **options),
    "describe": lambda groups, **options: groups.describe(["x"], **options),
    "std": lambda groups, **options: groups.std("x", marks=False, **options),
    "variance": lambda groups, **options: groups.variance("x", marks=False, **options),
    "proportion": lambda groups, **options: groups.proportion("high", marks=False, **options),  # of a computed column
    "histogram": lambda groups, **options: groups.histogram("x", edges=[0, 5, 20], **options),
    "cdf": lambda groups, **options: groups.cdf("x", points=[0, 5, 20], **options),
    "iqr": lambda groups, **options: groups.iqr("x", marks=False, **options),
    "ratio": lambda groups, **options: groups.ratio("x", "x", marks=False, **options),
    "weighted_mean": lambda groups, **options: groups.weighted_mean("x", "x", marks=False, **options),
    "covariance": lambda groups, **options: groups.covariance("x", "x", marks=False, **options),
    "correlation": lambda groups, **options: groups.correlation("x", "x", marks=False, **options),
    "agg": lambda groups, **options: groups.agg("mean(x)", "median(x)", "count()", "bounds(x)", **options),
}


def of_table(ask, facts=None, by=None, **options):
    """A call of a table with these facts, by groups if there are any."""

    def call(data, rng, budget):
        asked = nb.Table(data, budget=budget, **(facts or {}))
        if ask is ONE_BY_ONE["proportion"]:
            asked = asked.with_columns(high="x > 2")
        return ask(asked if by is None else asked.group_by("city", **by), rng=rng, **options)

    return call


TWO = {"unit": "user", "rows_per_unit": 2}
PUBLIC, PRIVATE = {"keys": ["c0", "c1", "x", "y", "nobody"]}, {"delta": 0.01}
ONE_GROUP = {"delta": 0.05, "groups_per_unit": 1}
