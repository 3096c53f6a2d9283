"""A driver that draws, and notes what every decision costs: what a program spends on the path that it takes."""

import random

from nobounds.mechanisms.decisions import FREE
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw


class Paid(Draw):
    """Draws every decision, those inside of others too, and keeps the costs."""

    __slots__ = ("costs", "decisions", "seed")

    def __init__(self, seed):
        super().__init__(random_source(random.Random(seed)))
        self.seed, self.costs, self.decisions = seed, [], []

    def decide(self, decision):
        """A draw; what is inside of a decision costs no more than the decision says."""
        cost = decision.cost()
        if hasattr(decision, "program"):
            inside = Paid(self.seed)
            inside.run(decision.program())
            assert within(inside.total, cost), decision
        self.costs.append(cost)
        self.decisions.append(decision)
        return super().decide(decision)

    @property
    def total(self):
        """The cost of all decisions together."""
        return sum(self.costs, FREE)


def within(cost, charged):
    """Whether a cost is at most another, in rho and, where that is finite, in epsilon."""
    return cost.rho <= charged.rho and (not charged.is_pure or (cost.is_pure and cost.epsilon <= charged.epsilon))
