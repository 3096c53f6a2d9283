"""The pictures of docs/accuracy.md, one a claim."""

import math
from io import BytesIO
from pathlib import Path
from typing import Any

from accuracy_errors import BOUNDED, DEFAULT, FIXED, GRID, SETS, Errors, Key, Relation, lines, ratios
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from PIL import Image

from nobounds.plots import COLORS

STYLES: dict[str, dict[str, Any]] = {
    DEFAULT: {"color": COLORS[0], "linestyle": "-", "marker": "o"},
    FIXED: {"color": COLORS[2], "linestyle": "--", "marker": "^"},
    BOUNDED: {"color": COLORS[1], "linestyle": "-.", "marker": "s"},
    GRID: {"color": COLORS[3], "linestyle": ":", "marker": "D"},
}


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


def plot_ratios(errors: dict[Key, Errors], relation: Relation) -> Figure:
    """Claims 1 and 2: six panels, ratio of mean errors against q."""
    figure, every = panels(2, 3, 6.6, sharex=True)
    qs = sorted({key[2] for key in errors if key[0] == relation})
    for axes, name in zip(every, SETS, strict=True):
        found = ratios(errors, relation, name)
        ys = [found.get(q, math.nan) for q in qs]  # a gap where there is nothing to compare
        axes.plot([100 * q for q in qs], ys, markersize=7, linewidth=2, **STYLES[DEFAULT])
        axes.axhline(1, color="black", linewidth=1.5)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(min(0.1, axes.get_ylim()[0]), max(3, axes.get_ylim()[1]))
        axes.set_title(name, fontsize=14)
        axes.set_xticks([5, 25, 50, 75, 95])
    every[0].annotate("equal", (5, 1), xytext=(0, 4), textcoords="offset points", fontsize=12)
    figure.supxlabel("quantile q (%)", fontsize=14)
    figure.supylabel("error of nobounds (no bounds)\n/ error of exponential mechanism (tight bounds)", fontsize=13)
    return figure


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
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels) if len(labels) < 4 else 2,
        frameon=False,
        fontsize=13,
    )
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


def save(figure: Figure, path: Path) -> None:
    """A PNG of 64 colours, which is a third of the size."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)
