"""docs/why.png, docs/why.md and docs/why.json: a private maximum against the looseness of a guessed bound.

python benchmarks/pages/why.py                                # the libraries of benchmarks/requirements.txt
python benchmarks/pages/why.py --tumult .venv-tumult/bin/python
python benchmarks/pages/why.py --draw                         # page and picture again, from docs/why.json
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from why_peers import CANDIDATES, EPSILON, LOOSENESS, NEAR, RUNS, SLOW_RUNS, N

from nobounds.plots import COLORS

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = {
    "nobounds": "nobounds",
    "diffprivlib": "diffprivlib",
    "opendp": "opendp",
    "google": "python-dp",
    "tumult": "tmlt.analytics",
}
Found: TypeAlias = dict[str, dict[str, Any]]  # library: version, and errors by question and looseness: 5, 50, 95%

# name, library, its questions, colour and dashes; the line is the best of its questions at each looseness
LINES = (
    ("Tumult", "tumult", ("max", f"quantile {NEAR}"), COLORS[4], "-"),
    ("diffprivlib", "diffprivlib", ("quantile 1", f"quantile {NEAR}"), COLORS[1], "--"),
    ("OpenDP, even steps", "opendp", ("quantile 1, even", f"quantile {NEAR}, even"), COLORS[2], "-"),
    (
        "OpenDP, geometric steps",
        "opendp",
        ("quantile 1, geometric", f"quantile {NEAR}, geometric"),
        COLORS[2],
        "--",
    ),
    ("Google (python-dp)", "google", ("Max", f"Percentile {NEAR}"), COLORS[3], "-"),
    ("nobounds, no bound", "nobounds", ("maximum, add-remove",), COLORS[0], "-"),
)
ASKED = {
    "tumult": ("Tumult", "`max`", "bounds", "one row more or less"),
    "diffprivlib": ("diffprivlib", "`tools.quantile`", "bounds", "one row changed, the number of rows public"),
    "opendp": ("OpenDP", "`then_private_quantile`", f"{CANDIDATES} candidates up to the bound", "one row more or less"),
    "google": ("Google, by python-dp", "`Max`, `Percentile`", "bounds", "one row more or less"),
    "nobounds": ("nobounds", "`maximum`", "nothing", "one row more or less, and one row changed"),
}

PAGE = """# Why: a private maximum when the bound is a guess

![Error of a private maximum: flat for nobounds, growing with a looser bound for others or their worst answers](why.png)

{n:,} incomes, lognormal(10, 1); epsilon {epsilon:g}; bounds [0, looseness times the true maximum]. The error is
`abs(answer / true maximum - 1)`: 0.5 is half or one and a half of the truth, 1000 is a thousand times too large. Lines
are medians over {runs} samples, the same for all libraries{slow}.
The band of nobounds has 90% of its runs; above a dotted line are 5% of a library whose median stays lower.

At looseness 1 the bound *is* the true maximum, which no one knows. In the picture nobounds gets no bound at all.

| library | asked for | told | what is hidden | version |
|---|---|---|---|---|
{asked}

The others were asked for the maximum and, because it is often the better question, for the 99.9% quantile;
the picture has the better of the two at each looseness. All numbers, medians with the 5 and 95% points in brackets:

| looseness | {heads} |
|---|{rules}|
{rows}

## What to see in it

- A private maximum at epsilon 1 cannot depend on the few largest records. Here these reach from half of the maximum
  to all of it, so an error of about 0.5 is what a careful answer has. Answers of nobounds are too small, not too large.
- With a bound that is nearly the maximum, diffprivlib and OpenDP are better: the bound gives the answer away. nobounds
  takes a bound too (`upper`), and gains little from it here.
- Choosing an interval between two records by its width (diffprivlib, and Tumult in the same way) goes wrong as soon as
  the empty interval above the maximum is wide.
- Google's `Max` halves the range by noisy counts, and aims a few dozen records below the top. It stands a bound that is
  10,000 times too large, in the median.
- OpenDP takes any candidates. With evenly spaced ones it is lost. With geometric ones and the 99.9% quantile its
  median is nearly flat, but its 95% point is not: some answers run away. Candidates that are good for all data, and a
  walk that halts before it runs away, are what nobounds adds.

```sh
make why    # installs the libraries in folders of their own, and runs all of the above
```
"""


def measure(library: str, python: str) -> dict[str, Any] | None:
    """One library in a process of its own; None if it is not installed."""
    package = PACKAGES[library]
    asked = [python, "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    there = subprocess.run(asked, capture_output=True, text=True)
    if there.returncode:
        print(f"not installed, and left out: {package}")
        return None
    script = Path(__file__).with_name("why_peers.py")
    run = subprocess.run([python, str(script), library], stdout=subprocess.PIPE, text=True, check=True)
    print(f"measured: {package} {there.stdout.strip()}")
    return summary(there.stdout.strip(), json.loads(run.stdout.splitlines()[-1]))


def summary(version: str, errors: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """The 5, 50 and 95% points of the errors."""
    points = {
        question: {
            loose: [float(f"{x:.4g}") for x in np.quantile(runs, [0.05, 0.5, 0.95])] for loose, runs in row.items()
        }
        for question, row in errors.items()
    }
    return {"version": version, "errors": points}


def best(found: Found, library: str, questions: tuple[str, ...]) -> list[list[float]]:
    """At each looseness the 5, 50 and 95% points of the question with the smallest median."""
    rows = [found[library]["errors"].get(question, {}) for question in questions]
    at = [[row[f"{loose:g}"] for row in rows if f"{loose:g}" in row] for loose in LOOSENESS]
    return [min(points, key=lambda point: point[1]) if points else [np.nan] * 3 for points in at]


def picture(found: Found) -> Figure:
    """Median errors against looseness, both in powers of ten, with the names at the lines.

    Where the median stays low and single answers run away, a dotted line has the 95% point as well.
    """
    figure = Figure(figsize=(8, 4.8), dpi=200, layout="constrained")
    axes = figure.subplots()
    ends = []
    for name, library, questions, color, dashes in LINES:
        if library not in found:
            continue
        points = np.array(best(found, library, questions))
        if np.isnan(points).any():
            continue
        ours = library == "nobounds"
        axes.plot(LOOSENESS, points[:, 1], dashes, color=color, linewidth=3.2 if ours else 2, zorder=5 if ours else 3)
        if ours:
            axes.fill_between(LOOSENESS, points[:, 0], points[:, 2], color=color, alpha=0.2, linewidth=0)
        elif points[-1, 2] > 20 * points[-1, 1]:
            axes.plot(LOOSENESS, points[:, 2], ":", color=color, linewidth=1.5)
            short = "geometric" if "geometric" in name else name.split()[0]
            ends.append((points[-1, 2], f"{short}: 1 in 20 above", color, False))
        ends.append((points[-1, 1], name, color, ours))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(LOOSENESS)
    axes.set_xlim(LOOSENESS[0] / 1.2, LOOSENESS[-1] * 90)
    axes.set_ylim(0.1, 7e6)
    least = 0.0
    for end, name, color, ours in sorted(ends):
        at = max(end / 1.4 if ours else end, least)
        least = at * 2.4
        axes.annotate(
            name,
            (LOOSENESS[-1], at),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=10.5 if ours else 10,
            color=color,
            weight="bold" if ours else "normal",
        )
    plain = FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.minorticks_off()
    axes.set_xlabel("guessed bound / true maximum", fontsize=11, x=0.38)
    title = f"Relative error of a private maximum: medians, {N:,} incomes, epsilon {EPSILON:g}"
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["bottom"].set_bounds(LOOSENESS[0] / 1.2, LOOSENESS[-1])
    axes.hlines(10.0 ** np.arange(-1, 7), LOOSENESS[0] / 1.2, LOOSENESS[-1], color="#dddddd", linewidth=0.8, zorder=0)
    return figure


def page(found: Found) -> str:
    """docs/why.md."""
    asked = [f"| {' | '.join(ASKED[library])} | {found[library]['version']} |" for library in found]
    columns = [
        (f"{ASKED[library][0]}: {question}", row)
        for library, one in found.items()
        for question, row in one["errors"].items()
    ]
    rows = [
        f"| {name} | " + " | ".join(_cell(row.get(f"{loose:g}")) for loose in LOOSENESS) + " |" for name, row in columns
    ]
    return PAGE.format(
        n=N,
        runs=RUNS,
        slow=_slow(found),
        epsilon=EPSILON,
        asked="\n".join(asked),
        heads=" | ".join(f"{loose:,.0f}" for loose in LOOSENESS),
        rules="---|" * (len(LOOSENESS) - 1) + "---",
        rows="\n".join(rows),
    )


def _slow(found: Found) -> str:
    """What the page says of Tumult, if it was measured."""
    if "tumult" not in found:
        return ""
    missing = np.isnan(best(found, "tumult", ("max",))).any()
    left_out = "\nand is in the table alone, where it was run: its `max`, and no quantile" if missing else ""
    return f" ({SLOW_RUNS} of them for Tumult, which takes seconds for an answer{left_out})"


def _cell(points: list[float] | None) -> str:
    if points is None:
        return ""
    low, middle, high = map(_shown, points)
    return f"{middle} ({low}, {high})"


def _shown(x: float) -> str:
    return f"{x:.2f}" if x < 10 else f"{float(f'{x:.2g}'):,.0f}"


def main() -> None:
    """Measure, and write the page, its numbers and its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tumult", help="a Python that has tmlt.analytics")
    parser.add_argument(
        "--only", nargs="*", choices=list(PACKAGES), help="measure these; the others are in docs/why.json"
    )
    options = parser.parse_args()
    numbers = DOCS / "why.json"
    found = {} if options.only is None else json.loads(numbers.read_text())
    for library in PACKAGES if options.only is None else options.only:
        python = options.tumult if library == "tumult" else sys.executable
        one = measure(library, python) if python else None
        if one is not None:
            found[library] = one
    numbers.write_text(json.dumps(found, indent=1) + "\n")
    (DOCS / "why.md").write_text(page(found))
    picture(found).savefig(DOCS / "why.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
