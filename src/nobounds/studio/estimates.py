"""What to expect of a question before it is asked: what is answered, how well, and how that moves with privacy.

It rests on what the user states (a number of rows, typical values, a shape) and on the laws of the answers. No record
is read, and nothing is charged.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nobounds as nb
from nobounds.accounting.spending import Spending
from nobounds.ask import Ask
from nobounds.planning.families import normal_quantile
from nobounds.planning.groups import PlannedGroups
from nobounds.planning.several.together import PlannedAsk, plan_together
from nobounds.release.digits import said
from nobounds.release.words import TOO_FEW
from nobounds.studio.fields import Checks, Fields, Mistakes, chosen, text, whole
from nobounds.studio.questions import LEVELS, Question, ask_in_words
from nobounds.values import dataclass

SHAPES = {
    "skewed": ("Many small, some large", "waiting times, incomes, prices"),
    "bell": ("Around a middle", "heights, temperatures, test scores"),
    "even": ("Spread evenly", "days of a year, ages of adults"),
    "long": ("A few enormous ones", "wealth, sales per customer"),
}
_POINTS = 2001  # of a public sample with a shape
_MOVED = 8  # statistics whose errors are shown for all levels
_GOOD = ((0.02, "very close"), (0.1, "close"), (0.3, "rough"))


@dataclass(frozen=True, slots=True)
class Guess:
    """What the user states about the data, for the estimate alone."""

    rows: int
    groups: int | None
    shapes: Mapping[str, str]
    typical: Mapping[str, float | None]

    @classmethod
    def of(cls, fields: Fields, question: Question) -> "Guess":
        """The guess in the fields of a form."""
        checks, columns = Checks(), question.columns
        rows = checks.get(lambda: whole(fields, "rows", "the number of rows, roughly,"), 1)
        groups = question.groups
        if question.by and groups is None:
            groups = checks.get(lambda: whole(fields, "groups", "the number of groups, roughly,", 10**6), None)
        if groups is not None and "rows" not in checks.fields and rows < groups:
            checks.fields["rows"] = f"There are {groups:,} groups, so there should be more rows than that."
        shape = checks.get(lambda: chosen(fields, "shape", list(SHAPES), "skewed"), "skewed")
        shapes, typical = dict[str, str](), dict[str, float | None]()
        for place, column in enumerate(columns):
            own = chosen(fields, f"shape{place}", ["", *SHAPES], "")
            shapes[column] = own or shape
            typical[column] = checks.get(lambda place=place: _number(fields, f"typical{place}"), None)  # type: ignore[misc]
        checks.done()
        return cls(rows, groups, shapes, typical)


@dataclass(frozen=True, slots=True)
class Line:
    """What to expect of one statistic: whether it is answered, how far off it is, and the rows that it needs."""

    what: str
    answered: bool
    error: str
    percent: str
    quality: str
    rows: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What to expect of a question, and the fields that state it."""

    title: str
    cost: str
    lines: tuple[Line, ...]
    moves: tuple[tuple[str, tuple[str, ...]], ...]
    curve: tuple[tuple[str, float], ...]  # relative errors of the first statistic by level, for a picture
    notes: tuple[str, ...]
    question: Fields


def estimate(question: Question, guess: Guess, rows_per_unit: int | None, fields: Fields) -> Estimate:
    """The estimate for a question."""
    lines = tuple(_line(each, question, guess, rows_per_unit) for each in _planned(question, guess, rows_per_unit))
    moved = [ask for ask in question.asks if ask.statistic != "count"][:_MOVED] or list(question.asks)[:1]
    table = {ask: [] for ask in moved}  # type: dict[Ask, list[Line]]
    for level in LEVELS:
        at = Question(**{**_parts(question), "amount": level, "spending": "epsilon"})
        for each in _planned(at, guess, rows_per_unit):
            if each.ask in table:
                table[each.ask].append(_line(each, at, guess, rows_per_unit))
    moves = tuple(
        (ask_in_words(ask), tuple(line.percent if line.answered else TOO_FEW for line in lines_of))
        for ask, lines_of in table.items()
    )
    curve = tuple(_curve(question, guess, rows_per_unit, moved[0]))
    level = LEVELS.get(question.amount, "Own setting") if question.spending == "epsilon" else "Own setting"
    return Estimate(
        level,
        f"takes {question.amount}" if question.spending == "epsilon" else f"takes rho {question.amount}",
        lines,
        moves,
        curve,
        _notes(question, guess, rows_per_unit),
        fields,
    )


def _parts(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in Question.__slots__}


def _planned(question: Question, guess: Guess, rows_per_unit: int | None) -> list[PlannedAsk]:
    return plan_together(
        question.asks,
        rows=guess.rows,
        neighbors=question.neighbors,
        groups=guess.groups if question.by else None,
        delta=question.delta if question.by else None,
        rows_per_unit=rows_per_unit,
        **question.spent,
    )


def _line(each: PlannedAsk, question: Question, guess: Guess, rows_per_unit: int | None) -> Line:
    what, rows = ask_in_words(each.ask), _rounded(each.rows)
    if not each.answered:
        return Line(what, False, "", "", "", f"about {rows}" if rows else "more rows, or fewer statistics")
    relative, error = _error(each, question, guess, rows_per_unit)
    quality = next((word for most, word in _GOOD if relative <= most), "hardly useful")
    return Line(what, True, error, f"±\u00a0{_short(100 * relative)}%", quality, rows)


def _error(each: PlannedAsk, question: Question, guess: Guess, rows_per_unit: int | None) -> tuple[float, str]:
    """The error that is not exceeded 95% of the time: as a part of the answer, and in words."""
    ask = each.ask
    column = ask.columns[0] if ask.columns else ""
    error, truth = _forecast(
        ask.statistic,
        str(ask.q[0]) if ask.q else None,
        guess.shapes.get(column, "even"),
        guess.rows,
        guess.groups if question.by else None,
        rows_per_unit,
        each.amount,
        question.spending,
        question.neighbors,
    )
    relative = error / abs(truth) if truth else math.inf
    percent = f"{_short(100 * relative)}%"
    typical = guess.typical.get(column)
    if ask.statistic == "count":
        return relative, f"±\u00a0{_short(math.ceil(error))} rows ({percent})"
    return relative, f"±\u00a0{percent}" if typical is None else f"±\u00a0{_short(error * typical)} ({percent})"


def _curve(question: Question, guess: Guess, rows_per_unit: int | None, ask: Ask) -> list[tuple[str, float]]:
    """The relative error of a statistic for each level at which it is answered."""
    points = []
    for level in LEVELS:
        at = Question(**{**_parts(question), "amount": level, "spending": "epsilon"})
        each = next(one for one in _planned(at, guess, rows_per_unit) if one.ask == ask)
        if each.answered:
            points.append((level, _error(each, at, guess, rows_per_unit)[0]))
    return points


@lru_cache(maxsize=4096)
def _forecast(
    statistic: str,
    q: str | None,
    shape: str,
    rows: int,
    groups: int | None,
    rows_per_unit: int | None,
    amount: Fraction,
    spending: str,
    neighbors: Any,
) -> tuple[float, float]:
    """The error at 95%, and the true value, of data with a typical value of 1."""
    forecast = nb.plan(
        statistic,  # type: ignore[arg-type]
        data=sample(shape),
        n=rows,
        q=q,
        groups=groups,
        rows_per_unit=rows_per_unit,
        neighbors=neighbors,
        quick=True,
        **{spending: amount},  # type: ignore[arg-type]
    )
    return forecast.rows[0].error_95, forecast.typical[0]


@lru_cache(maxsize=len(SHAPES))
def sample(shape: str) -> NDArray[np.float64]:
    """Made-up values with a shape, whose median is 1."""
    u = (np.arange(_POINTS) + 0.5) / _POINTS
    z = normal_quantile(u)
    values = {"even": 2 * u, "bell": 1 + z / 5, "skewed": np.exp(0.7 * z), "long": np.exp(1.6 * z)}
    return np.asarray(values[shape])


def heights(shape: str) -> list[float]:
    """The outline of a shape, between 0 and three times its typical value."""
    counts, _ = np.histogram(sample(shape), bins=24, range=(0, 3))
    return [float(each) for each in counts]


def _notes(question: Question, guess: Guess, rows_per_unit: int | None) -> tuple[str, ...]:
    """Sentences on what the estimate rests on."""
    size = f"{guess.rows:,} rows"
    if question.by:
        size += f" in {guess.groups:,} groups of the same size"
    notes = [f"For {size}, as you stated. Answers stay within ± the margin 95% of the time."]
    if rows_per_unit is not None:
        notes.append(
            f"Of each person at most {rows_per_unit:,} rows count, and each of them gets a part of the privacy."
        )
    if question.delta is not None and question.by:
        grouping = PlannedGroups.of(guess.groups, question.delta, rows_per_unit, question.groups_per_unit, "add-remove")
        units = grouping.needed(Spending.of(question.amount, None))
        notes.append(f"A group appears if about {units:,} people or more are in it.")
    return tuple(notes)


def _number(fields: Fields, name: str) -> float | None:
    given = text(fields, name).replace(" ", "")
    if not given:
        return None
    try:
        value = abs(float(given.replace(",", "") if "." in given else given.replace(",", ".")))
    except ValueError:
        value = math.nan
    if not 1e-100 < value < 1e100:
        raise Mistakes({name: "Give a number other than 0, such as 35 or 2500.50, or leave it empty."})
    return value


def _rounded(rows: int) -> str:
    """A number of rows in two digits; empty if no number would do."""
    return "" if rows >= 10**12 else f"{math.ceil(float(f'{rows:.2g}')):,}"


def _short(value: float) -> str:
    return said(float(f"{value:.2g}"))
