"""What prints on the standard output: plain text in a pipe, and rich on a terminal.

rich takes longer to load than a small answer takes to compute, so only a terminal loads it.
"""

import os
import sys
from typing import TYPE_CHECKING, TypeAlias

from nobounds.cli.printing.tables import Lines

if TYPE_CHECKING:
    from nobounds.cli.printing.terminal import Terminal

Printing: TypeAlias = "Lines | Terminal"


def printer() -> Printing:
    """What prints on the standard output: rich if it is a terminal or cannot encode the characters of tables."""
    in_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    if in_unicode and not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR"):
        return Lines()
    from nobounds.cli.printing.terminal import Terminal

    return Terminal()


def say(console: Printing, sentence: str) -> None:
    """Print a sentence: wrapped between words on a terminal, otherwise on one line."""
    console.print(sentence, soft_wrap=not console.is_terminal)


def say_all(console: Printing, *sentences: str) -> None:
    """Print sentences, each as `say` does; empty ones are left out."""
    for sentence in filter(None, sentences):
        say(console, sentence)
