"""How a command fails: in one line, with nothing sensitive in it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from nobounds.accounting.budget import BudgetExceeded
from nobounds.cli import PIPE_CLOSED
from nobounds.engines.refusals import raise_alone
from nobounds.exact import printable

CHARGED = "the budget was charged"  # the start of the note on an error after a charge


def require_budget(path: Path) -> Path:
    """The path of a budget file; FileNotFoundError if there is no such file."""
    if not path.exists():
        name = printable(str(path))
        raise FileNotFoundError(f"there is no {name}: make it with nobounds budget create {name} --epsilon 3, say")
    return path


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
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
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
