"""The soak command: mixed calls with faults for some minutes, and a report of what was lost, which is nothing."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nobounds.auditing.soak import Found
from nobounds.auditing.soak import soak as run
from nobounds.auditing.soak_report import markdown, plain
from nobounds.cli.errors import plain_errors


def soak(
    minutes: Annotated[float, typer.Option(metavar="NUMBER", help="How long.")] = 10.0,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="The same seed makes the same calls.")] = 0,
    processes: Annotated[int, typer.Option(metavar="NUMBER", help="How many make calls at a time.")] = 3,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the report goes: Markdown, or JSON for .json.")
    ] = None,
) -> None:
    """Mixed calls against shared budgets, with killed processes, full disks, damaged files and more; nothing is lost.

    The exit status is 0 if no charge was lost, no budget overspent, no answer wrong, no error undocumented and no file
    left behind; 1 if one was; and 2 if the command was not understood.

    Example: nobounds soak --minutes 1 --out report.md
    """
    with plain_errors():
        if not 0 < minutes <= 10_000 or processes < 1:
            raise ValueError(f"minutes and processes must be positive, got {minutes:g} and {processes}")
        if out is not None and not out.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {out.parent}")
        found = _run(minutes, seed, processes)
        page = markdown(found, f"nobounds soak --minutes {minutes:g}" + (f" --seed {seed}" if seed else ""))
        if out is not None:
            as_json = out.suffix == ".json"
            out.write_text(json.dumps(plain(found), indent=2) + "\n" if as_json else page)
        print(page if out is None else f"{'Passed' if found.passed else 'FAILED'}. Report: {out}")
    raise typer.Exit(0 if found.passed else 1)


def _run(minutes: float, seed: int, processes: int) -> Found:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=silent) as progress:
        bar = progress.add_task("Soaking", total=minutes * 60)

        def tell(answers: int, faults: int) -> None:
            progress.update(bar, completed=progress.tasks[0].elapsed or 0, description=f"{answers} answers")

        return run(minutes * 60, seed=seed, processes=processes, tell=tell)
