"""How the command line prints releases: a table and one plain sentence for people, one JSON object for machines."""

import json
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TypeAlias

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import nobounds as nb
from nobounds.exact import text_up

Answers: TypeAlias = Sequence[tuple[str | None, nb.Release]]
"""Releases, each with the q it answers, if there is one."""


def show(answers: Answers, *, as_json: bool) -> None:
    """Print one or more releases and their total privacy loss to the standard output."""
    total = reduce(add, (release.loss for _, release in answers))
    if as_json:
        print(
            json.dumps({"releases": [release.to_dict() for _, release in answers], "loss": total.to_dict()}, indent=2)
        )
        return
    console = Console(markup=False, highlight=False, soft_wrap=True)
    console.print(_table(answers))
    console.print()
    console.print(total_in_words(total))


def total_in_words(loss: nb.PrivacyLoss) -> str:
    """One sentence on what the answers cost together, and for which neighbouring data sets."""
    change = "replaced by another" if loss.neighbors == "swap" else "added or removed"
    figures = f"epsilon {text_up(loss.epsilon)} (zCDP: rho {text_up(loss.rho, 4)})"
    return f"Total privacy loss: {figures}, for data sets that differ by one {loss.unit} {change}."


def _table(answers: Answers) -> Table:
    with_q = any(q is not None for q, _ in answers)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("statistic", no_wrap=True)
    if with_q:
        table.add_column("q", justify="right", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True, style="bold")
    table.add_column("cost", no_wrap=True)
    for q, release in answers:
        cells = [release.statistic, *([q or ""] if with_q else []), _value(release.value)]
        table.add_row(*cells, f"epsilon {text_up(release.loss.epsilon)}")
    return table


def _value(value: object) -> str:
    return " to ".join(map(str, value)) if isinstance(value, tuple) else str(value)
