"""What AboveThreshold costs: the one-sided loss of Definition A.1, the bounds that follow from it, and conversions.

A cost is a pair: pure epsilon, and the range bound eta of the paper's appendix. Costs of AboveThreshold are
homogeneous in (eps1, eps2), so `split` inverts any of them. Printed losses are rounded up.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from flint import ctx

from nobounds.exact import Number, ball, rational, round_up, upper

Neighbors: TypeAlias = Literal["add-remove", "swap"]


def check_neighbors(neighbors: object) -> Neighbors:
    """The name of the neighbour relation, checked."""
    if neighbors not in get_args(Neighbors):
        raise ValueError(f"neighbors must be one of {', '.join(get_args(Neighbors))}, got neighbors={neighbors!r}")
    return neighbors  # type: ignore[return-value]


class Cost(NamedTuple):
    """Pure epsilon and range bound eta, exact."""

    epsilon: Fraction
    eta: Fraction


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """What a release costs, each number rounded up: pure epsilon, zCDP rho, range eta; and for whom it holds.

    >>> PrivacyLoss.of(pure(Fraction(1, 10)), "swap") + PrivacyLoss.of(pure(Fraction(2, 10)), "swap")
    PrivacyLoss(epsilon=0.3, rho=0.0249..., eta=0.6, neighbors='swap', unit='row')
    """

    epsilon: float
    rho: float
    eta: float
    neighbors: Neighbors
    unit: str = "row"

    @classmethod
    def of(cls, cost: Cost, neighbors: Neighbors, unit: str = "row") -> "PrivacyLoss":
        """The loss of one mechanism."""
        return cls.of_parts([cost], neighbors, unit)

    @classmethod
    def of_parts(cls, costs: Sequence[Cost], neighbors: Neighbors, unit: str = "row") -> "PrivacyLoss":
        """The loss of mechanisms run one after the other: epsilon, eta and rho each add up."""
        epsilon, eta = sum((c.epsilon for c in costs), Fraction(0)), sum((c.eta for c in costs), Fraction(0))
        rho = sum((rational(rho_of(cost), "rho") for cost in costs), Fraction(0))
        return cls(round_up(epsilon), round_up(rho), round_up(eta), neighbors, unit)

    def __add__(self, other: "PrivacyLoss") -> "PrivacyLoss":
        """The loss of releasing both."""
        if (self.neighbors, self.unit) != (other.neighbors, other.unit):
            raise ValueError("losses add only for the same neighbour relation and privacy unit")
        epsilon, rho, eta = (
            round_up(rational(a, "loss") + rational(b, "loss"))
            for a, b in ((self.epsilon, other.epsilon), (self.rho, other.rho), (self.eta, other.eta))
        )
        return PrivacyLoss(epsilon, rho, eta, self.neighbors, self.unit)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g} ({self.neighbors}, per {self.unit}; rho {self.rho:.4g})"


def one_sided_loss(
    queries: Sequence[Number], neighbor: Sequence[Number], *, eps1: Number, eps2: Number, sensitivity: Number = 1
) -> Fraction:
    """The largest log-ratio of P(outcome | x) to P(outcome | x') that Algorithm 1 can show (Definition A.1).

    max over k of eps1/D * D_k + eps2/D * max(0, D_k - (f_k(x') - f_k(x))), with D the sensitivity and
    D_k = max over i < k of max(0, f_i(x') - f_i(x)). Never halting is one more outcome; it costs eps1/D * D_k at the
    end.
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
    """Any queries (Lemma A.3, first part)."""
    return Cost(eps1 + 2 * eps2, 2 * eps1 + 4 * eps2)


def monotonic(eps1: Fraction, eps2: Fraction) -> Cost:
    """Monotonic queries; counts under swap with the threshold fixed (Lemma A.3, second part)."""
    return Cost(eps1 + eps2, eps1 + 2 * eps2)


def moving_threshold(q: Fraction, eps1: Fraction, eps2: Fraction) -> Cost:
    """Counts - q n under add-remove, walking up; walking down, give 1 - q (Lemma B.1)."""
    return Cost(max((1 - q) * eps1, q * eps1 + eps2), q * eps1 + eps2 + max(q * eps2, (1 - q) * eps1))


def fixed_threshold(eps1: Fraction, eps2: Fraction) -> Cost:
    """Counts under add-remove with a public constant as the threshold (Lemma B.2)."""
    return Cost(max(eps1, eps2), eps1 + eps2)


def pure(epsilon: Fraction) -> Cost:
    """Any pure mechanism: its range is at most twice its epsilon."""
    return Cost(epsilon, 2 * epsilon)


def worst(costs: Sequence[Cost]) -> Cost:
    """The cost of whichever of several mechanisms is run."""
    return Cost(max(cost.epsilon for cost in costs), max(cost.eta for cost in costs))


def split(cost: Callable[[Fraction, Fraction], Cost], epsilon: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    """(eps1, eps2) in the ratio share : 1 - share that cost exactly epsilon."""
    whole = cost(share, 1 - share).epsilon
    return epsilon * share / whole, epsilon * (1 - share) / whole


def rho_of(cost: Cost) -> float:
    """The smaller of the two rho that a cost implies."""
    return min(rho_from_pure(cost.epsilon), rho_from_range(cost.eta))


def rho_from_pure(epsilon: Fraction) -> float:
    """zCDP of a pure mechanism: epsilon * tanh(epsilon / 2)."""
    with ctx.workprec(256):
        return round_up(upper(ball(epsilon) * (ball(epsilon) / 2).tanh()))


def rho_from_range(eta: Fraction) -> float:
    """zCDP of a range-bounded mechanism: r - 1 - ln r with r = eta / (1 - exp(-eta)) (Harrison and Manurangsi 2025)."""
    if eta == 0:
        return 0.0
    with ctx.workprec(256):
        r = ball(eta) / -(-ball(eta)).expm1()
        return round_up(upper(r - 1 - r.log()))


def rho_monotonic(eps1: Fraction, eps2: Fraction) -> Fraction:
    """zCDP of one AboveThreshold on monotonic queries, as the paper states it (Theorem 1)."""
    return (eps1 / 2 + eps2) ** 2 / 2
