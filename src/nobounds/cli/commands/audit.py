"""The audit command: every claim of the library against the worst loss of exact laws; or your own mechanism."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from nobounds.auditing.cases import NEAR, ClaimRow
from nobounds.auditing.mine import RUNS, audit_mine
from nobounds.auditing.sampling import CONFIDENCE
from nobounds.auditing.table import Which, all_cases, exceeded, loose, run
from nobounds.cli.errors import plain_errors
from nobounds.cli.printing.terminal import Terminal

HEADS = ("noise", "setting", "measure", "claimed", "observed", "ratio", "kind", "verdict", "neighbours that show it")
_STYLES = {"holds": "green", "loose": "yellow", "not refuted": "yellow", "EXCEEDED": "bold red"}


def audit(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Check each mechanism in fewer settings, on fewer data; takes about 13 seconds of processor time.",
        ),
    ] = False,
    mine: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="Audit your own mechanism (or FILE.py:FUNCTION) instead; see docs/audit.md."
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option(metavar="NUMBER", help="For --mine: the epsilon that it claims.")] = 1.0,
    monotonic: Annotated[
        bool, typer.Option("--monotonic", help="For --mine: its queries all move the same way.")
    ] = False,
    runs: Annotated[
        int, typer.Option(metavar="NUMBER", help="For --mine: runs on each of two neighbouring data sets.")
    ] = RUNS,
    confidence: Annotated[
        float, typer.Option(metavar="NUMBER", help="For --mine: the confidence of a bound from runs.")
    ] = CONFIDENCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    processes: Annotated[
        int, typer.Option(metavar="NUMBER", help="The number of processes. Default: one per core.")
    ] = 0,
) -> None:
    """Compare the claim of each mechanism with its worst exact loss over neighbouring data, and name the worst pair.

    The exit status is 0 if all claims hold and tight ones are reached, 1 if one does not, 2 for a wrong command.

    Example: nobounds audit --mine mechanisms.py:my_threshold --epsilon 1 --monotonic
    """
    with plain_errors():
        if quick and mine is not None:
            raise ValueError("give one of --quick and --mine")
        if mine is not None:
            rows = [audit_mine(mine, epsilon, monotonic, runs, confidence)]
        else:
            rows = _run("quick" if quick else "full", processes or os.cpu_count() or 1)
        failed = bool(exceeded(rows) + loose(rows))
        words = in_words(rows)
        if quick:
            words.append(
                f"This is the quick table: {len(all_cases('quick'))} of {len(all_cases('full'))} settings, "
                "many on fewer data. nobounds audit checks every claim."
            )
        show(rows, words, failed=failed, as_json=as_json)
    raise typer.Exit(1 if failed else 0)


def _run(which: Which, processes: int) -> list[ClaimRow]:
    cases = all_cases(which)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    silent = not sys.stderr.isatty()
    rows: list[ClaimRow] = []
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=silent) as progress:
        done = progress.add_task("Auditing", total=len(cases))
        for place, case_rows in run(which, processes):
            rows += case_rows
            progress.update(done, advance=1, description=cases[place].mechanism)
    order = list(dict.fromkeys((row.mechanism, row.neighbors, row.unit) for row in rows))
    return sorted(rows, key=lambda row: order.index((row.mechanism, row.neighbors, row.unit)))


def show(rows: Sequence[ClaimRow], words: Sequence[str], *, failed: bool, as_json: bool) -> None:
    """Print the table and the overall verdict."""
    if as_json:
        verdict = "failed" if failed else "not refuted" if any(row.kind == "sampled" for row in rows) else "holds"
        print(json.dumps({"verdict": verdict, "rows": [plain(row) for row in rows]}, indent=2, allow_nan=False))
        return
    console = Terminal()
    widths = [max(len(text) for text in column) for column in zip(HEADS, *map(_cells, rows), strict=True)]
    if not console.is_terminal:  # rows in full, however long
        console.width = sum(widths) + 3 * len(widths)
    for _, group in groupby(rows, key=lambda row: (row.mechanism, row.neighbors, row.unit)):
        console.print(_table(list(group), widths))
        console.print()
    for sentence in words:
        console.print(sentence)


def plain(row: ClaimRow) -> dict[str, Any]:
    """A row as plain values; infinite ones become None."""
    values = asdict(row) | {"ratio": row.ratio, "verdict": row.verdict}
    return {name: None if value == float("inf") else value for name, value in values.items()}


def in_words(rows: Sequence[ClaimRow]) -> list[str]:
    """The table summarised in a few sentences."""
    tight = [row for row in rows if row.kind == "tight"]
    broken, wide = exceeded(rows), loose(rows)
    words = [f"{len(rows)} claim{'s' * (len(rows) > 1)}: {len(broken) or 'none'} exceeded."]
    if tight:
        least = min(row.ratio for row in tight)
        reached = "" if wide else f", reached to {NEAR:.0%} or more"
        words.append(f"{len(tight)} are tight{reached}: the least ratio is {least:.3f}.")
    if tight and len(tight) < len(rows):
        words.append(f"{len(rows) - len(tight)} are bounds that need not be reached.")
    if wide:
        words.append(f"{len(wide)} are looser than they should be.")
    if any(row.verdict == "not refuted" for row in rows):
        words.append(
            "Runs did not refute the claim; that does not mean that it holds (docs/audit.md says what they miss)."
        )
    words += [f"EXCEEDED: {row.mechanism} ({row.setting}, {row.noise}, {row.neighbors})" for row in broken]
    words += [f"loose: {row.mechanism} ({row.setting}, {row.noise}, {row.neighbors})" for row in wide]
    return words


def _table(rows: Sequence[ClaimRow], widths: Sequence[int]) -> Table:
    """The rows of one mechanism."""
    first = rows[0]
    title = f"{first.mechanism} ({first.neighbors}, per {first.unit})"
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, title=title, title_justify="left")
    for head, width in zip(HEADS, widths, strict=True):
        right = head in ("claimed", "observed", "ratio")
        last = head == HEADS[-1]
        table.add_column(
            head, justify="right" if right else "left", min_width=None if last else width, no_wrap=not last
        )
    for row in rows:
        table.add_row(*_cells(row), style=None if row.verdict == "holds" else _STYLES[row.verdict])
    return table


def _cells(row: ClaimRow) -> tuple[str, ...]:
    numbers = f"{row.claimed:.4g}", f"{row.observed:.4g}", f"{row.ratio:.3f}"
    where = f"{row.x} | {row.y}" + (f" ({row.at})" if row.at else "")
    return row.noise, row.setting, row.measure, *numbers, row.kind, row.verdict, where
