"""A moment: all reads of one release see a database as it was at the first of them.

A release may read its table several times: for each of its statistics, for the number of rows, for a condition. The
door of the statistics runs each release at a moment. A table of a database then begins its transaction with the
first read, uses it for every later one, and ends it when the release is done or has failed.

An interrupt, which Python raises after any call, leaves nothing open and no lock held: what has begun is noted before
it begins, what an interrupt keeps from ending is ended once more, and the context of a release ends with it.
"""

from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import Any, Protocol, TypeVar


class Transaction(Protocol):
    """Something that is to be ended: a transaction, or a pass over a table in one."""

    def close(self) -> None:
        """End it."""
        ...


R = TypeVar("R")
T = TypeVar("T", bound=Transaction | None)

Begun = dict[Callable[[], Any], Any]
"""The transactions of one release, by the functions that begin them."""

_now: ContextVar[Begun | None] = ContextVar("nobounds_moment", default=None)


def at_one_moment(release: Callable[[], R]) -> R:
    """What a release returns, all of whose reads see one moment; a release inside another one shares that of it."""
    return copy_context().run(_alone, release) if _now.get() is None else release()


def _alone(release: Callable[[], R]) -> R:
    begun: Begun = {}
    _now.set(begun)
    try:
        return release()
    finally:
        try:
            _end(begun)
        finally:
            _end(begun)


def _end(begun: Begun) -> None:
    """End what was begun last first. No end raises an error, whatever has become of the database."""
    while begun:
        begin, transaction = next(reversed(begun.items()))
        if transaction is not None:
            with suppress(Exception):
                transaction.close()
        del begun[begin]  # not before, for it is ended once more after an interrupt


def held(begin: Callable[[], T]) -> T:
    """A transaction, begun once in a moment; outside of one, each call begins another, which ends with its last use."""
    begun = _now.get()
    if begun is None:
        return begin()
    if begin not in begun:
        begun[begin] = begin()
    transaction: T = begun[begin]
    return transaction


def ensure(begin: Callable[[], Generator[None]]) -> None:
    """Begin a transaction on somebody's connection, unless that is done; outside of a moment nobody would end it.

    begin: a generator, which begins the transaction, yields, and ends it.
    """
    begun = _now.get()
    if begun is not None and begin not in begun:
        begun[begin] = transaction = begin()
        next(transaction)
