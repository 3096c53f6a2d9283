"""nobounds beside methods that get no bounds either, on data near 0 and far from it: docs/accuracy/offsets.md.

    python benchmarks/accuracy/run.py --quick
    python benchmarks/accuracy/run.py --only inner --n 50 300 1000 --relation add-remove --reps 200 \
        --families normal,lognormal --offsets 0,17 --against /path/to/another/checkout

Errors are mean absolute errors over the statistic of the sample in units of the family's spread. `--results` keeps
errors in a file as they come, and cells that it has from the same code are not run again.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

from bars import bars
from elsewhere import Elsewhere
from grid import RELATIONS, REPETITIONS, STATISTICS, grid
from ours import errors
from results import BEFORE, as_json, code_of, kept
from tables import EVERY, cells_page, page, summary, table

import nobounds
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import OURS, Outcome
from nobounds.research.bench.rivals import RIVALS

USUAL, QUICK = 400, 60
SHORTER = 10  # a quick run has this part of the repetitions where a full one has its own number


def main() -> None:
    """Run the cells, print them, and write the pages."""
    options = parsed()
    cells = list(
        grid(
            options.only or STATISTICS,
            quick=options.quick,
            sizes=options.n,
            epsilons=options.epsilon,
            families=options.families,
            offsets=options.offsets,
            relations=(options.relation,) if options.relation else RELATIONS,
            statistics=options.statistics,
        )
    )
    others = (options.against,) if options.against else ()
    code = code_of(Path(nobounds.__file__).parent, Path(__file__).parent, *(path / "src" for path in others))
    methods = (OURS, BEFORE) if options.against else (OURS,)
    done = kept(options.results, code, methods, partial(repetitions_of, options=options))
    if options.results:
        options.results.parent.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes_of([cell for cell in cells if cell not in done], options):
        done[outcome.cell] = outcome
        if options.results:
            with options.results.open("a") as file:
                print(as_json(outcome, code), file=file)
    outcomes = [done[cell] for cell in cells]
    print(table(outcomes), summary(outcomes), bars(outcomes), sep="\n\n")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page(outcomes))
        options.out.with_name(EVERY).write_text(cells_page(outcomes))


def outcomes_of(cells: Sequence[Cell], options: argparse.Namespace) -> Iterator[Outcome]:
    """Each cell's outcome as it comes, and how far the run is on the standard error."""
    work, start = partial(measured, options=options), time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, outcome in enumerate(map(work, cells) if options.jobs == 1 else pool.map(work, cells), 1):
            if sys.stderr.isatty() or number % 50 == 0 or number == len(cells):
                took = time.perf_counter() - start
                print(f"{number} of {len(cells)} cells, {took:.0f} s", end="\r", file=sys.stderr, flush=True)
            yield outcome
    print(file=sys.stderr)


def measured(cell: Cell, options: argparse.Namespace) -> Outcome:
    """The errors of all methods."""
    repetitions = repetitions_of(cell, options)
    result = {OURS: errors(cell, repetitions)}
    if options.against:
        result[BEFORE] = other(options.against).errors(cell, repetitions)
    for name, rival in RIVALS[cell.part].items():
        if options.rivals is None or name in options.rivals:
            result[name] = rival(cell, repetitions)
    return Outcome(cell, result)


def repetitions_of(cell: Cell, options: argparse.Namespace) -> int:
    """As given, or those of the part."""
    full = REPETITIONS.get(cell.part, USUAL)
    return int(options.reps or (max(QUICK, full // SHORTER) if options.quick else full))


@cache
def other(path: Path) -> Elsewhere:
    """One process for the other checkout in each process of the pool; it ends with the process that started it."""
    return Elsewhere(path)


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="nobounds beside methods that get no bounds either")
    parser.add_argument("--only", nargs="+", choices=list(STATISTICS), help="these parts")
    parser.add_argument("--quick", action="store_true", help=f"fewer cells and {QUICK} repetitions")
    parser.add_argument("--n", nargs="+", type=int, help="numbers of records")
    parser.add_argument("--epsilon", nargs="+", type=float)
    parser.add_argument("--families", type=lambda text: text.split(","), help="separated by commas")
    parser.add_argument(
        "--offsets", type=lambda text: [float(x) for x in text.split(",")], help="in spreads, by commas"
    )
    parser.add_argument("--relation", choices=RELATIONS)
    parser.add_argument("--statistics", nargs="+", help="q=0.5, maximum, ... of the parts")
    parser.add_argument("--reps", type=int, help=f"repetitions; {USUAL}, or {QUICK} with --quick")
    parser.add_argument("--rivals", type=lambda text: text.split(","), help="these alone, by commas; '' for none")
    parser.add_argument("--against", type=Path, help="another checkout; its nobounds joins as `before`")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to keep errors in and to go on from")
    parser.add_argument("--out", type=Path, help="the page to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
