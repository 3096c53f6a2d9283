"""What a summary will answer, foreseen from public facts: the plan of `describe` on simulated noisy counts.

No table is read. The plan itself says which statistics get how much for noisy counts; here the counts are a stated
number of rows and seeded noise. Whatever the rows, the noise is the same, and so is how far the size that a plan goes
by lies below their number: at most `slack` rows in 95% of columns.
"""

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from nobounds.accounting.loss import Unit
from nobounds.accounting.terms import Terms
from nobounds.engines.memory.frames import FrameFacts
from nobounds.ladders.facts import Facts
from nobounds.statistics.describe import DescribePlan
from nobounds.values import dataclass

SURE = 0.95  # what is called answerable is answered this often
_DRAWS = 200
_FAR = 10**9  # rows, so that no count is near 0


@dataclass(frozen=True)
class Foreseen:
    """A summary of numeric columns in which records may be missing, for these terms."""

    names: tuple[str, ...]
    terms: Terms
    unit: Unit

    @cached_property
    def facts(self) -> FrameFacts:
        """The public facts of such a table."""
        column = Facts(integral=False, nullable=True, unit=self.unit)
        return FrameFacts(dict.fromkeys(self.names, column), {})

    @cached_property
    def plan(self) -> DescribePlan:
        """The plan that `describe` makes for it."""
        return DescribePlan.of(self.facts, self.terms, {})

    @cached_property
    def slack(self) -> int:
        """How far the sizes that the plan goes by lie below the number of rows, in 95% of columns at most."""
        rng, plan = np.random.default_rng(0), self.plan  # of a simulation: nothing is released
        scale = 1 / float(plan.epsilon(plan.count_part))
        rows = dict.fromkeys(self.names, _FAR) if self.terms.neighbors == "swap" else None
        below: list[int] = []
        for _ in range(_DRAWS):
            noise = rng.normal(0, scale, len(self.names)) if self.terms.spending.zcdp else None
            noise = rng.laplace(0, scale, len(self.names)) if noise is None else noise
            counts = {name: _FAR + round(each) for name, each in zip(self.names, noise.tolist(), strict=True)}
            if rows is not None:
                counts = {name: min(count, _FAR) for name, count in counts.items()}
            below += [_FAR - size for size in plan.sizes(self.facts, counts, rows).values()]
        return math.ceil(float(np.quantile(below, SURE)))

    def parts(self, rows: int) -> dict[str, Fraction]:
        """What the parts of a column get that are answered for this many rows, in 95% of columns at least."""
        size = max(rows - self.slack, 0)
        return self.plan.shares(self.facts, dict.fromkeys(self.names, size))[self.names[0]]

    def rows_for(self, part: str) -> int | None:
        """The smallest number of rows for which a part is answered."""
        if part not in self.parts(_FAR):
            return None
        low, high = 0, _FAR
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if part in self.parts(middle) else (middle, high)
        return high
