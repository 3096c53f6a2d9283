"""The bench command: nobounds, its rivals and methods of others on the same data."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from nobounds.accounting.loss import check_neighbors
from nobounds.cli.errors import plain_errors
from nobounds.cli.help import Command, Group, words
from nobounds.cli.printing.terminal import Terminal
from nobounds.research.bench.families import FAMILIES
from nobounds.research.bench.report import as_markdown, picture, rows, summary
from nobounds.research.bench.results import Outcome
from nobounds.research.bench.run import RIVAL_NAMES, STATISTICS, Setting, compare

bench = typer.Typer(
    help="Compare methods on the same data.", cls=Group, pretty_exceptions_enable=False, rich_markup_mode=None
)
USUAL = Setting()
NUMBER = "NUMBER"


@bench.callback()
def group() -> None:
    """Keep `accuracy` a command of its own, while it is the only one."""


@bench.command(cls=Command)
def accuracy(
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:FUNCTION", help="A method of yours (or FILE.py:FUNCTION); docs/bench.md."),
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"q=0.5, maximum, minimum, deciles, mean or sum. Default: {', '.join(USUAL.statistics)}.",
            autocompletion=words(*STATISTICS),
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Of the data. Default: eight smooth and tied ones.", autocompletion=words(*FAMILIES)
        ),
    ] = None,
    offset: Annotated[
        list[float] | None, typer.Option(metavar=NUMBER, help="Of the data from 0, in spreads. Default: 0 and 17.3.")
    ] = None,
    n: Annotated[list[int] | None, typer.Option(metavar=NUMBER, help="How many records. Default: 1000.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(metavar=NUMBER, help="Default: 1.")] = None,
    neighbors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RELATION",
            help="add-remove or swap. Default: add-remove.",
            autocompletion=words("add-remove", "swap"),
        ),
    ] = None,
    rival: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Compare with this one, or none. Default: all.", autocompletion=words(*RIVAL_NAMES)
        ),
    ] = None,
    repetitions: Annotated[
        int, typer.Option(metavar=NUMBER, help="Samples in each cell.", show_default=True)
    ] = USUAL.repetitions,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where accuracy.md, accuracy.png and accuracy.jsonl go."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each cell.")] = False,
    processes: Annotated[int, typer.Option(metavar=NUMBER, help="How many processes; default: all cores.")] = 0,
) -> None:
    """The error of each method in each cell: a statistic of a family of data at an offset.

    Errors are mean absolute errors over the statistic of the sample, in spreads of the family, with standard errors.

    Example: nobounds bench accuracy --statistic q=0.9 --family normal --n 300
    """
    with plain_errors():
        setting = Setting(
            statistic or USUAL.statistics,
            family or USUAL.families,
            offset or USUAL.offsets,
            n or USUAL.sizes,
            epsilon or USUAL.epsilons,
            [check_neighbors(each) for each in neighbors or USUAL.relations],
            repetitions,
        )
        rivals = None if rival is None else [name for name in rival if name != "none"]
        outcomes = _run(setting, method or [], rivals, processes or os.cpu_count() or 1)
        if as_json:
            print(*map(_line, outcomes), sep="\n")
        else:
            _show(rows(outcomes))
            _show(summary(outcomes))
        if out is not None:
            _write(outcomes, out)


def _run(setting: Setting, methods: list[str], rivals: list[str] | None, processes: int) -> list[Outcome]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    silent, outcomes = not sys.stderr.isatty(), []
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=silent) as progress:
        done = progress.add_task("cells", total=len(setting.cells()))
        for outcome in compare(setting, methods, rivals=rivals, processes=processes):
            outcomes.append(outcome)
            progress.update(done, advance=1)
    return outcomes


def _show(table: list[list[str]]) -> None:
    console = Terminal()
    if not console.is_terminal:
        console.width = sum(max(map(len, column)) + 3 for column in zip(*table, strict=True)) + 3
    shown = Table(box=SIMPLE_HEAD)
    for head in table[0]:
        shown.add_column(head, no_wrap=True)
    for row in table[1:]:
        shown.add_row(*row)
    console.print(shown)


def _line(outcome: Outcome) -> str:
    """The cell and the errors of each method as one line of JSON."""
    return json.dumps({"cell": outcome.cell.as_dict(), "errors": outcome.errors})


def _write(outcomes: list[Outcome], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    head, image = "# Accuracy of the benchmark, every cell", "![Errors of each method](accuracy.png)"
    parts = (head, as_markdown(summary(outcomes)), image, as_markdown(rows(outcomes)))
    (folder / "accuracy.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")
    (folder / "accuracy.jsonl").write_text("".join(f"{_line(outcome)}\n" for outcome in outcomes))
    picture(outcomes).savefig(folder / "accuracy.png", dpi=130)
    print(f"Results: {folder / 'accuracy.md'}, accuracy.png and accuracy.jsonl", file=sys.stderr)
