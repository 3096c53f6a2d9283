"""Why a statistic of clipped records is not answered, and what would do."""

from typing import Any

from nobounds.clipping.plan import Settled
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW


def why_unanswered(settled: Settled) -> str | None:
    """Why this clip carries no answer, by noisy numbers; None if it does."""
    if settled.clip.trusted:
        return None
    if settled.short:
        return TOO_FEW
    return NO_SPREAD if settled.tailed.others is None else ONE_VALUE


def needed_for(settled: Settled) -> dict[str, Any]:
    """The parameter that says how many rows would do, where more rows are what is missing."""
    return {"needed": settled.needed()} if settled.short else {}
