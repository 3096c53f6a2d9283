"""How budgets, forecasts and releases are shown on the pages of the studio."""

import json
from functools import lru_cache
from io import BytesIO
from typing import Any

import nobounds as nb
from nobounds import plots
from nobounds.accounting.budget import Statement
from nobounds.accounting.composition import text_down
from nobounds.exact import printable
from nobounds.explaining.explain import paragraphs
from nobounds.explaining.words import Paragraph
from nobounds.kinds.kind import Value
from nobounds.planning.forecast import digits
from nobounds.release.digits import said
from nobounds.release.schema import type_in
from nobounds.release.shares import STATISTICS
from nobounds.release.words import bars_in_words, needed_in_words
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
            f"and 95% of the time by at most {digits(row.error_95)}."
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
        rows = [[each, *(_cell(release, name, each) for name in names)] for each in STATISTICS]
        return ["", *map(printable, names)], rows
    if isinstance(release.value, tuple):
        names = list(kept.ask.q) or ["minimum", "maximum"]
        rows = [
            [name, _figure(release, value, k)] for k, (name, value) in enumerate(zip(names, release.value, strict=True))
        ]
    else:
        rows = [[kept.ask.statistic, _figure(release, release.value, 0)]]
    if not release.intervals:
        return ["", "value"], rows
    values = release.value if isinstance(release.value, tuple) else (release.value,)
    bars = zip(rows, release.intervals, values, strict=True)
    return ["", "value", "interval"], [
        [*row, bars_in_words([bar], release.parameters, [value])] for row, bar, value in bars
    ]


def _figure(release: nb.Release, value: Value | None, k: int) -> str:
    """The number k of a release, or why there is none."""
    if value is None:
        return f"{release.reason}{needed_in_words(release.parameters)}"
    return said(value, release.intervals[k] if release.intervals else None, type_in(release.parameters))


@lru_cache(maxsize=256)
def words(text: str) -> list[Paragraph]:
    """A release, given as JSON, in plain words; errors are forecast for one number of records, and cached."""
    return paragraphs(json.loads(text), sizes=_SIZES)


def _cell(described: nb.Description, name: str, statistic: str) -> str:
    """A statistic of a column and how far its interval reaches, or why there is none."""
    if described.columns[name].values[statistic] is None:
        return described.columns[name].reasons[statistic]
    return f"{described.said(name, statistic)} {described.margin(name, statistic)}".strip()
