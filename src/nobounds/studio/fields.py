"""The fields of a form as texts, and what is wrong with them, by the name of the field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import nobounds as nb
from nobounds.exact import printable

Fields = Mapping[str, Sequence[str]]
"""The contents of a form: each name with its values."""

PLAIN = (ValueError, TypeError, OSError, EOFError, ImportError, nb.BudgetExceeded)
"""Errors whose messages are sentences for users, and never depend on records."""

_LONGEST = 20_000  # characters in a field
R = TypeVar("R")


class Mistakes(ValueError):
    """What is wrong with a form: a sentence for each field that has to change."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(fields.values()))
        self.fields = dict(fields)


def text(fields: Fields, name: str, default: str = "") -> str:
    """The value of a field without blanks around it; the default if it is not there."""
    values = fields.get(name)
    value = (values[0] if values else default).strip()
    if len(value) > _LONGEST:
        raise Mistakes({name: f"This is too long: at most {_LONGEST:,} characters."})
    return value


def chosen(fields: Fields, name: str, allowed: Sequence[str], default: str) -> str:
    """The value of a field that offers a few of them."""
    value = text(fields, name, default)
    if value not in allowed:
        raise Mistakes({name: "Choose one of the values that are offered."})
    return value


def whole(fields: Fields, name: str, what: str, most: int = 10**12) -> int:
    """A whole number from 1 on, which may have separators between its thousands."""
    given = text(fields, name).replace(",", "").replace(" ", "").replace("_", "")
    if not given.isdecimal() or not given.isascii() or len(given) > 15 or not 1 <= int(given) <= most:
        raise Mistakes({name: f"Give {what} as a whole number, such as 5000."})
    return int(given)


class Checks:
    """Collects what is wrong in several fields, to be said at once."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}

    def get(self, make: Callable[[], R], default: Any) -> R:
        """The result of `make`; if a field is wrong, that is noted, and this is the default."""
        try:
            return make()
        except Mistakes as error:
            self.fields |= error.fields
            return default  # type: ignore[no-any-return]

    @contextmanager
    def field(self, name: str, start: str = "") -> Iterator[None]:
        """Note an error of this block for a field, in its own words; after `start`, if these may begin with a name."""
        try:
            yield
        except Mistakes as error:
            self.fields |= error.fields
        except PLAIN as error:
            self.fields[name] = sentence(ValueError(f"{start}{error}"))

    def done(self) -> None:
        """Raise what was noted, if anything was."""
        if self.fields:
            raise Mistakes(self.fields)


@contextmanager
def saying(field: str) -> Iterator[None]:
    """Turn a plain error of this block into one of a field."""
    try:
        yield
    except Mistakes:
        raise
    except PLAIN as error:
        raise Mistakes({field: sentence(error)}) from None


def sentence(error: BaseException) -> str:
    """The message of an error as a sentence."""
    said = printable(str(error)) or type(error).__name__
    first = said.partition(" ")[0]
    start = first.capitalize() if first.isalpha() and first.islower() and len(first) > 1 else first
    return start + said[len(first) :] + ("" if said.endswith((".", "?", "!")) else ".")
