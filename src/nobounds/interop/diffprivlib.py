"""diffprivlib: an accountant that charges a budget of nobounds before diffprivlib reads the data.

The bounds of a range are `bounds` of its tools, and `Ranges.arrays()` those of its models.
"""

from typing import Any

from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.accounting.spending import Chargeable
from nobounds.exact import Number


def loss(epsilon: Number, delta: Number = 0, *, neighbors: Neighbors = "swap") -> PrivacyLoss:
    """The loss of a call with this epsilon and delta. diffprivlib protects a row that changes."""
    if delta:
        return PrivacyLoss.approximate(epsilon, delta, neighbors=neighbors)
    return PrivacyLoss.pure(epsilon, neighbors=neighbors)


def accountant(budget: Chargeable, *, neighbors: Neighbors = "swap") -> Any:
    """A `BudgetAccountant` that charges this budget, as `accountant=` of a call or for all in a `with` block.

    diffprivlib checks each call before it reads the data: the check is the charge. A call that does not fit raises
    `BudgetExceeded`, and one that fails later stays charged.
    """
    from diffprivlib import BudgetAccountant

    class ChargingAccountant(BudgetAccountant):  # type: ignore[misc]
        def check(self, epsilon: float, delta: float) -> bool:
            super().check(epsilon, delta)
            budget.charge(loss(epsilon, delta, neighbors=neighbors), "diffprivlib")
            return True

        def spend(self, epsilon: float, delta: float) -> Any:
            self._BudgetAccountant__spent_budget.append((epsilon, delta))  # was charged by the check before it
            return self

    return ChargingAccountant()
