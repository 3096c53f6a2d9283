"""Printing of answers by groups: a table for people, JSON or CSV for machines."""

import sys

from rich.box import SIMPLE_HEAD
from rich.table import Table

from nobounds.cli.output import CLIPPING, Printer, say_all, show_table, total_in_words
from nobounds.exact import printable
from nobounds.release.digits import said
from nobounds.release.files import write_csv
from nobounds.release.grouped import GroupedRelease
from nobounds.release.words import (
    cut_in_words,
    edges_in_words,
    key_heads,
    key_in_words,
    rows_in_words,
    shown_in_words,
    units_in_words,
)

_SHOWN = 40  # groups on a terminal


def show_groups(release: GroupedRelease, *, as_json: bool, as_csv: bool) -> None:
    """Print the answers of groups and their total cost to the standard output."""
    if as_json:
        print(release.to_json())
        return
    if as_csv:
        write_csv(sys.stdout, release.cells(), printable if sys.stdout.isatty() else str)
        return
    console = Printer()
    shown = _SHOWN if sys.stdout.isatty() else len(release)
    show_table(console, _table(release, shown))
    if len(release) > shown:
        console.print(f"{cut_in_words(len(release), shown)}; --csv or --json prints all of them", style="dim")
    console.print()
    say_all(
        console,
        _noise(release),
        edges_in_words(release.parameters),
        shown_in_words(release.parameters, len(release), release.loss.unit),
        rows_in_words(release.parameters),
        units_in_words(release.parameters, release.loss.unit),
        total_in_words(release),
    )


def _table(release: GroupedRelease, shown: int) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    binned = release.statistic in ("histogram", "cdf")
    heads = key_heads(release.statistic, release.by)
    for head in [", ".join(heads)] if binned else heads:
        table.add_column(head, no_wrap=True)
    table.add_column(release.statistic, justify="right", no_wrap=True, style="bold")
    keys = [array[:shown].to_pylist() for array in release.arrays]
    answers = release.said(shown)
    reasons = release.reasons[:shown] if release.reasons else [None] * len(answers)
    for *key, answer, reason in zip(*keys, answers, reasons, strict=True):
        shown_key = [key_in_words(release.statistic, key)] if binned else map(_printable, key)
        table.add_row(*shown_key, reason or answer)
    return table


def _noise(release: GroupedRelease) -> str:
    """The noise of each answer and the clip, as far as they are known."""
    half, clip = release.parameters.get("half_interval"), release.parameters.get("clip")
    parts = [] if half is None else [f"Noise of each answer: ± {said(float(f'{half:.2g}'))} at 95 %."]
    parts += [] if clip is None else [f"Clip: {said(clip[0])} to {said(clip[1])}."]
    stated = release.parameters.get("interval", {})
    if clip is not None and "assumes" in stated:
        parts.append(f"Intervals (--csv, --json) include what it changed, and assume: {printable(stated['assumes'])}.")
    elif clip is not None and stated.get("of") == "noise":
        parts.append(CLIPPING)
    return " ".join(parts)


def _printable(key: object) -> str:
    return printable(_text(key))


def _text(key: object) -> str:
    """A key as --keys accepts it; an open end of a bin is empty, as is a reason that there is not."""
    if key is None:
        return ""
    return str(key).lower() if isinstance(key, bool) else str(key)
