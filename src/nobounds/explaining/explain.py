"""A release in plain words: the public function, and the explanation that it returns."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nobounds.exact import Number, printable, rational, shown
from nobounds.explaining.accuracy import accuracy
from nobounds.explaining.budgets import budget
from nobounds.explaining.descriptions import description
from nobounds.explaining.expected import SIZES
from nobounds.explaining.forecasts import forecast, planned_summary
from nobounds.explaining.limits import limits
from nobounds.explaining.protection import protection
from nobounds.explaining.reading import KINDS, ReleaseFields, parsed
from nobounds.explaining.spent import spent
from nobounds.explaining.statements import ReleaseStatement
from nobounds.explaining.words import CHOSEN, Paragraph, marked
from nobounds.release.words import edges_in_words, key_in_words, needed_in_words, read_in_words, shown_in_words
from nobounds.values import dataclass

_MOST_RECORDS = 10**12
_SHOWN = 12  # groups or numbers
_MANY = 20  # releases in one file


@dataclass(frozen=True, slots=True)
class Explanation:
    """A release explained in paragraphs of plain sentences."""

    paragraphs: tuple[Paragraph, ...]

    def text(self, width: int = 80) -> str:
        """Headings, and sentences wrapped to a width."""
        wrapped = textwrap.TextWrapper(
            max(width, 20), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        blocks = ["\n".join([heading, *map(wrapped.fill, sentences)]) for heading, sentences in self.paragraphs]
        return "\n\n".join(blocks)

    def markdown(self) -> str:
        """The same as Markdown: a heading and a list for each paragraph."""
        blocks = [
            "\n".join([f"## {marked(heading)}", "", *(f"- {marked(line)}" for line in lines)])
            for heading, lines in self.paragraphs
        ]
        return "\n\n".join(blocks)

    def __str__(self) -> str:
        return self.text()


def explain(release: object, *, n: Number | None = None) -> Explanation:
    """A release in plain words, for the person who approves it; no sensitive data are read.

    release: a `Release`, `Description`, `GroupedRelease`, `Answers`, `Forecast` or `DescribeForecast`, its JSON as a
    text or a dict, or the output of a nobounds command with --json, a budget's history included.
    n: the number of records for which errors are forecast; by default 1,000, 10,000 and 100,000.

    >>> from nobounds.statistics.sums import count
    >>> print(explain(count(range(100), epsilon=1)).paragraphs[1].sentences[1])
    For anyone who knows all the other rows, or whose beliefs about them do not depend on this one: the release changes
    their odds of whether a given row is in the data by a factor of at most 2.72 (e to the power of epsilon 1).
    """
    content = release.to_dict() if hasattr(release, "to_dict") else release
    if isinstance(content, str):
        content = parsed(content)
    if not isinstance(content, Mapping):
        raise TypeError(f"explain takes {KINDS}; got a {type(release).__name__}")
    return Explanation(tuple(paragraphs(content, n=n)))


def paragraphs(content: Mapping[str, Any], *, n: Number | None = None, sizes: Sequence[int] = SIZES) -> list[Paragraph]:
    """The paragraphs on a JSON object; `sizes=()` leaves out the forecasts in ranks, which take some seconds."""
    fields = ReleaseFields(content)
    at = sizes if n is None else (_size(n),)
    if "releases" in fields:
        return _several(fields, at)
    if fields.mapping.get("kind") == "answers":
        return _together(fields, at)
    if "charges" in content and "remaining" in content:
        return budget(fields)
    if "rows" in fields and "typical" in content:
        return forecast(fields)
    if fields.mapping.get("statistic") == "describe" and "parts" in content:
        return planned_summary(fields)
    if fields.mapping.get("statistic") == "describe":
        return description(fields, at)
    if "statistic" in fields and "loss" in fields and ("value" in content or "by" in fields):
        return _release(ReleaseStatement.read(fields), fields, at)
    raise ValueError(f"this JSON is none that explain knows; it takes {KINDS}")


def _size(n: Number) -> int:
    size = rational(n, "n")
    if size.denominator != 1 or not 2 <= size <= _MOST_RECORDS:
        raise ValueError(f"n must be a whole number of records from 2 to {_MOST_RECORDS:.0e}, got n={shown(n)}")
    return int(size)


def _several(fields: ReleaseFields, sizes: Sequence[int]) -> list[Paragraph]:
    releases = [ReleaseFields.of(each, "releases") for each in fields.items("releases")]
    if not 1 <= len(releases) <= _MANY:
        raise ValueError(f"releases must have from 1 to {_MANY} releases, got {len(releases)}")
    if any("releases" in each for each in releases):
        raise ValueError("releases must have releases in it, and not lists of them")
    if len(releases) == 1:
        return paragraphs(releases[0].mapping, sizes=sizes)
    result = []
    for k, each in enumerate(releases, 1):
        result += [
            Paragraph(f"Release {k}: {heading}", lines) for heading, lines in paragraphs(each.mapping, sizes=sizes)
        ]
    total = fields.loss()
    query = any(each.inner("parameters").of_query() for each in releases)
    both = protection(total, None, query), spent(total, None, {})
    return result + [Paragraph(f"All together: {heading}", lines) for heading, lines in both]


def _together(fields: ReleaseFields, sizes: Sequence[int]) -> list[Paragraph]:
    """The paragraphs on answers that were requested together: what each says, and what all of them cost."""
    named, parameters, total = fields.inner("answers"), fields.inner("parameters"), fields.loss()
    if not 1 <= len(named.mapping) <= _MANY:
        raise ValueError(f"answers must have from 1 to {_MANY} answers, got {len(named.mapping)}")
    result = []
    for name in named.mapping:
        each = _rows_alone(named.inner(name))
        statement = ReleaseStatement.read(each)
        answered = _release(statement, each, sizes)
        result += [
            Paragraph(f"{printable(name)[:80]}: {heading}", lines) for heading, lines in (answered[0], answered[3])
        ]
    kind = parameters.kind("spending") if "spending" in parameters else None
    rows = parameters.whole("rows_per_unit") if "rows_per_unit" in parameters else None
    return [
        *result,
        protection(total, rows, parameters.of_query()),
        spent(total, kind, parameters.all_spent("split")),
        limits(total, statement.public, statement.keys, parameters.of_query()),
    ]


def _rows_alone(fields: ReleaseFields) -> ReleaseFields:
    """The fields of an answer among others: an epsilon that would do would be that of its part, and not of all."""
    parameters = fields.inner("parameters")
    if "needed" not in parameters:
        return fields
    rows = {name: number for name, number in parameters.inner("needed").mapping.items() if name == "rows"}
    return replace(fields, mapping={**fields.mapping, "parameters": {**parameters.mapping, "needed": rows}})


def _release(statement: ReleaseStatement, fields: ReleaseFields, sizes: Sequence[int]) -> list[Paragraph]:
    request = statement.request()
    view = statement.parameters.view()
    sentences = [f"Question: {request}.", *([f"{view} {CHOSEN}"] if view else []), _answered(statement, fields)]
    sentences += filter(None, [read_in_words(_read(statement)) if statement.values else ""])
    return [
        Paragraph("What was asked and answered", tuple(sentences)),
        protection(statement.loss, statement.rows_per_unit, statement.query),
        spent(statement.loss, statement.kind, statement.split),
        accuracy(statement, sizes),
        limits(statement.loss, statement.public, statement.keys, statement.query),
    ]


def _answered(statement: ReleaseStatement, fields: ReleaseFields) -> str:
    shown_values = list(map(statement.said, range(len(statement.answers[:_SHOWN]))))
    more = len(statement.answers) - len(shown_values)
    why = f" Not answered: {', '.join(statement.reasons)}{_needed(statement)}." if statement.reasons else ""
    if statement.by:
        pairs = [f"{key}: {value}" for key, value in zip(_keys(fields, statement), shown_values, strict=True)]
        groups = "1 group was" if len(statement.values) == 1 else f"{len(statement.values):,} groups were"
        rest = f"; and {more:,} more" if more else ""
        answered = f"{groups} answered. {'; '.join(pairs)}{rest}.{why}" if pairs else "No group was answered."
        return " ".join(filter(None, (answered, _edges(statement), _shown(statement))))
    if not statement.values:
        return f"There is no answer, {', '.join(statement.reasons)}{_needed(statement)}."
    if statement.statistic == "bounds":
        return f"The answer: {shown_values[0]} to {shown_values[1]}.{why}"
    return f"The answer: {', '.join(shown_values)}{f', and {more:,} numbers more' if more else ''}.{why}"


def _shown(statement: ReleaseStatement) -> str:
    """How many units a group needs to be shown, if the keys were chosen privately."""
    known = "units_to_show" in statement.parameters
    stated = {"units_to_show": statement.parameters.whole("units_to_show")} if known else {}
    return shown_in_words(stated, len(statement.answers), statement.loss.unit)


def _edges(statement: ReleaseStatement) -> str:
    """That there were too few rows to find edges, if so."""
    parameters = statement.parameters
    named = {name: parameters.word(name) for name in ("edges", "points") if name in parameters}
    return edges_in_words(named | {"needed": _stated_need(statement)}) if "needed" in parameters else ""


def _needed(statement: ReleaseStatement) -> str:
    """How many rows or how much epsilon would do, if the release says so."""
    return needed_in_words({"needed": _stated_need(statement)} | _read(statement))


def _read(statement: ReleaseStatement) -> dict[str, int]:
    known = "values_read" in statement.parameters
    return {"values_read": statement.parameters.whole("values_read", 0)} if known else {}


def _stated_need(statement: ReleaseStatement) -> dict[str, float]:
    needed = statement.parameters.inner("needed")
    stated: dict[str, float] = {name: needed.whole(name) for name in ("rows",) if name in needed}
    return stated | {name: needed.spent(name) for name in ("epsilon", "rho") if name in needed}


def _keys(fields: ReleaseFields, statement: ReleaseStatement) -> list[str]:
    """The first keys, one text each."""
    columns = [fields.inner("keys").items(name) for name in fields.items("by") if isinstance(name, str)]
    if len(columns) != len(statement.by) or any(len(column) != len(statement.answers) for column in columns):
        raise ValueError("keys must have a key for each value, by the columns of `by`")
    first = zip(*(column[:_SHOWN] for column in columns), strict=True)
    cut = ([part[:80] if isinstance(part, str) else part for part in key] for key in first)
    return [key_in_words(statement.statistic, key) for key in cut]
