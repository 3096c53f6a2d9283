"""Plots of answers: a release, answers by group and the quantiles of a description, with their intervals."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle
from typing import Any

from nobounds.exact import finite_float
from nobounds.kinds.kind import Kind, short_text
from nobounds.plots.figures import BLUE, COLORS, INK, everyday, headline, label, panels, plain
from nobounds.release.answer import Answer
from nobounds.release.answers import Answers
from nobounds.release.description import Description, Summary
from nobounds.release.digits import said, said_ends
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.words import TOO_FEW, bars_in_words, cut_in_words, key_in_words, rank_in_words

_FAR = 1e300  # numbers beyond this are drawn here
_SHOWN = 40  # rows of a figure
_FEW = 3  # numbers on one line


def plot(answer: Answer) -> Any:
    """A figure of any answer."""
    if isinstance(answer, Description):
        return plot_description(answer)
    if isinstance(answer, Answers):
        return _plot_several(answer)
    if isinstance(answer, GroupedRelease):
        return plot_groups(answer)
    assert isinstance(answer, Release)
    return plot_release(answer)


def plot_release(release: Release, title: str | None = None) -> Any:
    """A figure of a release: its numbers, each with its interval if it has one."""
    numbers = release.numbers
    single = len(numbers) == 1 and numbers[0][1] is not None and release.intervals
    bars = bars_in_words(release.intervals[:1], release.parameters, [numbers[0][1]]) if single else ""
    column = release.parameters.get("column")
    name = title or f"Private {release.statistic}{f' of {column}' if column is not None else ''}"
    figure, (axes,) = panels([_height(release)])
    _numbers(axes, release)
    headline(figure, f"{name}{f'; {bars}' if bars else ''}; for {release.loss.in_words(release.parameters)}")
    return figure


def plot_groups(release: GroupedRelease) -> Any:
    """A figure of answers by group: a row for each of the first groups, with its interval if it has one."""
    by = ", ".join(release.by)
    cut = f"; {cut_in_words(len(release), _SHOWN)}" if len(release) > _SHOWN else ""
    figure, (axes,) = panels([_height(release)])
    _groups(axes, release)
    headline(figure, f"Private {release.statistic} by {by}; for {release.loss.in_words(release.parameters)}{cut}")
    return figure


def _plot_several(answers: Answers) -> Any:
    """A figure of several answers, one below the other."""
    figure, all_axes = panels([_height(release) + 0.3 for release in answers.releases.values()])
    for axes, (name, release) in zip(all_axes, answers.releases.items(), strict=True):
        axes.set_title(label(name), loc="left", fontsize=10, color=INK)
        if isinstance(release, GroupedRelease):
            _groups(axes, release)
        elif isinstance(release, Release):
            _numbers(axes, release)
    number = len(answers.groups)
    cut = f"; {cut_in_words(number, _SHOWN)}" if number > _SHOWN else ""
    headline(figure, f"Private answers for {answers.loss.in_words(answers.parameters)}{cut}")
    return figure


def _height(release: Release | GroupedRelease) -> float:
    """The height of the axes of an answer, in inches."""
    rows = len(release) if isinstance(release, GroupedRelease) else len(release.numbers)
    listed = isinstance(release, GroupedRelease) or rows > _FEW
    return max(1.0, 0.27 * min(rows, _SHOWN) + 0.5) if listed else 1.5


def _numbers(axes: Any, release: Release) -> None:
    """The numbers of a release: a few on one line, more in rows."""
    kind = type_in(release.parameters).of_answer(release.statistic)
    ranked = isinstance(release.parameters.get("q"), list)
    named = release.statistic == "bounds"
    names = [rank_in_words(name) if ranked else name if named else "" for name, _, _ in release.numbers]
    if len(names) <= _FEW:
        _line(axes, release, names, kind)
        return
    labels = [name or str(k + 1) for k, name in enumerate(names)][:_SHOWN]
    rows = [(value, bar) for _, value, bar in release.numbers[:_SHOWN]]
    draw_rows(axes, labels, rows, [release.reason] * len(rows), kind)


def _groups(axes: Any, release: GroupedRelease) -> None:
    """A row for each of the first groups."""
    keys = zip(*(array[:_SHOWN].to_pylist() for array in release.arrays), strict=True)
    labels = [key_in_words(release.statistic, key) for key in keys]
    rows = list(zip(release.values[:_SHOWN].tolist(), release.bars[:_SHOWN], strict=True))
    reasons = (release.reasons or (None,) * len(release))[:_SHOWN]
    draw_rows(axes, labels, rows, reasons, type_in(release.parameters).of_answer(release.statistic))
    axes.set_ylabel(label(", ".join(release.by)))


def plot_description(described: Description) -> Any:
    """A figure of the private quantiles of each column: a box from 25% to 75%, whiskers to 5% and 95%, end marks."""
    names = list(described.columns) or ["no numeric column"]
    figure, all_axes = panels([1.5] * len(names))
    for axes, name, color in zip(all_axes, names, cycle(COLORS)):
        axes.set_title(label(name), loc="left", fontsize=10, color=INK)
        axes.set_yticks([])
        axes.spines[["left"]].set_visible(False)
        if name in described.columns:
            _box(axes, described, name, color)
    headline(
        figure,
        f"Private quantiles (diamond: mean, its bar: 95%), for {described.loss.in_words(described.parameters)}",
    )
    return figure


def draw_rows(
    axes: Any, labels: Sequence[str], rows: Sequence[tuple[Any, Any]], reasons: Sequence[str | None], kind: Kind
) -> None:
    """A row for each number: a mark, its interval as an error bar, or why there is none."""
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), [label(each) for each in labels])
    axes.spines[["left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    _scale(axes, kind)
    for k, ((value, bar), reason) in enumerate(zip(rows, reasons, strict=True)):
        if value is None:
            why = plain(reason or "not answered")
            axes.text(
                0.01, k, why, transform=axes.get_yaxis_transform(), va="center", color=INK, fontsize=8, style="italic"
            )
            continue
        at = place_of(value, kind)
        if bar is not None:
            _interval(axes, at, ends_of(bar, kind), k)
        axes.plot([at], [k], "o", color=BLUE, markersize=5)


def _line(axes: Any, release: Release, names: Sequence[str], kind: Kind) -> None:
    """A few numbers on one line, each with its interval and in words."""
    axes.set_yticks([])
    axes.spines[["left"]].set_visible(False)
    _scale(axes, kind)
    missing = False
    for k, (name, (_, value, bar)) in enumerate(zip(names, release.numbers, strict=True)):
        if value is None:
            missing = True
            continue
        at, up = place_of(value, kind), k % 2 == 0
        if bar is not None:
            ends = ends_of(bar, kind)
            _interval(axes, at, ends, 0)
            for end, text in zip(ends, said_ends(bar, kind, value), strict=True):
                if math.isfinite(end) and text is not None and len(release.numbers) == 1:
                    _annotate(axes, plain(text), end, up=False)
        axes.plot([at], [0], "D", color=BLUE, markersize=7)
        _annotate(axes, f"{name}\n{said(value, bar, kind)}".strip(), at, up=up)
    if missing:
        why = plain(f"not answered: {release.reason}")
        axes.text(0.5, 0.15, why, transform=axes.transAxes, ha="center", color=INK)
    axes.set_ylim(-1, 1)
    axes.margins(x=0.12)


def _annotate(axes: Any, text: str, at: float, *, up: bool) -> None:
    side = 1 if up else -1
    where = {"xytext": (0, 9 * side), "textcoords": "offset points", "ha": "center", "va": "bottom" if up else "top"}
    axes.annotate(text, (at, 0), color=INK, **where)


def _interval(axes: Any, at: float, bar: tuple[float, float], height: int) -> None:
    """An interval as an error bar; an arrow where an end is not known."""
    low, high = (end if math.isfinite(end) else at for end in bar)
    axes.plot([low, high], [height, height], color=BLUE, linewidth=2, alpha=0.7, solid_capstyle="butt")
    for end, arrow in zip(bar, "<>", strict=True):
        known = math.isfinite(end)
        axes.plot([end if known else at], [height], "|" if known else arrow, color=BLUE, markersize=9, alpha=0.7)


def _box(axes: Any, described: Description, name: str, color: str) -> None:
    """The answers of a column, as far as there are any."""
    summary, kind = described.columns[name], described.kind(name)
    values = _places(summary, kind)
    _scale(axes, kind)
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
        axes.text(0.5, 0.5, TOO_FEW, transform=axes.transAxes, ha="center", fontsize=8, color=INK)
        axes.set_xticks([])
    if "mean" in values:
        if all(map(math.isfinite, bar := ends_of(summary.intervals["mean"], kind))):
            axes.plot(bar, [0, 0], color=INK, linewidth=3, alpha=0.6, solid_capstyle="butt")
        axes.plot([values["mean"]], [0], "D", color=INK, markersize=4)
    for mark, up in (("min", 0), ("5%", 1), ("25%", 0), ("50%", 1), ("75%", 0), ("95%", 1), ("max", 0)):
        if mark in values:
            side = 1 if up else -1
            axes.annotate(
                f"{mark}\n{_short(summary.values[mark], kind)}",
                (values[mark], 0.25 * side),
                xytext=(0, 3 * side),
                textcoords="offset points",
                ha="center",
                va="bottom" if up else "top",
                fontsize=7,
                color=INK,
            )
    axes.set_ylim(-1, 1)
    axes.margins(x=0.06)


def _short(value: Any, kind: Kind) -> str:
    """A value beside its mark, in four digits: marks stand close together."""
    return short_text(value) if kind.typed else said(float(f"{place_of(value, kind):.4g}"))


def _places(summary: Summary, kind: Kind) -> dict[str, float]:
    """Where the answers of a column stand on its axis."""
    shown = ((name, answer) for name, answer in summary.values.items() if name not in ("count", "std"))
    return {name: place_of(answer, kind) for name, answer in shown if answer is not None}


def _scale(axes: Any, kind: Kind) -> None:
    """Values of the type at a few places of the axis."""
    if kind.typed:
        axes.xaxis.set_major_formatter(lambda number, _: short_text(kind.value(number)))
        axes.locator_params(axis="x", nbins=4)
    else:
        everyday(axes.xaxis)


def place_of(value: Any, kind: Kind) -> float:
    """The number of a value of a type, where it stands on the axis."""
    exact = kind.number(value, "value") if kind.typed else Fraction(value)
    return min(max(finite_float(exact), -_FAR), _FAR)


def ends_of(bar: Sequence[Any], kind: Kind) -> tuple[float, float]:
    """The ends of an interval as numbers, infinite if they are not known."""
    low, high = bar
    below = kind.is_end(low) if kind.typed else not math.isfinite(low)
    above = kind.is_end(high) if kind.typed else not math.isfinite(high)
    return -math.inf if below else place_of(low, kind), math.inf if above else place_of(high, kind)
