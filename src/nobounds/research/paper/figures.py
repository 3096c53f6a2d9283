"""The figures: one function each, from results to a matplotlib figure. Colours are those of Okabe and Ito (2008)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.plots import canvas
from nobounds.research.paper.datasets import NAMES, dataset
from nobounds.research.paper.experiments import densities, many, runaways, scales, sizes
from nobounds.research.paper.experiments.rivals import METHODS
from nobounds.research.paper.experiments.summaries import QuantileErrors
from nobounds.research.paper.work import Result

Figure = Any
LOWEST = 0.03  # the lowest ratio that Figure 3 shows
COLORS = {
    "UQE": "#E69F00",
    "EMQ": "#0072B2",
    "nobounds": "#009E73",
    "nobounds, add-remove": "#009E73",
    "nobounds, swap": "#CC79A7",
    "JointExp": "#D55E00",
    "recursive EMQ": "#56B4E9",
}
MARKERS = {
    "UQE": "s",
    "EMQ": "o",
    "nobounds, add-remove": "D",
    "nobounds, swap": "^",
    "JointExp": "v",
    "recursive EMQ": "P",
}


def _panels(rows: int, columns: int, height: float = 2.7) -> tuple[Figure, list[Any]]:
    figure = canvas()(figsize=(3.4 * columns, height * rows + 0.6), layout="constrained")
    axes = np.asarray(figure.subplots(rows, columns)).ravel().tolist()
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    return figure, axes


def _legend(figure: Figure, axis: Any, columns: int) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def figure_1(results: Result) -> Figure:
    """Densities of the answer under tight and loose bounds."""
    figure, axes = _panels(1, 2, 3.2)
    width = float(densities.EDGES[1] - densities.EDGES[0])
    for axis, upper in zip(axes, densities.UPPERS, strict=True):
        bounded = f"EMQ, told [0, {upper:g}]"
        for name, style in (("nobounds", "nobounds"), ("UQE", "UQE"), (bounded, "EMQ")):
            label = "EMQ" if name == bounded else name
            heights = np.array(results[name]) / width
            axis.stairs(heights, densities.EDGES, color=COLORS[style], label=label, linewidth=1.2)
        axis.axvline(results["truth"], color="black", linewidth=0.8, linestyle=":", label="true quantile")
        axis.set(title=f"EMQ told [0, {upper:g}]", xlabel="answer", ylabel="density", xlim=(4, 20))
        axis.title.set_fontsize(10)
    _legend(figure, axes[0], 4)
    return figure


def figure_2() -> Figure:
    """Histograms of the six data sets."""
    figure, axes = _panels(2, 3, 2.2)
    for axis, name in zip(axes, NAMES, strict=True):
        data = dataset(name)
        shown = data.values[data.values <= np.quantile(data.values, 0.999)]
        axis.hist(shown, bins=40, color="#56B4E9", edgecolor="white", linewidth=0.3)
        axis.set_title(data.title, fontsize=10)
        axis.set_ylabel("records", fontsize=8)
    return figure


def figure_3(results: dict[str, QuantileErrors]) -> Figure:
    """The error of each quantile over that of UQE, with standard errors."""
    figure, axes = _panels(*((2, 3) if len(results) == len(NAMES) else (1, len(results))), height=2.7)
    for axis, (name, errors) in zip(axes, results.items(), strict=True):
        axis.axhline(1, color=COLORS["UQE"], linewidth=1.5, label="UQE")
        for method in ("EMQ", "nobounds, add-remove", "nobounds, swap"):
            qs, ratio, error = errors.ratio(method)
            line = "-" if method != "nobounds, swap" else "--"
            ratio = np.maximum(ratio, LOWEST)  # 0 has no logarithm; where UQE has no error there is no ratio
            axis.plot(qs, ratio, line, color=COLORS[method], linewidth=1.2, label=method)
            low, high = np.maximum(ratio - error, LOWEST), ratio + error
            axis.fill_between(qs, low, high, color=COLORS[method], alpha=0.25, linewidth=0)
        axis.set(yscale="log", xlim=(0, 1), ylim=(LOWEST, 12))
        axis.set_title(dataset(name).title, fontsize=10)
        axis.set_xlabel("quantile", fontsize=8)
        axis.set_ylabel("error / UQE's", fontsize=8)
    _legend(figure, axes[0], 4)
    return figure


def _spread(axis: Any, at: Iterable[float], samples: list[Floats], method: str, label: str | None = None) -> None:
    """Medians, and the middle half as bars."""
    low, middle, high = (np.array([np.quantile(s, q) for s in samples]) for q in (0.25, 0.5, 0.75))
    axis.errorbar(
        list(at),
        middle,
        (middle - low, high - middle),
        color=COLORS[method],
        marker=MARKERS[method],
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
        label=label or method,
    )


def figure_scales(results: dict[str, Result]) -> Figure:
    """The relative error on the same data in other units."""
    figure, axes = _panels(1, 1, 3.6)
    figure.set_size_inches(6.4, 4.2)
    for method in METHODS:
        samples = [np.array(results[f"{factor:g}"][method]) for factor in scales.FACTORS]
        _spread(axes[0], scales.FACTORS, samples, method)
    axes[0].set(xscale="log", yscale="log", xlabel="data times", ylabel="relative error, median and middle half")
    _legend(figure, axes[0], 2)
    return figure


def figure_sizes(results: dict[str, Result]) -> Figure:
    """The relative error by the number of records."""
    figure, axes = _panels(1, len(sizes.QS), 3.4)
    rows = sorted(int(n) for n in results)
    for axis, q in zip(axes, sizes.QS, strict=True):
        for method in METHODS:
            _spread(axis, rows, [np.array(results[str(n)][f"{q} {method}"]) for n in rows], method)
        axis.set(xscale="log", yscale="log", xlabel="records", ylabel="relative error, median and middle half")
        axis.set_title(f"{q:.0%} quantile", fontsize=10)
    _legend(figure, axes[0], 4)
    return figure


def figure_many(results: dict[str, Result]) -> Figure:
    """The mean rank error by the number of quantiles."""
    figure, axes = _panels(1, len(many.SETS), 3.2)
    for axis, name in zip(axes, many.SETS, strict=True):
        counts = sorted(int(key.split()[1]) for key in results if key.split()[0] == name)
        for method in many.METHODS:
            samples = [np.array(results[f"{name} {m}"][method]) for m in counts]
            means = [s.mean() for s in samples]
            errors = [s.std() / np.sqrt(len(s)) for s in samples]
            axis.errorbar(
                counts, means, errors, color=COLORS[method], marker=MARKERS[method], markersize=4, label=method
            )
        axis.set(xscale="log", yscale="log", xlabel="quantiles", ylabel="mean rank error")
        axis.set_title(dataset(name).title, fontsize=10)
        axis.set_xticks(counts, [str(m) for m in counts])
        axis.minorticks_off()
    _legend(figure, axes[0], 5)
    return figure


def figure_runaways(results: Result) -> Figure:
    """The probability that an answer is far above the largest record."""
    figure, axes = _panels(1, 1, 3.6)
    figure.set_size_inches(6.4, 4.4)
    styles = ("-", "--", "-.", ":")
    for (name, chances), style in zip(((k, v) for k, v in results.items() if k != runaways.OURS), styles, strict=True):
        axes[0].plot(runaways.FACTORS, chances, style, color=COLORS["UQE"], label=name)
    axes[0].plot(runaways.FACTORS, results[runaways.OURS], color=COLORS["nobounds"], linewidth=2, label=runaways.OURS)
    axes[0].axhline(1e-4, color="grey", linewidth=0.6)
    axes[0].set(
        xscale="log", yscale="log", ylim=(1e-9, 1.5), xlabel="times the largest record", ylabel="chance to be above"
    )
    _legend(figure, axes[0], 2)
    return figure
