"""nobounds by its public functions, with no bounds given; as a program it answers cells from another process.

PYTHONPATH=<another checkout>/src python benchmarks/accuracy/ours.py     one JSON line in, one JSON line out
"""

import inspect
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from cells import Cell
from families import FAMILIES

import nobounds

# Numbers before any marking; an earlier version had no marks.
MARKS = {"marks": False} if "marks" in inspect.signature(nobounds.quantile).parameters else {}


def answer(cell: Cell, data: Any, rng: random.Random) -> Any:
    """What nobounds releases."""
    options: dict[str, Any] = {"epsilon": str(cell.epsilon), "neighbors": cell.relation, "rng": rng}
    options |= statement(cell, data) | MARKS
    if cell.statistic == "deciles":
        return nobounds.quantiles(data, list(cell.qs), **options).value
    if cell.statistic.startswith("q="):
        return nobounds.quantile(data, cell.qs[0], **options).value
    return getattr(nobounds, cell.statistic)(data, **options).value


def statement(cell: Cell, data: Any) -> dict[str, Any]:
    """A true statement: a bound 20 spreads from the offset or where the data end, the resolution, or the rows."""
    family = FAMILIES[cell.family]
    middle, reach = cell.offset * family.spread, 20 * family.spread
    return {
        "": {},
        "lower": {"lower": min(float(data.min()), middle - reach)},
        "upper": {"upper": max(float(data.max()), middle + reach)},
        "resolution": {"resolution": str(family.resolution)},
        "rows": {"rows": cell.n},
    }[cell.stated]


def errors(cell: Cell, repetitions: int) -> list[float]:
    """One error for each repetition."""
    return [
        cell.error(answer(cell, data, random.Random(f"{cell}/{repetition}")), data)
        for repetition, data in enumerate(cell.samples(repetitions))
    ]


class Elsewhere:
    """nobounds of another checkout, in a process of its own, which ends with this one."""

    def __init__(self, path: Path) -> None:
        source = path / "src" if (path / "src").is_dir() else path
        if not (source / "nobounds").is_dir():
            raise SystemExit(f"no nobounds in {path}")
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
        )

    def errors(self, cell: Cell, repetitions: int) -> list[float]:
        """As `errors`, by the code of the other checkout."""
        inward, outward = self._process.stdin, self._process.stdout
        if inward is None or outward is None:
            raise RuntimeError("the other process has no pipes")
        print(json.dumps([cell.as_dict(), repetitions]), file=inward, flush=True)
        return [float(error) for error in json.loads(outward.readline())]


if __name__ == "__main__":
    for line in sys.stdin:
        fields, count = json.loads(line)
        print(json.dumps(errors(Cell(**fields), count)), flush=True)
