"""A budget in plain words: what may be spent, what was spent on what, and what is left."""

from datetime import datetime

from nobounds.accounting.composition import text_down
from nobounds.exact import printable, text_up
from nobounds.explaining.limits import together
from nobounds.explaining.protection import meaning
from nobounds.explaining.reading import ReleaseFields, neighbors
from nobounds.explaining.words import Paragraph, price

_SHOWN = 50  # charges
_REMARKS = {"label": "from {}", "author": "by {}", "note": "note: {}"}


def budget(fields: ReleaseFields) -> list[Paragraph]:
    """The output of `nobounds budget show --json`, in words."""
    charges = [ReleaseFields.of(charge, "charges") for charge in fields.items("charges")]
    remaining = text_down(fields.spent("remaining"))
    kind = "rho" if "rho" in fields else "epsilon"
    at = f" at delta {text_up(fields.spent('delta'))}" if "delta" in fields else ""
    limit = f"{kind} {text_up(fields.spent(kind))}{at}"  # rounded up like the charges, to stay above their sum
    who = _whom(fields)
    sentences = [f"This is a budget: all releases charged to it may cost {limit} together{who}, and no more."]
    if not charges:
        sentences.append("Nothing was charged to it yet.")
        return [Paragraph("What this is", tuple(sentences))]
    loss = fields.loss("spent")
    sentences.append(
        f"{len(charges)} release{'s were' if len(charges) > 1 else ' was'} charged to it, for {price(loss)} together."
    )
    sentences.append(
        f"What is left is {kind} {remaining}; a release that asks for more is refused before the data are read."
    )
    lines = [_charge(charge) for charge in charges[-_SHOWN:]]
    if len(charges) > _SHOWN:
        lines.insert(0, f"The last {_SHOWN} of {len(charges)} charges:")
    return [
        Paragraph("What this is", tuple(sentences)),
        Paragraph("What was charged", tuple(lines)),
        Paragraph("What all of it means together", tuple(meaning(loss))),
        Paragraph(
            "What is not promised",
            (
                "A budget counts what is charged to it: "
                "releases from the same data that were charged elsewhere, or nowhere, come on top.",
                together(loss),
                "A charge stays, even if its release was never looked at.",
            ),
        ),
    ]


def _charge(charge: ReleaseFields) -> str:
    try:
        when = f"{datetime.fromisoformat(charge.text('when')):%Y-%m-%d %H:%M}"
    except ValueError:
        raise ValueError("charges.when must be a time, as 2026-01-31T12:00:00+00:00") from None
    remark = "; ".join(text.format(charge.word(name)) for name, text in _REMARKS.items() if name in charge)
    return f"{when} UTC: {charge.word('what')}, for {price(charge.loss())}{f' ({remark})' if remark else ''}."


def _whom(fields: ReleaseFields) -> str:
    unit = f"for each {printable(fields.text('unit'))}" if "unit" in fields else ""
    neighboring = f"by {neighbors(fields)}" if "neighbors" in fields else ""
    known = ", ".join(part for part in (unit, neighboring) if part)
    return f" ({known})" if known else ""
