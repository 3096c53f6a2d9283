"""How a budget and answers are shown: tables of texts with their charts, and what they mean in sentences."""

import json
from functools import lru_cache
from typing import Any

from nobounds.accounting.budget import Statement
from nobounds.accounting.composition import text_down
from nobounds.ask import Ask
from nobounds.exact import printable
from nobounds.explaining.explain import paragraphs
from nobounds.explaining.words import Paragraph
from nobounds.release.digits import said
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.release.schema import type_in
from nobounds.release.words import between, needed_in_words, rows_in_words, rows_needed, shown_in_words, units_in_words
from nobounds.studio.questions import ask_in_words
from nobounds.studio.results.charts import LEVEL, Chart
from nobounds.studio.results.shelf import KeptAnswers
from nobounds.values import dataclass

_EXPLAINED = 20  # answers that `explain` takes at once


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its names, the answer, its interval, and why there is no answer."""

    names: tuple[str, ...]
    value: str
    interval: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of answers, and their chart if there is anything to compare."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    chart: Chart | None = None
    note: str = ""

    @property
    def has_intervals(self) -> bool:
        """Whether any row has one."""
        return any(row.interval for row in self.rows)

    @property
    def marked(self) -> int:
        """How many rows are not answered."""
        return sum(bool(row.reason) for row in self.rows)


def budget_of(statement: Statement) -> dict[str, Any]:
    """A budget for the head of every page."""
    terms = statement.terms
    limit = float(terms.epsilon if terms.epsilon is not None else terms.rho or 0)
    left = text_down(statement.remaining)
    return {"statement": statement, "limit": limit, "total": text_down(limit), "left": left, "left_number": float(left)}


def sections(kept: KeptAnswers) -> list[Section]:
    """The tables of answers: one by group for each statistic, or one of all statistics."""
    question, answers = kept.recipe.question, kept.answers
    if question.by:
        return [
            _grouped(f"{_capital(ask_in_words(ask))} by {' and '.join(question.by)}", answers[ask.name])
            for ask in question.asks
        ]
    named = [(ask, answers[ask.name]) for ask in question.asks]
    loose = [(ask, release) for ask, release in named if not set(ask.columns) & set(question.summaries)]
    rows = tuple(_single(_capital(ask_in_words(ask)), release) for ask, release in loose)
    tables = [Section("Answers", ("Statistic",), rows)]
    for column in question.columns:
        own = [(ask, release) for ask, release in named if ask.columns == (column,)]
        level = sorted((pair for pair in own if pair[0].statistic in LEVEL), key=lambda pair: float(_rank(pair[0])))
        chart = Chart.of_column(printable(column), [(_short(ask), release) for ask, release in level])
        if column in question.summaries:  # in the order of the chart, with the spread at the end
            others = [pair for pair in own if pair[0].statistic not in LEVEL]
            rows = tuple(_single(_capital(_short(ask)), release) for ask, release in (*level, *others))
            tables.append(Section(printable(column), ("Statistic",), rows, chart))
        elif chart is not None:
            tables.append(Section(printable(column), (), (), chart))
    return tables


def _short(ask: Ask) -> str:
    """A statistic without its column."""
    return ask_in_words(ask).removesuffix(f" of {' and '.join(ask.columns)}")


def overview(kept: KeptAnswers) -> tuple[tuple[str, ...], list[tuple[tuple[str, ...], list[Row]]]]:
    """All answers by group in one table: its heads, and for each group its names and its answers."""
    tables, question = sections(kept), kept.recipe.question
    heads = (*tables[0].heads, *(_capital(ask_in_words(ask)) for ask in question.asks))
    rows = zip(*(table.rows for table in tables), strict=True)
    return heads, [(each[0].names, list(each)) for each in rows]


def charts(kept: KeptAnswers) -> list[Chart]:
    """The charts of answers."""
    return [section.chart for section in sections(kept) if section.chart is not None]


def summary(kept: KeptAnswers) -> list[str]:
    """Two sentences on the answers, and others that are needed to read them."""
    parameters, loss, tables = kept.answers.parameters, kept.answers.loss, sections(kept)
    who = "row" if loss.unit == "row" else f"{printable(loss.unit)} with all its rows"
    noise = "Noise was added on purpose. The interval beside an answer holds the true value about 95% of the time"
    stated = {dict(ask.options).get("interval") for ask in kept.recipe.question.asks} - {None, "0.95"}
    level = f" ({100 * float(min(stated)):.4g}% for medians, percentiles and extremes)" if stated else ""  # type: ignore[arg-type,type-var]
    lines = [f"These answers would be almost the same without any one {who}.", f"{noise}{level}."]
    if any(row.interval.startswith(("at least", "at most")) for table in tables for row in table.rows):
        lines.append("An interval with one end has no limit on the other side.")
    if marked := sum(table.marked for table in tables):
        are = "answer is" if marked == 1 else "answers are"
        lines.append(f"{marked} {are} left out because there are too few values.")
    return [*lines, *filter(None, (rows_in_words(parameters), units_in_words(parameters, loss.unit)))]


def explained(kept: KeptAnswers) -> list[Paragraph]:
    """The answers in plain words, a paragraph for each; of more than twenty the first ones. Then what they cost."""
    named: dict[str, list[str]] = {}
    words = {ask.name: _capital(ask_in_words(ask)) for ask in kept.recipe.question.asks}
    for heading, sentences in _paragraphs(kept.answers.to_json()):
        name = next((name for name in words if heading.startswith(f"{printable(name)[:80]}: ")), None)
        named.setdefault(heading if name is None else words[name], []).extend(sentences)
    return [Paragraph(heading, tuple(sentences)) for heading, sentences in named.items()]


def protected(kept: KeptAnswers) -> list[str]:
    """Who is protected, in a few sentences."""
    return [each for heading, lines in explained(kept) if heading == "Who is protected" for each in lines]


@lru_cache(maxsize=64)
def _paragraphs(text: str) -> tuple[Paragraph, ...]:
    content = json.loads(text)
    content["answers"] = dict(list(content["answers"].items())[:_EXPLAINED])
    try:
        return tuple(paragraphs(content, sizes=()))
    except (ValueError, TypeError, ArithmeticError):  # a paid answer is shown even if its explanation fails
        return ()


def _grouped(title: str, release: GroupedRelease) -> Section:
    columns = [[_key(key) for key in array.to_pylist()] for array in release.arrays]
    reasons = release.reasons or (None,) * len(release)
    rows = tuple(
        Row(names, "" if why else value, "" if why else interval, why or "")
        for names, value, interval, why in zip(
            zip(*columns, strict=True), release.said(), release.ranges(), reasons, strict=True
        )
    )
    note = needed_in_words(rows_needed(release.parameters)).removeprefix(": ") if any(reasons) else ""
    shown = shown_in_words(release.parameters, len(release), release.loss.unit)
    sentences = [f"For an answer, {note}." if note else "", shown]
    heads = tuple(printable(name) for name in release.by)
    return Section(title, heads, rows, Chart.of_groups(title, release), " ".join(filter(None, sentences)))


def _single(name: str, release: Release) -> Row:
    value, bar, kind = release.value, release.interval, type_in(release.parameters).of_answer(release.statistic)
    if value is None:
        known = {key: each for key, each in release.parameters.items() if key != "values_read"}  # for people who type
        return Row((name,), "", "", f"{release.reason}{needed_in_words(rows_needed(known))}")
    assert not isinstance(value, tuple)
    return Row((name,), said(value, bar, kind), "" if bar is None else between(bar, kind, value))


def _key(key: object) -> str:
    return "(empty)" if key is None or key == "" else printable(str(key))


def _rank(ask: Any) -> str:
    """The place of a statistic in a chart of a column, from the smallest value to the largest."""
    return str(ask.q[0]) if ask.q else {"minimum": "0", "median": "0.5", "mean": "0.500001"}.get(ask.statistic, "1")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
