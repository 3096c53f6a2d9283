"""Statistics by group, with public keys and private ones."""

import numpy as np

from nobounds.auditing.lockstep import Setting as Case
from support.lockstep_cases.data import HUNDREDS
from support.lockstep_cases.people import (
    AT_A_LEVEL,
    LEVEL,
    LOW_USER,
    OF_GROUPS,
    ONE_BY_ONE,
    ONE_GROUP,
    ONLY,
    PRIVATE,
    PUBLIC,
    ROWS,
    TWO,
    USERS,
    WIDE_USER,
    of_table,
    table,
    without_rows,
)

CASES = {}
CASES["group_by, public keys, quantile at a level"] = [
    Case(
        "epsilon 5, rows",
        of_table(OF_GROUPS["quantile"], None, PUBLIC, epsilon=5),
        [without_rows(AT_A_LEVEL, np.arange(len(LEVEL)) == 3)],
    )
]
CASES["group_by, public keys, interval"] = [
    Case(
        f"epsilon {epsilon}, {name}",
        of_table(ask, None, PUBLIC, epsilon=epsilon, interval=0.95, marks=False),
        ROWS[:2],
        ROWS[2:3],
    )
    for name, ask in OF_GROUPS.items()
    for epsilon in (1, 30)
    if name in ("quantile", "maximum")
]
CASES["group_by, public keys, interval"] += [
    Case("rho 0.2, users", of_table(OF_GROUPS["quantile"], TWO, PUBLIC, rho=0.2, interval=0.95), USERS[1:2], rows=2)
]


CASES |= {
    f"group_by, public keys, {name}": [
        Case("epsilon 1, users", of_table(ask, TWO, PUBLIC, epsilon=1), USERS[:2], USERS[2:], rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, PUBLIC, rho=0.2), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, None, PUBLIC, epsilon=1), ROWS[:3], ROWS[3:]),
        Case("epsilon 300, rows", of_table(ask, None, PUBLIC, epsilon=300), [ROWS[5], ROWS[0]], ROWS[1:5]),
    ]
    for name, ask in OF_GROUPS.items()
}
CASES |= {
    f"group_by, private keys, {name}": [
        Case("epsilon 1, users", of_table(ask, TWO, PRIVATE, epsilon=1), USERS[1:3], USERS[3:], rows=2),
        Case("epsilon 4, users in 1 group", of_table(ask, TWO, ONE_GROUP, epsilon=4), USERS[:1], USERS[1:], rows=2),
        Case("epsilon 2, rows", of_table(ask, None, PRIVATE, epsilon=2), ROWS[1:4], ROWS[4:]),
    ]
    for name, ask in OF_GROUPS.items()
}
HUNDREDS_OF_ROWS = table(range(len(HUNDREDS)), ["x"] * len(HUNDREDS), HUNDREDS)
CASES["group_by, public keys, sum"] += [
    Case(
        "epsilon 5, the largest of 300 rows",  # enough for an interval that counts the records near the clip
        of_table(OF_GROUPS["sum"], None, PUBLIC, epsilon=5),
        [without_rows(HUNDREDS_OF_ROWS, HUNDREDS_OF_ROWS["x"] == HUNDREDS.max())],
        [],
        False,
    )
]
CASES["group_by, private keys, minimum"] += [
    Case(
        "epsilon 1, a user of low values",
        of_table(OF_GROUPS["minimum"], TWO, ONE_GROUP, epsilon=1),
        [LOW_USER],
        [],
        rows=2,
    )
]
CASES |= {
    f"group_by, {keys} keys, {name}": [
        Case("epsilon 2, users", of_table(ask, TWO, how, epsilon=2), USERS[1:2], USERS[2:], False, rows=2),
        Case("epsilon 300, rows", of_table(ask, None, how, epsilon=300), [ROWS[5]], ROWS[:5], False),
        Case("epsilon 1, rows", of_table(ask, None, how, epsilon=1), [*ROWS[:2], ONLY], ROWS[2:5], False),
        *([Case("rho 0.2, rows", of_table(ask, None, how, rho=0.2), ROWS[:1], [], False)] if keys == "public" else []),
    ]
    for name, ask in ONE_BY_ONE.items()
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def values_of_groups(groups, **options):
    """How often each user occurs in a group."""
    values = {} if groups._keys is None else {"keys": ["a", "u3", "nobody"]}
    return groups.value_counts("user", **values, **options)


CASES |= {
    f"group_by, {keys} keys, value_counts": [
        Case(
            "epsilon 1, rows", of_table(values_of_groups, None, how, epsilon=1), [*ROWS[:2], ROWS[5]], ROWS[2:5], False
        )
    ]
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def top_of_groups(groups, **options):
    """The two users that occur most often in a group."""
    values = {} if groups._keys is None else {"keys": ["a", "u3", "nobody"]}
    return groups.top_k("user", 2, **values, **options)


def users_of_groups(groups, **options):
    """How many users each group has."""
    return groups.count_distinct(**options)


def values_of_users(groups, **options):
    """How many numbers each group has, of which a user may have several."""
    return groups.count_distinct("whole", **options)


def with_whole(call):
    """A call for tables with a column of whole numbers, which may be keys."""

    def on_whole(data, rng, budget):
        whole = np.clip(np.nan_to_num(data["x"]), -9, 9).astype(np.int64) // 3
        return call({**data, "whole": whole}, rng, budget)

    return on_whole


CASES |= {
    f"group_by, {keys} keys, top_k": [
        Case("epsilon 1, rows", of_table(top_of_groups, None, how, epsilon=1), [*ROWS[:2], ROWS[5]], ROWS[2:5], False)
    ]
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def rows_of_groups(groups, **options):
    """How many rows each group has, whatever is in them."""
    return groups.count(**options)


for keys, how in {"public": PUBLIC, "private": PRIVATE}.items():
    rows = Case(
        "epsilon 1, rows of users", of_table(rows_of_groups, TWO, how, epsilon=1), USERS[1:2], USERS[2:], rows=2
    )
    CASES[f"group_by, {keys} keys, count"].append(rows)
IN_TWO = {"unit": "user"}  # the groups of a user are bounded, and not its rows
for keys, how in {"public": PUBLIC, "private": PRIVATE}.items():
    users, values = (
        of_table(users_of_groups, IN_TWO, {**how, "groups_per_unit": 2}, epsilon=1),
        with_whole(of_table(values_of_users, TWO, how, epsilon=1)),
    )
    CASES[f"group_by, {keys} keys, count_distinct"] = [
        Case("epsilon 1, of users", users, [*USERS[:2], WIDE_USER], USERS[2:], rows=2),
        Case("epsilon 1, values of users", values, [*USERS[:3], WIDE_USER], USERS[3:], rows=2),
        Case(
            "epsilon 1, values of rows",
            with_whole(of_table(values_of_users, None, how, epsilon=1)),
            [*ROWS[:3], ONLY],
            ROWS[3:],
        ),
    ]
CASES["group_by, public keys, count_distinct"].append(
    Case("rho 0.2", of_table(users_of_groups, TWO, PUBLIC, rho=0.2), USERS[:2], rows=2)
)
