"""The pictures and tables of docs/accuracy.md: expected errors of nobounds and of methods that are given bounds.

    python benchmarks/accuracy.py --out docs/accuracy [--quick]

Pictures go into the folder, tables into the page of the same name beside it, if there is one, and to the screen. All
errors are sums over the law of the answer, no noise is drawn; they are averaged over samples of data.
"""

import argparse
import csv
import gzip
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from nobounds.answer_law import AnswerLaw
from nobounds.counts import Counts
from nobounds.engines.arrays import column
from nobounds.plots import COLORS
from nobounds.quantile import ask

Floats = np.ndarray[Any, np.dtype[np.float64]]
Relation = Literal["swap", "add-remove"]
Key = tuple[Any, ...]
Found = list[tuple[Key, "Errors"]]

WORKERS, ROWS = 2, 1000
CAP = 10  # an error counts for no more than this many times the range of the data
LEAST = 1e-7  # parts of the law with less probability count as an answer of 0
RARE, TOGETHER = 1e-4, 8  # neighbouring parts rarer than this are taken together, so many at a time
NEAR_ZERO = 1e-3  # answers smaller than this share of the truth count as 0
SETTLED = 1e-3  # the share of the error that answers outside the window may be wrong by
TINY = 1e-9  # where both errors are below this there is nothing to compare

GIVEN_QS = (0.05, 0.25, 0.5, 0.75, 0.95)
ALL_QS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.65, 0.75, 0.85, 0.95)
SIZES = tuple(10**k for k in range(2, 8))
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
UPPERS = tuple(10.0**k for k in range(3, 13))
UPPER = 1e4  # what the exponential mechanism is told in claims 3 and 4
CANDIDATES = 1000

DEFAULT, FIXED, BOUNDED, GRID = (
    "nobounds, default",
    "nobounds, beta=1.001",
    "exponential mechanism, bounded",
    f"{CANDIDATES} candidates, bounded",
)
STYLES: dict[str, dict[str, Any]] = {
    DEFAULT: {"color": COLORS[0], "linestyle": "-", "marker": "o"},
    FIXED: {"color": COLORS[2], "linestyle": "--", "marker": "^"},
    BOUNDED: {"color": COLORS[1], "linestyle": "-.", "marker": "s"},
    GRID: {"color": COLORS[3], "linestyle": ":", "marker": "D"},
}


@dataclass(frozen=True, slots=True)
class Errors:
    """The mean and the median of an absolute error."""

    mean: float
    median: float


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where a sample comes from, and what the bounded rival is told and given."""

    draw: Callable[[np.random.Generator], Floats]
    low: float
    high: float
    resolution: float | None = None
    jitter: float = 0.0


def bundled(file: str, name: str) -> Callable[[np.random.Generator], Floats]:
    """Samples of a bundled column without replacement."""

    def draw(rng: np.random.Generator) -> Floats:
        with gzip.open(str(files("nobounds") / "data" / file), "rt") as text:
            values = [float(row[name]) for row in csv.DictReader(text)]
        return rng.choice(np.array(values), ROWS, replace=False)

    return draw


SETS = {
    "uniform on [-5, 5]": DataSet(lambda rng: rng.uniform(-5, 5, ROWS), -5, 5),
    "normal(0, 5)": DataSet(lambda rng: rng.normal(0, 5, ROWS), -25, 25),
    "ratings": DataSet(bundled("books.csv.gz", "average_rating"), 0, 10, 0.01, 0.001),
    "pages": DataSet(bundled("books.csv.gz", "num_pages"), 0, 10_000, 1, 0.1),
    "ages": DataSet(bundled("adult.csv.gz", "age"), 0, 100, 1, 0.1),
    "hours": DataSet(bundled("adult.csv.gz", "hours_per_week"), 0, 100, 1, 0.1),
}


def lognormal(rows: int, sample: int) -> Floats:
    """A sorted sample for claims 3 to 5."""
    return np.sort(np.random.default_rng([rows, sample]).lognormal(3, 0.8, rows))


# nobounds


def answer_law(data: Floats, q: float, **options: Any) -> AnswerLaw:
    """The law of nobounds.quantile(data, q, **options).value."""
    records = column(data)
    asked = ask(records, (Fraction(str(q)),), **options)
    law = AnswerLaw.of(asked, Counts.of(records.chunks, asked.ladder), least=LEAST)
    return AnswerLaw(asked, tuple(thinned(law.parts)))


def thinned(parts: Iterable[tuple[float, Any, Any]]) -> Iterator[tuple[float, Any, Any]]:
    """Common parts as they are, and rare ones that follow each other in the place of the likeliest of them."""
    waiting: list[tuple[float, Any, Any]] = []
    for part in parts:
        if part[0] > RARE:
            yield part
            continue
        waiting.append(part)
        if len(waiting) == TOGETHER:
            yield (math.fsum(chance for chance, _, _ in waiting), *max(waiting, key=lambda p: p[0])[1:])
            waiting = []
    if waiting:
        yield (math.fsum(chance for chance, _, _ in waiting), *max(waiting, key=lambda p: p[0])[1:])


def errors_of(law: AnswerLaw, data: Floats, q: float, truth: float, epsilon: float) -> Errors:
    """The errors of a law, by a sum over ever wider windows of answers until what lies outside does not matter."""
    cap, seen = CAP * float(np.ptp(data)), math.fsum(chance for chance, _, _ in law.parts)
    beyond = law.above(truth + cap) + seen - law.above(math.nextafter(truth - cap, -math.inf))
    beyond = beyond if beyond > 1e-13 else 0.0
    small = NEAR_ZERO * abs(truth)
    zeros = max(0.0, law.above(-small) - law.above(small))
    for spans in windows(np.sort(data), q, truth, epsilon, cap, small):
        found = [law.pmf(low, high) for low, high in spans]
        values, masses = (np.concatenate([one[k] for one in found]) for k in (0, 1))
        apart = zeros if all(low >= small or high <= -small for low, high in spans) else 0.0
        errors = np.concatenate([np.abs(values - truth), [cap, abs(truth)]])
        chances = np.concatenate([masses, [beyond, apart + 1 - seen]])
        if (1 - chances.sum()) * cap <= SETTLED * float(chances @ errors):
            break
    return Errors(float(chances @ errors), median_of(errors, chances))


def windows(
    ordered: Floats, q: float, truth: float, epsilon: float, cap: float, small: float
) -> Iterator[list[tuple[float, float]]]:
    """Spans of answers: around the records near the rank, and at last all within the cap but those that count as 0."""
    rank, last = q * len(ordered), len(ordered) - 1
    for far in (40 / epsilon, 160 / epsilon, 640 / epsilon):
        low, high = (float(ordered[int(np.clip(rank + step, 0, last))]) for step in (-far, far))
        margin = (high - low) / 20
        yield [(low - margin, high + margin)]
    yield [(truth - cap, -small), (math.nextafter(small, math.inf), truth + cap)]


def median_of(errors: Floats, chances: Floats) -> float:
    """The error that half of the answers stay within."""
    order = np.argsort(errors)
    passed = np.cumsum(chances[order])
    return float(errors[order][np.searchsorted(passed, passed[-1] / 2)])


def nobounds_errors(data: Floats, q: float, epsilon: float = 1.0, **options: Any) -> Errors:
    """The errors of nobounds.quantile with no bounds given."""
    law = answer_law(data, q, epsilon=Fraction(str(epsilon)), **options)
    return errors_of(law, data, q, float(np.quantile(data, q)), epsilon)


# The methods that are given bounds


def rival_epsilon(epsilon: float, q: float, relation: Relation) -> float:
    """Under add-remove the rank moves by max(q, 1 - q) at most, so the rival may act as if its epsilon were larger."""
    return epsilon if relation == "swap" else epsilon / max(q, 1 - q)


def exponential_mechanism(
    ordered: Floats, q: float, truth: float, *, epsilon: float, low: float, high: float, cap: float
) -> Errors:
    """The exponential mechanism on [low, high] (Smith 2011).

    Interval j between sorted points is drawn with probability proportional to its width times
    exp(-epsilon |j - q n| / 2), and then a uniform point in it.
    """
    records = np.clip(ordered, low, high)
    cuts = np.clip([low, truth - cap, truth, truth + cap, high], low, high)  # between them errors are linear
    points = np.sort(np.concatenate([records, cuts]), kind="stable")
    masses = weights(np.searchsorted(records, points[:-1], side="right"), q, len(records), epsilon) * np.diff(points)
    kept = masses > masses.max() * 1e-18
    errors = np.minimum(np.abs((points[1:][kept] + points[:-1][kept]) / 2 - truth), cap)
    chances = masses[kept] / masses[kept].sum()
    return Errors(float(chances @ errors), median_of(errors, chances))


def rounded_mechanism(
    ordered: Floats, q: float, truth: float, *, epsilon: float, low: float, high: float, step: float
) -> Errors:
    """The same, its answer rounded to a grid."""
    points = np.concatenate([[low], np.clip(ordered, low, high), [high]])
    masses = weights(np.arange(len(ordered) + 1), q, len(ordered), epsilon) * np.diff(points)
    passed = np.concatenate([[0], np.cumsum(masses / masses.sum())])
    grid = np.arange(round(low / step), round(high / step) + 1) * step
    cuts = np.concatenate([[low], (grid[1:] + grid[:-1]) / 2, [high]])
    chances, errors = np.diff(np.interp(cuts, points, passed)), np.abs(grid - truth)
    return Errors(float(chances @ errors), median_of(errors, chances))


def candidate_mechanism(ordered: Floats, q: float, truth: float, *, epsilon: float, upper: float, cap: float) -> Errors:
    """The exponential mechanism over candidates evenly spaced from 0 to `upper`."""
    candidates = np.linspace(0, upper, CANDIDATES)
    masses = weights(np.searchsorted(ordered, candidates, side="right"), q, len(ordered), epsilon)
    errors, chances = np.minimum(np.abs(candidates - truth), cap), masses / masses.sum()
    return Errors(float(chances @ errors), median_of(errors, chances))


def weights(ranks: Any, q: float, rows: int, epsilon: float) -> Floats:
    """What the exponential mechanism multiplies widths or candidates by."""
    exponents = -epsilon * np.abs(ranks - q * rows) / 2
    return np.exp(exponents - exponents.max())


def bounded_errors(
    ordered: Floats, q: float, epsilon: float, upper: float, relation: Relation = "add-remove"
) -> Errors:
    """The errors of the exponential mechanism given [0, upper]."""
    told, cap = rival_epsilon(epsilon, q, relation), CAP * float(np.ptp(ordered))
    truth = float(np.quantile(ordered, q))
    return exponential_mechanism(ordered, q, truth, epsilon=told, low=0.0, high=upper, cap=cap)


# The tasks: one sample of data each


def compare(relation: Relation, name: str, qs: tuple[float, ...], sample: int) -> Found:
    """Claims 1 and 2: both methods at many q on one sample of a data set."""
    rng, given = np.random.default_rng([list(SETS).index(name), sample]), SETS[name]
    data, found = given.draw(rng), []
    ordered = np.sort(data + rng.normal(0, given.jitter, len(data)) if given.jitter else data)
    options = {} if given.resolution is None else {"resolution": Fraction(str(given.resolution))}
    for q in qs:
        truth, told = float(np.quantile(data, q)), rival_epsilon(1.0, q, relation)
        if given.resolution is None:
            cap = CAP * float(np.ptp(data))
            theirs = exponential_mechanism(ordered, q, truth, epsilon=told, low=given.low, high=given.high, cap=cap)
        else:
            theirs = rounded_mechanism(
                ordered, q, truth, epsilon=told, low=given.low, high=given.high, step=given.resolution
            )
        found.append(((relation, name, q, DEFAULT), nobounds_errors(data, q, neighbors=relation, **options)))
        found.append(((relation, name, q, BOUNDED), theirs))
    return found


def by_size(rows: int, sample: int) -> Found:
    """Claim 3: three methods on one sample of so many rows."""
    data = lognormal(rows, sample)
    return [((3, q, rows, name), errors) for q in (0.5, 0.99) for name, errors in three(data, q, 1.0)]


def by_epsilon(epsilon: float, sample: int) -> Found:
    """Claim 4: three methods on one sample for one epsilon."""
    data = lognormal(ROWS, sample)
    return [((4, q, epsilon, name), errors) for q in (0.5, 0.9) for name, errors in three(data, q, epsilon)]


def three(data: Floats, q: float, epsilon: float) -> Iterator[tuple[str, Errors]]:
    """The errors of three methods."""
    yield DEFAULT, nobounds_errors(data, q, epsilon)
    yield FIXED, nobounds_errors(data, q, epsilon, beta=Fraction("1.001"))
    yield BOUNDED, bounded_errors(data, q, epsilon, UPPER)


def by_looseness(sample: int) -> Found:
    """Claim 5: nobounds, which gets no bound, and two methods with ever looser ones."""
    data, found = lognormal(ROWS, sample), []
    cap = CAP * float(np.ptp(data))
    for q in (0.5, 0.9, 0.99):
        ours, truth = nobounds_errors(data, q), float(np.quantile(data, q))
        told = rival_epsilon(1.0, q, "add-remove")
        for upper in UPPERS:
            grid = candidate_mechanism(data, q, truth, epsilon=told, upper=upper, cap=cap)
            bounded = bounded_errors(data, q, 1.0, upper)
            found += [((5, q, upper, name), e) for name, e in ((DEFAULT, ours), (BOUNDED, bounded), (GRID, grid))]
    return found


Task = tuple[Callable[..., Found], tuple[Any, ...]]


def tasks(quick: bool) -> Iterator[Task]:
    """All tasks, long ones first."""
    samples, qs = range(3 if quick else 10), GIVEN_QS if quick else ALL_QS
    for rows in sorted((n for n in SIZES if not quick or n <= 10**5), reverse=True):
        yield from ((by_size, (rows, sample)) for sample in samples)
    yield from ((by_epsilon, (epsilon, sample)) for epsilon in EPSILONS for sample in samples)
    for relation in ("swap", "add-remove"):
        yield from ((compare, (relation, name, qs, sample)) for name in SETS for sample in samples)
    yield from ((by_looseness, (sample,)) for sample in samples)


def run(task: Task) -> tuple[Found, float]:
    """One task and the seconds it took."""
    start = time.perf_counter()
    return task[0](*task[1]), time.perf_counter() - start


def measure(quick: bool) -> dict[Key, Errors]:
    """The errors of every method at every point, averaged over the samples."""
    every, spent = defaultdict(list), defaultdict(float)
    planned = list(tasks(quick))
    with ProcessPoolExecutor(WORKERS) as pool:
        for (function, arguments), (found, seconds) in zip(planned, pool.map(run, planned), strict=True):
            spent[f"{function.__name__} {arguments[0] if function is not by_looseness else ''}"] += seconds
            for key, errors in found:
                every[key].append(errors)
    print("\n".join(f"{seconds:7.1f} s  {name}" for name, seconds in spent.items()))
    return {
        key: Errors(float(np.mean([e.mean for e in many])), float(np.mean([e.median for e in many])))
        for key, many in every.items()
    }


# Pictures


def panels(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure 1200 pixels wide."""
    figure = Figure(figsize=(12, height), dpi=100, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.tick_params(labelsize=12)
        axes.yaxis.set_minor_formatter(NullFormatter())
    return figure, list(grid.flat)


def ratios(errors: dict[Key, Errors], relation: Relation, name: str) -> dict[float, float]:
    """The mean error of nobounds over that of the rival by q, where there is something to compare."""
    qs = sorted(key[2] for key in errors if key[:2] == (relation, name) and key[3] == DEFAULT)
    found = {}
    for q in qs:
        ours, theirs = (errors[relation, name, q, method].mean for method in (DEFAULT, BOUNDED))
        if max(ours, theirs) >= TINY:
            found[q] = ours / theirs
    return found


def plot_ratios(errors: dict[Key, Errors], relation: Relation) -> Figure:
    """Claims 1 and 2: six panels, ratio of mean errors against q."""
    figure, every = panels(2, 3, 6.6, sharex=True, sharey=True)
    for axes, name in zip(every, SETS, strict=True):
        found = ratios(errors, relation, name)
        axes.plot([100 * q for q in found], list(found.values()), markersize=7, linewidth=2, **STYLES[DEFAULT])
        axes.axhline(1, color="black", linewidth=1.5)
        axes.set_yscale("log")
        axes.set_title(name, fontsize=14)
        axes.set_xticks([5, 25, 50, 75, 95])
    every[0].annotate("equal", (5, 1), xytext=(0, 4), textcoords="offset points", fontsize=12)
    figure.supxlabel("quantile q (%)", fontsize=14)
    figure.supylabel("error of nobounds (no bounds)\n/ error of exponential mechanism (tight bounds)", fontsize=13)
    return figure


def lines(errors: dict[Key, Errors], claim: int, q: float, name: str) -> tuple[list[float], list[Errors]]:
    """The points of one line."""
    found = sorted((key[2], e) for key, e in errors.items() if key[:2] == (claim, q) and key[3] == name)
    return [x for x, _ in found], [e for _, e in found]


def plot_lines(
    errors: dict[Key, Errors], claim: int, qs: tuple[float, ...], names: tuple[str, ...], x: str, medians: bool
) -> Figure:
    """Claims 3 to 5: one panel a q, one line a method, mean absolute error, log-log."""
    figure, every = panels(1, len(qs), 5.6, sharey=len(qs) > 2)
    for axes, q in zip(every, qs, strict=True):
        for name in names:
            xs, found = lines(errors, claim, q, name)
            axes.loglog(xs, [e.mean for e in found], label=name, markersize=7, linewidth=2, **STYLES[name])
            if medians and name == DEFAULT:
                style = STYLES[name] | {"linestyle": ":", "marker": ""}
                axes.loglog(xs, [e.median for e in found], label=f"{name}: median error", linewidth=2, **style)
        axes.set_title(f"q = {100 * q:g} %", fontsize=14)
        axes.set_xlabel(x, fontsize=13)
    every[0].set_ylabel("mean absolute error (units of the data)", fontsize=13)
    handles, labels = every[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=13)
    return figure


def pictures(errors: dict[Key, Errors]) -> dict[str, Figure]:
    """All pictures by the name of their file."""
    three_names = DEFAULT, FIXED, BOUNDED
    return {
        "quantiles-swap": plot_ratios(errors, "swap"),
        "quantiles-add-remove": plot_ratios(errors, "add-remove"),
        "rows": plot_lines(errors, 3, (0.5, 0.99), three_names, "number of records n", True),
        "epsilon": plot_lines(errors, 4, (0.5, 0.9), three_names, "epsilon", True),
        "looseness": plot_lines(
            errors, 5, (0.5, 0.9, 0.99), (DEFAULT, BOUNDED, GRID), "upper bound given (units of the data)", False
        ),
    }


# Tables


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))


def ratio_table(errors: dict[Key, Errors], relation: Relation) -> str:
    """Claims 1 and 2: ratios at five q, and geometric means over them."""
    rows, every = [], []
    for name in SETS:
        found = {q: ratio for q, ratio in ratios(errors, relation, name).items() if q in GIVEN_QS}
        cells = [f"{found[q]:.2f}" if q in found else "-" for q in GIVEN_QS]
        rows.append([name, *cells, f"**{geometric_mean(found.values()):.2f}**"])
        every += found.values()
    rows.append(["all six", *[""] * len(GIVEN_QS), f"**{geometric_mean(every):.2f}**"])
    return table(["data", *(f"{100 * q:g} %" for q in GIVEN_QS), "geometric mean"], rows)


def line_table(
    errors: dict[Key, Errors], claim: int, qs: tuple[float, ...], names: tuple[str, ...], x: str, medians: bool
) -> str:
    """Claims 3 to 5: mean errors."""
    head, rows = [x], defaultdict(list)
    for q in qs:
        for name in names:
            xs, found = lines(errors, claim, q, name)
            head.append(f"{100 * q:g} %: {name}")
            for at, e in zip(xs, found, strict=True):
                rows[at].append(f"{e.mean:.2g}" + (f" ({e.median:.2g})" if medians else ""))
    return table(head, ([f"{at:g}", *cells] for at, cells in rows.items()))


def losses(errors: dict[Key, Errors]) -> str:
    """Every point where the bounded exponential mechanism has the smaller mean error."""
    found = []
    for relation in ("swap", "add-remove"):
        for name in SETS:
            worse = {q: ratio for q, ratio in ratios(errors, relation, name).items() if ratio > 1}
            if worse:
                points = ", ".join(f"{100 * q:g} % ({ratio:.2f})" for q, ratio in worse.items())
                found.append(f"- {relation}, {name}: {points}")
    for claim, x in ((3, "n"), (4, "epsilon"), (5, "upper bound")):
        for q in (0.5, 0.9, 0.99):
            ours, theirs = (lines(errors, claim, q, name) for name in (DEFAULT, BOUNDED))
            pairs = [(at, a.mean / b.mean) for at, a, b in zip(ours[0], ours[1], theirs[1], strict=True)]
            points = ", ".join(f"{at:g} ({ratio:.2f})" for at, ratio in pairs if ratio > 1)
            if points:
                found.append(f"- picture {claim}, q = {100 * q:g} %, {x} = {points}")
    return "\n".join(found) or "- at none of the points measured here"


def blocks(errors: dict[Key, Errors], quick: bool) -> dict[str, str]:
    """What goes between the markers of the page."""
    three_names = DEFAULT, FIXED, BOUNDED
    return {
        "table 1": ratio_table(errors, "swap"),
        "table 2": ratio_table(errors, "add-remove"),
        "table 3": line_table(errors, 3, (0.5, 0.99), three_names, "n", True),
        "table 4": line_table(errors, 4, (0.5, 0.9), three_names, "epsilon", True),
        "table 5": line_table(errors, 5, (0.5, 0.9, 0.99), (DEFAULT, BOUNDED, GRID), "upper", False),
        "losses": losses(errors),
        "run": f"Each number is an average over {3 if quick else 10} samples of data{' (--quick)' if quick else ''}.",
    }


def filled(page: str, texts: dict[str, str]) -> str:
    """The page with every block between its markers replaced."""
    for name, text in texts.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(start)
        page = f"{before}{start}\n{text}\n{end}{rest.split(end)[1]}"
    return page


def main() -> None:
    """Measure, draw and write."""
    parser = argparse.ArgumentParser(description="the pictures and tables of docs/accuracy.md")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the pictures")
    parser.add_argument("--quick", action="store_true", help="fewer samples, points and rows")
    options = parser.parse_args()
    start = time.perf_counter()
    errors = measure(options.quick)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figure in pictures(errors).items():
        figure.savefig(options.out / f"{name}.png", dpi=100)
    texts = blocks(errors, options.quick)
    page = options.out.with_suffix(".md")
    if page.exists():
        page.write_text(filled(page.read_text(), texts))
    print("\n\n".join(f"{name}\n{text}" for name, text in texts.items()))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
