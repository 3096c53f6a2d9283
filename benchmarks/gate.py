"""The accuracy gate: errors, ranges and coverage on everyday columns, beside stored figures of an earlier version.

Each cell is a statistic of a column at a size, a relation and an epsilon, answered with no interval and by default.
Samples are drawn with replacement from a large column, so the truth of the rows and of the population are both known.

    python benchmarks/gate.py                       the table, beside benchmarks/gate.json
    python benchmarks/gate.py --columns FOLDER      more columns, of CSV files in a folder
"""

import argparse
import csv
import gzip
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nobounds as nb

N = 50_000  # records of a synthetic column
REPS = 16  # samples of a cell
SMALLEST = 0.002  # interquartile ranges that an error must differ by to count in a ratio
FARTHEST = 10.0  # interquartile ranges at which an error is cut off
WILD = 0.15, 0.1  # percentile points and interquartile ranges that an answer is off by to be called wild
SETTINGS = [(60, 1.0), (100, 1.0), (300, 1.0), (1000, 0.3), (1000, 1.0), (1000, 3.0), (10_000, 1.0)]
RELATIONS = ("add-remove", "swap")
INNER, TAILS, DECILES = (0.25, 0.5, 0.75), (0.9, 0.95, 0.99), tuple(k / 10 for k in range(1, 10))
GROUPS = ("inner", "tails", "deciles", "extremes", "mean", "sum", "std")
SAMPLES = Path(nb.__file__).parent / "data"


def synthetic() -> dict[str, np.ndarray]:
    """A dozen families: far from 0, heaped, zero-inflated, heavy, whole numbers as floats, two groups, a constant."""
    g = np.random.default_rng(1)
    return {
        "normal": g.normal(0, 1, N),
        "normal + 1000": g.normal(1000.37, 1, N),
        "normal - 1e6": g.normal(-1.0321e6, 3, N),
        "lognormal": g.lognormal(10, 1, N),
        "pareto 1.5": 3 * (1 + g.pareto(1.5, N)),
        "exponential * 1e-6": g.exponential(1e-6, N),
        "cents": np.round(g.lognormal(3, 1, N), 2),
        "years": np.round(g.normal(1970, 20, N)),
        "seconds": np.round(1.70321e9 + g.normal(0, 1e6, N)),
        "60% zeros": np.where(g.random(N) < 0.6, 0, g.exponential(30, N)),
        "two groups": np.where(g.random(N) < 0.5, g.normal(3, 0.1, N), g.normal(300, 20, N)),
        "flags": (g.random(N) < 0.3).astype(float),
        "heaped hours": np.where(g.random(N) < 0.5, 40.0, np.round(g.normal(40, 10, N))),
        "constant": np.full(N, 7.25),
    }


def real(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """The numeric columns of the CSV files of a folder."""
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")]):
        opened: Any = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        for name in rows[0]:
            values = np.array([_number(row[name]) for row in rows])
            values = values[np.isfinite(values)]
            if len(values) > len(rows) / 2 and len(np.unique(values)) > 20:
                yield f"{path.name.split('.')[0]}.{name}", values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


class Cell(NamedTuple):
    """One statistic of one column in one setting."""

    column: str
    group: str
    q: float | None
    rows: int
    relation: str
    epsilon: float

    @property
    def key(self) -> str:
        """Its name in the stored figures."""
        return "|".join(map(str, self))


def cells(columns: Iterable[str]) -> Iterator[Cell]:
    """All cells; deciles are asked for from 10,000 rows on, and one epsilon is enough for extremes."""
    for column in columns:
        for rows, epsilon in SETTINGS:
            for relation in RELATIONS:
                for group, qs in (("inner", INNER), ("tails", TAILS)):
                    for q in qs:
                        yield Cell(column, group, q, rows, relation, epsilon)
                for group in ("mean", "sum", "std"):
                    yield Cell(column, group, None, rows, relation, epsilon)
                if epsilon == 1.0:
                    yield Cell(column, "extremes", 1.0, rows, relation, epsilon)
                if rows == 10_000:
                    yield Cell(column, "deciles", None, rows, relation, epsilon)


class Asked(NamedTuple):
    """How this version answers: a number alone, and what it gives by default (a value, an interval or None)."""

    number: Callable[[Cell, np.ndarray, Any], Any]
    default: Callable[[Cell, np.ndarray, Any], Any]


def _call(cell: Cell, x: np.ndarray, rng: Any, **more: Any) -> Any:
    terms = {"epsilon": cell.epsilon, "neighbors": cell.relation, "rng": rng, **more}
    if cell.group == "deciles":
        terms.pop("interval", None)
        return nb.quantiles(x, DECILES, **terms)
    if cell.group == "extremes":
        return nb.maximum(x, **terms)
    if cell.q is not None:
        return nb.quantile(x, cell.q, **terms)
    return {"mean": nb.mean, "sum": nb.sum, "std": nb.std}[cell.group](x, **terms)


def number(cell: Cell, x: np.ndarray, rng: Any) -> Any:
    """The value alone, with all of epsilon."""
    return _call(cell, x, rng, interval=None).value


def default(cell: Cell, x: np.ndarray, rng: Any) -> tuple[Any, tuple[float, float] | None]:
    """The value and its interval, for the rows of sums, means and standard deviations."""
    rows = {"of": "sample"} if cell.group == "mean" else {}
    release = _call(cell, x, rng, **rows)
    return release.value, None if cell.group == "deciles" else release.interval


def measured(cell: Cell, full: np.ndarray) -> dict[str, float]:
    """What came of the samples of a cell."""
    scale = float(np.subtract(*np.quantile(full, [0.75, 0.25]))) or float(full.std()) or 1.0
    errors, with_interval, wild, few, two, held, widths = [], [], 0, 0, 0, 0, []
    for rep in range(REPS):
        seed = random.Random(f"{cell.key}{rep}")
        x = np.random.default_rng(seed.getrandbits(64)).choice(full, cell.rows)
        truth = _truth(cell, x)
        alone = number(cell, x, random.Random(seed.getrandbits(64)))
        errors.append(_error(cell, alone, truth, x) / scale)
        value, interval = default(cell, x, random.Random(seed.getrandbits(64)))
        few += value is None
        wild += value is not None and cell.q is not None and _is_wild(value, cell.q, x, scale)
        if value is not None:
            with_interval.append(_error(cell, value, truth, x) / scale)
        if interval is not None and all(map(math.isfinite, interval)):
            two += 1
            low, high = interval
            slack = 1e-9 * max(abs(low), abs(high))
            of = _truth(cell, full) if cell.group in ("inner", "tails") else truth
            held += bool(low - slack <= np.max(of) and np.min(of) <= high + slack)
            widths.append((high - low) / scale)
    return {
        "error": float(np.mean(np.minimum(errors, FARTHEST))),
        "error_with": float(np.mean(np.minimum(with_interval, FARTHEST))) if with_interval else math.nan,
        "answered": 1 - few / REPS,
        "wild": wild / REPS,
        "two": two / REPS,
        "held": held / two if two else math.nan,
        "width": float(np.median(widths)) if widths else math.nan,
    }


def _truth(cell: Cell, x: np.ndarray) -> Any:
    """The statistic of some rows; of a quantile the interval of all numbers that are one."""
    if cell.group == "deciles":
        return np.quantile(x, DECILES, method="inverted_cdf")
    if cell.q is not None:
        return np.quantile(x, [cell.q] * 2, method="inverted_cdf"), np.quantile(x, [cell.q] * 2, method="higher")
    return {"mean": np.mean, "sum": np.sum, "std": np.std}[cell.group](x)


def _error(cell: Cell, value: Any, truth: Any, x: np.ndarray) -> float:
    if value is None:
        return math.nan
    if cell.group == "deciles":
        return float(np.mean(np.abs(np.array([np.nan if v is None else v for v in value]) - truth)))
    if cell.q is not None:
        return float(max(np.min(truth) - value, value - np.max(truth), 0.0))
    return abs(float(value) - float(truth)) / (len(x) if cell.group == "sum" else 1)


def _is_wild(value: float, q: float, x: np.ndarray, scale: float) -> bool:
    points = max(np.mean(x < value) - q, q - np.mean(x <= value))
    return bool(points > WILD[0] and abs(value - np.quantile(x, q)) > WILD[1] * scale)


def run(columns: dict[str, np.ndarray], jobs: int) -> dict[str, dict[str, float]]:
    """All cells, in processes side by side."""
    listed = list(cells(columns))
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(measured, listed, (columns[cell.column] for cell in listed), chunksize=16)
        return {cell.key: each for cell, each in zip(listed, results, strict=True)}


def table(now: dict[str, dict[str, float]], before: dict[str, dict[str, float]]) -> str:
    """The figures by statistic, relation and setting; errors are geometric means over columns of the ratio."""
    rows: dict[tuple[str, str, int, float], list[tuple[dict[str, float], dict[str, float]]]] = defaultdict(list)
    for key, each in now.items():
        _, group, _, size, relation, epsilon = key.split("|")
        rows[group, relation, int(size), float(epsilon)].append((each, before.get(key, {})))
    lines = [
        f"{'':9} {'':10} {'rows':>6} {'eps':>4} {'error':>6} {'with':>6} {'answered':>8} {'wild':>6} "
        f"{'two ends':>8} {'held':>6} {'least':>6} {'width':>6}   (before: answered, wild, two ends, held, least)"
    ]
    for group, relation, size, epsilon in sorted(rows, key=lambda k: (GROUPS.index(k[0]), k[1], k[2], k[3])):
        pairs = rows[group, relation, size, epsilon]
        error = _ratio((a["error"], b.get("error", math.nan)) for a, b in pairs)
        both = _ratio((a["error_with"], a["error"]) for a, b in pairs)
        width = _ratio((a["width"], b.get("width", math.nan)) for a, b in pairs if b.get("held", 0) >= 0.9)
        lines.append(
            f"{group:9} {relation:10} {size:6} {epsilon:4} {error:6.2f} {both:6.2f} {_figures([a for a, _ in pairs])} "
            f"{width:6.2f}   {_figures([b for _, b in pairs if b])}"
        )
    return "\n".join(lines)


def _ratio(pairs: Iterable[tuple[float, float]]) -> float:
    logs = [math.log((a + SMALLEST) / (b + SMALLEST)) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return math.exp(float(np.mean(logs))) if logs else math.nan


def _figures(each: list[dict[str, float]]) -> str:
    if not each:
        return ""
    answered, wild, two = (float(np.mean([a[name] for a in each])) for name in ("answered", "wild", "two"))
    held = sum(a["held"] * a["two"] for a in each if a["two"]) / (two * len(each)) if two else math.nan
    least = min((a["held"] for a in each if a["two"] * REPS >= 8), default=math.nan)
    return f"{answered:8.2f} {wild:6.3f} {two:8.2f} {held:6.3f} {least:6.2f}"


def main() -> None:
    """Run the cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--columns", type=Path, action="append", default=[], help="a folder of CSV files")
    parser.add_argument("--only", help="a part of the names of cells")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--before", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--store", type=Path, help="where to store the figures of this run")
    given = parser.parse_args()
    columns = synthetic() | {name: each for folder in [SAMPLES, *given.columns] for name, each in real(folder)}
    if given.only:
        columns = {name: each for name, each in columns.items() if given.only in name}
    now = run(columns, given.jobs)
    if given.store:
        rounded = {key: {name: round(x, 5) for name, x in each.items() if x == x} for key, each in now.items()}
        given.store.write_text(json.dumps(rounded, indent=0, sort_keys=True) + "\n")
    before = json.loads(given.before.read_text()) if given.before.exists() else {}
    sys.stdout.write(table(now, before) + "\n")


if __name__ == "__main__":
    main()
