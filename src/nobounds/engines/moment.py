"""A moment: all reads of one release see a database as it was at the first of them.

A release may read its table several times: for each of its statistics, for the number of rows, for a condition. The
door of the statistics opens a moment around each release. A table of a database then begins its transaction with the
first read, uses it for every later one, and ends it when the release is done or has failed.
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeVar


class Transaction(Protocol):
    """Something that is to be ended: a transaction, or a pass over a table in one."""

    def close(self) -> None:
        """End it."""
        ...


T = TypeVar("T", bound=Transaction | None)


class Moment:
    """The transactions of one release, by the functions that begin them; a release inside another one shares them.

    What was begun last ends first. No end raises an error, whatever has become of the database.
    """

    __slots__ = ("_begun", "_token")

    def __init__(self) -> None:
        self._begun: dict[Callable[[], Any], Any] = {}
        self._token: Any = None

    def __enter__(self) -> Self:
        if _now.get() is None:
            self._token = _now.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is None:
            return
        _now.reset(self._token)
        if self._begun:
            with ExitStack() as stack:
                for each in self._begun.values():
                    if each is not None:
                        stack.callback(_close, each)
            self._begun.clear()

    def held(self, begin: Callable[[], T]) -> T:
        """What `begin` returns at its first call in this moment."""
        if begin not in self._begun:
            self._begun[begin] = begin()
        transaction: T = self._begun[begin]
        return transaction


def _close(transaction: Transaction) -> None:
    with suppress(Exception):
        transaction.close()


_now: ContextVar[Moment | None] = ContextVar("nobounds_moment", default=None)


def held(begin: Callable[[], T]) -> T:
    """A transaction, begun once in a moment; outside of one, each call begins another, which ends with its last use."""
    moment = _now.get()
    return begin() if moment is None else moment.held(begin)


def ensure(begin: Callable[[], Transaction | None]) -> None:
    """Begin a transaction on somebody's connection, unless that is done; outside of a moment nobody would end it."""
    moment = _now.get()
    if moment is not None:
        moment.held(begin)
