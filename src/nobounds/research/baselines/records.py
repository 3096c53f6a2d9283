"""Shared by the baselines: sorted records between given bounds, checks, and the parameters of every release.

A record outside the bounds is moved to the nearer one, as in the public code of Gillenwater, Joseph and Kulesza (2021),
and a missing one to the lower. Both rules look at one record alone and preserve the number of records, which is public
under swap.
"""

from typing import Any, TypedDict

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.scan import gathered
from nobounds.engines.memory.arrays import column
from nobounds.exact import MAX, Number, rational, shown

FLOATING = "floating-point noise, for comparison only"


class Ranged(TypedDict):
    """The keywords of a method that is given the range of the data; its generator has no default."""

    epsilon: Number
    lower: Number
    upper: Number
    rng: np.random.Generator


def records_of(data: object, lower: float, upper: float) -> Floats:
    """The records of one column between the bounds, in increasing order."""
    return np.sort(np.clip(floats_of(data, missing=lower), lower, upper))


def floats_of(data: object, missing: float) -> Floats:
    """The records of one column as floats; missing records become `missing`."""
    records = gathered(column(data).chunks())
    return np.where(np.isnan(records), missing, records)


def check_bounds(lower: Number, upper: Number) -> tuple[float, float]:
    """The bounds as floats, at a positive and finite distance."""
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if not (-MAX <= low < high <= MAX and 0 < float(high) - float(low) <= MAX):
        raise ValueError(
            f"lower must be less than upper and both within floats, got lower={shown(lower)}, upper={shown(upper)}"
        )
    return float(low), float(high)


def check_rng(rng: object) -> np.random.Generator:
    """The generator. There is no default: a caller has to opt in to floating-point noise."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got rng of type {type(rng).__name__}")
    return rng


def described(method: str, lower: float, upper: float, **more: Any) -> dict[str, Any]:
    """The parameters of a release."""
    return {"method": method, "lower": lower, "upper": upper, **more, "noise": FLOATING}
