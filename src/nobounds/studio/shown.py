"""How budgets, forecasts and releases are shown on the pages of the studio."""

import json
import math
from functools import lru_cache
from io import BytesIO
from typing import Any

import nobounds as nb
from nobounds import plots
from nobounds.accounting.budget import Statement
from nobounds.accounting.composition import text_down
from nobounds.exact import printable
from nobounds.explaining.explain import paragraphs
from nobounds.explaining.words import Paragraph, shown_value
from nobounds.kinds.kind import Kind, Value
from nobounds.planning.forecast import digits
from nobounds.release.description import Summary
from nobounds.release.shares import STATISTICS
from nobounds.release.words import bars_in_words, between, needed_in_words
from nobounds.studio.shelf import KeptRelease

_SIZES = (10_000,)  # numbers of records for which errors are forecast


def budget_of(statement: Statement) -> dict[str, Any]:
    """A budget for the head of every page."""
    terms = statement.terms
    return {
        "statement": statement,
        "limit": float(terms.epsilon if terms.epsilon is not None else terms.rho or 0),
        "remaining": statement.remaining,
        "left": text_down(statement.remaining),
    }


def line(name: str, forecast: nb.Forecast) -> dict[str, Any]:
    """A forecast for the page: numbers for the curve, and a sentence."""
    row, n = forecast.rows[0], forecast.parameters["n"]
    ranks = "" if row.rank_error is None else f"by {digits(row.rank_error)} of {n:,} ranks, or "
    about = f" (of about {' and '.join(map(digits, forecast.typical))})" if len(forecast.typical) <= 2 else ""
    return {
        "name": name,
        "sentence": (
            f"Off {ranks}by {digits(row.value_error)}{about} on average, "
            f"and 95 times of 100 by at most {digits(row.error_95)}."
        ),
        "mean": row.value_error,
        "most": row.error_95,
        "ranks": row.rank_error,
    }


def picture(kept: KeptRelease) -> bytes:
    """A release as a PNG."""
    release, file = kept.release, BytesIO()
    if isinstance(release, nb.Release):
        drawn = plots.plot_release(release, printable(kept.ask.title()))
    else:
        drawn = plots.plot_description(release)
    drawn.savefig(file, format="png", dpi=150)
    return file.getvalue()


def answers(kept: KeptRelease) -> tuple[list[str], list[list[str]]]:
    """The answers as a table: its headings and its rows."""
    release = kept.release
    if isinstance(release, nb.Description):
        names = list(release.columns)
        rows = [
            [each, *(_cell(release.columns[name], each, release.kind(name)) for name in names)] for each in STATISTICS
        ]
        return ["", *map(printable, names)], rows
    if isinstance(release.value, tuple):
        names = list(kept.ask.q) or ["minimum", "maximum"]
        rows = [[name, _figure(value, release)] for name, value in zip(names, release.value, strict=True)]
    else:
        rows = [[kept.ask.statistic, _figure(release.value, release)]]
    if not release.intervals:
        return ["", "value"], rows
    bars = zip(rows, release.intervals, strict=True)
    return ["", "value", "interval"], [[*row, bars_in_words([bar], release.parameters)] for row, bar in bars]


def _figure(value: Value | None, release: nb.Release) -> str:
    return shown_value(value) if value is not None else f"{release.reason}{needed_in_words(release.parameters)}"


@lru_cache(maxsize=256)
def words(text: str) -> list[Paragraph]:
    """A release, given as JSON, in plain words; errors are forecast for one number of records, and cached."""
    return paragraphs(json.loads(text), sizes=_SIZES)


def _cell(summary: Summary, statistic: str, kind: Kind) -> str:
    answer, bar = summary.values[statistic], summary.intervals.get(statistic)
    if answer is None:
        return summary.reasons[statistic]
    value = shown_value(answer)
    if bar is None:
        return value
    if kind.of_answer(statistic).typed:
        return f"{value} ({between(bar, kind.of_answer(statistic))})"
    half = (bar[1] - bar[0]) / 2
    return f"{value} ± {digits(half)}" if math.isfinite(half) else f"{value} ± ?"
