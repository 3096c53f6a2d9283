"""The agg command: several statistics of several columns for one epsilon; and how such answers are printed."""

import sys
from typing import Annotated

import typer

from nobounds.ask import Ask
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped
from nobounds.cli.options.answers import GroupOptions
from nobounds.cli.options.common import CommonOptions
from nobounds.cli.output import total_in_words, written
from nobounds.cli.printing.printer import printer, say_all
from nobounds.cli.printing.tables import Table
from nobounds.cli.sources import opened
from nobounds.exact import printable
from nobounds.release.answers import Answers
from nobounds.release.files import csv_text
from nobounds.release.words import rows_in_words, shown_in_words, units_in_words

_SHOWN = 40  # groups on a terminal


@flat
def agg(
    ask: Annotated[
        list[str],
        typer.Option(
            "--ask",
            metavar="STATISTIC",
            help="'mean(income)', 'quantile(fare, 0.95)' or 'count()'. Repeatable.",
            show_default=False,
        ),
    ],
    common: CommonOptions,
    groups: GroupOptions,
) -> None:
    """Several private statistics of several columns. One epsilon is charged once and split among them.

    Example: nobounds agg data.arrow --ask 'mean(age)' --ask 'count()' --epsilon 1

    Example: nobounds agg data.arrow --ask 'count()' --by age --delta 1e-6 --epsilon 1
    """
    groups.check(common)
    asks, by = [Ask.parse(text) for text in ask], groups.by or []
    with opened(common, *(name for each in asks for name in each.columns), *by) as handle:
        table = grouped(handle, groups) if by else handle.table
        answers = table.agg(*asks, **common.spend.amount)
    with handle.shown(), written(answers, out=common.out):
        show_answers(answers, as_json=common.as_json, as_csv=groups.csv)


def show_answers(answers: Answers, *, as_json: bool, as_csv: bool = False) -> None:
    """Print the answers and their total cost to the standard output."""
    if as_json:
        print(answers.to_json())
        return
    if as_csv:
        print(csv_text(answers.cells()), end="")
        return
    console = printer()
    heads, *lines = answers.lines(_SHOWN if sys.stdout.isatty() else None)
    table = Table()
    for place, head in enumerate(heads):
        table.add_column(printable(head), style="bold" if not answers.by and place == 1 else "")
    for line in lines:
        table.add_row(*map(printable, line))
    console.show(table)
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
