"""The desk of the studio: one table, its budget, and the releases made from them.

A form that spends carries a key, which is valid for one release. The same form sent twice returns the same release, and
an unknown key spends nothing. Reloading a page, or sending a form from before a crash, is therefore never charged.
"""

import secrets
from collections import OrderedDict
from threading import Lock

import nobounds as nb
from nobounds.accounting.budget import Statement, read
from nobounds.accounting.spending import Purse
from nobounds.engines.refusals import raise_alone
from nobounds.engines.schemas.known import is_numeric
from nobounds.studio.asks import Ask, Origin
from nobounds.studio.shelf import KeptRelease, Shelf

_KEYS = 10_000  # remembered at most


class NotCharged(ValueError):
    """The form cannot be used; nothing was charged."""


class Charged(RuntimeError):
    """The budget was charged, but the release failed."""


class Desk:
    """One table, its budget, and its releases. Releases are made one at a time."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.shelf = Shelf(origin.budget.with_name(f"{origin.budget.name}.releases"))
        self._keys: OrderedDict[str, KeptRelease | None] = OrderedDict()
        self._lock = Lock()

    def columns(self) -> dict[str, str]:
        """The columns and their kinds; public."""
        return self.origin.table().columns

    def numeric(self) -> list[str]:
        """The numeric columns, without the unit."""
        others = {self.origin.unit}
        return [name for name, kind in self.columns().items() if is_numeric(kind) and name not in others]

    def statement(self) -> Statement | None:
        """The statement of the budget, or None if there is no budget yet."""
        return read(self.origin.budget) if self.origin.budget.exists() else None

    def key(self) -> str:
        """A new key for a form."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._keys[key] = None
            while len(self._keys) > _KEYS:
                self._keys.popitem(last=False)
        return key

    def release(self, key: str, ask: Ask) -> KeptRelease:
        """Charge the budget, read the data and keep the release; a used key returns the release it was used for."""
        with self._lock:
            if key not in self._keys:
                raise NotCharged(
                    "this form is from before the studio was started; nothing was charged by sending it now: "
                    "look at the history, and go on with the new form"
                )
            done = self._keys[key]
            if done is not None and done.ask == ask:
                return done
            if done is not None:
                raise NotCharged(
                    "this form was good for one release, which was made, and it has changed since; nothing more was "
                    "charged: look at the history, and go on with the new form"
                )
            purse = Purse(nb.Budget(path=self.origin.budget).noted(label=self.origin.label))
            try:
                release = ask.release(self.origin.table(purse))
            except Exception:
                if purse.loss is None:
                    raise
                del self._keys[key]  # its release is paid for
                # The original error may quote a record, and uncaught errors are logged: it is left out.
                raise_alone(
                    Charged(
                        f"the budget was charged ({purse.loss}) before the data were read, and then there was no answer"
                    )
                )
            del self._keys[key]  # the key is used up, whatever happens to the release
            kept = self.shelf.put(ask, release)
            self._keys[key] = kept
            return kept
