"""Printing of several answers that were requested together."""

import sys

from rich.box import SIMPLE_HEAD
from rich.table import Table

from nobounds.cli.output import Printer, say_all, show_table, total_in_words
from nobounds.exact import printable
from nobounds.release.answers import Answers
from nobounds.release.files import csv_text
from nobounds.release.words import rows_in_words, shown_in_words, units_in_words

_SHOWN = 40  # groups on a terminal


def show_answers(answers: Answers, *, as_json: bool, as_csv: bool = False) -> None:
    """Print the answers and their total cost to the standard output."""
    if as_json:
        print(answers.to_json())
        return
    if as_csv:
        print(csv_text(answers.cells()), end="")
        return
    console = Printer()
    heads, *lines = answers.lines(_SHOWN if sys.stdout.isatty() else None)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(printable(head), no_wrap=True, style="bold" if not answers.by and place == 1 else "")
    for line in lines:
        table.add_row(*map(printable, line))
    show_table(console, table)
    if answers.by and len(answers.groups) > len(lines):
        console.print(f"and {len(answers.groups) - len(lines)} more groups; --json prints all of them", style="dim")
    console.print()
    say_all(
        console,
        answers.split_in_words(),
        shown_in_words(answers.parameters, len(answers.groups), answers.loss.unit) if answers.by else "",
        rows_in_words(answers.parameters),
        units_in_words(answers.parameters, answers.loss.unit),
        total_in_words(answers),
    )
