"""Groups and units in a plan: what the answer of one group gets, and how many units a group needs to be shown."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.exact import Number, shown
from nobounds.tables.by_group.grouping import check_delta
from nobounds.tables.by_group.key_choice import KeyChoice, beside, chosen_before, chosen_by_counts
from nobounds.tables.opened import whole_number
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class PlannedGroups:
    """How many groups of equal size there are, and whom privacy is for; all public.

    delta: of keys that are chosen privately, else None.
    counting: whether counts of rows are all that is wanted, which may choose keys themselves.
    """

    groups: int = 1
    delta: Fraction | None = None
    rows_per_unit: int = 1
    groups_per_unit: int = 1
    counting: bool = False

    @classmethod
    def of(
        cls, groups: Any, delta: Number | None, rows: Any, groups_per_unit: Any, neighbors: Neighbors
    ) -> "PlannedGroups":
        """The groups, checked; no groups by default."""
        if neighbors == "swap" and (groups, rows) != (None, None):
            raise ValueError("groups and units need neighbors='add-remove', got neighbors='swap'")
        if groups is None and delta is not None:
            raise ValueError("delta is for keys that are chosen privately: give groups, the number of groups")
        number = 1 if groups is None else whole_number(groups, "groups")
        most = 1 if rows is None else whole_number(rows, "rows_per_unit")
        parts = most if groups_per_unit is None else whole_number(groups_per_unit, "groups_per_unit")
        return cls(number, None if delta is None else check_delta(delta), most, min(parts, most))

    def size(self, n: int) -> int:
        """The number of records in each group."""
        if n < self.groups:
            raise ValueError(f"n must be at least the number of groups, got n={shown(n)} and groups={self.groups}")
        return n // self.groups

    def choice(self, spending: Spending) -> KeyChoice | None:
        """How keys are chosen, if they are not public."""
        if self.delta is None:
            return None
        if spending.zcdp:
            raise ValueError("keys that are chosen privately need epsilon, got rho; give epsilon, or leave out delta")
        if self.counting:
            return chosen_by_counts(spending.amount, self.delta, self.rows_per_unit, self.groups_per_unit)
        return chosen_before(spending.amount, self.delta, self.groups_per_unit)

    def spending(self, spending: Spending) -> Spending:
        """What is left for the statistic of a row, after the choice of keys."""
        left = spending.amount - beside(self.choice(spending))
        return replace(spending, amount=left).each(self.rows_per_unit)

    def needed(self, spending: Spending) -> int | None:
        """How many units a group needs to be shown, where keys are chosen privately."""
        choice = self.choice(spending)
        return None if choice is None else choice.needed()

    def stated(self) -> dict[str, Any]:
        """For the parameters of a forecast: what differs from a table without groups and units."""
        given = {"groups": self.groups, "rows_per_unit": self.rows_per_unit, "groups_per_unit": self.groups_per_unit}
        delta = {} if self.delta is None else {"delta": float(self.delta)}
        return {name: value for name, value in given.items() if value > 1} | delta
