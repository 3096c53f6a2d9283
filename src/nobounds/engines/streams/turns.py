"""Turns: a connection to a database answers one query at a time, so threads that read by it take turns.

A second query on a connection can end the first (DuckDB), nest in its transaction (PostgreSQL) or change how it reads
text (SQLite). Where nothing tells which connection is used, all take turns with all.
"""

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

_everybody, _guard = threading.RLock(), threading.Lock()
_locks: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()


def _renew() -> None:
    """A forked process has no part in the turns of the threads that it left behind."""
    global _everybody, _guard, _locks
    _everybody, _guard, _locks = threading.RLock(), threading.Lock(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def turns(connection: object = None) -> Any:
    """The lock of a connection, to be held from the start of a query until its last row is read."""
    with _guard:
        try:
            return _locks.setdefault(connection, threading.RLock())
        except TypeError:  # that of SQLite cannot be referred to weakly, and a relation does not tell its own
            return _everybody
