"""Plots of mathematics: where a walk halts, the distribution of answers, errors to expect."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from nobounds.mechanisms.halting import Law
from nobounds.plots.figures import COLORS, INK, inked, sheet
from nobounds.ranks.law import AnswerLaw


def plot_laws(laws: Mapping[str, Law]) -> Any:
    """A figure of the probability to halt at each query, one step line per law; P(never) is in the legend."""
    figure, axes = _figure("query", "probability to halt")
    for color, (name, law) in zip(cycle(COLORS), laws.items(), strict=False):
        masses = law.pmf()
        axes.step(
            np.arange(len(masses) - 1), masses[:-1], where="mid", color=color, label=_with_never(name, masses[-1])
        )
    axes.legend(frameon=False, labelcolor=INK)
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
        axes.axvline(truth, color=INK, linestyle=":", label="true value")
    axes.legend(frameon=False, labelcolor=INK)
    return figure


def plot_forecast(
    spent: Sequence[float], panels: Mapping[str, Mapping[str, Sequence[float]]], spending: str, title: str
) -> Any:
    """A figure of errors against spending, both on logarithmic axes: a panel for each kind, with its named lines."""
    figure = sheet(4.2 * len(panels), 3.6)
    for place, (kind, lines) in enumerate(panels.items()):
        axes = inked(figure.add_subplot(1, len(panels), place + 1))
        axes.set(xlabel=spending, ylabel=kind, xscale="log")
        for color, mark, (name, errors) in zip(cycle(COLORS), cycle("so^"), lines.items(), strict=False):
            positive = np.where(np.array(errors) > 0, errors, np.nan)  # 0 has no place on a logarithmic axis
            axes.plot(spent, positive, color=color, marker=mark, markersize=4.5, linewidth=1.6, label=name)
        if any(error > 0 for errors in lines.values() for error in errors):
            axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid(which="major", color=INK, alpha=0.3, linewidth=0.6)
        axes.set_axisbelow(True)
        if len(lines) > 1:
            axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left", color=INK)
    return figure


def _with_never(name: str, never: float) -> str:
    return f"{name} (never: {never:.2g})"


def _figure(x: str, y: str) -> tuple[Any, Any]:
    figure = sheet(7, 4)
    axes = inked(figure.add_subplot())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes
