"""Statistics of whole tables, for rows, users and rows that are swapped."""

from functools import partial

import nobounds as nb
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import Setting as Case
from support.lockstep_cases.data import SWAP, named
from support.lockstep_cases.people import (
    CITY_MOVED,
    HIGH_USER,
    LOW_USER,
    OF_A_TABLE,
    ONE_GROUP,
    PRIVATE,
    PUBLIC,
    ROW_MOVED,
    ROWS,
    TWO,
    USERS,
    WIDE_USER,
    of_table,
)

CASES = {
    f"Table.{name}": [
        Case("epsilon 1, users", of_table(ask, TWO, epsilon=1), USERS[:2], USERS[2:], name != "describe", rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, rho=0.2), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, epsilon=1), ROWS[:1], ROWS[1:], name != "describe"),
        Case("epsilon 1, swap", of_table(ask, SWAP, epsilon=1), ROW_MOVED, [], name != "describe"),
    ]
    for name, ask in OF_A_TABLE.items()
}

CASES["Table.quantile"] += [
    Case("epsilon 1, a user of low values", of_table(OF_A_TABLE["quantile"], TWO, epsilon=1), [LOW_USER], [], rows=2)
]


def asked(asks, table, **options):
    """Several statistics of a table."""
    return table.agg(*asks, **options)


def filtered(ask):
    """A statistic of the rows with a positive x, and of one city."""
    return lambda table, **options: ask(table.with_columns(y="x * 2").where("y > 0 or city = 'c1'"), **options)


CASES |= {
    f"Table.where, {name}": [
        Case("epsilon 1, users", of_table(filtered(ask), TWO, epsilon=1), USERS[:1], USERS[1:2], False, rows=2),
        Case("epsilon 1, rows", of_table(filtered(ask), epsilon=1), ROWS[:1], ROWS[1:2], False),
        Case("epsilon 1, swap", of_table(filtered(ask), SWAP, epsilon=1), ROW_MOVED, [], False),
    ]
    for name, ask in OF_A_TABLE.items()
    if name in ("quantile", "mean", "sum", "count of rows")
}
for name in ("median", "iqr", "maximum", "bounds"):
    high = Case("epsilon 1, a user of high values", of_table(OF_A_TABLE[name], TWO, epsilon=1), [HIGH_USER], [], rows=2)
    CASES[f"Table.{name}"].append(high)
CASES["Table.where, quantile"].append(
    Case(
        "epsilon 1, a user of high values",
        of_table(filtered(OF_A_TABLE["quantile"]), TWO, epsilon=1),
        [HIGH_USER],
        [],
        False,
        rows=2,
    )
)
CASES["Table.describe"] += [
    Case("epsilon 900, users", of_table(OF_A_TABLE["describe"], TWO, epsilon=900), USERS[:1], USERS[1:2], False, rows=2)
]
EVERYTHING = ("mean(x)", "sum(x, lower=0)", "median(x)", "quantiles(x, 0.25, 0.75)", "bounds(x)", "count(x)")
CASES["Table.agg"] += [
    Case(f"{named(spent)}, {' '.join(asks)}", of_table(partial(asked, asks), **spent), pairs, [], False)
    for asks, spent, pairs in (
        (EVERYTHING, {"epsilon": 60}, ROWS[:1]),
        (EVERYTHING, {"epsilon": 60, "facts": SWAP}, ROW_MOVED),
        (EVERYTHING, {"rho": 30, "marks": True}, ROWS[5:]),
        (("quantile(x, 0.5, interval=0.95)", "maximum(x)"), {"epsilon": 40}, ROWS[:1]),
        (("count(x)",), {"epsilon": 1}, ROWS[:1]),
        (("iqr(x)", "ratio(x, x)", "std(x)", "proportion(x > 2)"), {"epsilon": 60, "marks": False}, ROWS[:1]),
    )
]
SUGGEST = {"ask": lambda table, **options: table.suggest_rows_per_unit(**options), "facts": {"unit": "user"}}
CASES["Table.suggest_rows_per_unit"] = [
    Case("epsilon 1", of_table(**SUGGEST, epsilon=1), USERS[:3], USERS[3:]),
    Case("epsilon 8, q 0.5", of_table(**SUGGEST, epsilon=8, q=0.5), USERS[:3], USERS[3:]),  # enough for an answer
    Case("epsilon 40, q 0.5", of_table(**SUGGEST, epsilon=40, q=0.5), USERS[:3], USERS[3:]),
    Case("rho 0.2, q 0.5", of_table(**SUGGEST, rho=0.2, q=0.5), USERS[:2], USERS[2:]),
]
CONTRIBUTIONS = {
    "ask": lambda table, **options: table.suggest_contributions("city", **options),
    "facts": {"unit": "user"},
}
ALONE = {"ask": lambda table, **options: table.suggest_contributions(**options), "facts": {"unit": "user"}}
CASES["Table.suggest_contributions"] = [
    Case("epsilon 1", of_table(**CONTRIBUTIONS, epsilon=1), USERS[:2], USERS[3:4]),
    Case("epsilon 60", of_table(**CONTRIBUTIONS, epsilon=60, later=0.1), USERS[:1]),
    Case("epsilon 1, no groups", of_table(**ALONE, epsilon=1), USERS[:1]),
    Case("rho 0.2", of_table(**CONTRIBUTIONS, rho=0.2), USERS[:1]),
]
LEFT_OUT = {"ask": lambda table, **options: table.rows_left_out(**options), "facts": TWO}
CASES["Table.rows_left_out"] = [
    Case("epsilon 1", of_table(**LEFT_OUT, epsilon=1), USERS[:3], USERS[3:]),
    Case("epsilon 30", of_table(**LEFT_OUT, epsilon=30), USERS[:3], USERS[3:]),
    Case("rho 0.2", of_table(**LEFT_OUT, rho=0.2), USERS[:2], USERS[2:]),
]


def of_values(name, *given):
    """A statistic of the values in the column of cities."""
    return lambda table, **options: getattr(table, name)("city", *given, **options)


VALUES = {"value_counts": of_values("value_counts"), "top_k": of_values("top_k", 2)}
CASES |= {
    f"Table.{name}": [
        Case("epsilon 1, users", of_table(ask, TWO, epsilon=1, **PUBLIC), USERS[:2], USERS[2:], rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, rho=0.2, **PUBLIC), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, epsilon=1, **PUBLIC), ROWS[:3], ROWS[3:]),
        Case("epsilon 4, users, private", of_table(ask, TWO, epsilon=4, **ONE_GROUP), USERS[:1], USERS[1:], rows=2),
        Case("epsilon 2, users, by counts", of_table(ask, TWO, epsilon=2, **PRIVATE), [*USERS, WIDE_USER], rows=2),
        Case("epsilon 2, rows, private", of_table(ask, epsilon=2, **PRIVATE), ROWS[1:4], ROWS[4:]),
    ]
    for name, ask in VALUES.items()
}
DISTINCT, UNITS = of_values("count_distinct"), lambda table, **options: table.count_distinct(**options)
CASES["Table.count_distinct"] = [
    Case("epsilon 1, of units", of_table(UNITS, TWO, epsilon=1), USERS),
    Case("rho 0.2, of units", of_table(UNITS, TWO, rho=0.2), USERS[:2]),
    Case("epsilon 1, users", of_table(DISTINCT, TWO, epsilon=1), [*USERS, WIDE_USER], rows=2),
    Case("rho 0.2, users", of_table(DISTINCT, TWO, rho=0.2), [WIDE_USER], rows=2),
    Case("epsilon 1, one value of a user", of_table(DISTINCT, TWO, values_per_unit=1, epsilon=1), [*USERS, WIDE_USER]),
    Case("epsilon 1, rows", of_table(DISTINCT, epsilon=1), ROWS),
    Case("epsilon 1, swap", of_table(DISTINCT, SWAP, epsilon=1), CITY_MOVED),
]
CITIES = [(before["city"], after["city"]) for before, after in ROWS[:4]]
CASES |= {
    "value_counts": [Case("epsilon 1", of_column(nb.value_counts, epsilon=1, **PUBLIC), CITIES)],
    "top_k": [Case("epsilon 1", of_column(nb.top_k, 2, epsilon=1, **PUBLIC), CITIES)],
    "count_distinct": [Case("epsilon 1", of_column(nb.count_distinct, epsilon=1), CITIES)],
}


def stated(text, facts=None, **options):
    """One SQL statement about a table, with these facts."""

    def call(data, rng, budget):
        return nb.sql(text, {"people": data}, rng=rng, budget=budget, marks=False, **(facts or {}), **options)

    return call


POSITIVE = "select private_count() as many, private_mean(x + 1) from people where x > 0 or city = 'c1'"
BY_CITY = "select city, private_count(x), private_sum(x, lower => 0) from people group by city"
CASES["sql"] = [
    Case("epsilon 1, rows", stated(POSITIVE, epsilon=1), ROWS[:1], ROWS[1:3], False),
    Case("epsilon 1, users", stated(POSITIVE, TWO, epsilon=1), USERS[:1], USERS[1:2], False, rows=2),
    Case("epsilon 1, swap", stated(POSITIVE, SWAP, epsilon=1), ROW_MOVED, [], False),
    Case("epsilon 1, by group", stated(BY_CITY, PUBLIC, epsilon=1), ROWS[:1], ROWS[1:3], False),
    Case("epsilon 1, users by group", stated(BY_CITY, TWO | PRIVATE, epsilon=1), USERS[:1], USERS[1:2], False, rows=2),
    Case("epsilon 1, a count", stated("select private_count() from people", epsilon=1), ROWS[:2], []),
]
