"""Run the stress test and write its report: python -m stress --minutes 1 --out report.md.

The exit status is 0 if no charge was lost, no budget overspent, no answer wrong, no error undocumented and no file left
behind; 1 if one was; and 2 for a wrong command.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from stress.report import markdown, plain
from stress.run import Outcome, run


def main(words: Sequence[str] | None = None) -> int:
    """The exit status of one stress test, with the given words of the command line."""
    parser = argparse.ArgumentParser(prog="python -m stress", description="Mixed calls with faults: nothing is lost.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it runs; default: 10")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same calls; default: 0")
    parser.add_argument("--processes", type=int, default=3, help="how many make calls at a time; default: 3")
    parser.add_argument("--out", type=Path, help="the file of the report: Markdown, or JSON if it ends in .json")
    options = parser.parse_args(words)
    if not 0 < options.minutes <= 10_000 or options.processes < 1:
        parser.error(f"minutes and processes must be positive, got {options.minutes:g} and {options.processes}")
    if options.out is not None and not options.out.parent.is_dir():
        parser.error(f"there is no folder {options.out.parent}")
    outcome = _run(options.minutes, options.seed, options.processes)
    page = markdown(outcome, f"make soak MINUTES={options.minutes:g}" + (f" SEED={options.seed}" * (options.seed != 0)))
    if options.out is None:
        print(page)
    else:
        as_json = options.out.suffix == ".json"
        options.out.write_text(json.dumps(plain(outcome), indent=2) + "\n" if as_json else page)
        print(f"{'Passed' if outcome.passed else 'FAILED'}. Report: {options.out}")
    return 0 if outcome.passed else 1


def _run(minutes: float, seed: int, processes: int) -> Outcome:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=silent) as bars:
        bar = bars.add_task("Stress test", total=minutes * 60)

        def progress(answers: int, faults: int) -> None:
            bars.update(bar, completed=bars.tasks[0].elapsed or 0, description=f"{answers} answers")

        return run(minutes * 60, seed=seed, processes=processes, progress=progress)


if __name__ == "__main__":
    sys.exit(main())
