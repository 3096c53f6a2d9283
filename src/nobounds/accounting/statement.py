"""A statement: the state of a budget at one moment, and what may still be charged to it."""

import math

from nobounds.accounting.composition import Rules, Totals, round_down, text_down
from nobounds.accounting.ledger import Charge, Entries, Limits
from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.exact import text_up
from nobounds.values import dataclass


class BudgetExceeded(RuntimeError):
    """A charge does not fit in what is left of a budget. Nothing was charged, and nothing is released."""


class NotCovered(ValueError):
    """A charge is for data with a label that the budget does not cover. Nothing was charged, and nothing is read."""

    label: str = ""  # of the data; for the command line, which states the remedy as a command


@dataclass(frozen=True, slots=True)
class Statement:
    """The state of a budget at one moment; the first charge fixes neighbours, unit and label if nothing else does."""

    terms: Limits
    history: tuple[Charge, ...]
    totals: Totals
    allowed: tuple[str, ...] = ()

    @classmethod
    def of(cls, entries: Entries, count: int, totals: Totals) -> "Statement":
        """The statement of a ledger; `totals` are those of its first `count` charges."""
        for charge in entries.charges[count:]:
            totals += charge.loss
        return cls(entries.terms, entries.charges, totals, entries.labels)

    @property
    def rules(self) -> Rules:
        """The rules for the totals of all charges."""
        return Rules.of(self.terms.epsilon, self.terms.delta, self.terms.rho)

    @property
    def remaining(self) -> float:
        """The amount left, as in `Budget.remaining`."""
        return self.rules.remaining(self.totals)

    @property
    def spent(self) -> PrivacyLoss | None:
        """The loss of all charges, as in `Budget.spent`."""
        return self.rules.spent(self.totals, self.history[0].loss) if self.history else None

    @property
    def neighbors(self) -> Neighbors | None:
        """The neighbour relation, or None before it is fixed."""
        return self.terms.neighbors or (self.history[0].loss.neighbors if self.history else None)

    @property
    def unit(self) -> str | None:
        """The privacy unit, or None before it is fixed."""
        return self.terms.unit or (self.history[0].loss.unit if self.history else None)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the data that the budget covers; none before the first is fixed."""
        charged = (charge.label for charge in self.history)
        return tuple(dict.fromkeys([*self.allowed, *(label for label in charged if label is not None)]))

    @property
    def limit(self) -> str:
        """The limit as text."""
        terms = self.terms
        if terms.epsilon is None:
            return f"rho {text_down(round_down(terms.rho or 0))}"
        at = f" at delta {text_down(round_down(terms.delta))}" if terms.delta is not None else ""
        return f"epsilon {text_down(round_down(terms.epsilon))}{at}"

    @property
    def left(self) -> str:
        """The amount left in words.

        >>> from fractions import Fraction
        >>> Statement(Limits(epsilon=Fraction(2)), (), Totals()).left
        'epsilon 2 of 2 is left'
        """
        kind, amount = self.limit.split(" ", 1)
        return f"{kind} {text_down(self.remaining)} of {amount} is left"

    def check(self, loss: PrivacyLoss, label: str | None = None) -> None:
        """Refuse a loss for other data, neighbours or units, of a kind that does not add up here, or too large."""
        for name, own in (("neighbors", self.neighbors), ("unit", self.unit)):
            if own not in (None, other := getattr(loss, name)):
                raise ValueError(f"the budget is for {name}={own!r}, got {name}={other!r}: make another budget for it")
        self._check_label(label)
        rules = self.rules
        if rules.rho is None and (loss.delta or loss.epsilon == math.inf):
            fix = "make one of rho=, or of epsilon= and delta="
            raise ValueError(f"a budget of epsilon alone takes pure losses, got {loss}: {fix}")
        if rules.basic is None and loss.rho == math.inf:
            fix = "make one of epsilon= and delta="
            raise ValueError(f"a budget of rho takes losses with a rho, got {loss}: {fix}")
        if not rules.allow(self.totals + loss):
            raise BudgetExceeded(f"Budget exceeded: you asked for {self.price(loss)}, but {self._advice(loss)}")

    def _check_label(self, label: str | None) -> None:
        """Refuse data of another name; data without a name state nothing that could be compared."""
        if label is None or not self.labels or label in self.labels:
            return
        error = NotCovered(
            f"the budget covers {_quoted(self.labels)}, and these data are {label!r}: make another budget for them, or "
            f"if both are about the same people, let this one cover them too with budget.allow({label!r})"
        )
        error.label = label
        raise error

    def price(self, loss: PrivacyLoss) -> str:
        """The part of a loss that counts for this budget, as text."""
        if self.terms.epsilon is None or loss.epsilon == math.inf:
            return f"rho {text_up(loss.rho)}"
        return f"epsilon {text_up(loss.epsilon)}" + (f" at delta {text_up(loss.delta)}" if loss.delta else "")

    def _advice(self, loss: PrivacyLoss) -> str:
        if not self.remaining:
            return f"nothing is left of {self.limit}."
        if loss.rho == math.inf and loss.delta:
            return self._advice_at_delta()
        most, kind = text_down(self.remaining), "rho" if self.terms.epsilon is None else "epsilon"
        same = self.price(loss).startswith(kind) and self.terms.delta is None and not loss.delta
        left = self.left.removeprefix(f"{kind} ") if same else self.left
        if self.terms.epsilon is None:
            return f"{left}. Use rho={most} or less."
        rho = round_down(self.rules.rho_left(self.totals))
        gaussian = f", or rho={text_down(rho)} with Gaussian noise" if rho else ""
        return f"{left}. Use epsilon={most} or less{gaussian}."

    def _advice_at_delta(self) -> str:
        """The advice for a loss with a delta and no rho, to which only the rule `basic` applies."""
        rules = self.rules
        epsilon, delta = (round_down(left(self.totals)) for left in (rules.epsilon_left, rules.delta_left))
        if not (epsilon and delta):
            most = text_down(self.remaining)
            return f"nothing is left of {self.limit} for losses with a delta. Without one, use epsilon={most} or less."
        return f"{self.left}. Use epsilon={text_down(epsilon)} at delta={text_down(delta)} or less."

    def __str__(self) -> str:
        spent = "0" if self.spent is None else text_up(self.spent.rho if self.terms.rho else self.spent.epsilon)
        return f"{self.limit}, spent {spent}, remaining {text_down(self.remaining)}"


def _quoted(labels: tuple[str, ...]) -> str:
    shown = [repr(label) for label in labels[:3]]
    return ", ".join(shown) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")
