"""Why a statistic of clipped records is not answered, and what would do."""

from typing import Any

from nobounds.clipping.plan import Settled
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW


def why_unanswered(*clips: Settled) -> str | None:
    """Why these clips carry no answer, by noisy numbers; None if they do."""
    lost = [settled for settled in clips if not settled.clip.trusted]
    if not lost:
        return None
    if any(settled.short for settled in lost):
        return TOO_FEW
    return ONE_VALUE if any(settled.tailed.others is not None for settled in lost) else NO_SPREAD


def needed_for(settled: Settled) -> dict[str, Any]:
    """The parameter that says how many rows would do, where more rows are what is missing."""
    return {"needed": settled.needed()} if settled.short else {}
