"""The choice: a number, drawn in proportion to its prior mass times exp(-rate loss) (docs/proofs/choice.md).

The exponential mechanism over all numbers of a line. The loss of a number is the distance of the target rank from
[records below it, records at or below it], so ties are treated correctly, and the number of records need not be known
to state it. Adding a record changes losses within a range of max(q, 1 - q) on both sides, changing one within 1 on both
sides, which makes the cost 2 max(q, 1 - q) rate or 2 rate.

The numbers come in cells of neighbouring numbers. A cell is drawn with the least loss that its numbers may have, then
a number of it by the prior; it is accepted with the probability exp(-rate (its loss - the least)), for which its ranks
are looked up, if the cell leaves them open. What is accepted has the law above, whatever the cells are. Cells
whose numbers all have the same loss accept at once, so around the target there is one draw.
"""

from collections.abc import Callable, Hashable
from dataclasses import field
from fractions import Fraction
from functools import cached_property

import numpy as np

from nobounds.accounting.cost import Cost, range_bounded
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.core.line import Line
from nobounds.core.prior import Around, Prior
from nobounds.counting.order import Cells, Order
from nobounds.exact import ball
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import DOUBLE_ERROR, pick, pick_ball
from nobounds.noise.discrete import Exponential, Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

# exp(-NATS) is less than 2**-60 of what the lightest double weighs: records beyond that many ranks over the rate are
# almost never looked at, and the draw is exact all the same.
NATS = 105
_ERROR = 2.0**-40  # more than the relative error of a product of doubles


def choice_cost(q: Fraction, rate: Fraction, neighbors: Neighbors) -> Cost:
    """The cost of a choice: the range of what one record changes in the losses, times the rate."""
    return range_bounded(rate * sensitivity(q, neighbors))


def sensitivity(q: Fraction, neighbors: Neighbors) -> Fraction:
    """The epsilon of a choice of rate 1."""
    return Fraction(2) if neighbors == "swap" else 2 * max(q, 1 - q)


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Hidden):
    """A number of a line, chosen for the rank q n among records in their order. Sensitive."""

    order: Order = field(repr=False)
    q: Fraction
    rate: Fraction
    cost: Callable[[], Cost]

    @property
    def line(self) -> Line:
        """The numbers that are chosen from."""
        return self.order.line

    @property
    def public(self) -> Hashable:
        return self.q, self.rate, self.line

    def draw(self, source: RandomSource) -> int:
        """The key of the number."""
        reach = int(NATS / self.rate) + 1
        target = self.target.__floor__()
        cells = self.order.cells(target - reach, target + reach + 1, int(1 / self.rate))
        losses, masses = self.losses(cells.low, cells.high), self.line.prior.masses(cells.first, cells.last)
        while True:
            cell = self._cell(cells, losses, masses, Uniform(source))
            first, last = int(cells.first[cell]), int(cells.last[cell])
            key = drawn(self.line.prior, first, last, source)
            if first == last or cells.low[cell] == cells.high[cell]:
                return key
            low, high = self.order.ranks(key)
            least = int(losses[cell])
            more = int(self.losses(np.array([low]), np.array([high]))[0]) - least
            if is_above(Exponential(source), self.rate * Fraction(more, self.q.denominator)):
                return key

    @property
    def target(self) -> Fraction:
        """The rank that is aimed at."""
        return self.q * self.order.total

    def losses(self, low: Ints, high: Ints) -> Ints:
        """The least loss of a number with ranks from `low` to `high`, in parts of the denominator of q."""
        target, over = (self.q * self.q.denominator * self.order.total).__floor__(), self.q.denominator
        return np.maximum(np.maximum(target - over * high, over * low - target), 0)

    def _cell(self, cells: Cells, losses: Ints, masses: Floats, u: Uniform) -> int:
        nearest = int(losses.min())
        weights = masses * np.exp((losses - nearest) * -(float(self.rate) / self.q.denominator))
        passed = weights.cumsum()
        cell = pick(passed, passed, DOUBLE_ERROR, 0.0, u)
        return decide(lambda precision: self._in_balls(cells, losses, u, precision)) if cell is None else cell

    def _in_balls(self, cells: Cells, losses: Ints, u: Uniform, precision: int) -> int | None:
        rate, nearest = ball(self.rate / self.q.denominator), int(losses.min())
        weights = [
            (-ball(loss - nearest) * rate).exp() * ball(self.line.prior.mass(first, last))
            for loss, first, last in zip(losses.tolist(), cells.first.tolist(), cells.last.tolist(), strict=True)
        ]
        return pick_ball(weights, ball(0), u, precision)

    @cached_property
    def whole(self) -> Cells:
        """Cells whose numbers all have the same loss."""
        return self.order.cells(0, self.order.total, 0)

    def log_masses(self, first: Ints, last: Ints) -> Floats:
        """The log-probabilities of intervals of keys, each inside a cell of `whole`."""
        cells = self.whole
        place = np.searchsorted(cells.last, first)
        return self._log_weights(cells, first, last, place) - self._log_total

    @cached_property
    def _log_total(self) -> float:
        cells = self.whole
        return float(
            np.logaddexp.reduce(self._log_weights(cells, cells.first, cells.last, np.arange(len(cells.first))))
        )

    def _log_weights(self, cells: Cells, first: Ints, last: Ints, place: Ints) -> Floats:
        losses = self.losses(cells.low, cells.high)
        with np.errstate(divide="ignore"):
            logs = np.log(self.line.prior.masses(first, last))
        return np.asarray(logs - losses[place] * (float(self.rate) / self.q.denominator))


def drawn(prior: Prior | Around, first: int, last: int, source: RandomSource) -> int:
    """The key of a number from `first` to `last`, each as likely as it weighs."""
    return prior.at(first, last, uniform_below(prior.mass(first, last), source))


def is_above(e: Exponential, bound: Fraction) -> bool:
    """Whether E is larger than a bound."""
    low, high = e.bounds()
    if low > float(bound) * (1 + _ERROR):
        return True
    if high < float(bound) * (1 - _ERROR):
        return False

    def attempt(precision: int) -> int | None:
        drawn, exact = e.ball(precision), ball(bound)
        return 1 if drawn > exact else 0 if drawn < exact else None

    return bool(decide(attempt))
