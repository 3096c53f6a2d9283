"""The plan of noisy counts of bins: the noise, and the quartiles around which edges lie if they are not public.

Edges reach from one interquartile range below the lower quartile to one above the upper one. Quartiles need far fewer
records than quantiles in the tails, and edges need not be precise: counts hold between any edges.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from nobounds.accounting.cost import Cost
from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.arrays import Ints
from nobounds.kinds.kind import Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import NoisyMany
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_together
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.statistics.bins.edges import Edges, round_edges
from nobounds.values import dataclass

EDGE_SHARE = Fraction(1, 4)  # of the spending, for edges that are chosen privately
QUARTILES = (Fraction(1, 4), Fraction(3, 4))
NATS = 100  # records times epsilon that quartiles need to be of use for edges; under swap twice as many
_CAREFUL = 2  # scales of its noise that are taken off a noisy size


@dataclass(frozen=True, slots=True)
class Counting:
    """Noise on the counts of disjoint bins. A record is in one of them; under swap it may leave one for another."""

    noise: Additive
    swap: bool

    def cost(self) -> Cost:
        """The cost of all counts: a record changes one count by 1, or two."""
        each = self.noise.cost()
        return each + each if self.swap else each


@dataclass(frozen=True, slots=True)
class BinPlan:
    """Noise on counts, and public edges or the quartiles around which they are chosen."""

    counting: Counting
    edges: Edges | None
    outer: Question | Halving | None
    bins: int
    kind: Kind
    grid: Fraction | None
    spending: Spending

    @classmethod
    def of(cls, facts: Facts, terms: Terms, stated: Stated, edges: Edges | None, bins: int) -> "BinPlan":
        """The plan for edges, or for about this many bins; with both bounds stated, edges are public, too."""
        low, high, grid = stated.in_kind(facts.kind)
        if grid is None:
            grid = Fraction(1) if facts.integral else facts.kind.resolution
        if edges is None and low is not None and high is not None:
            edges = round_edges(low, high, bins, facts.kind, grid)
        outer, swap, spending = None, terms.neighbors == "swap", terms.spending
        if edges is None:
            part = replace(spending, amount=EDGE_SHARE * spending.amount)
            outer = plan_together(facts, replace(terms, spending=part), Options(stated), QUARTILES)
            spending = replace(spending, amount=(1 - EDGE_SHARE) * spending.amount)

        def counting(epsilon: Fraction, zcdp: bool) -> Counting:
            return Counting(Additive(epsilon / 2 if swap and not zcdp else epsilon, zcdp), swap)

        noise = spending.each(facts.unit.rows).plan(counting)
        return cls(noise, edges, outer, bins, facts.kind, grid, terms.spending)

    def cost(self) -> Cost:
        """The cost of edges and counts."""
        own = self.counting.cost()
        return own if self.outer is None else self.outer.cost() + own

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        edges = {} if self.outer is None else {"edges": self.outer.cost()}
        return edges | {"noise": self.counting.cost()}

    def settled(self, view: Callable[[Question | Halving], View]) -> Program[tuple[Edges, dict[str, int | float]]]:
        """The edges, and what would do for them if there are too few records for any; then all are in one bin."""
        if self.outer is None:
            assert self.edges is not None
            return self.edges, {}
        ranks = view(self.outer)
        size = yield from self.outer.learned(ranks)
        least = self.needed_rows()
        if size < least:
            return (), would_do(least, size, self.outer.size.noise, self.spending)
        low, high = sorted(map(Fraction, (yield from self.outer.program(ranks, size))))
        first, last = self._within(low - (high - low)), self._within(high + (high - low))
        return round_edges(first, last, self.bins, self.kind, self.grid), {}

    def needed_rows(self) -> float:
        """The size that edges need, if they are chosen privately."""
        assert isinstance(self.outer, Halving)
        nats = NATS * (2 if self.counting.swap else 1)
        return float(nats / self.outer.left + _CAREFUL * self.outer.size.noise)

    def _within(self, edge: Fraction) -> Fraction:
        """An edge within the public bounds."""
        assert self.outer is not None
        low, high = self.outer.ladder.lower, self.outer.ladder.upper
        edge = edge if low is None else max(edge, low)
        return edge if high is None else min(edge, high)

    def noisy(self, counts: Ints) -> Program[list[int]]:
        """The noisy counts of the bins."""
        noisy: list[int] = yield NoisyMany(counts.tolist(), self.counting.noise, self.counting.cost)
        return noisy
