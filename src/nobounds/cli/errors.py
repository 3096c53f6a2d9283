"""How a command fails: in one line, with nothing private in it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from nobounds.budget import BudgetExceeded


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn an exception into one line on stderr: exit code 2 for a user's error, 1 for one of ours."""
    try:
        yield
    except (ValueError, TypeError, OSError, EOFError, ImportError, BudgetExceeded) as error:
        # A name of a file or a column may be in it, and a terminal obeys what is not printable.
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
        print(f"Error: {message}", file=sys.stderr)
        raise typer.Exit(2) from None
    except Exception as error:
        # The message of an exception that nobody planned may hold private values, so its name has to do.
        print(f"Error: nobounds failed with {type(error).__name__}; please report it", file=sys.stderr)
        raise typer.Exit(1) from None
