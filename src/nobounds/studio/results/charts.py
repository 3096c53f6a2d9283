"""Charts of answers: a row for each number, with its interval as a bar. As SVG for pages, and as PNG for documents.

The SVG has no colours of its own: classes take them from the page, light or dark, and a file carries a style with it.
"""

import math
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

from nobounds.exact import printable
from nobounds.kinds.kind import NUMBER, Kind, short_text
from nobounds.plots.answers import draw_rows, ends_of, place_of
from nobounds.plots.figures import panels
from nobounds.release.digits import said
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.words import key_in_words
from nobounds.values import dataclass

_WIDE, _LABEL, _VALUE, _ROW, _AXIS = 640, 150, 96, 26, 30  # units of the drawing
_LONGEST = 22  # characters of a label
_MOST = 40  # rows
_TICKS = 5
LEVEL = ("mean", "median", "quantile", "minimum", "maximum")  # answers that are values of their column
_STYLE = (
    "svg{font:13px system-ui,sans-serif;background:#fff}text{fill:#1b2330}"
    ".axis,.quiet{fill:#54606f}.grid{stroke:#d6dbe1}"
    ".bar{stroke:#1f6f9f}.dot{fill:#1f6f9f}.tip{fill:#1f6f9f}"
    "@media(prefers-color-scheme:dark){svg{background:#14181d}text{fill:#e8ecf1}.axis,.quiet{fill:#a5b0bd}"
    ".grid{stroke:#39424d}.bar{stroke:#7cc4f0}.dot,.tip{fill:#7cc4f0}}"
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A title, and for each row a label, the value, its interval and why there is none."""

    title: str
    labels: tuple[str, ...]
    rows: tuple[tuple[Any, Any], ...]
    reasons: tuple[str | None, ...]
    kind: Kind = NUMBER

    @classmethod
    def of_groups(cls, title: str, release: GroupedRelease) -> "Chart | None":
        """The chart of a statistic by group, if there are at least two groups with an answer."""
        keys = zip(*(array[:_MOST].to_pylist() for array in release.arrays), strict=True)
        labels = tuple(key_in_words(release.statistic, key) for key in keys)
        rows = tuple(zip(release.values[:_MOST].tolist(), release.bars[:_MOST], strict=True))
        reasons = (release.reasons or (None,) * len(release))[:_MOST]
        return _worth(cls(title, labels, rows, reasons, type_in(release.parameters).of_answer(release.statistic)))

    @classmethod
    def of_column(cls, title: str, named: Sequence[tuple[str, Release]]) -> "Chart | None":
        """The chart of several statistics of a column, if at least two of them are answered."""
        if not named:
            return None
        kind = type_in(named[0][1].parameters).of_answer(named[0][1].statistic)
        rows = tuple((release.value, release.interval) for _, release in named)
        return _worth(cls(title, tuple(n for n, _ in named), rows, tuple(r.reason for _, r in named), kind))

    def svg(self, *, alone: bool = False) -> str:
        """The chart as SVG; alone as a file, with its own style."""
        height = _ROW * len(self.rows) + _AXIS
        scale = _Scale.of(self.rows, self.kind)
        parts = [scale.grid(height)]
        for k, (label, (value, bar), reason) in enumerate(zip(self.labels, self.rows, self.reasons, strict=True)):
            parts.append(_row(k, label, value, bar, reason, scale))
        style = f"<style>{_STYLE}</style>" if alone else ""
        space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
        title = f"{escape(printable(self.title))}; the numbers are in the table"
        return (
            f'<svg{space} class="chart" viewBox="0 0 {_WIDE} {height}" role="img" aria-label="{title}">'
            f"{style}{''.join(parts)}</svg>"
        )


def _worth(chart: Chart) -> Chart | None:
    """The chart, if it has two values to compare."""
    return chart if sum(value is not None for value, _ in chart.rows) > 1 else None


def together(charts: Sequence[Chart]) -> str:
    """Charts below each other in one SVG file."""
    top, parts = 0, []
    for chart in charts:
        height = _ROW * len(chart.rows) + _AXIS
        text = f'<text x="0" y="18" font-weight="600">{escape(printable(chart.title))}</text>'
        inner = chart.svg().replace("<svg ", f'<svg y="28" width="{_WIDE}" height="{height}" ', 1)
        parts.append(f'<g transform="translate(12 {top})">{text}{inner}</g>')
        top += height + 52
    whole = f'viewBox="0 0 {_WIDE + 24} {top}" width="{_WIDE + 24}" height="{top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {whole}><style>{_STYLE}</style>{"".join(parts)}</svg>\n'


def png(charts: Sequence[Chart]) -> bytes:
    """The same charts as a sharp PNG on white."""
    figure, axes = panels([0.27 * len(chart.rows) + 0.9 for chart in charts])
    for each, chart in zip(axes, charts, strict=True):
        each.set_title(printable(chart.title).replace("$", r"\$"), loc="left", fontsize=10)
        draw_rows(each, [_cut(label) for label in chart.labels], chart.rows, chart.reasons, chart.kind)
    file = BytesIO()
    figure.savefig(file, format="png", dpi=200, facecolor="white")
    return file.getvalue()


def curve(points: Sequence[tuple[str, float]], names: Sequence[str], now: str) -> str:
    """How an error falls from level to level, as SVG: a line through points with their labels."""
    wide, high = 520, 170
    top = max(error for _, error in points) or 1.0
    step = (wide - 80) / max(len(points) - 1, 1)
    at = [(40 + step * k, 30 + (high - 80) * (1 - error / top)) for k, (_, error) in enumerate(points)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    parts = [f'<polyline class="bar" fill="none" stroke-width="2.5" points="{line}"/>']
    for (level, error), (x, y), name in zip(points, at, names, strict=True):
        label = f"± {said(float(f'{100 * error:.2g}'))}%"
        here = ' font-weight="700"' if level == now else ""
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{6 if level == now else 4}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle"{here}>{label}</text>')
        parts.append(f'<text class="axis" x="{x:.1f}" y="{high - 12}" text-anchor="middle"{here}>{escape(name)}</text>')
    words = ", ".join(f"{name}: {100 * error:.2g}%" for name, (_, error) in zip(names, points, strict=True))
    shown = f'viewBox="0 0 {wide} {high}" role="img" aria-label="Error by level. {words}"'
    return f'<svg class="chart" {shown}>{"".join(parts)}</svg>'


def outline(densities: Sequence[float]) -> str:
    """A small picture of a shape, by the heights of its outline."""
    top = max(densities)
    step = 88 / (len(densities) - 1)
    points = " ".join(f"{4 + step * k:.1f},{38 - 32 * each / top:.1f}" for k, each in enumerate(densities))
    shape = f'<polygon class="tip" points="4,38 {points} 92,38"/>'
    return f'<svg class="shape" viewBox="0 0 96 42" aria-hidden="true">{shape}</svg>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to places on the drawing."""

    low: float
    high: float
    kind: Kind

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, Any]], kind: Kind) -> "_Scale":
        known = [place_of(value, kind) for value, _ in rows if value is not None]
        ends = [end for value, bar in rows if value is not None and bar is not None for end in ends_of(bar, kind)]
        known += [end for end in ends if math.isfinite(end)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        room = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
        return cls(0.0 if 0 <= low < room else low - room, high + room, kind)

    def at(self, value: float) -> float:
        """The place of a number, within the plot."""
        share = (value - self.low) / (self.high - self.low)
        return _LABEL + (_WIDE - _LABEL - _VALUE) * min(max(share, 0.0), 1.0)

    def grid(self, height: int) -> str:
        """Lines at round numbers, with these below."""
        parts = []
        for tick in _ticks(self.low, self.high):
            x = self.at(tick)
            text = short_text(self.kind.value(tick)) if self.kind.typed else said(float(f"{tick:.6g}"))
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - _AXIS + 4}"/>')
            parts.append(f'<text class="axis" x="{x:.1f}" y="{height - 9}" text-anchor="middle">{escape(text)}</text>')
        return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers of a range, few enough that their labels do not touch."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough)
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]


def _row(k: int, label: str, value: Any, bar: Any, reason: str | None, scale: _Scale) -> str:
    """A row: its label, the interval, the value as a dot and as a number."""
    y = _ROW * k + _ROW / 2
    shown = escape(_cut(label))
    parts = [f'<text x="{_LABEL - 12}" y="{y + 4.5}" text-anchor="end">{shown}<title>{escape(label)}</title></text>']
    if value is None:
        parts.append(f'<text class="quiet" x="{_LABEL + 6}" y="{y + 4.5}">{escape(reason or "not answered")}</text>')
        return "".join(parts)
    at = scale.at(place_of(value, scale.kind))
    if bar is not None:
        parts.append(_interval(at, ends_of(bar, scale.kind), y, scale))
    parts.append(f'<circle class="dot" cx="{at:.1f}" cy="{y}" r="5"/>')
    number = escape(said(value, bar, scale.kind))
    parts.append(f'<text class="number" x="{_WIDE}" y="{y + 4.5}" text-anchor="end">{number}</text>')
    return "".join(parts)


def _interval(at: float, ends: tuple[float, float], y: float, scale: _Scale) -> str:
    """An interval as a bar with ends; a tip where an end is not known."""
    parts, places = [], []
    for end, side in zip(ends, (-1, 1), strict=True):
        known = math.isfinite(end)
        x = scale.at(end) if known else (_LABEL + 4 if side < 0 else _WIDE - _VALUE - 4)
        places.append(x)
        if known:
            parts.append(f'<line class="bar" stroke-width="2" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5}" y2="{y + 5}"/>')
        else:
            points = f"{x + 5 * side:.1f},{y} {x - 3 * side:.1f},{y - 4.5} {x - 3 * side:.1f},{y + 4.5}"
            parts.append(f'<polygon class="tip" points="{points}"/>')
    if not any(map(math.isfinite, ends)):
        return ""
    line = f'<line class="bar" stroke-width="2" x1="{places[0]:.1f}" x2="{places[1]:.1f}" y1="{y}" y2="{y}"/>'
    return line + "".join(parts)


def _cut(label: str) -> str:
    plain = printable(label)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
