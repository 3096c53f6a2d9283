"""A budget: the total that may be spent on one data set. It is charged before the data are read."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nobounds.accounting.composition import Rules, Totals, round_down, text_down
from nobounds.accounting.ledger import Charge, Entries, Ledger, Limits
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, privacy_parameter, rational, round_up, shown, text_up

_LONGEST = 500


class BudgetExceeded(RuntimeError):
    """A charge does not fit in what is left of a budget. Nothing was charged, and nothing is released."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The state of a budget at one moment; the first charge fixes the neighbours and unit if the terms do not."""

    terms: Limits
    history: tuple[Charge, ...]
    totals: Totals

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
    def limit(self) -> str:
        """The limit as text."""
        terms = self.terms
        if terms.epsilon is None:
            return f"rho {text_down(round_down(terms.rho or 0))}"
        at = f" at delta {text_down(round_down(terms.delta))}" if terms.delta is not None else ""
        return f"epsilon {text_down(round_down(terms.epsilon))}{at}"

    def check(self, loss: PrivacyLoss) -> None:
        """Refuse a loss with other neighbours or another unit, of a kind that does not add up here, or too large."""
        for name, own in (("neighbors", self.neighbors), ("unit", self.unit)):
            if own not in (None, other := getattr(loss, name)):
                raise ValueError(f"the budget is for {name}={own!r}, got {name}={other!r}: make another budget for it")
        rules = self.rules
        if rules.rho is None and (loss.delta or loss.epsilon == math.inf):
            fix = "make one of rho=, or of epsilon= and delta="
            raise ValueError(f"a budget of epsilon alone takes pure losses, got {loss}: {fix}")
        if rules.basic is None and loss.rho == math.inf:
            fix = "make one of epsilon= and delta="
            raise ValueError(f"a budget of rho takes losses with a rho, got {loss}: {fix}")
        if not rules.allow(self.totals + loss):
            raise BudgetExceeded(f"{self.price(loss)} does not fit in the budget of {self.limit}: {self._advice(loss)}")

    def price(self, loss: PrivacyLoss) -> str:
        """The part of a loss that counts for this budget, as text."""
        if self.terms.epsilon is None or loss.epsilon == math.inf:
            return f"rho {text_up(loss.rho)}"
        return f"epsilon {text_up(loss.epsilon)}" + (f" at delta {text_up(loss.delta)}" if loss.delta else "")

    def _advice(self, loss: PrivacyLoss) -> str:
        if not self.remaining:
            return "nothing is left of it"
        if loss.rho == math.inf and loss.delta:
            return self._advice_at_delta()
        most = text_down(self.remaining)
        if self.terms.epsilon is None:
            return f"ask for at most rho {most}"
        rho = round_down(self.rules.rho_left(self.totals))
        return f"ask for at most epsilon {most}" + (f", or rho {text_down(rho)} for Gaussian noise" if rho else "")

    def _advice_at_delta(self) -> str:
        """The advice for a loss with a delta and no rho, to which only the rule `basic` applies."""
        rules = self.rules
        epsilon, delta = (round_down(left(self.totals)) for left in (rules.epsilon_left, rules.delta_left))
        if not (epsilon and delta):
            most = text_down(self.remaining)
            return f"nothing is left of it for losses with a delta; without one, ask for at most epsilon {most}"
        return f"ask for at most epsilon {text_down(epsilon)} at delta {text_down(delta)}"

    def __str__(self) -> str:
        spent = "0" if self.spent is None else text_up(self.spent.rho if self.terms.rho else self.spent.epsilon)
        return f"{self.limit}, spent {spent}, remaining {text_down(self.remaining)}"


class Budget:
    """The total that may be spent on one data set: an epsilon, a rho (zCDP), or an epsilon at a delta.

    A tenth of that delta is reserved for losses with a delta, such as private key selection. With `path` the budget is
    a file on a local disk that processes share; `Budget(path=...)` opens it again, by any name of the file. A charge is
    in the file before `charge` returns, even if the process is killed right after.

    >>> budget = Budget(epsilon=3.0)
    >>> budget.charge(PrivacyLoss(0.5, 0.125, 1.0, "add-remove"), "the median of age")
    >>> budget
    Budget(epsilon 3, spent 0.5, remaining 2.5; in memory)
    >>> budget.charge(PrivacyLoss(2.6, 3.38, 5.2, "add-remove"), "the mean of age")
    Traceback (most recent call last):
    ...
    nobounds.accounting.budget.BudgetExceeded: epsilon 2.6 does not fit in the budget of epsilon 3: ...
    """

    __slots__ = ("_ledger", "_summed")

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        path: str | os.PathLike[str] | None = None,
        neighbors: Neighbors | None = None,
        unit: str | None = None,
    ) -> None:
        terms = _checked_terms(epsilon, delta, rho, neighbors, unit)
        if terms is not None:
            self._ledger = Ledger.in_memory(terms) if path is None else Ledger.create(Path(path), terms)
        elif path is not None:
            self._ledger = Ledger.open(Path(path))
        else:
            raise ValueError("a budget needs epsilon=, rho=, or epsilon= and delta=; or the path= of one to open")
        self._summed: tuple[int, Totals] = (0, Totals())

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge a loss, or raise and charge nothing; `what` goes into the history and must not contain data.

        If a failing disk leaves it uncertain whether the charge was written, this raises too, and the file decides.
        """
        if not isinstance(what, str):
            raise TypeError(f"what must be a text, got what={shown(what)}")
        if len(what) > _LONGEST:
            raise ValueError(f"what must be a text of at most {_LONGEST} characters, got what={shown(what)}")
        counted = _checked_loss(loss)
        self._ledger.append(what, counted, lambda before: self._statement(before).check(counted))

    @property
    def remaining(self) -> float:
        """The amount left, rounded down: an epsilon, or a rho for a budget of rho.

        With a delta it is the largest epsilon that any pure mechanism can still be charged.
        """
        return self._now().remaining

    @property
    def spent(self) -> PrivacyLoss | None:
        """The loss of all charges together, rounded up; None before the first.

        The limit holds for adaptively chosen releases; with a delta, this number is for releases fixed in advance.
        """
        return self._now().spent

    @property
    def history(self) -> tuple[Charge, ...]:
        """Every charge in order, with `when` (UTC), `what` and `loss`."""
        return self._now().history

    def __repr__(self) -> str:
        where = "in memory" if self._ledger.path is None else self._ledger.path.name
        try:
            return f"Budget({self._now()}; {where})"
        except (OSError, RuntimeError, ValueError):  # a repr must not fail, for example because the file was deleted
            return f"Budget(out of reach; {where})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._ledger.path is None:
            raise TypeError(
                "a budget in memory cannot be copied or pickled, since the copy would spend it again: give it a path="
            )
        return _opened, (str(self._ledger.path),)

    def _now(self) -> Statement:
        return self._statement(self._ledger.read())

    def _statement(self, entries: Entries) -> Statement:
        """The entries and their totals. A ledger only grows, so the totals are updated from the last ones."""
        count, totals = self._summed
        if count > len(entries.charges):  # another thread has seen more
            count, totals = 0, Totals()
        statement = _statement(entries, count, totals)
        self._summed = len(entries.charges), statement.totals
        return statement


def read(path: str | os.PathLike[str]) -> Statement:
    """The state of the budget in a file, which may be read-only."""
    return _statement(Ledger.open(Path(path), to_write=False).read(), 0, Totals())


def _opened(path: str) -> Budget:
    return Budget(path=path)


def _statement(entries: Entries, count: int, totals: Totals) -> Statement:
    for charge in entries.charges[count:]:
        totals += charge.loss
    return Statement(entries.terms, entries.charges, totals)


def _checked_terms(epsilon: object, delta: object, rho: object, neighbors: object, unit: object) -> Limits | None:
    """The validated terms, or None if no parameter was given."""
    if (epsilon, delta, rho, neighbors, unit) == (None,) * 5:
        return None
    if (epsilon is None) == (rho is None):
        raise ValueError("a budget needs either epsilon= or rho=; to open one, give its path= alone")
    if rho is not None and delta is not None:
        raise ValueError("a budget of rho has no delta: rho= alone, or epsilon= and delta=")
    if unit is not None and not (isinstance(unit, str) and 0 < len(unit) <= _LONGEST):
        raise ValueError(f"unit must be a word, got unit={shown(unit)}")
    part = None if delta is None else rational(delta, "delta")
    if part is not None and not 0 < part < 1:
        raise ValueError(f"delta must be greater than 0 and less than 1, got delta={shown(delta)}")
    return Limits(
        None if epsilon is None else privacy_parameter(epsilon, "epsilon"),
        part,
        None if rho is None else privacy_parameter(rho, "rho"),
        None if neighbors is None else check_neighbors(neighbors),
        unit,
    )


def _checked_loss(loss: object) -> PrivacyLoss:
    """The validated loss, with each number rounded up to a float."""
    if not isinstance(loss, PrivacyLoss):
        raise TypeError(f"loss must be a PrivacyLoss, got loss={shown(loss)}")
    epsilon, rho, eta, delta = (
        math.inf if (value := getattr(loss, name)) == math.inf else round_up(rational(value, name))
        for name in ("epsilon", "rho", "eta", "delta")
    )
    if min(epsilon, rho, eta, delta) < 0 or delta >= 1 or min(epsilon, rho) == math.inf:
        raise ValueError(f"a loss must be nonnegative, with a finite epsilon or rho and a delta below 1, got {loss!r}")
    if not (isinstance(loss.unit, str) and 0 < len(loss.unit) <= _LONGEST):
        raise ValueError(f"unit must be a word, got unit={shown(loss.unit)}")
    return PrivacyLoss(epsilon, rho, eta, check_neighbors(loss.neighbors), loss.unit, delta)
