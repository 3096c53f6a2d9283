"""Sums and means of groups within one clip, chosen among the records of all groups.

Small groups have too few records for a clip of their own, and the bias from clipping is weighed against the noise of
all groups. Keys are read once, records for the clip and once more for the sums of all groups.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.clipping.clip import Clip
from nobounds.clipping.interval import CHANCE, mean_range, summed_range
from nobounds.clipping.needed import rows_of_a_group
from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.sharing import ASSUMES, reaches
from nobounds.clipping.tail import Side
from nobounds.clipping.tailing import Tailed
from nobounds.counting.lattice import Beyond, Lattice
from nobounds.exact import MAX, finite_float, rounded_up
from nobounds.groups import NoisyGroups
from nobounds.groups.decisions import LARGEST
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Together
from nobounds.noise.additive import reach
from nobounds.programs.program import Program
from nobounds.release.answer import later
from nobounds.release.words import NONE_SEEN, TOO_FEW
from nobounds.tables.by_group.answers import GroupAnswers, GroupedColumn, around, fitting

USELESS = 0.5  # of the width of the clip: a mean whose half interval is wider may lie anywhere in it


class Summed(NamedTuple):
    """Noisy sums or means, and noisy numbers of rows.

    `bar` is the 95% half interval of the noise of a sum, and `over` what sums are divided by. A group with at most
    `seen` rows may have none; `useless` marks those whose noise says nothing.
    """

    values: NDArray[Any]
    bar: Fraction
    over: Floats
    counts: NDArray[Any]
    seen: float
    useless: NDArray[np.bool_]
    parameters: dict[str, Any]


def sums_by_group(
    ladder: Ladder, plan: Callable[[int], SumPlan], marks: bool, data: GroupedColumn
) -> Program[GroupAnswers]:
    """The sum of each group, or its mean (see `average`), by the plan for that many groups.

    Intervals include what the common clip cut off in each group (see `clipping.sharing`).
    """
    rows = yield from data.rows()
    # The number of groups is public or already noised; the cost is the same for every number.
    clipped = yield from plan(max(len(rows.units), 1)).program(rows.records)
    settled, clip, tailed = clipped.plan, clipped.clip, clipped.tailed
    lattice = Lattice.of(clip.low, clip.high, settled.integral)
    sides = (tailed.sides or ()) if tailed.clip.trusted else ()
    counts, (sums, *beyond) = rows.totals(lattice.steps, *(_beyond_half(clip.center, side) for side in sides))
    summed = yield from (_means if settled.centered else _sums)(settled, clip, lattice, counts, sums)
    ends = [(int if settled.integral else finite_float)(end) for end in (clip.low, clip.high)]
    parameters = {"clip": ends, "noise": settled.additive.name} | summed.parameters | ladder.describe()
    parameters["interval"] = {"level": 1 - CHANCE, "of": "sample"} | ({"assumes": ASSUMES} if tailed.sides else {})
    near = yield from _noisy_near(settled, tailed, beyond)
    low, high = (mean_range if settled.centered else summed_range)(ladder.lower, ladder.upper)
    reasons = _reasons(summed, clip.trusted) if marks else np.full(len(rows.units), None)
    missing = reasons != np.array(None)

    def intervals() -> Floats:
        wide = _with_excess(settled, tailed, near, summed)
        unknown = np.isinf(wide).all(axis=1, keepdims=True)
        known = np.where(unknown, wide, np.clip(wide, low, high))
        known[missing] = -math.inf, math.inf
        return known

    values = _in_range(summed.values, low, high)
    if missing.any():
        values = np.ma.array(np.where(missing, 0, values).astype(values.dtype), mask=missing)
    if missing.any():
        parameters["needed"] = {"rows": math.ceil(rounded_up(rows_of_a_group(settled)))}
    shown, why = fitting(np.maximum(summed.counts, 0)), tuple(reasons.tolist()) if marks else None
    return GroupAnswers(rows.keys, values, parameters, later(intervals), shown, why, settled.parts())


def _noisy_near(plan: SumPlan, tailed: Tailed, beyond: list[NDArray[Any]]) -> Program[dict[int, NDArray[Any]]]:
    """Noisy numbers of records of each group beyond half the width, by the sign of the side."""
    if not beyond or tailed.sides is None:
        return {}
    noisy = yield NoisyGroups(np.concatenate(beyond), plan.for_near, plan.for_near.cost)
    return dict(zip((side.sign for side in tailed.sides), np.split(noisy, len(beyond)), strict=True))


def _with_excess(plan: SumPlan, tailed: Tailed, near: dict[int, NDArray[Any]], summed: Summed) -> Floats:
    """The intervals of sums or means, for their noise and for what the clip cut off, from noisy numbers alone."""
    if not tailed.clip.trusted or tailed.sides is None:
        return around(summed.values, math.inf, math.inf)
    noise = CountNoise(plan.for_near.scale(1) if plan.eps_near else 0.0, plan.zcdp)
    unit = finite_float(summed.bar) or 1.0
    with np.errstate(over="ignore"):
        totals = summed.values.astype(np.float64) * summed.over / unit
    below, above = reaches(tailed, near, noise, summed.bar, totals)
    with np.errstate(over="ignore"):
        return around(summed.values, below * unit / summed.over, above * unit / summed.over)


def _beyond_half(center: Fraction, side: Side) -> Beyond:
    """1 for each record that lies beyond half the width of a side."""
    return Beyond(finite_float(center), side.sign, finite_float(side.width) / 2)


def _reasons(summed: Summed, trusted: bool) -> NDArray[Any]:
    """Why groups are not answered, by their noisy numbers of rows alone; None where they are."""
    reasons = np.full(len(summed.values), None, dtype=object)
    reasons[summed.useless if trusted else slice(None)] = TOO_FEW
    reasons[summed.counts <= summed.seen] = NONE_SEEN
    return reasons


def _sums(plan: SumPlan, clip: Clip, lattice: Lattice, counts: Ints, sums: NDArray[Any]) -> Program[Summed]:
    """Noisy sums, and a noisy number of rows beside each; one of no use may be noise all of it."""
    counts, sums = _room_for(counts, sums, lattice.largest)
    noisy = yield NoisyGroups(sums + lattice.low * counts, plan.additive, plan.additive.cost, lattice.largest)
    rows = yield NoisyGroups(counts, plan.for_counts, plan.for_counts.cost)
    scale = plan.additive.scale(lattice.largest)
    steps = plan.additive.half_steps(scale, 0.0, CHANCE)
    bar = _worth(steps, lattice)
    values = _scaled(noisy, lattice.exponent, plan.integral)
    parameters = {"noise_scale": _worth(scale, lattice), "half_interval": bar if clip.trusted else None}
    numbers = rows.astype(np.float64)
    seen = reach(plan.for_counts.scale(1), plan.zcdp)
    useless = numbers * lattice.largest <= steps
    return Summed(values, Fraction(steps) * lattice.step, np.ones(len(values)), rows, seen, useless, parameters)


def _means(plan: SumPlan, clip: Clip, lattice: Lattice, counts: Ints, sums: NDArray[Any]) -> Program[Summed]:
    """Noisy means, likewise: a record changes both sums by the width together, so they cost as much as one.

    Both sums together are the number of rows.
    """
    width = lattice.width
    counts, sums = _room_for(counts, sums, width)
    both = [NoisyGroups(part, plan.additive, plan.additive.cost, width) for part in (sums, width * counts - sums)]
    above, below = yield Together(tuple(both), plan.average.cost)
    part = above.astype(np.float64)
    whole = part + below.astype(np.float64)
    share = np.clip(np.divide(part, whole, out=np.full(len(whole), 0.5), where=whole > 0), 0.0, 1.0)
    low, high = finite_float(clip.low), finite_float(clip.high)
    values = np.clip(low * (1 - share) + high * share, low, high)  # high - low may be beyond the floats
    # The noise of the two sums counts with weights that add up to 1: at most as much as that of one of them.
    scale = plan.additive.scale(width)
    steps = plan.additive.half_steps(scale, 0.0, CHANCE)
    bar = steps / np.maximum(whole, 1.0)
    each = plan.additive.scale(1)
    seen = reach(each, plan.zcdp, each) + 0.5  # the number of rows is rounded
    rows = np.rint(whole / width).astype(np.int64)
    parameters = {"noise_scale": _worth(scale, lattice)}
    over = np.maximum(whole / width, 1.0)
    return Summed(values, Fraction(steps) * lattice.step, over, rows, seen, bar >= USELESS, parameters)


def _room_for(counts: Ints, sums: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers of records and the sums of steps, as Python's numbers if `most` steps each are too many."""
    if int(counts.max(initial=0)) * most >= LARGEST:
        return counts.astype(object), sums.astype(object)
    return counts, sums


def _in_range(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Sums in a public range, of which 0 is the only end; means lie in their clip."""
    if low == 0:
        values = np.maximum(values, 0)
    return np.minimum(values, 0) if high == 0 else values


def _scaled(whole: NDArray[Any], exponent: int, integral: bool) -> NDArray[Any]:
    """Numbers of steps in the units of the data: whole numbers if all answers are."""
    if not integral:
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(whole.astype(np.float64), exponent), -MAX, MAX) + 0.0
    return fitting(whole.astype(object) * (1 << exponent) if exponent else whole)


def _worth(steps: float, lattice: Lattice) -> float:
    """A number of steps in the units of the data."""
    return finite_float(Fraction(steps) * lattice.step)
