"""Plots: where a walk halts, the distribution of answers, the quantiles of a description, errors to expect.

Plots need matplotlib (`nobounds[plots]`).
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from nobounds.exact import printable
from nobounds.kinds.kind import Kind, short_text
from nobounds.mechanisms.halting import Law
from nobounds.ranks.law import AnswerLaw
from nobounds.release.description import Description, Summary
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.words import TOO_FEW, bars_in_words

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito 2008: safe for colour-blind readers


def plot_laws(laws: Mapping[str, Law]) -> Any:
    """A figure of the probability to halt at each query, one step line per law; P(never) is in the legend."""
    figure, axes = _figure("query", "probability to halt")
    for color, (name, law) in zip(cycle(COLORS), laws.items(), strict=False):
        masses = law.pmf()
        axes.step(
            np.arange(len(masses) - 1), masses[:-1], where="mid", color=color, label=_with_never(name, masses[-1])
        )
    axes.legend(frameon=False)
    return figure


def plot_answers(laws: Mapping[str, AnswerLaw], low: float, high: float, truth: float | None = None) -> Any:
    """A figure of the density of answers between two values, one step line per law, and the true value if given."""
    figure, axes = _figure("answer", "probability density")
    for color, (name, law) in zip(cycle(COLORS), laws.items(), strict=False):
        values, masses = law.pmf(low, high)
        edges = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, values[-1:]])
        widths = np.maximum(np.diff(edges), np.finfo(float).tiny)
        axes.stairs(masses / widths, edges, color=color, label=name, linewidth=1.2)
    if truth is not None:
        axes.axvline(truth, color="#555555", linestyle=":", label="true value")
    axes.legend(frameon=False)
    return figure


def plot_description(described: Description) -> Any:
    """A figure of the private quantiles of each column: a box from 25% to 75%, whiskers to 5% and 95%, end marks."""
    names = list(described.columns) or ["no numeric column"]
    figure, all_axes = _figures(len(names))
    for axes, name, color in zip(all_axes, names, cycle(COLORS)):
        axes.set_title(_plain(name), loc="left", fontsize=10)
        axes.set_yticks([])
        axes.spines[["left"]].set_visible(False)
        if name in described.columns:
            _box(axes, described.columns[name], color, described.kind(name))
    _headline(
        figure,
        f"Private quantiles (diamond: mean, its bar: 95 %), for {described.loss.in_words(described.parameters)}",
    )
    return figure


def plot_release(release: Release, title: str | None = None) -> Any:
    """A figure of a release: its values on a line, with the 95% interval of the noise if there is one."""
    figure, (axes,) = _figures(1)
    all_values = release.value if isinstance(release.value, tuple) else (release.value,)
    qs = release.parameters.get("q")
    all_names = [f"{100 * float(Fraction(q)):.4g} %" for q in qs] if isinstance(qs, list) else [""] * len(all_values)
    pairs = [(name, value) for name, value in zip(all_names, all_values, strict=False) if value is not None]
    kind = type_in(release.parameters).of_answer(release.statistic)
    names, values = [name for name, _ in pairs], [_place(value, kind) for _, value in pairs]
    _typed_axis(axes, kind)
    axes.set_yticks([])
    axes.spines[["left"]].set_visible(False)
    for each, bar in zip(all_values, release.intervals, strict=False):
        if each is not None:
            _error_bar(axes, _place(each, kind), (_end(bar[0], kind), _end(bar[1], kind)), kind)
    if len(values) < len(all_values):
        axes.text(0.5, 0.15, f"not answered: {release.reason}", transform=axes.transAxes, ha="center", color="#555555")
    axes.plot(values, [0] * len(values), "D", color=COLORS[0], markersize=7)
    for k, (name, value) in enumerate(zip(names, values, strict=False)):
        height = 1 if k % 2 == 0 else -1
        axes.annotate(
            f"{name}\n{_said(value, kind, ',.6g')}".strip(),
            (value, 0),
            xytext=(0, 9 * height),
            textcoords="offset points",
            ha="center",
            va="bottom" if height > 0 else "top",
        )
    axes.set_ylim(-1, 1)
    axes.margins(x=0.12)
    said = f"; {bars_in_words(release.intervals[:1], release.parameters)}" if len(values) == 1 else ""
    _headline(
        figure,
        f"{title or f'Private {release.statistic}'}{said}; for {release.loss.in_words(release.parameters)}",
    )
    return figure


def _place(value: Any, kind: Kind) -> float:
    """The number of a value of a type, where it stands on the axis."""
    return float(kind.number(value, "value")) if kind.typed else float(value)


def _end(end: Any, kind: Kind) -> float:
    """The end of an interval as a number, infinite if it is not known."""
    if kind.typed and kind.is_end(end):
        return -math.inf if end == kind.value(-math.inf) else math.inf
    return _place(end, kind)


def _said(number: float, kind: Kind, form: str) -> str:
    """A number in the type of the column."""
    return short_text(kind.value(number)) if kind.typed else f"{number:{form}}"


def _typed_axis(axes: Any, kind: Kind) -> None:
    """Values of the type at a few places of the axis."""
    if kind.typed:
        axes.xaxis.set_major_formatter(lambda number, _: short_text(kind.value(number)))
        axes.locator_params(axis="x", nbins=4)


def _error_bar(axes: Any, value: float, bar: tuple[float, float], kind: Kind) -> None:
    """The interval of a value as a band; an arrow where an end is not known."""
    low, high = (end if math.isfinite(end) else value for end in bar)
    axes.plot([low, high], [0, 0], color=COLORS[0], linewidth=6, alpha=0.3, solid_capstyle="butt")
    for end, arrow in zip(bar, "<>", strict=True):
        if math.isfinite(end):
            said = _said(end, kind, ",.6g")
            axes.annotate(said, (end, 0), xytext=(0, -9), textcoords="offset points", ha="center", va="top")
        else:
            axes.plot([value], [0], arrow, color=COLORS[0], markersize=12, alpha=0.4)


def _box(axes: Any, summary: Summary, color: str, kind: Kind) -> None:
    """The answers of a column, as far as there are any."""
    shown = ((name, answer) for name, answer in summary.values.items() if name not in ("count", "std"))
    values = {name: _place(answer, kind) for name, answer in shown if answer is not None}
    _typed_axis(axes, kind)
    if "min" in values:
        axes.plot([values["min"], values["max"]], [0, 0], color=color, linewidth=1, linestyle=":")
        axes.plot([values["min"], values["max"]], [0, 0], "|", color=color, markersize=12)
    if "5%" in values:
        axes.plot([values["5%"], values["95%"]], [0, 0], color=color, linewidth=1.5)
    if "25%" in values:
        width = values["75%"] - values["25%"]
        axes.barh(0, width, left=values["25%"], height=0.5, color=color, alpha=0.25, edgecolor=color)
    if "50%" in values:
        axes.plot([values["50%"]] * 2, [-0.25, 0.25], color=color, linewidth=2.5)
    else:
        axes.text(0.5, 0.5, TOO_FEW, transform=axes.transAxes, ha="center", fontsize=8, color="#555555")
        axes.set_xticks([])
    if "mean" in values:
        axes.plot([values["mean"]], [0], "D", color="#222222", markersize=4)
        if all(map(math.isfinite, bar := [_end(end, kind) for end in summary.intervals["mean"]])):
            axes.plot(bar, [0, 0], color="#222222", linewidth=3, alpha=0.5, solid_capstyle="butt")
    for label, height in (("min", -1), ("5%", 1), ("25%", -1), ("50%", 1), ("75%", -1), ("95%", 1), ("max", -1)):
        if label in values:
            axes.annotate(
                f"{label}\n{_said(values[label], kind, '.4g')}",
                (values[label], 0.25 * height),
                xytext=(0, 3 * height),
                textcoords="offset points",
                ha="center",
                va="bottom" if height > 0 else "top",
                fontsize=7,
                color="#333333",
            )
    axes.set_ylim(-1, 1)
    axes.margins(x=0.06)


def plot_forecast(
    spent: Sequence[float], panels: Mapping[str, Mapping[str, Sequence[float]]], spending: str, title: str
) -> Any:
    """A figure of errors against spending, both on logarithmic axes: a panel for each kind, with its named lines."""
    figure = canvas()(figsize=(4.2 * len(panels), 3.6), layout="constrained")
    for place, (kind, lines) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), place + 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set(xlabel=spending, ylabel=kind, xscale="log")
        for color, mark, (name, errors) in zip(cycle(COLORS), cycle("so^"), lines.items(), strict=False):
            positive = np.where(np.array(errors) > 0, errors, np.nan)  # 0 has no place on a logarithmic axis
            axes.plot(spent, positive, color=color, marker=mark, markersize=4.5, linewidth=1.6, label=name)
        if any(error > 0 for errors in lines.values() for error in errors):
            axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid(which="major", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        if len(lines) > 1:
            axes.legend(frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left", color="#333333")
    return figure


def check_target(path: Path) -> None:
    """Raise before anything is spent if no plot can be written to this file."""
    canvas()
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ValueError(f"a plot's name must end in .png, .pdf or .svg, got {path.name}")
    if not path.parent.is_dir():
        raise ValueError(f"a plot's folder must exist, got {path.parent}")


def _headline(figure: Any, text: str) -> None:
    figure.suptitle(_plain(text), fontsize=9, x=0.01, ha="left", color="#555555")


def _plain(text: str) -> str:
    """User text for a figure: matplotlib would render text between two dollar signs as a formula."""
    return printable(text).replace("$", r"\$")


def _with_never(name: str, never: float) -> str:
    return f"{name} (never: {never:.2g})"


def _figure(x: str, y: str) -> tuple[Any, Any]:
    figure = canvas()(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _figures(rows: int) -> tuple[Any, list[Any]]:
    """A figure with `rows` wide axes, one below the other."""
    figure = canvas()(figsize=(8, 0.5 + 1.5 * rows), layout="constrained")
    panels = [figure.add_subplot(rows, 1, row + 1) for row in range(rows)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def canvas() -> Any:
    """matplotlib's Figure, or an error that says how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'nobounds[all]'") from None
    return Figure
