"""Errors that replace those of other libraries and keep no trace of them.

A driver, Arrow or numpy may quote a record when it fails. `raise ... from None` only hides that error: Python still
stores it in the `__context__` of the new one, where loggers and error trackers read it. The functions here raise an
error that has neither a context nor a cause.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error without context or cause, even while another error is being handled."""
    try:
        raise error from None
    finally:
        error.__context__ = None  # set by `raise` just now


def query_failed() -> ValueError:
    """The error for a failed query; without the reason, which may depend on the data."""
    return ValueError("the query failed; run it on its own to see why")


def _never(error: Exception) -> bool:
    return False


@contextmanager
def replacing_errors(
    replacement: Callable[[], Exception], keep: Callable[[Exception], bool] = _never
) -> Iterator[None]:
    """Raise `replacement()` in place of any exception from the block.

    An exception for which `keep` is true goes through, without its context, its cause and its notes.
    """
    try:
        yield
    except Exception as error:
        if not keep(error):
            raise_alone(replacement())
        error.__cause__ = error.__context__ = None
        error.__notes__ = []
        raise
