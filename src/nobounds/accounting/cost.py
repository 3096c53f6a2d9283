"""The cost of a mechanism: one-sided losses (Definition A.1) and the bounds that follow from them, in exact arithmetic.

The pure costs of AboveThreshold are homogeneous in (eps1, eps2), so `split` inverts any of them.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from nobounds.accounting.conversions import rho_from_pure, rho_from_range
from nobounds.exact import Number, rational
from nobounds.values import dataclass

_CONVEX = 2  # the second derivative is (1 - epsilon / 2 tanh(epsilon / 2)) / cosh(epsilon / 2)**2


class Sides(NamedTuple):
    """One-sided losses of one kind of neighbouring pair x, x': the log-ratio lies between -back and forth."""

    forth: Fraction
    back: Fraction


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a mechanism: the exact one-sided losses of each kind of pair, and rho, exact or rounded up.

    Kinds of pairs are kept separate and oriented: x has one record more, or the lower record. When a released answer
    selects among mechanisms, each side takes its own maximum, and so does the range. A mechanism with Gaussian noise
    has no kinds, because its log-ratio is not bounded; its only cost is rho. `span` bounds the range where it is known
    to be less than both sides together, and `rhos` are those of each kind of pair where they are known to differ.
    """

    kinds: tuple[Sides, ...]
    rho: Fraction
    span: Fraction | None = None
    rhos: tuple[Fraction, ...] = ()

    @property
    def is_pure(self) -> bool:
        """Whether epsilon and eta are finite."""
        return bool(self.kinds)

    @property
    def epsilon(self) -> Fraction:
        """The pure epsilon."""
        return max(side for sides in self._bounded() for side in sides)

    @property
    def eta(self) -> Fraction:
        """The range bound of the paper's appendix (Definition A.2)."""
        return self._width if self.span is None else min(self.span, self._width)

    @property
    def _width(self) -> Fraction:
        """The range from the one-sided losses alone, which holds for any earlier answers."""
        return max(sides.forth + sides.back for sides in self._bounded())

    def _bounded(self) -> tuple[Sides, ...]:
        if not self.kinds:
            raise ValueError("a mechanism with Gaussian noise has a rho, but no pure epsilon and no range")
        return self.kinds

    def __add__(self, other: "Cost") -> "Cost":
        """The cost of both mechanisms; a mechanism with one kind of pairs costs the same for every kind."""
        kinds = tuple(Sides(a.forth + b.forth, a.back + b.back) for a, b in aligned([self, other]))
        known = kinds and (self.span, other.span) != (None, None)
        span = max(self.eta + other._width, other.eta + self._width) if known else None
        count = max(len(self.rhos), len(other.rhos))
        each = [cost.rhos or (cost.rho,) * count for cost in (self, other)]
        rhos = tuple(a + b for a, b in zip(*each, strict=True))
        return Cost(kinds, max(rhos, default=self.rho + other.rho), span, rhos)

    def times(self, rows: int) -> "Cost":
        """The cost for `rows` rows added or removed together: losses grow like `rows`, and rho like its square.

        Rows are added one at a time, so each one-sided loss is `rows` times that of one row; for rho see Bun and
        Steinke 2016, Proposition 27.
        """
        if rows == 1:
            return self
        span = None if self.span is None else rows * self.span
        whole = Cost(tuple(Sides(rows * s.forth, rows * s.back) for s in self.kinds), rows**2 * self.rho, span)
        if not self.is_pure:
            return whole
        known = min(rho_from_pure(whole.epsilon), rho_from_range(whole.eta))
        return Cost(whole.kinds, min(whole.rho, rational(known, "rho")), span)


def worst(costs: Sequence[Cost]) -> Cost:
    """The cost of running one of several mechanisms, selected by an earlier released answer."""
    kinds = tuple(Sides(max(s.forth for s in sides), max(s.back for s in sides)) for sides in aligned(costs))
    return Cost(kinds, max(cost.rho for cost in costs))


def both(*costs: Cost) -> Cost:
    """The cost of one mechanism under several kinds of neighbouring pairs."""
    if not all(cost.is_pure for cost in costs):
        return gaussian(max(cost.rho for cost in costs))
    return _cost(*(sides for cost in costs for sides in cost.kinds))


def mirrored(cost: Cost) -> Cost:
    """The cost with the roles of x and x' exchanged."""
    return Cost(tuple(Sides(sides.back, sides.forth) for sides in cost.kinds), cost.rho, cost.span)


def aligned(costs: Sequence[Cost]) -> list[tuple[Sides, ...]]:
    """The kinds of all costs side by side; a cost with one kind repeats it. Empty if a cost has no kinds."""
    if not all(cost.is_pure for cost in costs):
        return []
    count = max(len(cost.kinds) for cost in costs)
    return list(zip(*(cost.kinds * (count if len(cost.kinds) == 1 else 1) for cost in costs), strict=True))


@lru_cache(maxsize=4096)
def _cost(*kinds: Sides) -> Cost:
    without = Cost(kinds, Fraction(0))
    rho = min(rho_from_pure(without.epsilon), rho_from_range(without.eta))
    return Cost(kinds, rational(rho, "rho"))


def one_sided_loss(
    queries: Sequence[Number], neighbor: Sequence[Number], *, eps1: Number, eps2: Number, sensitivity: Number = 1
) -> Fraction:
    """The largest log-ratio of P(outcome | x) to P(outcome | x') of Algorithm 1 (Definition A.1).

    max over k of eps1/D * D_k + eps2/D * max(0, D_k - (f_k(x') - f_k(x))), with D the sensitivity and
    D_k = max over i < k of max(0, f_i(x') - f_i(x)). Never halting is one more outcome, with eps1/D * D_k after the
    last query.
    """
    e1, e2 = rational(eps1, "eps1"), rational(eps2, "eps2")
    scale = rational(sensitivity, "sensitivity")
    so_far = worst = Fraction(0)
    for f, g in zip(queries, neighbor, strict=True):
        rise = rational(g, "query") - rational(f, "query")
        worst = max(worst, e1 * so_far + e2 * max(Fraction(0), so_far - rise))
        so_far = max(so_far, rise)
    return max(worst, e1 * so_far) / scale


def general(eps1: Fraction, eps2: Fraction) -> Cost:
    """The cost of AboveThreshold on any queries (Lemma A.3, first part)."""
    return pure(eps1 + 2 * eps2)


def monotonic(eps1: Fraction, eps2: Fraction) -> Cost:
    """The cost on monotonic queries, such as counts under swap with a fixed threshold (Lemma A.3, second part).

    x is the data set with the larger queries; for a walk up, the one with the lower record.
    """
    return _cost(Sides(eps2, eps1 + eps2))


def moving_threshold(q: Fraction, eps1: Fraction, eps2: Fraction) -> Cost:
    """The cost on counts - q n under add-remove, for a walk up; for a walk down pass 1 - q (Lemma B.1).

    x is the data set with one record more.
    """
    return _cost(Sides(q * eps1 + eps2, max(q * eps2, (1 - q) * eps1)))


def fixed_threshold(eps1: Fraction, eps2: Fraction) -> Cost:
    """The cost on counts under add-remove with a public constant as the threshold (Lemma B.2).

    x is the data set with one record more.
    """
    return _cost(Sides(eps2, eps1))


def pure(epsilon: Fraction) -> Cost:
    """The cost of any epsilon-private mechanism."""
    return _cost(Sides(epsilon, epsilon))


def pure_parts(total: Fraction, ends: Sequence[Fraction], many: int = 1) -> Cost:
    """The cost of a first pure mechanism, its epsilon anywhere between `ends`, and of `many` that share the rest.

    epsilon tanh(epsilon / 2) is convex up to an epsilon of 2, so the largest rho is at an end. Beyond, the whole is
    charged as one mechanism: it has the larger rho, in proportion to epsilon too.
    """
    whole = pure(total)
    if total > _CONVEX:
        return whole
    return Cost(whole.kinds, max(pure(first).rho + many * pure((total - first) / many).rho for first in ends))


def added_only(epsilon: Fraction) -> Cost:
    """The cost under swap of a pure mechanism that uses only the number of records: changing a value costs nothing.

    Its kinds of pairs are a record that changes its value, and one that changes between missing and not missing.
    """
    return _cost(Sides(Fraction(0), Fraction(0)), Sides(epsilon, epsilon))


def range_bounded(epsilon: Fraction) -> Cost:
    """The cost of a pure mechanism of range epsilon, such as the exponential mechanism (Dong et al. 2020).

    The split of the range between the two sides differs from pair to pair, so each side is charged in full; rho is not.
    """
    return Cost((Sides(epsilon, epsilon),), rational(rho_from_range(epsilon), "rho"), epsilon)


def gaussian(rho: Fraction) -> Cost:
    """The cost of a mechanism of which only rho is known: continuous or discrete Gaussian noise.

    rho is sensitivity**2 / (2 variance) (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020, Theorem 4).
    """
    return Cost((), rho)


def gaussian_by_kind(*rhos: Fraction) -> Cost:
    """The cost of Gaussian noise on what changes by more for some kinds of pairs than for others (see `added_only`)."""
    return Cost((), max(rhos), None, rhos)


def split(cost: Callable[[Fraction, Fraction], Cost], epsilon: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    """The (eps1, eps2) in the ratio share : 1 - share that cost exactly epsilon."""
    whole = cost(share, 1 - share).epsilon
    return epsilon * share / whole, epsilon * (1 - share) / whole


def rho_monotonic(eps1: Fraction, eps2: Fraction) -> Fraction:
    """The rho of one AboveThreshold run on monotonic queries, as the paper states it (Theorem 1)."""
    return (eps1 / 2 + eps2) ** 2 / 2
