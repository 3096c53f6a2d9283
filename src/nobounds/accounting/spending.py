"""What a release may cost: a pure epsilon, or a rho of zCDP; and the largest plan within a rho.

Plans are made for an epsilon. Under zCDP that is a nominal one: the plan with the largest nominal epsilon whose rho is
within the one requested.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeVar, cast

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.exact import Number, privacy_parameter, round_up, shown
from nobounds.values import dataclass

LONGEST = 400  # characters of what a charge is for
_DIGITS = 40  # binary digits of a nominal epsilon
_TRIES = 60
_CLOSE = 1e-4  # of rho that a plan may leave unused


class Chargeable(Protocol):
    """What a release is charged to: a Budget."""

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge the loss, or raise BudgetExceeded."""


def check_budget(budget: object) -> None:
    """TypeError for what cannot be charged."""
    if not hasattr(budget, "charge"):
        name = f"nb.Budget(path={shown(budget)})" if isinstance(budget, str) else "nb.Budget(path='my.budget')"
        raise TypeError(f"budget must be a Budget, got {type(budget).__name__}; open the file of one: {name}")


def charged(loss: PrivacyLoss, budget: Chargeable | None, what: str) -> PrivacyLoss:
    """The loss, charged to a budget if there is one; to be called before the data are read."""
    if budget is not None:
        check_budget(budget)
        budget.charge(loss, what if len(what) <= LONGEST else f"{what[: LONGEST - 3]}...")
    return loss


def labelled(budget: Chargeable | None, label: str | None, name: str | None) -> Chargeable | None:
    """The budget with the label of the data: the one given, or else the one it has, or else the name of the data."""
    if label is not None and (not isinstance(label, str) or not label):
        raise ValueError(f"label must be a name, got label={shown(label)}")
    if budget is not None:
        check_budget(budget)
    noted = getattr(budget, "noted", None)  # what has only `charge` keeps no labels
    own = getattr(getattr(budget, "remark", None), "label", None)
    chosen = label or (name if own is None else None)
    return budget if noted is None or chosen is None else cast(Chargeable, noted(label=chosen))


@dataclass(slots=True)
class Purse:
    """A budget, if there is one, and the loss charged so far, whatever follows."""

    budget: Chargeable | None
    loss: PrivacyLoss | None = None

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge the loss."""
        charged(loss, self.budget, what)
        self.loss = loss if self.loss is None else self.loss + loss


class Priced(Protocol):
    """How a release is made, and what it costs."""

    def cost(self) -> Cost:
        """The cost, from public facts alone."""
        ...


P = TypeVar("P", bound=Priced)


@dataclass(frozen=True, slots=True)
class Spending:
    """What a statistic may spend: an epsilon, or (`zcdp`) a rho."""

    amount: Fraction
    zcdp: bool

    @classmethod
    def of(cls, epsilon: Number | None, rho: Number | None) -> "Spending":
        """Exactly one of the two, checked."""
        if (epsilon is None) == (rho is None):
            got = "neither" if epsilon is None else "both"
            raise ValueError(f"give epsilon (pure) or rho (zCDP), got {got}; for example epsilon=1, or rho=0.1")
        if rho is not None:
            return cls(privacy_parameter(rho, "rho"), True)
        return cls(privacy_parameter(epsilon, "epsilon"), False)

    def each(self, rows: int) -> "Spending":
        """What each of `rows` rows may cost for all of them to cost this: epsilons add up, and roots of rho."""
        return Spending(self.amount / (rows**2 if self.zcdp else rows), self.zcdp)

    def breakdown(self, parts: Mapping[str, Cost], unit: Unit) -> dict[str, Any]:
        """For the parameters of a release: what was spent on which part, for a unit, and how many of its rows count."""
        costs = {name: cost.times(unit.rows) for name, cost in parts.items()}
        spent = {name: round_up(cost.rho if self.zcdp else cost.epsilon) for name, cost in costs.items()}
        split = {name: amount for name, amount in spent.items() if amount}
        rows = {} if unit == Unit() else {"rows_per_unit": unit.rows}
        return {"spending": "rho" if self.zcdp else "epsilon", "split": split, **rows}

    def plan(self, make: Callable[[Fraction, bool], P]) -> P:
        """The plan that `make` returns for an epsilon (and whether it is nominal); for a rho, the largest that fits."""
        if not self.zcdp:
            return make(self.amount, False)
        low, high, best = 0.0, math.inf, None  # nominal epsilons that fit, and that do not
        epsilon = math.sqrt(2 * self.amount)
        for _ in range(_TRIES):
            plan = make(_short(epsilon), True)
            ratio = float(self.amount / plan.cost().rho)
            if plan.cost().rho <= self.amount:
                low, best = epsilon, plan
                if ratio < 1 + _CLOSE:
                    break
            else:
                high = epsilon
            # Costs grow about like the square of epsilon, so this is Newton's step, to just below the aim. They jump
            # where another route is taken; then halving the interval gets there.
            epsilon *= math.sqrt(ratio) * (1 - _CLOSE / 8)
            if not low < epsilon < high:
                epsilon = math.sqrt(low * high) if low else high / 2
        assert best is not None, "a small epsilon has a small rho"
        return best


def nominal(rho: Fraction) -> Fraction:
    """The largest epsilon, except for its last digits, with epsilon**2 / 2 within rho."""
    return Fraction(math.isqrt(math.floor(2 * rho * 2**160)), 2**80)


def rest(total: Fraction, spent: Iterable[Fraction], zcdp: bool) -> Fraction:
    """What is left of an epsilon after parts of it; nominal ones (`zcdp`) add up as squares do, like rho."""
    if not zcdp:
        return total - sum(spent, Fraction(0))
    return _root(total**2 - sum((part**2 for part in spent), Fraction(0)))


def pooled(parts: Iterable[Fraction], zcdp: bool) -> Fraction:
    """The epsilon that costs as much as all parts together; the squares of nominal ones add up."""
    return _root(sum((part**2 for part in parts), Fraction(0))) if zcdp else sum(parts, Fraction(0))


def share(total: Fraction, many: int | Fraction, zcdp: bool) -> Fraction:
    """One of `many` equal parts of an epsilon; the squares of nominal ones add up."""
    return _root(total**2 / many) if zcdp else total / many


def _root(square: Fraction) -> Fraction:
    """The square root, rounded down in its 60th binary digit."""
    digits = 120 + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    digits += digits % 2
    return Fraction(math.isqrt((square.numerator << digits) // square.denominator), 1 << digits // 2)


def _short(x: float) -> Fraction:
    """About x, with few binary digits."""
    mantissa, exponent = math.frexp(x)
    return Fraction(int(mantissa * 2**_DIGITS)) * Fraction(2) ** (exponent - _DIGITS)
