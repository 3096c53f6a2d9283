"""How a command fails: in one line, with nothing private in it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from nobounds.accounting.budget import BudgetExceeded
from nobounds.cli import PIPE_CLOSED
from nobounds.engines.refusals import raise_alone
from nobounds.exact import printable

CHARGED = "the budget was charged"  # so begins the note on an error that came after a charge


def require_budget(path: Path) -> Path:
    """The path of a budget file that is there."""
    if not path.exists():
        name = printable(str(path))
        raise FileNotFoundError(f"there is no {name}: make it with nobounds budget create {name} --epsilon 3, say")
    return path


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn an exception into one line on stderr; `nobounds --help` has what the exit status says.

    It is 2 for a user's error, 3 for a budget that has not enough left, and 1 for an error of ours.
    """
    try:
        yield
    except BrokenPipeError:  # nobody reads the output any more, and that is no error
        raise_alone(typer.Exit(PIPE_CLOSED))
    except (ValueError, TypeError, OSError, EOFError, ImportError, BudgetExceeded) as error:
        # A name of a file or a column may be in it, and a terminal obeys what is not printable.
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
        print(f"Error: {message}{_charged(error)}", file=sys.stderr)
        raise_alone(typer.Exit(3 if isinstance(error, BudgetExceeded) else 2))
    except Exception as error:
        # The message of an exception that nobody planned may hold private values, so its name has to do.
        failed = f"nobounds failed with {type(error).__name__}; please report it"
        print(f"Error: {failed}{_charged(error)}", file=sys.stderr)
        raise_alone(typer.Exit(1))
    except KeyboardInterrupt as error:
        if told := _charged(error):
            print(f"Stopped{told}", file=sys.stderr)
        raise


def _charged(error: BaseException) -> str:
    """What was charged before an error, if anything was."""
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith(CHARGED)]
    return f"; {notes[0]}" if notes else ""
