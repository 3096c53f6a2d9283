"""Terms: what a statistic may cost, and between which neighbouring data sets."""

from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Spending
from nobounds.exact import Number
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """The epsilon or rho that a statistic may cost for one unit, and the neighbour relation."""

    spending: Spending
    neighbors: Neighbors = "add-remove"

    @classmethod
    def of(cls, epsilon: Number | None, rho: Number | None, neighbors: object = "add-remove") -> "Terms":
        """The terms as the user gives them, checked."""
        return cls(Spending.of(epsilon, rho), check_neighbors(neighbors))
