"""What would do for an answer that there are too few records for: how many, or how much spending for as many."""

import math

from nobounds.accounting.spending import Spending
from nobounds.exact import rounded_up

MOST = 20  # an epsilon above this promises next to nothing, so that it is never proposed; nor is such a rho


def would_do(rows: float, size: float, noise: float, spending: Spending) -> dict[str, int | float]:
    """How many rows would do for this spending, and how much of it for `size` rows, where that is known and sensible.

    Rows and epsilon make up for each other. noise: the scale of the noise of `size`. The number of rows may well be
    lower by as much, so with a size below twice the noise next to nothing is known of it.

    >>> would_do(380, 200, 20, Spending.of(1, None)), would_do(380, 10, 20, Spending.of(1, None))
    ({'rows': 380, 'epsilon': 2.2}, {'rows': 380})
    """
    enough: dict[str, int | float] = {"rows": math.ceil(rounded_up(rows))}
    if size < max(2 * noise, 1):
        return enough
    more = (rows / (size - noise)) ** (2 if spending.zcdp else 1) * float(spending.amount)
    return enough | ({"rho" if spending.zcdp else "epsilon": rounded_up(more)} if more <= MOST else {})
