"""Tumult Analytics: a loss as the terms of a `Session`, and the loss of a session's budget.

The bounds of a range are `low` and `high` of its aggregations.
"""

import math
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.interop.floats import at_most


def terms(loss: PrivacyLoss) -> dict[str, Any]:
    """The privacy budget and `protected_change` of `Session.from_dataframe`, for a loss that is charged to a budget.

    The protected change is one row, or all rows with one identifier. Tumult has no data sets that differ by a changed
    row, so a loss under swap is refused.
    """
    from tmlt.analytics import AddOneRow, AddRowsWithID, ApproxDPBudget, PureDPBudget, RhoZCDPBudget

    if loss.neighbors == "swap":
        raise ValueError("Tumult protects rows that are added or removed, got a loss under swap")
    change = AddOneRow() if loss.unit == "row" else AddRowsWithID(loss.unit)
    if loss.epsilon == math.inf:
        budget = RhoZCDPBudget(at_most(loss.rho))
    elif loss.delta:
        budget = ApproxDPBudget(at_most(loss.epsilon), at_most(loss.delta))
    else:
        budget = PureDPBudget(at_most(loss.epsilon))
    return {"privacy_budget": budget, "protected_change": change}


def loss(budget: Any, protected_change: Any) -> PrivacyLoss:
    """The loss of a session that spends this budget, rounded up, for the change that it protects."""
    rows = getattr(protected_change, "max_rows", None)
    unit = getattr(protected_change, "id_column", None) or ("row" if rows == 1 else None)
    if unit is None:
        raise ValueError("protected_change must be AddOneRow() or AddRowsWithID(...): others name no privacy unit")
    if budget.is_infinite:
        raise ValueError("an infinite budget has no loss")
    kind, parts = type(budget).__name__, budget.value if isinstance(budget.value, tuple) else (budget.value,)
    numbers = [Fraction(str(part.expr)) for part in parts]
    if kind == "PureDPBudget" or (kind == "ApproxDPBudget" and numbers[1] == 0):
        return PrivacyLoss.pure(numbers[0], unit=unit)
    if kind == "ApproxDPBudget":
        return PrivacyLoss.approximate(*numbers, unit=unit)
    if kind == "RhoZCDPBudget":
        return PrivacyLoss.zcdp(numbers[0], unit=unit)
    raise TypeError(f"budget must be a privacy budget of Tumult, got {kind}")
