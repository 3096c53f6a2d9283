"""A description in plain words: the summary of a table, paid from one epsilon or rho."""

import math
from collections.abc import Sequence
from fractions import Fraction

from nobounds.accounting.spending import Spending
from nobounds.exact import printable, rational
from nobounds.explaining.accuracy import HEADING, places
from nobounds.explaining.expected import ErrorModel
from nobounds.explaining.limits import limits
from nobounds.explaining.protection import protection
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.spent import spent
from nobounds.explaining.words import Paragraph, figure
from nobounds.release.description import RANKS

_SHOWN = 12  # columns


def description(fields: ReleaseFields, sizes: Sequence[int]) -> list[Paragraph]:
    """The paragraphs on a description."""
    parameters, loss, all_columns = fields.inner("parameters"), fields.loss(), fields.inner("columns")
    rows = parameters.whole("rows_per_unit") if "rows_per_unit" in parameters else None
    columns = {printable(name): all_columns.inner(name) for name in list(all_columns.mapping)[:_SHOWN]}
    kind, split = (parameters.kind("spending") if "spending" in parameters else None), parameters.all_spent("split")
    error = [
        "The ranges above are for the noise, 95 times of 100. "
        "Means and standard deviations are those of records clipped to the minimum and maximum shown; "
        "what that changed is not in the ranges."
    ]
    if "quantiles" in split and columns:
        each = rational(split["quantiles"], "split") / len(all_columns.mapping)
        spending = Spending(each, kind == "rho").each(rows or 1)
        model = ErrorModel("quantiles", tuple(RANKS.values()), spending, loss.neighbors, {}, 0.0, Fraction(1, 2))
        error += places(model, sizes, "Each quantile")
    error += [
        "The minimum and maximum shown leave a few records outside, more of them the smaller the epsilon.",
        "With too few records for the privacy loss, "
        "answers are those of places nearer to the middle, or far from all records.",
    ]
    return [
        Paragraph("What was asked and answered", tuple(_answers(fields, columns, len(all_columns.mapping)))),
        protection(loss, rows, parameters.of_query()),
        spent(loss, kind, split),
        Paragraph(HEADING, tuple(error)),
        limits(loss, query=parameters.of_query()),
    ]


def _answers(fields: ReleaseFields, columns: dict[str, ReleaseFields], number: int) -> list[str]:
    """The request, and a line for each column."""
    sentences = [
        "Asked for: a summary of the columns below "
        "(count, mean, standard deviation, minimum, quantiles and maximum). "
        f"{number:,} column{'s were' * (number != 1) or ' was'} answered."
    ]
    sentences += [_column(name, column) for name, column in columns.items()]
    if number > len(columns):
        sentences.append(f"And {number - len(columns):,} columns more.")
    skipped = list(fields.inner("skipped").mapping)
    if skipped:
        sentences.append(f"Left out: {', '.join(map(printable, skipped[:_SHOWN]))}{', ...' * (len(skipped) > _SHOWN)}.")
    return sentences


def _column(name: str, column: ReleaseFields) -> str:
    values, bars = column.inner("values"), column.inner("intervals")
    parts = [
        f"{words} {figure(values.number(statistic))}{_range(bars.interval(statistic))}"
        for statistic, words in (("count", "count"), ("mean", "mean"), ("std", "standard deviation"))
    ]
    low, middle, high = (figure(values.number(each)) for each in ("min", "50%", "max"))
    return f"{name}: {', '.join(parts)}, median {middle}, minimum {low}, maximum {high}."


def _range(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return ""
    if math.inf in (interval[1], -interval[0]):
        return " (too few records to tell how good)"
    return f" ({figure(interval[0])} to {figure(interval[1])})"
