"""The paper command: reproduces the paper's figures and tables in a folder."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nobounds import plots
from nobounds.cli.errors import plain_errors
from nobounds.cli.help import words
from nobounds.research.paper.datasets import own_name
from nobounds.research.paper.published import EPSILONS
from nobounds.research.paper.report import PARTS, tasks_of, write
from nobounds.research.paper.work import finished, work


def paper(
    part: Annotated[
        list[str] | None,
        typer.Argument(help=f"Of: {', '.join(PARTS)}. Default: all.", show_default=False, autocompletion=words(*PARTS)),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the report, the figures and the results go.")
    ] = Path("paper"),
    epsilon: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="For table1 alone: 1, 0.5 or 0.1.", autocompletion=words(*EPSILONS)),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE:COLUMN:LOWER:UPPER[:RESOLUTION]", help="For figure3: your own data, and the range to state."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repetitions; takes less than a minute.")] = False,
    processes: Annotated[
        int, typer.Option(metavar="NUMBER", help="The number of processes. Default: one per core.")
    ] = 0,
) -> None:
    """Reproduce the figures and tables of the paper, beside earlier methods and nobounds, with a report.

    A run that was stopped goes on where it was.

    Example: nobounds paper table1 --epsilon 1 --quick
    """
    with plain_errors():
        parts = _checked("part", part or (["figure3"] if data else list(PARTS)), tuple(PARTS))
        own = None if data is None else own_name(data)
        epsilons = tuple(_checked("epsilon", epsilon or list(EPSILONS), EPSILONS))
        plots.canvas()
        folder = out / "quick" if quick else out
        tasks = [task for name in parts for task in tasks_of(name, quick, epsilons, own)]
        folder.mkdir(parents=True, exist_ok=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as progress:
            done = progress.add_task("results", total=len(tasks), completed=len(finished(tasks, folder / "results")))
            for task in work(tasks, folder / "results", processes or os.cpu_count() or 1):
                progress.update(done, advance=1, description=task.experiment)
        page = write(folder, parts, quick, epsilons, own)
        print(f"Report: {page} and {page.with_suffix('.html').name}")


def _checked(name: str, given: list[str], allowed: tuple[str, ...]) -> list[str]:
    for value in given:
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return list(dict.fromkeys(given))
