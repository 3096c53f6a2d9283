"""The ledger of a budget: its terms, and its append-only charges.

A charge is checked and written in one transaction, which is committed before `append` returns. Each row is sealed with
a hash over its contents and the previous seal, so a flipped bit on the disk is detected.
"""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.accounting.store import Store, damaged
from nobounds.values import dataclass

if TYPE_CHECKING:
    from sqlite3 import Connection  # imported when a ledger is made

_TABLES = [  # numbers are stored as text, exactly
    "CREATE TABLE terms (ledger TEXT, epsilon TEXT, delta TEXT, rho TEXT, neighbors TEXT, unit TEXT, seal TEXT)",
    "CREATE TABLE charges (number INTEGER PRIMARY KEY, made TEXT, what TEXT,"
    " epsilon TEXT, rho TEXT, eta TEXT, delta TEXT, neighbors TEXT, unit TEXT,"
    " label TEXT, note TEXT, author TEXT, seal TEXT)",
    "CREATE TABLE labels (number INTEGER PRIMARY KEY, made TEXT, label TEXT, seal TEXT)",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a budget, its neighbours and its privacy unit; None where not given."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    neighbors: Neighbors | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What the user says about a charge: the label of the data, a note and who makes it; None where not given."""

    label: str | None = None
    note: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """One entry: when it was made (UTC), what it was for, its loss, and what the user says about it."""

    when: datetime
    what: str
    loss: PrivacyLoss
    label: str | None = None
    note: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """The contents of a ledger at one moment, and the seal of its last charge; `labels` are the allowed ones."""

    terms: Limits
    charges: tuple[Charge, ...]
    seal: str
    labels: tuple[str, ...] = ()


class Ledger:
    """Limits and charges, in a file or in memory."""

    def __init__(self, store: Store) -> None:
        """Read the ledger in a store and check all of its rows."""
        self._store = store
        self._known: Entries | None = None  # rows that were read and checked are not read again
        with store.transaction(to_write=False) as connection:
            tables = [text for (text,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
            if tables != _TABLES or connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
                raise damaged(self.path)
            self._entries(connection)

    @classmethod
    def in_memory(cls, terms: Limits, labels: tuple[str, ...] = ()) -> "Ledger":
        """A ledger in memory, which ends with the process."""
        return cls(Store.in_memory(lambda connection: _begin(connection, terms, labels)))

    @classmethod
    def create(cls, path: Path, terms: Limits, labels: tuple[str, ...] = ()) -> "Ledger":
        """A ledger in a new file."""
        Store.create(path, lambda connection: _begin(connection, terms, labels))
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, to_write: bool = True) -> "Ledger":
        """The ledger in a file. A file that is refused is not modified."""
        return cls(Store.open(path, to_write=to_write))

    @property
    def path(self) -> Path | None:
        """The file, or None for a ledger in memory."""
        return self._store.path

    @property
    def name(self) -> str:
        """The name for messages."""
        return "in memory" if self.path is None else self.path.name

    @property
    def address(self) -> str | None:
        """How to open it again; None for a ledger in memory."""
        return None if self.path is None else str(self.path)

    def read(self) -> Entries:
        """The terms and all charges."""
        with self._store.transaction(to_write=False) as connection:
            return self._entries(connection)

    def append(
        self, what: str, loss: PrivacyLoss, check: Callable[[Entries], None], remark: Remark | None = None
    ) -> None:
        """Write one more charge, unless `check` raises on the entries before it."""
        with self._store.transaction(to_write=True) as connection:
            before = self._entries(connection)
            check(before)
            numbers = (repr(number) for number in (loss.epsilon, loss.rho, loss.eta, loss.delta))
            said = (None, None, None) if remark is None else (remark.label, remark.note, remark.author)
            row = (len(before.charges) + 1, _now(), what, *numbers, loss.neighbors, loss.unit, *said)
            _insert(connection, "charges", row, before.seal)

    def allow(self, label: str) -> None:
        """Write one more label of data that may be charged for, unless it is there."""
        with self._store.transaction(to_write=True) as connection:
            labels, seal = self._labels(connection, _sealed_terms(connection, self.path)[-1])
            if label not in labels:
                _insert(connection, "labels", (len(labels) + 1, _now(), label), seal)

    def _entries(self, connection: "Connection") -> Entries:
        """All entries. New rows are checked, and of the rows read before, only that the last one is unchanged."""
        terms = _sealed_terms(connection, self.path)
        known = self._known or Entries(limits_of(terms), (), terms[-1])
        rows = connection.execute("SELECT * FROM charges WHERE number >= ? ORDER BY number", (len(known.charges),))
        last = next(rows, [None])[-1] if known.charges else terms[-1]
        if last != known.seal:
            raise ValueError(f"{self.path} is no longer the ledger that it was: its charges were replaced")
        charges: list[Charge] = []
        seal = known.seal
        for *row, new in rows:
            if row[0] != len(known.charges) + len(charges) + 1 or new != _seal(seal, row):
                raise damaged(self.path)
            charges.append(charge_of(row))
            seal = new
        labels, _ = self._labels(connection, terms[-1])
        if charges or labels != known.labels:
            known = Entries(known.terms, known.charges + tuple(charges), seal, labels)
        self._known = known
        return known

    def _labels(self, connection: "Connection", seal: str) -> tuple[tuple[str, ...], str]:
        """The allowed labels, and the seal of the last one; the first is sealed with the seal of the terms."""
        labels: list[str] = []
        for *row, new in connection.execute("SELECT * FROM labels ORDER BY number"):
            if row[0] != len(labels) + 1 or new != _seal(seal, row):
                raise damaged(self.path)
            labels.append(row[-1])
            seal = new
        return tuple(labels), seal


def _sealed_terms(connection: "Connection", path: Path | None) -> Any:
    """The row of the terms, checked."""
    terms = connection.execute("SELECT * FROM terms").fetchall()
    if len(terms) != 1 or terms[0][-1] != _seal("", terms[0][:-1]):
        raise damaged(path)
    return terms[0]


def _begin(connection: "Connection", terms: Limits, labels: tuple[str, ...]) -> None:
    """Fill a new database. Each ledger gets a random name, so no two have the same seals."""
    for table in _TABLES:
        connection.execute(table)
    numbers = (None if number is None else str(number) for number in (terms.epsilon, terms.delta, terms.rho))
    seal = _insert(connection, "terms", (os.urandom(16).hex(), *numbers, terms.neighbors, terms.unit), "")
    for number, label in enumerate(labels, 1):
        seal = _insert(connection, "labels", (number, _now(), label), seal)


def _insert(connection: "Connection", table: str, row: tuple[Any, ...], previous: str) -> str:
    """Write a row, and return its seal."""
    seal = _seal(previous, row)
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * (len(row) + 1))})", (*row, seal))
    return seal


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _seal(previous: str, row: Any) -> str:
    """A hash over a row and the previous seal."""
    import hashlib

    return hashlib.sha256(json.dumps([previous, *row], default=repr).encode()).hexdigest()


def limits_of(row: Any) -> Limits:
    """The limits in the row of the terms."""
    _, *numbers, neighbors, unit, _ = row
    epsilon, delta, rho = (None if text is None else Fraction(text) for text in numbers)
    return Limits(epsilon, delta, rho, neighbors, unit)


def charge_of(row: Any) -> Charge:
    """The charge in a row, without its seal."""
    _, made, what, *numbers, neighbors, unit, label, note, author = row
    epsilon, rho, eta, delta = map(float, numbers)
    loss = PrivacyLoss(epsilon, rho, eta, neighbors, unit, delta)
    return Charge(datetime.fromisoformat(made), what, loss, label, note, author)
