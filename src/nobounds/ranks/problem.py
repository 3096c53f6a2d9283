"""A problem: the quantiles of a column, and the options of the search for them; all of it public."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from nobounds.accounting.loss import Neighbors
from nobounds.ladders.ladder import Ladder
from nobounds.noise.discrete import Noise
from nobounds.ranks.tuning import TUNING, RankTuning

Method: TypeAlias = Literal["auto", "walk", "flip", "exponential"]


def check_method(method: object) -> Method:
    """The name of the method, checked."""
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got method={method!r}")
    return method  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Problem:
    """Quantiles of one column.

    nullable: whether a record can be missing.
    rows, stated: the number of rows under swap, or the number of records as the user states it.
    grows: whether the ladder grows finer with the number of records.
    """

    qs: tuple[Fraction, ...]
    ladder: Ladder
    neighbors: Neighbors
    nullable: bool = True
    rows: int | None = None
    stated: bool = False
    noise: Noise = "exponential"
    method: Method = "walk"
    grows: bool = False
    tuning: RankTuning = TUNING
