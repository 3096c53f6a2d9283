"""How many records an answer about clipped records needs: what its plan marks, with room for a noisy number of them."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending
from nobounds.clipping.average import Average
from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.clipping.tail import CARRIED, CARRYING
from nobounds.ranks.tuning import TUNING

_SPREADS = 3  # standard deviations of its noise that the number of records around a clip may be too low by
# Times the rows that the clip of a statistic needs, for what is clearly above its noise: a variance, or both of two
# columns. At these, lognormal data are answered in 95% of runs.
TIMES = {"std": 8, "variance": 8, "covariance": 5, "correlation": 20, "ratio": 2, "weighted_mean": 2}
COMMON = {"mean": 20, "sum": 20}  # records of a group times epsilon, where all groups share one clip
# Records times the epsilon of one column, where public bounds are the clip: then noise alone decides. At these, flags
# of which half are true are answered in 95% of runs.
_BOUNDED = {"ratio": 20, "weighted_mean": 20, "correlation": 120}


def needed(
    statistic: str, clips: Sequence[Settled], spending: Spending, average: Average | None = None
) -> dict[str, int | float]:
    """What would do for a statistic of these clips; `average` has a noisy number of records, where there is one."""
    rows = rows_enough(statistic, clips)
    if average is not None:
        size, noise = float(average.count), 2 * average.noise.scale(1)
    else:
        size, noise = min((settled.size, settled.plan.size_noise) for settled in clips)
    # With more rows than are enough for most data, these data need more.
    return would_do(rows if size - noise < rows else 2 * size, size, noise, spending)


def rows_enough(statistic: str, clips: Sequence[Settled]) -> int:
    """How many records are enough for a statistic of most data, whatever their number is here."""
    return needed_rows(statistic, tuple(_whatever_size(settled.plan) for settled in clips))


@lru_cache(maxsize=256)  # public arguments
def needed_rows(statistic: str, plans: tuple[SumPlan, ...]) -> int:
    """With this many records a statistic that has these plans for its columns is answered in 95% of runs."""
    if statistic in TIMES:
        searched = [plan for plan in plans if not _is_bounded(plan)]
        narrow = math.ceil(_BOUNDED.get(statistic, 1) / min(plan.total for plan in plans))
        return max([narrow, *(TIMES[statistic] * _smallest(plan) for plan in searched)])
    return max(map(_clip_rows, plans))


def rows_of_a_group(plan: SumPlan) -> int:
    """What a group needs where all groups share one clip: for its own noise, and its part of those for the clip."""
    statistic = "mean" if plan.centered else "sum"
    clip = needed_rows(statistic, (_whatever_size(plan),))
    return math.ceil(max(COMMON[statistic] / plan.total, Fraction(clip, plan.groups)))


def _clip_rows(plan: SumPlan) -> int:
    """The rows that are enough for the search of a clip, and for records to be seen around it; with room for noise."""
    room = math.ceil(TUNING.room / plan.eps_size) if plan.eps_size else 0
    room = room if plan.outer is None else 3 * room // 2  # the number is then the sum of two noisy ones
    noise = plan.tail.count_noise if plan.eps_tail else CountNoise(0.0, False)
    deviation = noise.scale * math.sqrt((1 if noise.gaussian else 2) * 2 * CARRYING)
    return max(_smallest(plan) + room, math.ceil((CARRIED + _SPREADS) * deviation))


def _whatever_size(plan: SumPlan) -> SumPlan:
    """The plan before the size was known, so that answers of all sizes share what is worked out for it."""
    return plan if _is_bounded(plan) else plan.at(plan.rows or 0)


def _is_bounded(plan: SumPlan) -> bool:
    return plan.search.ladder.is_settled or not plan.search.epsilon


def _smallest(plan: SumPlan) -> int:
    """The rows that are enough for the search of a clip, if there is one: bounds that are stated may leave none."""
    return 1 if _is_bounded(plan) else smallest(plan.enough, 1)


def smallest(enough: Callable[[int], bool], start: int) -> int:
    """The smallest number from `start` on that is enough, to two digits, where more is enough too."""
    low, high = start, 2 * start
    while not enough(high) and high < 1 << 60:
        low, high = high, 2 * high
    while high - low > max(high // 64, 1):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
