"""Locks for database connections: a connection answers one query at a time, so its threads take turns.

A second query on a connection can end the first (DuckDB), nest in its transaction (PostgreSQL) or change how it reads
text (SQLite). If the connection is unknown, one lock is shared by all.
"""

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

_everybody, _guard = threading.RLock(), threading.Lock()
_locks: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()


def _renew() -> None:
    """Replace all locks in a forked process, which does not have the threads that may hold them."""
    global _everybody, _guard, _locks
    _everybody, _guard, _locks = threading.RLock(), threading.Lock(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def turns(connection: object = None) -> Any:
    """The lock of a connection, to hold from the start of a query until its last row is read."""
    with _guard:
        try:
            return _locks.setdefault(connection, threading.RLock())
        except (
            TypeError
        ):  # no weak references to connections of SQLite, and a DuckDB relation does not expose its connection
            return _everybody
