"""Why a statistic of clipped records is not answered, and what would do."""

from typing import Any

from nobounds.accounting.spending import Spending
from nobounds.clipping.average import Average
from nobounds.clipping.needed import needed, rows_enough
from nobounds.clipping.plan import Settled
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW

_PLENTY = 4  # times the rows that are enough for most data, from which on more of them would not help


def why_unanswered(settled: Settled) -> str | None:
    """Why this clip carries no answer, by noisy numbers; None if it does."""
    if settled.clip.trusted:
        return None
    if settled.short:
        return TOO_FEW
    return NO_SPREAD if settled.tailed.others is None else ONE_VALUE


def unanswered(
    statistic: str, clips: tuple[Settled, ...], spending: Spending, average: Average | None = None
) -> tuple[str, dict[str, Any]]:
    """Why a statistic of these clips is not answered, and the parameter with what would do if more rows would.

    With clips that carry an answer, there are too few rows for it to stand out from its noise; or with many more than
    are enough, the records deviate too little for the clip. A ratio may have a denominator near 0 instead.
    """
    why = next((why for why in map(why_unanswered, clips) if why not in (None, TOO_FEW)), None)
    if why is not None:
        return why, {}
    more = needed(statistic, clips, spending, average)
    trusted = all(settled.clip.trusted for settled in clips)
    if (
        trusted
        and average is not None
        and statistic != "ratio"
        and more["rows"] > _PLENTY * rows_enough(statistic, clips)
    ):
        return NO_SPREAD, {}
    return TOO_FEW, {"needed": more}
