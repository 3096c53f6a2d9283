"""What the parts of an answer spend: an epsilon or a rho, and the mechanisms that cost just that.

Shares of a part are shares of its amount, of epsilon as of rho.
"""

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

from nobounds.accounting.cost import Cost, added_only, gaussian, pure
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending, nominal
from nobounds.counting.order import Order
from nobounds.mechanisms.choice import Choice, choice_cost, sensitivity
from nobounds.mechanisms.clock import fixed_cost, walk_cost
from nobounds.mechanisms.decisions import Noisy
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.values import dataclass

# Of epsilon for the number of records, and for a second look at it where the first may be nothing but noise: medians of
# 60 rows are answered in 9 of 10 calls then, and a column without numbers in less than 1 of 400.
SIZE, SECOND_SIZE = Fraction(1, 40), Fraction(3, 20)
NOTHING = 7  # scales of its noise that a number of records must reach to be believed: noise does in 1 of 2,000
OUTWARD = Fraction(3, 5)  # of epsilon for the threshold of a walk outward
CENTER_NATS, MOST_CENTER = 60, Fraction(3, 10)  # records times epsilon for a centre, and of epsilon at most
_BITS = 40  # binary digits of an epsilon of a walk


@dataclass(frozen=True)
class Part:
    """A part of what an answer may spend."""

    amount: Fraction
    zcdp: bool
    neighbors: Neighbors

    def of(self, share: Fraction) -> "Part":
        """A share of it."""
        return Part(self.amount * share, self.zcdp, self.neighbors)

    def less(self, *others: "Part") -> "Part":
        """What is left after other parts."""
        return Part(self.amount - sum((other.amount for other in others), Fraction(0)), self.zcdp, self.neighbors)

    @property
    def cost(self) -> Cost:
        """All of it, whatever it is spent on."""
        return gaussian(self.amount) if self.zcdp else pure(self.amount)

    @property
    def epsilon(self) -> Fraction:
        """The epsilon, or a nominal one whose Gaussian noise has this rho."""
        return nominal(self.amount) if self.zcdp else self.amount

    @property
    def twice(self) -> int:
        """What one record changes a rank by, over what adding one does."""
        return 2 if self.neighbors == "swap" else 1

    @property
    def additive(self) -> Additive:
        """The noise on what one record changes by the sensitivity."""
        return Additive(self.epsilon, self.zcdp)

    def nats(self, many: int, size: int) -> Fraction:
        """The share that gives `size` records this number of nats."""
        share = many * self.twice / (size * self.epsilon)
        return share**2 if self.zcdp else share

    def rate(self, q: Fraction) -> Fraction:
        """The rate of a choice."""
        return _rate(self, q)

    def walk(self, tail: Fraction, inward: bool) -> tuple[Fraction, Fraction]:
        """(eps1, eps2) of a walk to where a part `tail` of the records lies beyond."""
        return _walk(self, tail, inward)

    def fixed_walk(self) -> tuple[Fraction, Fraction]:
        """(eps1, eps2) of a walk inward to where a fixed number of records lies beyond."""
        return _fixed(self)


class _Walked(tuple[Fraction, Fraction]):
    """eps1 and eps2 with their cost."""

    price: Cost

    def cost(self) -> Cost:
        return self.price


def _with_cost(eps: tuple[Fraction, Fraction], price: Cost) -> _Walked:
    walked = _Walked(eps)
    walked.price = price
    return walked


@lru_cache(maxsize=1024)
def _rate(part: Part, q: Fraction) -> Fraction:
    if not part.zcdp:
        return part.amount / sensitivity(q, part.neighbors)

    def rated(epsilon: Fraction, zcdp: bool) -> _Walked:
        rate = epsilon / sensitivity(q, part.neighbors)
        return _with_cost((rate, rate), choice_cost(q, rate, part.neighbors))

    return Spending(part.amount, True).plan(rated)[0]


@lru_cache(maxsize=1024)
def _walk(part: Part, tail: Fraction, inward: bool) -> tuple[Fraction, Fraction]:
    def split(epsilon: Fraction, zcdp: bool) -> _Walked:
        eps = walk_split(tail, epsilon, part.neighbors, inward)
        return _with_cost(eps, walk_cost(tail, inward, *eps, part.neighbors))

    return tuple(Spending(part.amount, part.zcdp).plan(split))  # type: ignore[return-value]


@lru_cache(maxsize=1024)
def _fixed(part: Part) -> tuple[Fraction, Fraction]:
    def split(epsilon: Fraction, zcdp: bool) -> _Walked:
        eps = (epsilon / part.twice,) * 2
        return _with_cost(eps, fixed_cost(*eps, part.neighbors))

    return tuple(Spending(part.amount, part.zcdp).plan(split))  # type: ignore[return-value]


def walk_split(tail: Fraction, epsilon: Fraction, neighbors: Neighbors, inward: bool) -> tuple[Fraction, Fraction]:
    """The (eps1, eps2) of a walk that costs epsilon (docs/proofs/clock.md).

    Inward those of the least variance 1 / eps1**2 + (pi**2 / 6) / eps2**2 of the rank where it halts; outward, for the
    sake of extremes, `OUTWARD` of epsilon for the threshold.
    """
    if not inward:
        first = OUTWARD * epsilon
        return first, epsilon - first * (1 if neighbors == "swap" else 1 - tail)
    moved = Fraction(1) if neighbors == "swap" else tail
    first = epsilon * _down(1 / (float(moved) + (math.pi**2 / 6 * float(moved)) ** (1 / 3)))
    if neighbors != "swap":
        first = min(first, epsilon / (1 - tail))
    return first, epsilon - moved * first


def _down(x: float) -> Fraction:
    """A number rounded down to a few binary digits."""
    return Fraction(math.floor(x * 2**_BITS), 2**_BITS)


@dataclass(frozen=True)
class Known:
    """What is public, or paid for already, about the number of records.

    rows: under swap the number of rows. size: the number of records as the user states it, or a noisy one.
    """

    rows: int | None
    nullable: bool
    size: int | None = None


class Size(NamedTuple):
    """A noisy number of records, None where it may be nothing but noise; what it cost, and what is left.

    hidden: how many records fewer there are by the noisy number, where the public number of rows is taken instead.
    """

    value: int | None
    spent: Part
    left: Part
    hidden: int = 0


def bought_size(order: Order, whole: Part, known: Known, share: Fraction = SIZE) -> Program[Size]:
    """The number of records; under swap that of the rows, unless more are missing than noise may pretend."""
    rows = known.rows
    if known.size is not None or (rows is not None and not known.nullable):
        return Size(known.size or rows or None, whole.of(Fraction(0)), whole)
    left = whole
    for each in (share, SECOND_SIZE):
        part = whole.of(each)
        left = left.less(part)
        noise = part.additive
        cost = partial(added_only, noise.epsilon) if rows is not None and not whole.zcdp else noise.cost
        noisy: int = yield Noisy(order.total, noise, cost)
        doubt = NOTHING * noise.scale(1)
        if noisy >= doubt:
            if rows is None or rows - noisy > doubt:
                return Size(noisy, whole.less(left), left)
            return Size(rows or None, whole.less(left), left, max(rows - noisy, 0))
    return Size(None, whole.less(left), left)


def bought_center(order: Order, size: int, left: Part, q: Fraction = Fraction(1, 2)) -> Program[tuple[int, Part]]:
    """A private median as a centre, and what is left; it costs a number of nats, and some of epsilon at most."""
    part = left.of(min(left.nats(CENTER_NATS, size), MOST_CENTER))
    rate = part.rate(q)
    key: int = yield Choice(order, q, rate, partial(choice_cost, q, rate, left.neighbors))
    return key, left.less(part)


def short_rank(q: Fraction) -> Fraction:
    """A rank, to a part in 10**9 of the records: ranks of 10**9 records are whole numbers of 64 bits then."""
    return q.limit_denominator(10**9)
