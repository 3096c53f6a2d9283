"""A description in plain words: the summary of a table, paid from one epsilon or rho."""

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
from nobounds.explaining.words import CHOSEN, Paragraph
from nobounds.kinds.kind import NUMBER, Kind
from nobounds.release.digits import said
from nobounds.release.words import between

_SHOWN = 12  # columns
_NAMED = {
    "count": "count",
    "mean": "mean",
    "std": "standard deviation",
    "50%": "median",
    "min": "minimum",
    "max": "maximum",
}


def description(fields: ReleaseFields, sizes: Sequence[int]) -> list[Paragraph]:
    """The paragraphs on a description."""
    parameters, loss, all_columns = fields.inner("parameters"), fields.loss(), fields.inner("columns")
    rows = parameters.whole("rows_per_unit") if "rows_per_unit" in parameters else None
    columns = {printable(name): all_columns.inner(name) for name in list(all_columns.mapping)[:_SHOWN]}
    kind, split = (parameters.kind("spending") if "spending" in parameters else None), parameters.all_spent("split")
    error = [
        "The ranges above are at 95%. "
        "Means and standard deviations are those of clipped records. What that changed is in their ranges, "
        "as far as values thin out beyond the clip as they do up to it. "
        "Quantiles, minimum and maximum have no range here."
    ]
    if kind is not None and (name := next((name for name, column in columns.items() if _median(column)), None)):
        cost = columns[name].inner("costs").spent("50%")
        spending = Spending(rational(cost, "costs"), kind == "rho").each(rows or 1)
        model = ErrorModel(
            "quantile", (Fraction(1, 2),), spending, loss.neighbors, {"interval": None}, 0.0, Fraction(1, 2)
        )
        error += places(model, sizes, f"The median of {name}")
    error += [
        "The minimum and maximum may lie some records short of the ends, or beyond them: more of them the smaller the "
        "epsilon.",
        "With too few records for the privacy loss, "
        "a statistic is not answered; which ones are was decided by the noisy count. "
        "Means and standard deviations of which nothing would be known are left out too.",
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
        "Question: a summary of the columns below "
        "(count, mean, standard deviation, minimum, quantiles and maximum). "
        f"{number:,} column{'s were' * (number != 1) or ' was'} answered."
    ]
    view = fields.inner("parameters").view()
    sentences += [f"{view} {CHOSEN}"] if view else []
    types = fields.inner("parameters").inner("types")
    kinds = {printable(name): types.column_kind(name) for name in types.mapping}
    sentences += [_column(name, column, kinds.get(name, NUMBER)) for name, column in columns.items()]
    if number > len(columns):
        sentences.append(f"And {number - len(columns):,} columns more.")
    skipped = list(fields.inner("skipped").mapping)
    if skipped:
        sentences.append(f"Left out: {', '.join(map(printable, skipped[:_SHOWN]))}{', ...' * (len(skipped) > _SHOWN)}.")
    return sentences


def _column(name: str, column: ReleaseFields, kind: Kind) -> str:
    values, bars = column.inner("values"), column.inner("intervals")
    parts = [
        f"{words} {_answer(values, bars, statistic, kind.of_answer(statistic))}"
        for statistic, words in _NAMED.items()
        if statistic in values
    ]
    reasons = column.inner("reasons")
    empty = [name for name in reasons.mapping if name not in values]
    missing = f" Not answered, {reasons.word(empty[0])}: {', '.join(map(printable, empty))}." if empty else ""
    return f"{name}: {', '.join(parts)}.{missing}"


def _median(column: ReleaseFields) -> bool:
    """Whether a median was answered, and paid for."""
    values, costs = column.inner("values"), column.inner("costs")
    return "50%" in values and "50%" in costs and costs.spent("50%") > 0


def _answer(values: ReleaseFields, bars: ReleaseFields, statistic: str, kind: Kind) -> str:
    """A statistic, and its range if it has one."""
    interval = bars.interval(statistic, kind) if statistic in ("count", "mean", "std") else None
    ends = None if interval is None else (kind.value(interval[0]), kind.value(interval[1]))
    value = values.value(statistic, kind)
    answer = said(value, ends, kind)
    return answer if ends is None else f"{answer} ({between(ends, kind, value)})"
