"""A forecast in plain words: nothing was spent, and no data were read."""

from nobounds.exact import printable
from nobounds.explaining.reading import ReleaseFields, neighbors
from nobounds.explaining.words import Paragraph, about
from nobounds.planning.forecast import lacking
from nobounds.release.digits import said

_SHOWN = 12
_NOTHING = "Nothing was spent and no private data were read, so there is nobody to protect here and nothing to approve."
_SHAPED = (
    "The forecast is as good as the shape: data of another shape have other errors in value, though hardly in ranks."
)
_COUNTED = (
    "The forecast is of the noise, which is the same for all data. "
    "Records that are not used, because their unit has too many, are not part of it."
)


def forecast(fields: ReleaseFields) -> list[Paragraph]:
    """The paragraphs on a forecast."""
    parameters, rows = fields.inner("parameters"), [ReleaseFields.of(row, "rows") for row in fields.items("rows")]
    if not rows:
        raise ValueError("rows must have at least one row, got none")
    statistic, neighboring, shaped = fields.word("statistic"), neighbors(parameters), "data" in parameters
    size = f" of {parameters.whole('n'):,} records" if shaped or "n" in parameters else ""
    shape = f" of the shape {parameters.word('data')}" if shaped else ""
    ranks = f" (q = {', '.join(f'{float(q):g}' for q in parameters.ranks('q'))})" if "q" in parameters else ""
    subject = (
        f"This is a forecast: the error to expect of a private {statistic}{ranks}{size}"
        f"{shape}, with neighbouring data sets by {neighboring}."
    )
    n = parameters.whole("n") if "n" in parameters else None
    few = lacking(statistic, "groups" in parameters)
    lines = [_line(row, n, few) for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        lines.append(f"And {len(rows) - _SHOWN} rows more.")
    return [
        Paragraph("What this is", (subject, _NOTHING)),
        Paragraph("What error to expect", tuple(lines)),
        Paragraph(
            "What is not promised",
            (_SHAPED if shaped else _COUNTED,),
        ),
    ]


def planned_summary(fields: ReleaseFields) -> list[Paragraph]:
    """The paragraphs on a summary that is planned, by `plan_describe` or a dry run."""
    kind = fields.kind("spending")
    columns, rows = fields.whole("columns"), fields.whole("rows")
    subject = (
        f"This is a plan: a private summary of {columns:,} numeric columns and {rows:,} rows "
        f"for {kind} {said(fields.spent('amount'))}, with neighbouring data sets by {neighbors(fields)}."
    )
    parts = [ReleaseFields.of(part, "parts") for part in fields.items("parts")]
    return [
        Paragraph("What this is", (subject, _NOTHING)),
        Paragraph("What will be answered", tuple(_planned(part, kind) for part in parts[:_SHOWN])),
        Paragraph(
            "What is not promised",
            (
                "The plan is as good as the number of rows that was stated: what it calls answered is answered in at "
                "least 95% of columns of that many rows with a value, but for a mean or standard deviation of which "
                "the records say too little.",
            ),
        ),
    ]


def _planned(part: ReleaseFields, kind: str) -> str:
    names = ", ".join(printable(name) for name in part.texts("statistics"))
    if part.mapping.get("cost"):
        return f"{names}: answered, for {kind} {said(part.spent('cost'))} in each column."
    needs = [f"{part.whole('rows'):,} rows"] if "rows" in part else []
    needs += [f"{kind} {said(part.spent('spent'))}"] if "spent" in part else []
    return f"{names}: left empty, too few rows{'; with ' + ' or '.join(needs) + ' it is answered' if needs else ''}."


def _line(row: ReleaseFields, n: int | None, lacked: str) -> str:
    kind = "epsilon" if "epsilon" in row else "rho"
    ranks = f"by {about(row.amount('rank_error'))} ranks, or " if "rank_error" in row else ""
    needed = row.whole("rows_needed") if "rows_needed" in row else 0
    few = f"mostly {lacked} (about {needed:,} rows are needed); " if n is not None and n < needed else ""
    return (
        f"For {kind} {said(row.spent(kind))}: {few}off {ranks}by {about(row.amount('value_error'))} in value on "
        f"average, and 95% of the time by at most {about(row.amount('error_95'))}."
    )
