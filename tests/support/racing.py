"""Who races for a budget: statistics that cost a tenth each, and how often a thread or a process gets one."""

import numpy as np

import nobounds as nb
from nobounds.sklearn import PrivateClipper

DATA = {"x": np.arange(60.0), "k": np.arange(60) % 3, "u": np.arange(60) % 20}
# Each of them costs a tenth.
STATISTICS = {
    "sum": lambda budget: nb.sum(DATA["x"], epsilon=0.1, budget=budget),
    "quantiles": lambda budget: nb.quantiles(DATA["x"], [0.1, 0.5], epsilon=0.1, budget=budget),
    "describe": lambda budget: nb.describe(DATA, epsilon=0.1, budget=budget),
    "table": lambda budget: nb.Table(DATA, budget=budget).mean("x", epsilon=0.1),
    "groups": lambda budget: nb.Table(DATA, budget=budget).group_by("k", keys=[0, 1]).sum("x", epsilon=0.1),
    "count of groups": lambda budget: nb.Table(DATA, budget=budget).group_by("k", keys=[0, 1]).count(epsilon=0.1),
    "clipper": lambda budget: PrivateClipper(epsilon=0.1, budget=budget).fit(np.ones((9, 2))),
    "stream": lambda budget: nb.AboveThreshold(3, epsilon=0.1, budget=budget),
}
USERS = {
    "users": lambda budget: nb.Table(DATA, unit="u", rows_per_unit=2, budget=budget).sum("x", epsilon=0.1),
    "groups of users": lambda budget: (
        nb.Table(DATA, unit="u", rows_per_unit=2, budget=budget).group_by("k", keys=[0, 1]).mean("x", epsilon=0.1)
    ),
    "rows per user": lambda budget: nb.Table(DATA, unit="u", budget=budget).suggest_rows_per_unit(epsilon=0.1),
}


def tries(ask, budget, times, start=None):
    """How often an answer was given."""
    if start is not None:
        start.wait()
    given = 0
    for _ in range(times):
        try:
            ask(budget)
            given += 1
        except nb.BudgetExceeded:
            pass
    return given


def process(path, kind, queue):
    """What a process does that knows the budget's file."""
    queue.put(tries((STATISTICS | USERS)[kind], nb.Budget(path=path), 8))
