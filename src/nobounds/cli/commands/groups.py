"""Answers by groups: a table for people, JSON or CSV for machines."""

import sys
from collections.abc import Iterable
from typing import Any

from nobounds.cli.keys import grouped
from nobounds.cli.options.answers import GroupOptions
from nobounds.cli.options.common import CommonOptions
from nobounds.cli.output import clip_in_words, show, total_in_words, written
from nobounds.cli.printing.printer import Printing, printer, say, say_all
from nobounds.cli.printing.tables import Table
from nobounds.cli.sources import opened
from nobounds.exact import printable
from nobounds.release.files import write_csv
from nobounds.release.grouped import GroupedRelease
from nobounds.release.schema import column_type_in
from nobounds.release.words import cut_in_words, interval_heading, key_heads, key_in_words

_SHOWN = 40  # groups on a terminal


def answer_once(
    common: CommonOptions,
    groups: GroupOptions,
    statistic: str,
    columns: Iterable[str],
    *given: Any,
    rows_limited: bool = True,
    **options: Any,
) -> None:
    """Compute one statistic of the table that needs these columns, or of its groups, and print it."""
    groups.check(common)
    with opened(common, *columns, *(groups.by or []), rows_limited=rows_limited) as handle:
        table = grouped(handle, groups) if groups.by else handle.table
        release = getattr(table, statistic)(*given, **common.spend.amount, **options)
    with handle.shown(), written(release, out=common.out):
        if isinstance(release, GroupedRelease):
            show_groups(release, as_json=common.as_json, as_csv=groups.csv)
        else:
            show(release, as_json=common.as_json)


def show_groups(release: GroupedRelease, *, as_json: bool, as_csv: bool) -> None:
    """Print the answers of groups and their total cost to the standard output."""
    if as_json:
        print(release.to_json())
        return
    if as_csv:
        write_csv(sys.stdout, release.cells(), printable if sys.stdout.isatty() else str)
        return
    console = printer()
    say_groups(console, release)
    say(console, total_in_words(release))


def say_groups(console: Printing, release: GroupedRelease) -> None:
    """Print the answers of groups as a table, with what is said of them but their cost."""
    shown = _SHOWN if sys.stdout.isatty() else len(release)
    console.show(_table(release, shown))
    if len(release) > shown:
        console.print(f"{cut_in_words(len(release), shown)}; --csv or --json prints all of them", style="dim")
    console.print()
    say_all(console, _clip(release), *release.notes())


def _table(release: GroupedRelease, shown: int) -> Table:
    table = Table()
    binned = release.statistic in ("histogram", "cdf")
    heads = key_heads(release.statistic, release.by)
    for head in [", ".join(heads)] if binned else heads:
        table.add_column(head)
    table.add_column(release.statistic, justify="right", style="bold")
    if release.intervals is not None:
        table.add_column(interval_heading(release.parameters))
    keys = [array[:shown].to_pylist() for array in release.arrays]
    for *key, answer, ends in zip(*keys, release.said_or_why(shown), release.ranges(shown), strict=True):
        shown_key = [key_in_words(release.statistic, key)] if binned else map(_printable, key)
        table.add_row(*shown_key, answer, *([] if release.intervals is None else [ends]))
    return table


def _clip(release: GroupedRelease) -> str:
    """The clip, and what intervals say of it, if any group is answered."""
    clip, stated = release.parameters.get("clip"), release.parameters.get("interval", {})
    if clip is None or all(release.reasons or [not len(release)]):
        return ""
    sentence = f"Clip: {clip_in_words(clip, column_type_in(release.parameters))}."
    if "assumes" in stated:
        return f"{sentence} Intervals include what it changed, and assume: {printable(stated['assumes'])}."
    return sentence


def _printable(key: object) -> str:
    return printable(_text(key))


def _text(key: object) -> str:
    """A key as --keys accepts it; an open end of a bin is empty, as is a reason that there is not."""
    if key is None:
        return ""
    return str(key).lower() if isinstance(key, bool) else str(key)
