"""Errors that replace others: nothing of the replaced error is left on them, however they are raised."""

import logging
import traceback

import pytest

from nobounds.engines.refusals import raise_alone, replacing_errors

SECRET = "86421"


def plain() -> ValueError:
    return ValueError("the query failed")


def driver():
    """Fail as drivers do: with a record in the words, in the error before, and in a note."""
    try:
        raise KeyError(SECRET)
    except KeyError as first:
        second = RuntimeError(f"record {SECRET}")
        second.add_note(f"in the row of {SECRET}")
        raise second from first


def in_a_handler():
    try:
        driver()
    except RuntimeError:
        raise_alone(plain())


def in_a_nested_handler():
    try:
        driver()
    except RuntimeError:
        try:
            raise TypeError(SECRET) from None
        except TypeError:
            raise_alone(plain())


def in_a_block():
    with replacing_errors(plain):
        driver()


def in_nested_blocks():
    with replacing_errors(plain), replacing_errors(lambda: OSError("closed")):
        driver()


def in_a_generator():
    def rows():
        with replacing_errors(plain):
            yield 1
            driver()

    return list(rows())


def where_closing_fails_too():
    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            raise OSError(f"cannot close {SECRET}")

    with replacing_errors(plain), Cursor():
        driver()


def at_the_end_of_an_iterator():
    with replacing_errors(plain):
        raise StopIteration(SECRET)


WAYS = [
    in_a_handler,
    in_a_nested_handler,
    in_a_block,
    in_nested_blocks,
    in_a_generator,
    where_closing_fails_too,
    at_the_end_of_an_iterator,
]


@pytest.mark.parametrize("fail", WAYS)
def test_nothing_is_behind_the_new_error(fail, caplog):
    """The error has no context, cause or note, and neither a traceback nor a log shows the record."""
    with pytest.raises(ValueError, match=r"^the query failed$") as caught:
        fail()
    error = caught.value
    assert error.__context__ is None
    assert error.__cause__ is None
    assert not hasattr(error, "__notes__")
    logging.getLogger("any").error("failed", exc_info=error)
    assert SECRET not in caplog.text
    assert SECRET not in "".join(traceback.format_exception(error))


def test_from_none_alone_would_keep_it():
    """Without the helper the record is one attribute away."""
    with pytest.raises(ValueError) as caught:
        try:
            driver()
        except RuntimeError:
            raise plain() from None
    assert SECRET in str(caught.value.__context__)


def test_an_error_that_is_kept_loses_what_is_behind_it():
    """It is the same object with the same words, and nothing else."""
    original = OSError(28, "No space left on device")

    def full():
        try:
            driver()
        except RuntimeError as error:
            original.add_note(SECRET)
            raise original from error

    with (
        pytest.raises(OSError) as caught,
        replacing_errors(plain, keep=lambda error: isinstance(error, OSError) and error.errno is not None),
    ):
        full()
    assert caught.value is original
    assert (original.__context__, original.__cause__, original.__notes__) == (None, None, [])


def test_an_interrupt_goes_through():
    """Ctrl-C and the end of a process are no errors."""
    for kind in (KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(kind), replacing_errors(plain):
            raise kind
