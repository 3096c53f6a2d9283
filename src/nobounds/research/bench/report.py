"""The results: a table of errors, a summary of ratios, and a picture."""

from collections.abc import Sequence
from typing import Any

from nobounds.plots.figures import COLORS, sheet
from nobounds.research.bench.results import OURS, Outcome, geometric

ORACLE = "oracle"  # nobody's method: it knows the best clip of a sum
MARKERS = "Dosv^P*Xh<>"
LOWEST = 1e-4  # smaller errors are drawn at this: data with ties are often answered exactly


def method_names(outcomes: Sequence[Outcome]) -> list[str]:
    """All methods, nobounds first."""
    return list(dict.fromkeys(name for outcome in outcomes for name in outcome.errors))


def rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """A heading and a row for each cell: mean errors in spreads with standard errors; the best has an asterisk."""
    names = method_names(outcomes)
    table = [["statistic", "family", "offset", "n", "epsilon", "neighbours", *names]]
    for outcome in outcomes:
        cell, best = outcome.cell, outcome.best(besides=(ORACLE,))
        place = [cell.statistic, cell.family, f"{cell.offset:g}", f"{cell.n}", f"{cell.epsilon:g}", cell.relation]
        table.append(place + [_error(outcome, name, name == best) for name in names])
    return table


def summary(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """For each method: the geometric mean of its error over that of nobounds, and how often it is better or worse.

    Better and worse are by more than two standard errors of the ratio.
    """
    table = [["method", "error over nobounds'", "better", "even", "worse", "cells"]]
    for name in method_names(outcomes)[1:]:
        ratios = [outcome.ratio(name, OURS) for outcome in outcomes if name in outcome.errors]
        better = sum(value + 2 * deviation < 1 for value, deviation in ratios)
        worse = sum(value - 2 * deviation > 1 for value, deviation in ratios)
        even = len(ratios) - better - worse
        mean = geometric(value for value, _ in ratios)
        table.append([name, f"{mean:.2f}", *map(str, (better, even, worse, len(ratios)))])
    return table


def as_markdown(table: Sequence[Sequence[str]]) -> str:
    """A table with a heading, in Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]]) + "\n"


def picture(outcomes: Sequence[Outcome]) -> Any:
    """A matplotlib figure: a panel for each statistic, a row for each place, a marker for each method."""
    names, places = method_names(outcomes), _places(outcomes)
    by_statistic: dict[str, list[int]] = {}
    for k, outcome in enumerate(outcomes):
        by_statistic.setdefault(outcome.cell.statistic, []).append(k)
    most, wide = max(map(len, by_statistic.values())), min(len(by_statistic), 2)
    high = -(-len(by_statistic) // wide)
    figure = sheet(2.1 + 2.9 * wide, 0.6 + (0.8 + 0.2 * most) * high)
    figure.patch.set(alpha=1, facecolor="white")
    panels = figure.subplots(high, wide, squeeze=False).ravel()
    for unused in panels[len(by_statistic) :]:
        unused.remove()
    panels = panels[: len(by_statistic)]
    left: list[str] = []
    for place, (axis, (statistic, members)) in enumerate(zip(panels, by_statistic.items(), strict=True)):
        for number, name in enumerate(names):
            here = [(row, outcomes[k]) for row, k in enumerate(members) if name in outcomes[k].errors]
            axis.errorbar(
                [max(outcome.mean(name), LOWEST) for _, outcome in here],
                [row for row, _ in here],
                xerr=[outcome.deviation(name) for _, outcome in here],
                fmt=MARKERS[number % len(MARKERS)],
                color=COLORS[number % len(COLORS)],
                fillstyle="full" if name == OURS else "none",
                markersize=5,
                linewidth=0.8,
                label=name,
            )
        axis.set(xscale="log", title=statistic, xlabel="mean error, in spreads", ylim=(len(members) - 0.5, -0.5))
        labels = [places[k] for k in members]
        same = place % wide and labels == left
        axis.set_yticks(range(len(members)), [""] * len(labels) if same else labels, fontsize=7)
        left = labels
        axis.grid(axis="y", linewidth=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(axis="x", labelsize=7)
    shown = {label: handle for axis in panels for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=min(len(shown), 6), frameon=False)
    return figure


def _places(outcomes: Sequence[Outcome]) -> list[str]:
    """The family and the offset of each cell, and what else differs between cells."""
    cells = [outcome.cell for outcome in outcomes]
    texts = [f"{cell.family} at {cell.offset:g}" for cell in cells]
    for more in (
        [f", n {cell.n}" for cell in cells],
        [f", epsilon {cell.epsilon:g}" for cell in cells],
        [f", {cell.relation}" for cell in cells],
    ):
        if len(set(more)) > 1:
            texts = [text + extra for text, extra in zip(texts, more, strict=True)]
    return texts


def _error(outcome: Outcome, method: str, best: bool) -> str:
    if method not in outcome.errors:
        return ""
    return f"{outcome.mean(method):.3g} ({outcome.deviation(method):.1g})" + "*" * best
