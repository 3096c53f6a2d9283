"""Printing of releases: a table and plain sentences for people, one JSON object for machines."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import nobounds as nb
from nobounds.accounting.loss import of_query
from nobounds.cli.printing.printer import Printing, printer, say, say_all
from nobounds.cli.printing.tables import Table
from nobounds.exact import printable, text_up
from nobounds.kinds.kind import NUMBER, Kind, Value
from nobounds.release.answer import Answer, write
from nobounds.release.answers import Answers
from nobounds.release.digits import said
from nobounds.release.grouped import GroupedRelease
from nobounds.release.schema import column_type_in, type_in
from nobounds.release.several import together, total, write_all
from nobounds.release.shares import STATISTICS
from nobounds.release.words import (
    SUMMARIES,
    between,
    interval_heading,
    is_of_clipped,
    needed_in_words,
    read_in_words,
    rows_in_words,
    units_in_words,
)

CLIPPED_ONLY = "The interval is for the clipped records; the answer for all records may lie outside"

_GAP, _MARGIN = 3, 18  # the widths of the space between columns, and of everything beside those of the data


def show(*releases: nb.Release, as_json: bool) -> None:
    """Print one or several releases and their privacy loss to the standard output."""
    if as_json:
        print(json.dumps(together(releases), indent=2))
        return
    console = printer()
    for release in releases:
        if len(releases) > 1:
            console.print(printable(release.parameters["column"]), style="bold")
            console.print()
        _show_one(console, release)
        if len(releases) > 1:
            console.print()
    say(console, total_in_words(releases[0], total(releases)))


def _show_one(console: Printing, release: nb.Release) -> None:
    console.show(_table(release))
    console.print()
    if release.reason is not None:
        say(console, f"Not answered, {release.reason}{needed_in_words(release.parameters)}.")
    stated = release.parameters.get("interval", {})
    if "clips" in release.parameters and release.answered:
        first, second = (clip_in_words(clip, NUMBER) for clip in release.parameters["clips"])
        included = f"{CLIPPED_ONLY}." if is_of_clipped(release.parameters) else ""
        say(console, f"Clipped: the first column to {first}, the second to {second}. {included}".rstrip())
    if "assumes" in stated and release.answered:
        say(console, f"The range assumes: {printable(stated['assumes'])}.")
    if release.answered:
        say_all(console, read_in_words(release.parameters))
    say_all(console, rows_in_words(release.parameters), units_in_words(release.parameters, release.loss.unit))


def show_description(described: nb.Description, source: str, *, as_json: bool) -> None:
    """Print a private summary of a table: a table with a row for each statistic, and its cost."""
    if as_json:
        print(json.dumps(described.to_dict(), indent=2, allow_nan=False))
        return
    console = printer()
    console.print(f"Private summary of {source}", style="bold")
    console.print()
    for names in _fitting(described, console.width):
        console.show(_summaries(described, names))
        console.print()
    for name, why in described.skipped.items():
        console.print(f"Skipped: {printable(name)} ({why}).", style="dim")
    say(console, f"{described.split_in_words()} {SUMMARIES}")
    units = units_in_words(described.parameters, described.loss.unit)
    say_all(console, rows_in_words(described.parameters), units, total_in_words(described))


@contextmanager
def written(*releases: Answer, out: Path | None) -> Iterator[None]:
    """Write answers to the file of --out, and print them in the block even if that fails: they are paid for."""
    try:
        if out is not None and len(releases) == 1:
            write(releases[0], out)
        elif out is not None:
            write_all([release for release in releases if isinstance(release, nb.Release | GroupedRelease)], out)
    finally:
        yield


def _fitting(described: nb.Description, width: int) -> list[list[str]]:
    """The columns in groups that fit beside each other; one that is too wide stands alone."""
    groups: list[list[str]] = []
    left = 0
    for name in described.columns:
        cells = (_cell(described, name, statistic) for statistic in STATISTICS)
        needed = max(len(printable(name)), *map(len, cells)) + _GAP
        if not groups or left < needed:
            groups.append([])
            left = width - _MARGIN
        groups[-1].append(name)
        left -= needed
    return groups


def _cell(described: nb.Description, name: str, statistic: str) -> str:
    """A statistic of a column with its interval."""
    return f"{described.said(name, statistic)} {described.margin(name, statistic)}".strip()


def _summaries(described: nb.Description, names: list[str]) -> Table:
    """A row for each statistic, with the range of its noise and its cost in each column."""
    table = Table()
    table.add_column("", style="bold")
    for name in names:
        table.add_column(printable(name), justify="right")
    spent = "rho" if described.loss.epsilon == math.inf else "epsilon"
    table.add_column(spent, justify="right", style="dim")
    for statistic in STATISTICS:
        cells = [_cell(described, name, statistic) for name in names]
        cost = max(described.columns[name].costs[statistic] for name in names)
        table.add_row(statistic, *cells, text_up(cost, 3), end_section=statistic in ("std", "max"))
    return table


def total_in_words(
    release: nb.Release | nb.Description | GroupedRelease | Answers, loss: nb.PrivacyLoss | None = None
) -> str:
    """One sentence on the total cost of the answers, its own or `loss`, and on the neighbouring data sets."""
    loss = release.loss if loss is None else loss
    sets = "query results" if of_query(release.parameters) else "data sets"
    change = "replaced by another" if loss.neighbors == "swap" else "added or removed"
    rho = "" if loss.rho == math.inf else f"rho {text_up(loss.rho, 4)}"
    at = f" at delta {text_up(loss.delta)}" if loss.delta else ""
    pure = f"epsilon {text_up(loss.epsilon)}{at}" + (f" (zCDP: {rho})" if rho else "")
    figures = f"{rho} (zCDP)" if loss.epsilon == math.inf else pure
    whom = loss.unit if loss.unit == "row" else f"{printable(loss.unit)} with all its rows"
    return f"Total privacy loss: {figures}, for {sets} that differ by one {whom} {change}."


def _table(release: nb.Release) -> Table:
    """A row for each answer; the first row has the total cost."""
    qs, loss, kind = release.parameters.get("q"), release.loss, type_in(release.parameters)
    many = release.value if isinstance(qs, list) and isinstance(release.value, tuple) else (release.value,)
    table = Table()
    table.add_column("statistic")
    if qs is not None:
        table.add_column("q", justify="right")
    table.add_column("value", justify="right", style="bold")
    if release.intervals:
        table.add_column(interval_heading(release.parameters))
    if "clip" in release.parameters:
        table.add_column("clip")
    table.add_column("cost")
    cost = f"rho {text_up(loss.rho, 4)}" if loss.epsilon == math.inf else f"epsilon {text_up(loss.epsilon)}"
    for k, value in enumerate(many):
        cells = [release.statistic if k == 0 else ""]
        cells += [] if qs is None else [_decimal(qs[k] if isinstance(qs, list) else qs)]
        bar = release.intervals[k] if release.intervals else None
        cells.append(_value(release, value, k))
        if release.intervals:
            unknown = bar is None or value is None or not release.answered
            cells.append("" if bar is None or unknown else between(bar, kind, value))
        if "clip" in release.parameters:
            cells.append(clip_in_words(release.parameters["clip"], column_type_in(release.parameters)))
        table.add_row(*cells, cost if k == 0 else "together" if k == 1 else "")
    return table


def _decimal(q: str) -> str:
    """A rank as a decimal number."""
    return f"{float(Fraction(q)):.10g}"


def clip_in_words(clip: list[int | float], kind: Kind) -> str:
    """The ends of a clip, of a column of this type."""
    if kind.typed:
        return " to ".join(said(kind.value(end)) for end in clip)
    least = max(map(abs, clip)) / 1e6  # an end that is negligible beside the other is shown as 0
    return " to ".join(said(end if abs(end) >= least else 0) for end in clip)


def _value(release: nb.Release, value: Value | tuple[Value | None, ...] | None, k: int) -> str:
    """An answer; bounds in one cell, and why there is none."""
    if value is None or not release.answered:
        return str(release.reason)
    kind = type_in(release.parameters)
    if isinstance(value, tuple):
        bars = release.intervals or (None,) * len(value)
        return " to ".join(
            "-" if each is None else said(each, bar, kind) for each, bar in zip(value, bars, strict=True)
        )
    return said(value, release.intervals[k] if release.intervals else None, kind)
