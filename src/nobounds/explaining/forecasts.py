"""A forecast in plain words: nothing was spent, and no data were read."""

from nobounds.explaining.reading import ReleaseFields, neighbors
from nobounds.explaining.words import Paragraph, about, figure

_SHOWN = 12


def forecast(fields: ReleaseFields) -> list[Paragraph]:
    """The paragraphs on a forecast."""
    parameters, rows = fields.inner("parameters"), [ReleaseFields.of(row, "rows") for row in fields.items("rows")]
    if not rows:
        raise ValueError("rows must have at least one row, got none")
    statistic, n, neighboring = fields.word("statistic"), parameters.whole("n"), neighbors(parameters)
    ranks = f" (q = {', '.join(f'{float(q):g}' for q in parameters.ranks('q'))})" if "q" in parameters else ""
    subject = (
        f"This is a forecast: the error to expect of a private {statistic}{ranks} of {n:,} records "
        f"of the shape {parameters.word('data')}, with neighbouring data sets by {neighboring}."
    )
    lines = [_line(row) for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        lines.append(f"And {len(rows) - _SHOWN} rows more.")
    nothing = (
        "Nothing was spent and no private data were read, so there is nobody to protect here and nothing to sign off."
    )
    return [
        Paragraph("What this is", (subject, nothing)),
        Paragraph("What error to expect", tuple(lines)),
        Paragraph(
            "What is not promised",
            (
                "The forecast is as good as the shape: "
                "data of another shape have other errors in value, though hardly in ranks.",
            ),
        ),
    ]


def _line(row: ReleaseFields) -> str:
    kind = "epsilon" if "epsilon" in row else "rho"
    ranks = f"by {about(row.amount('rank_error'))} ranks, or " if "rank_error" in row else ""
    return (
        f"For {kind} {figure(row.spent(kind))}: off {ranks}by {about(row.amount('value_error'))} in value on average, "
        f"and 95 times of 100 by at most {about(row.amount('error_95'))}."
    )
