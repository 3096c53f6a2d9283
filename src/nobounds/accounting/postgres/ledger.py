"""The ledger of a budget in PostgreSQL, with the promises of one in a file.

A charge is made on a connection of its own, which commits before `append` returns: a rollback of the caller's
transaction does not undo it. The server checks a charge once more, with the budget locked.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nobounds.accounting.composition import Rules
from nobounds.accounting.ledger import Charge, Entries, Limits, Remark, charge_of, limits_of
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.postgres import functions
from nobounds.accounting.statement import BudgetExceeded

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_SCHEMES = ("postgresql://", "postgres://")
_NAME = "budget"  # of a budget whose address has none
_PATIENCE = 60_000  # milliseconds to wait for the lock


def is_address(path: object) -> "TypeIs[str]":
    """Whether a path is the address of a budget in PostgreSQL."""
    return isinstance(path, str) and path.startswith(_SCHEMES)


class PostgresLedger:
    """Limits and charges in PostgreSQL; `address` is postgresql://host/database#name."""

    def __init__(self, address: str) -> None:
        """Read the ledger and check all of its rows."""
        self.address = address
        self._url, name = _parted(address)
        self._name = name or _NAME
        self._known: Entries | None = None
        self.read()

    @classmethod
    def create(cls, address: str, terms: Limits, labels: tuple[str, ...] = ()) -> "PostgresLedger":
        """A new ledger; FileExistsError if there is one of this name."""
        url, name = _parted(address)
        name = name or _NAME
        row = (os.urandom(16).hex(), *(_text(each) for each in (terms.epsilon, terms.delta, terms.rho)))
        row = (*row, terms.neighbors, terms.unit)
        seal = _seal(*row)
        limits = _limits(terms)
        with _connected(url, name) as connection:
            made = connection.execute(
                "insert into nobounds.budgets values (%s, %s, %s, %s, %s, %s, %s, %s,"
                " row(%s, %s, %s, %s, %s, %s)::nobounds.limits, session_user) on conflict do nothing",
                (name, *row, seal, *limits),
            )
            if not made.rowcount:
                raise FileExistsError(f"{shown_address(address)} exists already: open it with Budget(path=...)")
            for number, label in enumerate(labels, 1):
                seal = _add_label(connection, name, number, label, seal)
        return cls(address)

    @property
    def name(self) -> str:
        """The name for messages, without a password."""
        return shown_address(self.address)

    def read(self) -> Entries:
        """The terms and all charges."""
        with self._connected() as connection:
            return self._entries(connection)

    def append(
        self, what: str, loss: PrivacyLoss, check: Callable[[Entries], None], remark: Remark | None = None
    ) -> None:
        """Write one more charge, unless `check` raises on the entries before it, or the server refuses it."""
        said = remark or Remark()
        numbers = [repr(number) for number in (loss.epsilon, loss.rho, loss.eta, loss.delta)]
        row = (self._name, what, *numbers, loss.neighbors, loss.unit, said.label, said.note, said.author)
        if any("\0" in text for text in row if text is not None):
            raise ValueError("a text in PostgreSQL cannot have a zero byte")
        try:
            with self._connected() as connection:
                check(self._entries(connection))
                connection.execute(f"select nobounds.charge({', '.join(['%s::text'] * len(row))})", row)
        except _Refused as refused:
            check(self.read())  # another charge was faster: this says what is left
            raise refused.error from None

    def allow(self, label: str) -> None:
        """Write one more label of data that may be charged for, unless it is there; for the owner of the budget."""
        with self._connected() as connection:
            connection.execute("select from nobounds.budgets where name = %s for update", (self._name,))
            terms = self._terms(connection)
            labels, seal = self._labels(connection, terms[-1])
            if label not in labels:
                _add_label(connection, self._name, len(labels) + 1, label, seal)

    def share(self, role: str, terms: Limits) -> None:
        """Let a role charge up to a share of the budget; for the owner of the budget."""
        from psycopg import sql

        with self._connected() as connection:
            connection.execute(sql.SQL(functions.GRANT).format(role=sql.Identifier(role)))
            connection.execute(
                "insert into nobounds.shares values (%s, %s, row(%s, %s, %s, %s, %s, %s)::nobounds.limits)"
                " on conflict (budget, role) do update set limits = excluded.limits",
                (self._name, role, *_limits(terms)),
            )

    def _connected(self) -> Any:
        return _connected(self._url, self._name)

    def _entries(self, connection: Any) -> Entries:
        """All entries. New rows are checked, and of the rows read before, only that the last one is unchanged."""
        terms = self._terms(connection)
        known = self._known or Entries(limits_of(terms), (), terms[-1])
        rows = connection.execute("select * from nobounds.charges_of(%s, %s)", (self._name, len(known.charges)))
        last = (rows.fetchone() or [None])[-1] if known.charges else terms[-1]
        if last != known.seal:
            raise ValueError(f"{self.name} is no longer the ledger that it was: its charges were replaced")
        charges, seal = list[Charge](), known.seal
        for *row, new in rows:
            if row[0] != len(known.charges) + len(charges) + 1 or new != _seal(seal, *row):
                raise self._damaged()
            charges.append(charge_of(row[:-1]))
            seal = new
        labels, _ = self._labels(connection, terms[-1])
        self._known = Entries(known.terms, known.charges + tuple(charges), seal, labels)
        return self._known

    def _terms(self, connection: Any) -> Any:
        rows = connection.execute("select * from nobounds.terms(%s)", (self._name,)).fetchall()
        if not rows:
            raise FileNotFoundError(f"there is no budget {self.name}, or this role has no share in it")
        if len(rows) > 1 or rows[0][-1] != _seal(*rows[0][:-1]):
            raise self._damaged()
        return rows[0]

    def _labels(self, connection: Any, seal: str) -> tuple[tuple[str, ...], str]:
        labels: list[str] = []
        for *row, new in connection.execute("select * from nobounds.labels_of(%s)", (self._name,)):
            if row[0] != len(labels) + 1 or new != _seal(seal, *row):
                raise self._damaged()
            labels.append(row[-1])
            seal = new
        return tuple(labels), seal

    def _damaged(self) -> ValueError:
        return ValueError(f"{self.name} is damaged: bring back a copy that holds every charge, or count it as spent")


def install(address: str) -> None:
    """Create the schema `nobounds`, or bring its functions up to date; for the role that is to own all budgets."""
    url, name = _parted(address)
    with _connected(url, name) as connection:
        connection.execute(functions.INSTALL)


class _Refused(Exception):
    """The server has refused a charge that looked right a moment before."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


@contextmanager
def _connected(url: str, name: str) -> Iterator[Any]:
    """A transaction on a connection of its own, committed at the end and safe on the disk of the server."""
    psycopg = _driver()
    try:
        with psycopg.connect(url) as connection:
            connection.isolation_level = (
                psycopg.IsolationLevel.READ_COMMITTED
            )  # a charge sees those of others before it
            connection.execute("set synchronous_commit = on")
            connection.execute(f"set lock_timeout = {_PATIENCE}")
            connection.execute("set search_path = pg_catalog, pg_temp")
            yield connection
    except psycopg.Error as error:
        raise _plain(error, shown_address(f"{url}#{name}")) from None


def _plain(error: Any, name: str) -> Exception:
    """An error of the server as a built-in one."""
    state = error.sqlstate or ""
    if state == functions.EXCEEDED:
        return _Refused(BudgetExceeded("Budget exceeded: another charge was made just now."))
    if state == functions.NO_SHARE:
        return BudgetExceeded("Budget exceeded: the share of this role in the budget does not cover it.")
    if state in (functions.OTHER_UNIT, functions.NOT_COVERED, functions.WRONG):
        return _Refused(ValueError(str(error.diag.message_primary)))
    if state == functions.NO_BUDGET or state in ("3F000", "42P01", "42883"):
        return FileNotFoundError(f"there are no budgets in {name}: nobounds budget install makes a place for them")
    if state == functions.NOT_OURS:
        return PermissionError(f"{error.diag.message_primary} ({name})")
    if state == "42501":
        return PermissionError(f"this role may not do that with {name}; the owner of the budget can give it a share")
    if state == "42704":
        return ValueError(f"there is no such role in {name}")
    if state == "55P03":
        return TimeoutError(f"{name} was in use for {_PATIENCE // 1000} seconds: try again")
    return OSError(f"{name} cannot be used, and without it nothing is released ({type(error).__name__})")


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise ImportError("a budget in PostgreSQL needs psycopg: pip install 'nobounds[postgres]'") from None
    return psycopg


def _parted(address: str) -> tuple[str, str]:
    """Where the server is, and the name of the budget."""
    url, _, name = address.partition("#")
    return url, name


def shown_address(address: str) -> str:
    """An address without user and password."""
    url, name = _parted(address)
    parts = urlsplit(url)
    return f"postgresql://{parts.hostname or ''}{parts.path}" + (f"#{name}" if name else "")


def has_password(address: str) -> bool:
    """Whether an address has a password in it."""
    from psycopg.conninfo import conninfo_to_dict

    return conninfo_to_dict(_parted(address)[0]).get("password") is not None


def _limits(terms: Limits) -> list[str | None]:
    """The rules for the sums of charges, as numerators and denominators."""
    rules = Rules.of(terms.epsilon, terms.delta, terms.rho)
    fractions = (*((None, None) if rules.basic is None else rules.basic), rules.rho)
    return [None if each is None else str(part) for each in fractions for part in _ratio(each)]


def _ratio(fraction: Fraction | None) -> tuple[int | None, int | None]:
    return (None, None) if fraction is None else (fraction.numerator, fraction.denominator)


def _add_label(connection: Any, name: str, number: int, label: str, seal: str) -> str:
    made = datetime.now(UTC).isoformat(timespec="microseconds")
    new = _seal(seal, number, made, label)
    connection.execute("insert into nobounds.labels values (%s, %s, %s, %s, %s)", (name, number, made, label, new))
    return new


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)


def _seal(*parts: object) -> str:
    """A hash over the previous seal and a row, as the function `nobounds.seal` computes it."""
    texts = (None if part is None else str(part) for part in parts)
    return sha256(",".join("-" if text is None else f"{len(text)}:{text}" for text in texts).encode()).hexdigest()
