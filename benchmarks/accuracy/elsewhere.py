"""nobounds of another checkout, in a process of its own that ends with this one.

PYTHONPATH=<another checkout>/src python benchmarks/accuracy/elsewhere.py    a line of JSON and n floats in, a line out

As a program it imports nothing but nobounds and numpy: another checkout may have no benchmark of its own.
"""

import inspect
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nobounds

if TYPE_CHECKING:
    from nobounds.research.bench.cells import Cell


class Elsewhere:
    """The process, and the errors of what it answers."""

    def __init__(self, path: Path) -> None:
        source = path / "src" if (path / "src").is_dir() else path
        if not (source / "nobounds").is_dir():
            raise SystemExit(f"no nobounds in {path}")
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
        )

    def errors(self, cell: "Cell", repetitions: int) -> list[float]:
        """One error for each repetition."""
        from ours import statement

        samples = enumerate(cell.samples(repetitions))
        return [cell.error(self._answer(cell, f"{cell}/{k}", data, statement(cell, data)), data) for k, data in samples]

    def _answer(self, cell: "Cell", seed: str, data: Any, stated: dict[str, Any]) -> Any:
        inward, outward = self._process.stdin, self._process.stdout
        if inward is None or outward is None:
            raise RuntimeError("the other process has no pipes")
        options = {"epsilon": str(cell.epsilon), "neighbors": cell.relation} | stated
        request = {"statistic": cell.statistic, "qs": cell.qs, "seed": seed, "options": options, "n": len(data)}
        inward.write(json.dumps(request).encode() + b"\n" + np.ascontiguousarray(data, dtype=np.float64).tobytes())
        inward.flush()
        return json.loads(outward.readline())


def answer(data: Any, *, statistic: str, qs: list[float], seed: str, options: dict[str, Any]) -> Any:
    """What this process's nobounds releases, before any marking; an earlier version had no marks."""
    marks = {"marks": False} if "marks" in inspect.signature(nobounds.quantile).parameters else {}
    given = options | marks | {"rng": random.Random(seed)}
    if statistic == "deciles":
        return nobounds.quantiles(data, qs, **given).value
    if statistic.startswith("q="):
        return nobounds.quantile(data, qs[0], **given).value
    return getattr(nobounds, statistic)(data, **given).value


if __name__ == "__main__":
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        records = np.frombuffer(sys.stdin.buffer.read(8 * request.pop("n")))
        print(json.dumps(answer(records, **request)), flush=True)
