"""Answers as HTML for notebooks: the number, its interval and its cost; a table for several numbers.

Colours are those of the page, light or dark: muted text is the page's own, made paler. There is no script and no style
sheet, and names and keys, which may come from anybody, are escaped.
"""

from collections.abc import Iterable, Sequence
from html import escape

from nobounds.exact import printable
from nobounds.release.answer import Answer
from nobounds.release.answers import Answers
from nobounds.release.description import Description
from nobounds.release.digits import said
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.shares import STATISTICS
from nobounds.release.words import (
    SUMMARIES,
    assumed_in_words,
    between,
    cut_in_words,
    interval_heading,
    needed_in_words,
    rank_in_words,
    rows_in_words,
    shown_in_words,
    units_in_words,
)

_SHOWN = 100  # groups or numbers
_MUTED = "opacity:.65"
_LINE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:.2em .7em;border:0;background:none;white-space:nowrap"
_EMPTY = "–"  # noqa: RUF001 (a dash)


def html(answer: Answer) -> str:
    """An answer as HTML."""
    if isinstance(answer, Description):
        return _description(answer)
    if isinstance(answer, Answers):
        return _several(answer)
    if isinstance(answer, GroupedRelease):
        return _groups(answer)
    assert isinstance(answer, Release)
    return _release(answer)


def _release(release: Release) -> str:
    column = release.parameters.get("column")
    title = _escaped(release.statistic) + ("" if column is None else f" of {_escaped(column)}")
    kind, numbers = type_in(release.parameters).of_answer(release.statistic), release.numbers
    q = release.parameters.get("q")
    if len(numbers) > 1 or isinstance(q, list):
        body = _heading(title) + _numbers(release)
    else:
        ((_, value, bar),) = numbers
        rank = "" if q is None else _muted(f" ({rank_in_words(q)})")
        large = _number(_muted("not answered") if value is None else _escaped(said(value, bar, kind)))
        interval = "" if bar is None or value is None else f"<div>{between(bar, kind, value)}{_level(release)}</div>"
        body = _heading(title + rank) + large + interval
    why = release.reason and f"Not answered, {release.reason}{needed_in_words(release.parameters)}."
    return _block(body, _notes(release, why or ""))


def _numbers(release: Release) -> str:
    """A row for each of several numbers."""
    kind, ranked = type_in(release.parameters).of_answer(release.statistic), "q" in release.parameters
    rows = [
        [
            _muted(_escaped(rank_in_words(name) if ranked else name if release.statistic == "bounds" else str(k + 1))),
            _empty(release.reason) if value is None else _escaped(said(value, bar, kind)),
            *([] if not release.intervals else ["" if bar is None or value is None else between(bar, kind, value)]),
        ]
        for k, (name, value, bar) in enumerate(release.numbers[:_SHOWN])
    ]
    heads = ["", "value", *([interval_heading(release.parameters)] if release.intervals else [])]
    more = len(release.numbers) - len(rows)
    return _table(heads, rows, 1) + (_muted(f"... and {more:,} more numbers") if more else "")


def _groups(release: GroupedRelease) -> str:
    reasons = (release.reasons or (None,) * len(release))[:_SHOWN]
    answers = [_empty(why) if why else _escaped(text) for text, why in zip(release.said(_SHOWN), reasons, strict=True)]
    columns: list[Sequence[str]] = [
        [_escaped("" if key is None else key) for key in array[:_SHOWN].to_pylist()] for array in release.arrays
    ]
    heads = [*release.by, release.statistic]
    columns.append(answers)
    if release.intervals is not None:
        heads.append(interval_heading(release.parameters))
        columns.append(release.ranges(_SHOWN))
    if release.counts is not None:
        heads.append("noisy rows")
        columns.append([_muted(said(count)) for count in release.counts[:_SHOWN].tolist()])
    cut = _muted(cut_in_words(len(release), _SHOWN)) if len(release) > _SHOWN else ""
    empty = sorted({why for why in reasons if why})
    why = f"{_EMPTY} {', '.join(empty)}." if empty else ""
    needed = shown_in_words(release.parameters, len(release), release.loss.unit)
    table = _table(heads, list(zip(*columns, strict=True)), len(release.by))
    return _block(table + cut, _notes(release, why, needed))


def _several(answers: Answers) -> str:
    heads, *rows = answers.lines(_SHOWN)
    cells = [[_escaped(cell) for cell in row] for row in rows]
    number = len(answers.groups)
    cut = _muted(cut_in_words(number, _SHOWN)) if number > _SHOWN else ""
    needed = shown_in_words(answers.parameters, number, answers.loss.unit) if answers.by else ""
    table = _table(heads, cells, len(answers.by) or 1)
    return _block(table + cut, _notes(answers, answers.split_in_words(), needed))


def _description(described: Description) -> str:
    rows = [[_muted(name), *(_cell(described, column, name) for column in described.columns)] for name in STATISTICS]
    skipped = [f"{printable(name)} ({why})" for name, why in described.skipped.items()]
    left = f"Skipped: {', '.join(skipped)}." if skipped else ""
    return _block(
        _table(["", *described.columns], rows, 1), _notes(described, left, described.split_in_words(), SUMMARIES)
    )


def _cell(described: Description, column: str, statistic: str) -> str:
    """A statistic of a column, its interval beside it; a dash with the reason if it is not answered."""
    summary, margin = described.columns[column], described.margin(column, statistic)
    if summary.values[statistic] is None:
        return _empty(summary.reasons.get(statistic))
    return _escaped(described.said(column, statistic)) + (_muted(f" {margin}") if margin else "")


def _notes(answer: Release | GroupedRelease | Description | Answers, *more: str) -> list[str]:
    """The cost, and what else is to be known."""
    parameters, unit = answer.parameters, answer.loss.unit
    return [
        f"For {answer.loss.in_words(parameters)}.",
        *more,
        assumed_in_words(parameters) if getattr(answer, "answered", True) else "",
        rows_in_words(parameters),
        units_in_words(parameters, unit),
    ]


def _level(release: Release) -> str:
    """What an interval is for, beside it."""
    return _muted(f" {interval_heading(release.parameters)}")


def _escaped(text: object) -> str:
    return escape(printable(str(text)))


def _muted(inner: str) -> str:
    return f'<span style="{_MUTED}">{inner}</span>'


def _empty(reason: str | None) -> str:
    """The mark of a number that is not answered."""
    return f'<span style="{_MUTED}" title="{_escaped(reason or "not answered")}">{_EMPTY}</span>'


def _heading(inner: str) -> str:
    return f"<div>{inner}</div>"


def _number(inner: str) -> str:
    return f'<div style="font-size:1.7em;font-weight:600;line-height:1.3">{inner}</div>'


def _block(body: str, notes: Iterable[str]) -> str:
    """The answer, and the notes below it."""
    lines = "".join(f"<div>{_escaped(note).replace(' %', '&nbsp;%')}</div>" for note in notes if note)
    small = f'<div style="{_MUTED};font-size:.87em;margin-top:.5em;max-width:50em">{lines}</div>'
    return f'<div style="font-variant-numeric:tabular-nums;line-height:1.5;overflow-x:auto">{body}{small}</div>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], keys: int) -> str:
    """A table with this many columns of keys on the left; its heads are escaped, and its cells are HTML."""

    def style(k: int, line: str) -> str:
        return f'style="{_CELL};text-align:{"left" if k < keys else "right"};border-bottom:{line}"'

    head = "".join(f"<th {style(k, _LINE)}>{_escaped(name)}</th>" for k, name in enumerate(heads))
    body = "".join(
        '<tr style="background:none">'
        + "".join(f"<td {style(k, '0')}>{cell}</td>" for k, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return (
        '<table style="border-collapse:collapse;border:0;margin:0;color:inherit">'
        f'<thead><tr style="background:none">{head}</tr></thead><tbody>{body}</tbody></table>'
    )
