"""docs/why.png, docs/why.md and docs/why.json: private sums, quantiles and maxima when the bound is a guess.

python benchmarks/pages/why.py                                # the libraries of benchmarks/requirements.txt
python benchmarks/pages/why.py --tumult .venv-tumult/bin/python
python benchmarks/pages/why.py --only                         # page and picture again, from docs/why.json
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
from why_peers import CANDIDATES, EPSILON, GUESSES, NO_GUESS, RUNS, TRUTH, N

from nobounds.plots import COLORS

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = {
    "nobounds": "nobounds",
    "diffprivlib": "diffprivlib",
    "opendp": "opendp",
    "google": "python-dp",
    "tumult": "tmlt.analytics",
}
Points: TypeAlias = list[float]  # the 5, 50 and 95% points of errors
Measured: TypeAlias = dict[str, dict[str, Any]]  # library: version, and points by question, method and guess

LIBRARIES = {
    "nobounds": ("nobounds", "nothing", "one row more or less"),
    "diffprivlib": ("diffprivlib", "bounds", "one row changed, the number of rows public"),
    "opendp": ("OpenDP", f"bounds; for quantiles {CANDIDATES} candidates up to the bound", "one row more or less"),
    "google": ("Google, by python-dp", "bounds; for one of its sums nothing", "one row more or less"),
    "tumult": ("Tumult", "bounds; measured for the sum alone", "one row more or less"),
}
ALT = (
    "Error of a private sum: below 1% for nobounds without a bound, "
    "larger for other libraries the further off the bound is"
)

PAGE = """# Why: a private sum when the bound is a guess

![{alt}](why.png)

The sum of {n:,} incomes at epsilon {epsilon:g}. Most libraries clip each income to bounds that you state. If the
upper bound is too low, the sum is too small. If it is too high, the noise drowns the sum. nobounds needs no bound,
and its answer comes with an interval.

- Lines are median errors over {runs} samples, the same samples for all libraries. The band holds 90% of the runs of
  nobounds.
- The dotted line is half the width of the 95% interval that nobounds releases with its sum, in the median. The
  interval held the true sum in {held} of {runs} runs.
- A guess of 1 is the true maximum of the sample, which nobody knows in practice.
- The samples are lognormal(10, 1), and the lower bound is 0 for all other libraries.

| library | what it is given | what one answer hides | version |
|---|---|---|---|
{libraries}

## All numbers

Each cell is the median of `abs(answer / truth - 1)`, with the 5% and 95% points in brackets. A column is the guessed
upper bound as a multiple of the true maximum.

{tables}

## How to read them

- **Sum.** The four other libraries add the same noise, which grows with the bound. Google's library can also choose
  bounds by itself, which works about as well as nobounds on these data; it releases no interval. diffprivlib keeps its
  answers between 0 and the bound times the number of rows, so its error stops growing.
- **99% quantile.** A bound that is too high does little harm here, unless candidates are evenly spaced (OpenDP). With a
  bound that is not too low, diffprivlib and the geometric candidates of OpenDP are more accurate than nobounds.
  The number of rows is public in diffprivlib, which hides less. nobounds released an interval that held the true
  quantile in {quantile_held} of {runs} runs.
- **Maximum.** No private answer can depend on the few largest records, and these lie far apart here. An error of about
  one half is what a careful answer has; nobounds errs towards smaller values.

```sh
make why    # installs the libraries in folders of their own, and runs all of the above
```
"""


def measure(library: str, python: str) -> dict[str, Any] | None:
    """One library in a process of its own; None if it is not installed."""
    package = PACKAGES[library]
    ask = [python, "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    there = subprocess.run(ask, capture_output=True, text=True)
    if there.returncode:
        print(f"not installed, and left out: {package}")
        return None
    script = Path(__file__).with_name("why_peers.py")
    run = subprocess.run([python, str(script), library], stdout=subprocess.PIPE, text=True, check=True)
    print(f"measured: {package} {there.stdout.strip()}")
    return summary(there.stdout.strip(), json.loads(run.stdout.splitlines()[-1]))


def summary(version: str, errors: dict[str, Any]) -> dict[str, Any]:
    """The 5, 50 and 95% points of the errors; of intervals, the number that held."""
    points = {
        question: {
            method: {guess: _points(guess, runs) for guess, runs in row.items()} for method, row in methods.items()
        }
        for question, methods in errors.items()
    }
    return {"version": version, "errors": points}


def _points(guess: str, runs: list[float]) -> Points | int | None:
    if guess == "holds":
        return int(sum(runs))
    if np.isnan(runs).any():
        return None
    return [float(f"{x:.4g}") for x in np.quantile(runs, [0.05, 0.5, 0.95])]


def picture(measured: Measured) -> Figure:
    """Median errors of the sum against the guess, both in powers of ten, with the names at the lines."""
    figure = Figure(figsize=(8, 4.4), dpi=200, layout="constrained")
    axes = figure.subplots()
    names = []
    for k, (library, (name, *_)) in enumerate(LIBRARIES.items()):
        for method, row in measured.get(library, {"errors": {"sum": {}}})["errors"]["sum"].items():
            if NO_GUESS not in row:
                line = [row[f"{guess:g}"][1] for guess in GUESSES]
                axes.plot(GUESSES, line, "--", color=COLORS[k], linewidth=2, dashes=(4, 2 + k))
                names.append((line[-1], name.split(",")[0], COLORS[k]))
            elif library != "nobounds":
                axes.plot(GUESSES, [row[NO_GUESS][1]] * len(GUESSES), color=COLORS[k], linewidth=2)
                _label(axes, row[NO_GUESS][1] * 1.16, f"{name.split(',')[0]}, {_automatic(method)}", COLORS[k])
    ours = measured["nobounds"]["errors"]["sum"]["nobounds"]
    low, middle, high = ours[NO_GUESS]
    axes.fill_between(GUESSES, low, high, color=COLORS[0], alpha=0.18, linewidth=0)
    axes.plot(GUESSES, [middle] * len(GUESSES), color=COLORS[0], linewidth=3.2, zorder=5)
    axes.plot(GUESSES, [ours["half width"][1]] * len(GUESSES), ":", color=COLORS[0], linewidth=2)
    _label(axes, middle / 1.25, "nobounds, no bound given", COLORS[0], weight="bold")
    _label(axes, ours["half width"][1], "its 95% interval: ± this", COLORS[0])
    least = 0.0
    for end, name, color in sorted(names):
        at = max(end, least)
        least = 2.1 * at
        _label(axes, at, name, color)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(GUESSES)
    axes.set_xlim(GUESSES[0] / 1.2, GUESSES[-1] * 60)
    axes.set_ylim(0.0004, 160)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}x" if x >= 1 else f"1/{1 / x:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:,.10g}%"))
    axes.minorticks_off()
    axes.set_xlabel("upper bound that was guessed, as a multiple of the true maximum", fontsize=11, x=0.38)
    axes.set_title(f"Error of a private sum of {N:,} incomes, epsilon {EPSILON:g}", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["bottom"].set_bounds(GUESSES[0] / 1.2, GUESSES[-1])
    axes.hlines(10.0 ** np.arange(-3, 3), GUESSES[0] / 1.2, GUESSES[-1], color="#dddddd", linewidth=0.8, zorder=0)
    return figure


def _automatic(method: str) -> str:
    return "automatic bounds" if method.endswith(NO_GUESS) else method


def _label(axes: Any, at: float, text: str, color: str, **how: Any) -> None:
    axes.annotate(text, (GUESSES[-1], at), xytext=(7, 0), textcoords="offset points", va="center", color=color, **how)


def page(measured: Measured) -> str:
    """docs/why.md."""
    held = {
        question: measured["nobounds"]["errors"][question]["nobounds"]["holds"] for question in ("sum", "99% quantile")
    }
    libraries = [
        f"| {' | '.join(told)} | {measured[library]['version']} |"
        for library, told in LIBRARIES.items()
        if library in measured
    ]
    return PAGE.format(
        alt=ALT,
        n=N,
        runs=RUNS,
        epsilon=EPSILON,
        held=held["sum"],
        quantile_held=held["99% quantile"],
        libraries="\n".join(libraries),
        tables="\n\n".join(table(measured, question) for question in TRUTH),
    )


def table(measured: Measured, question: str) -> str:
    """The errors of one question: those without a bound, then those by the guess."""
    free, guessed = [], []
    for library, one in measured.items():
        for method, row in one["errors"].get(question, {}).items():
            name = LIBRARIES[library][0]
            if NO_GUESS in row:
                free.append(
                    f"| {name}{'' if library == 'nobounds' else ', automatic bounds'} | {_cell(row[NO_GUESS])} |"
                )
            else:
                cells = " | ".join(_cell(row[f"{guess:g}"]) for guess in GUESSES)
                guessed.append(f"| {name}: {method} | {cells} |")
    heads = " | ".join(f"{guess:,g}" for guess in GUESSES)
    return "\n".join(
        [
            f"### {question[0].upper()}{question[1:]}",
            "",
            "| without a bound | error |",
            "|---|---|",
            *free,
            "",
            f"| guess | {heads} |",
            "|---" * (len(GUESSES) + 1) + "|",
            *guessed,
        ]
    )


def _cell(points: Points | None) -> str:
    if points is None:
        return "no answer"
    low, middle, high = map(_shown, points)
    return f"{middle} ({low}, {high})"


def _shown(x: float) -> str:
    return f"{x:.3f}" if x < 1 else f"{x:.1f}" if x < 10 else f"{float(f'{x:.2g}'):,.0f}"


def main() -> None:
    """Measure, and write the page, its numbers and its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tumult", help="a Python that has tmlt.analytics")
    parser.add_argument(
        "--only", nargs="*", choices=list(PACKAGES), help="measure these; the others are in docs/why.json"
    )
    options = parser.parse_args()
    numbers = DOCS / "why.json"
    measured = {} if options.only is None else json.loads(numbers.read_text())
    for library in PACKAGES if options.only is None else options.only:
        python = options.tumult if library == "tumult" else sys.executable
        one = measure(library, python) if python else None
        if one is not None:
            measured[library] = one
    numbers.write_text(json.dumps(measured, indent=1) + "\n")
    (DOCS / "why.md").write_text(page(measured))
    picture(measured).savefig(DOCS / "why.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
