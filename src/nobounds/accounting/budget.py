"""A budget: the total that may be spent on one data set. It is charged before the data are read."""

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nobounds.accounting.composition import Totals
from nobounds.accounting.ledger import Charge, Entries, Ledger, Limits, Remark
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.postgres.ledger import PostgresLedger, has_password, is_address
from nobounds.accounting.statement import BudgetExceeded, NotCovered, Statement
from nobounds.exact import Number, privacy_parameter, rational, round_up, shown
from nobounds.values import dataclass

__all__ = ["Budget", "BudgetExceeded", "NotCovered", "NotedBudget", "Statement", "read"]

_LONGEST = 500


class Budget:
    """The total that may be spent on one data set: an epsilon, a rho (zCDP), or an epsilon at a delta.

    A tenth of that delta is reserved for losses with a delta, such as private key selection. With `path` the budget is
    a file on a local disk that processes share; `Budget(path=...)` opens it again, by any name of the file, and
    `Budget.open_or_create` does either. A charge is in the file before `charge` returns, even if the process is killed
    right after. `path="postgresql://host/database#name"` is a budget in PostgreSQL, which several analysts share.

    labels: the names of the data that the budget covers; others are refused until `allow`. By default the name in the
    first charge that has one: a file's, or the `label` of a table.

    >>> budget = Budget(epsilon=3.0)
    >>> budget.charge(PrivacyLoss(0.5, 0.125, 1.0, "add-remove"), "the median of age")
    >>> budget
    Budget(epsilon 3, spent 0.5, remaining 2.5; in memory)
    >>> budget.charge(PrivacyLoss(2.6, 3.38, 5.2, "add-remove"), "the mean of age")
    Traceback (most recent call last):
    ...
    nobounds.accounting.statement.BudgetExceeded: Budget exceeded: ... 2.5 of 3 is left. Use epsilon=2.5 or less.
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
        labels: Iterable[str] = (),
    ) -> None:
        terms, covered = _checked_terms(epsilon, delta, rho, neighbors, unit), _checked_labels(labels)
        if terms is None and covered:
            raise ValueError("labels are for a new budget; to let an open one cover more data, use budget.allow")
        self._ledger: Ledger | PostgresLedger
        if terms is not None and path is None:
            self._ledger = Ledger.in_memory(terms, covered)
        elif terms is not None and path is not None:
            self._ledger = _created(path, terms, covered)
        elif path is not None:
            self._ledger = PostgresLedger(path) if is_address(path) else Ledger.open(Path(path))
        else:
            raise ValueError("a budget needs epsilon=, rho=, or epsilon= and delta=; or the path= of one to open")
        self._summed: tuple[int, Totals] = (0, Totals())

    @classmethod
    def open_or_create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        unit: str | None = None,
        labels: Iterable[str] = (),
    ) -> "Budget":
        """The budget in the file at `path`, which is created if there is none.

        A file with another total, and with other neighbours, units or labels than those given, is refused.
        """
        terms, covered = _checked_terms(epsilon, delta, rho, neighbors, unit), _checked_labels(labels)
        if terms is None:
            raise ValueError("open_or_create needs epsilon=, rho=, or epsilon= and delta=; Budget(path=...) opens")
        if is_address(path) or not os.path.lexists(path):
            try:
                return cls(
                    epsilon=epsilon, delta=delta, rho=rho, path=path, neighbors=neighbors, unit=unit, labels=covered
                )
            except (FileExistsError, PermissionError):  # another process was faster, or a role may not create one
                if not is_address(path) and not os.path.lexists(path):
                    raise
        opened = cls(path=path)
        _require_same(opened._now(), terms, covered, opened._ledger.name)
        return opened

    def share(
        self, role: str, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
    ) -> None:
        """Let a role of PostgreSQL charge up to this much of a budget there, and do nothing else with it.

        The server refuses what the role's charges together would exceed; all roles share what the budget has. No role
        decides what the budget is for: its neighbours and unit have to be stated, a charge is of more than 0, and the
        owner names the first data, if any are named.
        """
        terms = _checked_terms(epsilon, delta, rho, None, None)
        if terms is None:
            raise ValueError("a share needs epsilon=, rho=, or epsilon= and delta=")
        if not isinstance(self._ledger, PostgresLedger):
            raise ValueError("shares are for a budget in PostgreSQL; a file belongs to all who may write to it")
        whole = self._now().terms
        if whole.neighbors is None or whole.unit is None:
            raise ValueError(
                "shares are for a budget whose neighbors and unit are stated, since the first charge would fix them: "
                "make one with neighbors= and unit="
            )
        if (terms.epsilon is None) != (whole.epsilon is None):
            raise ValueError("a share of a budget of epsilon is an epsilon, and of one of rho a rho")
        self._ledger.share(_checked_text(role, "role"), terms)

    def charge(self, loss: PrivacyLoss, what: str, *, remark: Remark | None = None) -> None:
        """Charge a loss, or raise and charge nothing; `what` goes into the history and must not contain data.

        If a failing disk leaves it uncertain whether the charge was written, this raises too, and the file decides.
        """
        if not isinstance(what, str):
            raise TypeError(f"what must be a text, got what={shown(what)}")
        if len(what) > _LONGEST:
            raise ValueError(f"what must be a text of at most {_LONGEST} characters, got what={shown(what)}")
        counted, said = _checked_loss(loss), remark or Remark()
        self._ledger.append(what, counted, lambda before: self._statement(before).check(counted, said.label), said)

    def noted(self, note: str | None = None, *, author: str | None = None, label: str | None = None) -> "NotedBudget":
        """The same budget, to be passed as `budget=`, whose charges carry a note, an author or the label of the data.

        >>> budget = Budget(epsilon=3)
        >>> budget.noted("annual report", author="Ada", label="visits").charge(PrivacyLoss.pure(1), "a count")
        >>> charge = budget.history[0]
        >>> charge.note, charge.author, charge.label
        ('annual report', 'Ada', 'visits')
        """
        return NotedBudget(self, Remark()).noted(note, author=author, label=label)

    def allow(self, label: str) -> None:
        """Let the budget cover data of another name too, because they are about the same people."""
        self._ledger.allow(_checked_text(label, "label"))

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
        """Every charge in order: `when` (UTC), `what`, `loss`, and where given `label`, `note` and `author`."""
        return self._now().history

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the data that the budget covers; none before the first charge that has one."""
        return self._now().labels

    def __repr__(self) -> str:
        where = self._ledger.name
        try:
            return f"Budget({self._now()}; {where})"
        except (OSError, RuntimeError, ValueError):  # a repr must not fail, for example because the file was deleted
            return f"Budget(out of reach; {where})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._ledger.address is None:
            raise TypeError(
                "a budget in memory cannot be copied or pickled, since the copy would spend it again: give it a path="
            )
        if is_address(self._ledger.address) and has_password(self._ledger.address):
            raise TypeError(
                "this budget cannot be copied or pickled, since the copy would hold a password: "
                "leave it out of the address, and set PGPASSWORD or use a password file"
            )
        return _opened, (self._ledger.address,)

    def _now(self) -> Statement:
        return self._statement(self._ledger.read())

    def _statement(self, entries: Entries) -> Statement:
        """The entries and their totals. A ledger only grows, so the totals are updated from the last ones."""
        count, totals = self._summed
        if count > len(entries.charges):  # another thread has seen more
            count, totals = 0, Totals()
        statement = Statement.of(entries, count, totals)
        self._summed = len(entries.charges), statement.totals
        return statement


@dataclass(frozen=True, slots=True)
class NotedBudget:
    """A budget whose charges carry a note, an author or a label; made by `Budget.noted`."""

    budget: Budget
    remark: Remark

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge a loss to the budget, with the remark."""
        self.budget.charge(loss, what, remark=self.remark)

    def noted(self, note: str | None = None, *, author: str | None = None, label: str | None = None) -> "NotedBudget":
        """The same with another note, author or label; those that are None stay."""
        given = {"note": note, "author": author, "label": label}
        new = {name: _checked_text(text, name) for name, text in given.items() if text is not None}
        return NotedBudget(self.budget, replace(self.remark, **new))


def read(path: str | os.PathLike[str]) -> Statement:
    """The state of the budget in a file, which may be read-only, or in PostgreSQL."""
    ledger = PostgresLedger(path) if is_address(path) else Ledger.open(Path(path), to_write=False)
    return Statement.of(ledger.read(), 0, Totals())


def _created(path: str | os.PathLike[str], terms: Limits, labels: tuple[str, ...]) -> Ledger | PostgresLedger:
    if is_address(path):
        return PostgresLedger.create(path, terms, labels)
    return Ledger.create(Path(path), terms, labels)


def _opened(path: str) -> Budget:
    return Budget(path=path)


def _require_same(kept: Statement, terms: Limits, labels: tuple[str, ...], name: str) -> None:
    """Refuse a file with another total, or with other neighbours, units or labels than those given."""
    given = Statement(terms, (), Totals())
    if (kept.terms.epsilon, kept.terms.delta, kept.terms.rho) != (terms.epsilon, terms.delta, terms.rho):
        raise ValueError(f"{name} is a budget of {kept.limit}, not of {given.limit}: open it with Budget(path=...)")
    for what in ("neighbors", "unit"):
        own, other = getattr(kept, what), getattr(given, what)
        if other not in (None, own):
            is_for = f"for no {what} yet" if own is None else f"for {what}={own!r}"
            raise ValueError(f"{name} is a budget {is_for}, not for {what}={other!r}: make another one")
    for label in labels:
        if label not in kept.labels:
            covered = ", ".join(map(repr, kept.labels)) or "no data by name"
            raise ValueError(f"{name} covers {covered}, and not {label!r}: budget.allow({label!r}) adds it")


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


def _checked_labels(labels: object) -> tuple[str, ...]:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"labels must be a list of names, got labels={shown(labels)}")
    return tuple(dict.fromkeys(_checked_text(label, "label") for label in labels))


def _checked_text(text: object, name: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a text, got {name}={shown(text)}")
    if not 0 < len(text) <= _LONGEST:
        raise ValueError(f"{name} must have from 1 to {_LONGEST} characters, got {name}={shown(text)}")
    return text
