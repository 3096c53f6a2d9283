"""The share of the rows of a table that `rows_per_unit` leaves out: a private estimate with an interval.

Units are counted by their number of rows. A unit lies in one cell, so one more unit changes one count by 1, however
many rows it has, and all counts together cost what one does. `excess` reads the share from the noisy counts.
"""

from fractions import Fraction

from nobounds.accounting.cost import Cost
from nobounds.accounting.enough import MOST
from nobounds.accounting.spending import Spending
from nobounds.clipping.interval import CHANCE
from nobounds.counting.scan import gathered
from nobounds.engines.column import Column
from nobounds.mechanisms.decisions import NoisyMany
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer
from nobounds.tables.excess import ASSUMES, Cells, share_beyond
from nobounds.values import dataclass

NATS = 40  # units times epsilon that an answer needs


@dataclass(frozen=True, slots=True)
class LeftOutPlan:
    """The noise on the numbers of units, and the cells in which they are counted."""

    spending: Spending
    noise: Additive
    cells: Cells

    @classmethod
    def of(cls, spending: Spending, most: int) -> "LeftOutPlan":
        """The plan for at most this many rows per unit."""
        return cls(spending, spending.plan(Additive), Cells.of(most))

    def cost(self) -> Cost:
        """The cost of all counts together: a unit is in one cell."""
        return self.noise.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"noise": self.cost()}

    def needed(self, units: float) -> dict[str, float]:
        """How much of the spending would do for this many units, if that is sensible."""
        epsilon = NATS / max(units, 1.0)
        more = {"rho": epsilon**2 / 2} if self.spending.zcdp else {"epsilon": epsilon}
        return {name: amount for name, amount in more.items() if amount <= MOST}


def answer(plan: LeftOutPlan, data: Column) -> Program[Answer]:
    """The share of rows left out; `data` has a record for each unit, its number of rows."""
    noisy = yield NoisyMany(plan.cells.counts(gathered(data.chunks())).tolist(), plan.noise, plan.cost)
    scale = plan.noise.scale(1)
    interval = {"level": float(1 - Fraction(CHANCE)), "of": "sample", "assumes": ASSUMES, "guarantee": False}
    parameters = {"kept_rows": plan.cells.most, "noise": plan.noise.name, "noise_scale": scale, "interval": interval}
    units = float(sum(noisy)) - 2 * scale * len(noisy) ** 0.5
    if units < NATS * scale:
        wide = float(max(sum(noisy), 1))
        return Answer(None, parameters | {"needed": plan.needed(wide)}, ((0.0, 1.0),), reason=TOO_FEW)
    value, low, high = share_beyond(noisy, plan.cells, scale, plan.noise.is_gaussian)
    return Answer(value, parameters, ((low, high),))
