"""Pictures of laws: where a walk halts, and which answers a question gets. Needs matplotlib (`nobounds[plots]`)."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from nobounds.answer_law import AnswerLaw
from nobounds.law import Law

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito 2008: told apart by everyone


def plot_laws(laws: Mapping[str, Law]) -> Any:
    """A figure of the probability to halt at each query, one step line a law; the legend tells P(never)."""
    figure, axes = _figure("query", "probability to halt")
    for color, (name, law) in zip(cycle(COLORS), laws.items(), strict=False):
        masses = law.pmf()
        axes.step(
            np.arange(len(masses) - 1), masses[:-1], where="mid", color=color, label=_with_never(name, masses[-1])
        )
    axes.legend(frameon=False)
    return figure


def plot_answers(laws: Mapping[str, AnswerLaw], low: float, high: float, truth: float | None = None) -> Any:
    """A figure of the density of answers between two values, one step line a law, and a true value if given."""
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


def _with_never(name: str, never: float) -> str:
    return f"{name} (never: {never:.2g})"


def _figure(x: str, y: str) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'nobounds[all]'") from None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
