"""How a command fails: in one line, with nothing sensitive in it."""

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from nobounds.accounting.statement import BudgetExceeded, NotCovered
from nobounds.cli import PIPE_CLOSED
from nobounds.engines.refusals import raise_alone
from nobounds.exact import printable

# A keyword argument and its value, after a word that goes before one in messages: "got q=2", "use epsilon=1 or less".
_KEYWORD = re.compile(
    r"\b(got|[Uu]se|either|or|and|at|of|by|give|example|with|for|needs) "
    r"(epsilon|rho|delta|q|lower|upper|resolution|beta|noise|method|rows|interval|unit|neighbors|rows_per_unit"
    r"|groups_per_unit|label|note|author|rows_of|bins|k|edges|points|values_per_unit"
    r"|encoding|decimal|thousands)=('[^']*'|[^\s,;:)]*)"
)
_STATED = {
    "csv=nb.Csv(header=True)": "--header yes",
    "csv=nb.Csv(header=False)": "--header no",
    "columns with schema=": "columns with --type",
}
CHARGED = "the budget was charged"  # the start of the note on an error after a charge


def budget_name(place: str) -> str:
    """The name of a budget for messages: that of its file, or its address without a password."""
    from nobounds.accounting.postgres.ledger import is_address, shown_address

    return printable(shown_address(place) if is_address(place) else Path(place).name)


def require_budget(path: str) -> str:
    """The path or address of a budget; FileNotFoundError if there is no such file."""
    from nobounds.accounting.postgres.ledger import is_address

    if not is_address(path) and not Path(path).exists():
        name = printable(str(path))
        raise FileNotFoundError(
            f"there is no budget {name}; create it, for example with: nobounds budget create {name} --epsilon 3"
        )
    return path


def in_shell(error: BaseException) -> str:
    """The message of an error in the words of the shell: options instead of keyword arguments.

    >>> in_shell(ValueError("q must be between 0 and 1, got q=2"))
    'q must be between 0 and 1, got --q 2'
    """
    text = str(error)
    if isinstance(error, NotCovered):
        allow = f"nobounds budget allow FILE {shlex.quote(error.label)}"
        text = text.replace(f"with budget.allow({error.label!r})", f"with: {allow}")
    for keyword, option in _STATED.items():
        text = text.replace(keyword, option)
    text = re.sub(r"\bBudget\(path=('[^']*'|\.\.\.)\)", lambda given: f"--budget {_unquoted(given[1])}", text)
    return _KEYWORD.sub(lambda given: f"{given[1]} --{given[2].replace('_', '-')}{_value(given[3])}", text)


def _value(text: str) -> str:
    return f" {_unquoted(text)}" if text else ""


def _unquoted(text: str) -> str:
    """A Python text as a word of the shell."""
    return shlex.quote(text[1:-1]) if text[:1] == "'" and text[-1:] == "'" and "\\" not in text else text


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn an exception into one line on stderr and an exit status, as `nobounds --help` lists them.

    The status is 2 for a user's error, 3 for an exceeded budget, and 1 for an error of ours.
    """
    try:
        yield
    except BrokenPipeError:  # the reader of the output is gone, which is no error
        raise_alone(typer.Exit(PIPE_CLOSED))
    except (ValueError, TypeError, OSError, EOFError, ImportError, BudgetExceeded) as error:
        # The message may contain names of files and columns, and a terminal obeys control characters in them.
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in in_shell(error))
        print(f"Error: {message}{_charged(error)}", file=sys.stderr)
        raise_alone(typer.Exit(3 if isinstance(error, BudgetExceeded) else 2))
    except Exception as error:
        # The message of an unexpected exception may contain sensitive values, so only its name is printed.
        failed = f"nobounds failed with {type(error).__name__}; please report it"
        print(f"Error: {failed}{_charged(error)}", file=sys.stderr)
        raise_alone(typer.Exit(1))
    except KeyboardInterrupt as error:
        if note := _charged(error):
            print(f"Stopped{note}", file=sys.stderr)
        raise


def _charged(error: BaseException) -> str:
    """What was charged before an error, if anything was."""
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith(CHARGED)]
    return f"; {notes[0]}" if notes else ""
