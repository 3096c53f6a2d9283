"""The cells of a benchmark, each measured once: its options, its results as JSON lines, and the test of a level.

With `--results FILE` a cell is written to the file as soon as it is measured, and a run that was stopped goes on where
it was. The file does not know which code made it: after a change of the mechanisms, start a new one.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from scipy.stats import binom

PAGES = Path(__file__).parents[2] / "docs" / "intervals"
UNLIKELY = 1e-3
Seen = TypeVar("Seen")


def rejected(held: int, runs: int, level: float) -> bool:
    """Whether at most `held` of the runs hold with probability below UNLIKELY, if each holds at this level."""
    return runs > 0 and bool(binom.cdf(held, runs, level) < UNLIKELY)


def options(description: str, page: str, reps: int = 400) -> argparse.ArgumentParser:
    """The options that benchmarks of cells share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, default=reps, help="runs of each cell")
    parser.add_argument("--quick", action="store_true", help="a smaller grid")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, help="a file that keeps what was measured, and is read before")
    parser.add_argument("--out", type=Path, default=PAGES / page, help="where the page is written")
    return parser


def measured(
    cells: Sequence[Any], measure: Callable[..., Seen], given: argparse.Namespace, seen: Callable[..., Seen]
) -> Iterator[Seen]:
    """What `measure(cell, reps)` sees in the cells, those in the file first; `seen` makes it from a line's fields."""
    kept = dict(_kept(given.results, given.reps))
    names = {cell: json.dumps(asdict(cell), sort_keys=True) for cell in cells}
    yield from (seen(**(kept[names[cell]] | {"cell": cell})) for cell in cells if names[cell] in kept)
    missing = [cell for cell in cells if names[cell] not in kept]
    with ProcessPoolExecutor(given.jobs) as pool:
        for each in pool.map(partial(measure, reps=given.reps), missing):
            if given.results:
                given.results.parent.mkdir(parents=True, exist_ok=True)
                with given.results.open("a") as file:
                    print(json.dumps({"reps": given.reps} | asdict(each)), file=file)
            yield each


def _kept(path: Path | None, reps: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cells in the file with that number of runs."""
    for line in path.read_text().splitlines() if path is not None and path.exists() else ():
        fields = json.loads(line)
        if fields.pop("reps") == reps:
            yield json.dumps(fields["cell"], sort_keys=True), fields


def written(path: Path, lines: Iterable[str]) -> None:
    """Print the page and write it."""
    text = "\n".join(lines).rstrip("\n") + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(text)
