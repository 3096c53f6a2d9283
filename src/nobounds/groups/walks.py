"""Walks of many groups along one route: the sampler of `skip_ahead` for all of them at once.

Counts and thresholds are whole numbers of lattice steps, so the gaps between them are exact. The rungs before each
occupied one form a run, and so do those after the last. Runs far below the threshold are left out with an error of
2**-60. If doubles do not decide for a group, ball arithmetic does, with the same noisy threshold and random word.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.groups.draws import Bools, Draws, Words, exponential_bounds
from nobounds.groups.noise import geometrics
from nobounds.groups.ragged import Room, running
from nobounds.groups.records import Groups
from nobounds.mechanisms.skip_ahead import halt_position, in_balls
from nobounds.mechanisms.walk import Walk, increments
from nobounds.noise.discrete import Exponential, decide
from nobounds.ranks.route import Route
from nobounds.ranks.values import NEVER
from nobounds.values import dataclass

_LEFT_OUT = 2.0**-60
_ERROR = 2.0**-42  # relative error allowed for a sum of increments, as in `skip_ahead`
_SURELY = 1e300  # larger than any exponential variable: the increment of a run that certainly halts
_TABLE = 1 << 14  # up to this many lattice steps, increments are looked up in a table
_LONG = 40  # runs per group from which leaving out those that do not matter is faster
_LEAST_RATE = Fraction(1, 1 << 48)  # below this the noise might not fit into 64 bits
_LARGEST = 1 << 60


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Walks in runs, group after group: the begin, end and level of each run. Sensitive.

    `targets` are the thresholds without noise, in lattice steps; a rank is `lattice` steps. At each of the positions
    `cuts` all levels rise by `tilt` ranks.
    """

    starts: Ints  # the first run of each group; every group has one
    begins: Ints
    ends: Ints
    levels: Ints
    targets: Ints
    lattice: int
    length: int
    eps1: Fraction
    eps2: Fraction
    tilt: int = 0
    cuts: Ints | None = None

    @property
    def sizes(self) -> Ints:
        """The number of runs of each group."""
        return np.diff(self.starts, append=len(self.begins))

    def __repr__(self) -> str:
        return f"Walks({len(self.starts)} groups, {self.length} queries, eps1={self.eps1}, eps2={self.eps2})"


def route_walks(groups: Groups, q: Fraction, route: Route) -> Walks | None:
    """The walks along a route, as in `view.walk_of`; groups are in reverse order for walks down.

    None if numbers do not fit into 64 bits.
    """
    rungs, counts, starts = groups.rungs, groups.counts, groups.starts
    first, last, target = route.start, route.stop, q
    if not route.up:
        rungs, counts, starts = -rungs[::-1], counts[::-1], starts[-1] - starts[::-1]
        first, last, target = -first, -last, 1 - q
    positions = np.clip(rungs - first, 0, last - first)  # records beyond an end count at that end
    walks = walks_at(
        positions,
        counts,
        starts,
        length=last - first + 1,
        rank=target,
        raised=-route.drop,
        eps1=route.eps1,
        eps2=route.eps2,
    )
    if not route.tilt or walks is None:
        return walks
    cuts = np.array(route.cuts)
    raised = route.tilt * len(cuts) * walks.lattice
    if raised > _LARGEST:
        return None
    return replace(walks, tilt=route.tilt, cuts=cuts, targets=walks.targets + raised)


def walks_at(
    positions: Ints,
    counts: Ints,
    starts: Ints,
    length: int,
    rank: Fraction,
    raised: Fraction,
    eps1: Fraction,
    eps2: Fraction,
) -> Walks | None:
    """The walks to `rank`, raised by `raised` ranks, over records at these positions; None as in `route_walks`."""
    lattice, room = rank.denominator, Room.behind(starts)
    ends, counted = room.filled(positions, length), room.filled(counts, 0)
    begins = np.empty_like(ends)
    begins[1:] = ends[:-1]
    begins[room.firsts] = 0
    levels = np.cumsum(counted)
    levels -= counted  # records before each run
    levels -= room.spread(levels[room.firsts])
    totals = levels[room.lasts]
    offset = raised * lattice
    if offset.denominator != 1:
        raise ValueError("threshold and levels must lie on the lattice of the noise")
    most = int(totals.max(initial=0)) * lattice + abs(int(offset))
    if most > _LARGEST or eps1 / lattice < _LEAST_RATE or eps2 / lattice < _LEAST_RATE or length > 2**53:
        return None
    targets = totals * rank.numerator + int(offset)
    return Walks(
        room.firsts, begins, ends, levels=levels, targets=targets, lattice=lattice, length=length, eps1=eps1, eps2=eps2
    )


def halts(walks: Walks, who: Ints, draws: Draws, one: Callable[[int], Walk]) -> Ints:
    """The position at which each walk halts, or NEVER; `one` returns a group's walk for the scalar code."""
    thresholds = walks.targets + geometrics(walks.eps1 / walks.lattice, who, draws).astype(np.int64, copy=False)
    drawn = draws.words(who)
    unit = float(walks.eps2 / walks.lattice)
    reach = math.floor((math.log(max(walks.length, 2)) + 62 * math.log(2)) / unit * 1.001) + 1
    runs = walks if walks.cuts is None else _cut(walks, thresholds, reach)
    gaps = np.repeat(thresholds, runs.sizes)
    gaps -= runs.levels * walks.lattice
    if len(gaps) > _LONG * len(who):
        runs, gaps = _near(runs, gaps, reach)
    halted_at, decided = _in_doubles(runs, gaps, drawn, unit, reach)
    raised = 0 if walks.cuts is None else walks.tilt * len(walks.cuts)
    for k in np.flatnonzero(~decided).tolist():
        walk, e = one(k), Exponential(draws.after(int(who[k]), int(drawn[k])))
        halted_at[k] = _decided(walk, Fraction(int(thresholds[k]), walks.lattice) - raised, e)
    return halted_at


def halts_one_by_one(who: Ints, draws: Draws, one: Callable[[int], Walk]) -> Ints:
    """Like `halts`, by the scalar code."""
    positions = [halt_position(one(k), draws.after(g)) for k, g in enumerate(who.tolist())]
    return np.array([NEVER if position is None else position for position in positions], dtype=np.int64)


def _decided(walk: Walk, threshold: Fraction, e: Exponential) -> int:
    position = decide(lambda precision: in_balls(walk, threshold, e, precision))
    return NEVER if position == walk.length else position


def _in_doubles(runs: Walks, gaps: Ints, drawn: Words, unit: float, reach: int) -> tuple[Ints, Bools]:
    """The halting position of each walk in double precision, and whether it is decided."""
    low, high = exponential_bounds(drawn)
    each = _increments(gaps, unit, reach)
    lengths = runs.ends - runs.begins
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        total = running(each * lengths, runs.starts)
        goal = (low + high) / 2
        passed = np.add.reduceat(total < np.repeat(goal, runs.sizes), runs.starts, dtype=np.int64)
        never = passed == runs.sizes
        run = runs.starts + passed - never
        before = np.where(passed > 0, total[np.maximum(runs.starts + passed - 1, 0)], 0.0)
        decided = before * (1 + _ERROR) + _LEFT_OUT < low
        at_once = gaps[run] <= 0
        step = each[run]
        at_least = np.ceil((low - before * (1 + _ERROR) - _LEFT_OUT) / (step * (1 + _ERROR)))
        at_most = np.ceil((high - before * (1 - _ERROR)) / (step * (1 - _ERROR)))
        certain = (at_least == at_most) & (at_most <= lengths[run]) & (at_least >= 1)
        decided &= (never & (high < np.inf)) | at_once | certain
        steps = np.where(decided & ~at_once & ~never, at_most, 1.0).astype(np.int64)
    return np.where(never, NEVER, runs.begins[run] + steps - 1), decided


def _increments(gaps: Ints, unit: float, reach: int) -> Floats:
    """The increments for gaps in lattice steps: 0 beyond `reach`, and `_SURELY` where the walk certainly halts."""
    if reach < _TABLE:
        return _table(unit, reach)[np.clip(gaps, 0, reach + 1)]
    each = np.where(gaps <= 0, _SURELY, 0.0)
    some = (gaps > 0) & (gaps <= reach)
    each[some] = increments(np.asarray(gaps[some] * unit, dtype=np.float64), "exponential", unit)
    return each


@lru_cache(maxsize=64)
def _table(unit: float, reach: int) -> Floats:
    inside = increments(np.arange(1, reach + 1, dtype=np.float64) * unit, "exponential", unit)
    return np.concatenate([[_SURELY], inside, [0.0]])


def _near(runs: Walks, gaps: Ints, reach: int) -> tuple[Walks, Ints]:
    """The runs within `reach` up to the first that certainly halts, and the last run of each group."""
    kept = gaps <= reach
    kept[1:] &= (gaps[:-1] > 0) | (runs.ends[:-1] == runs.begins[:-1])
    kept[runs.starts] = gaps[runs.starts] <= reach
    kept[np.append(runs.starts[1:], len(gaps)) - 1] = True
    sizes = np.add.reduceat(kept, runs.starts, dtype=np.int64)
    some = np.flatnonzero(kept)
    return _with(runs, np.cumsum(sizes) - sizes, runs.begins[some], runs.ends[some], runs.levels[some]), gaps[some]


def _cut(runs: Walks, thresholds: Ints, reach: int) -> Walks:
    """The runs split where levels rise, from the first cut within `reach` to the first run that certainly halts."""
    cuts, tilt = runs.cuts, runs.tilt
    assert cuts is not None
    above = (
        np.repeat(-(-thresholds // runs.lattice), runs.sizes) - runs.levels
    )  # ranks up to the threshold, before all cuts
    near = np.repeat(-((reach - thresholds) // runs.lattice), runs.sizes) - runs.levels
    low, high = np.searchsorted(cuts, runs.begins, side="right"), np.searchsorted(cuts, runs.ends, side="left")
    high = np.maximum(high, low)
    last = np.clip(-(-above // tilt), low, high)
    first = np.clip(-(-near // tilt), low, last)
    parts = last - first + 1
    run = np.repeat(np.arange(len(parts)), parts)
    offsets = np.cumsum(parts) - parts
    passed = np.arange(len(run)) - offsets[run] + first[run]  # cuts before this part of a run
    padded = np.concatenate([[0], cuts, [runs.length]])
    begins = np.where(passed > low[run], padded[passed], runs.begins[run])
    ends = np.where(passed == last[run], runs.ends[run], padded[passed + 1])
    return _with(runs, offsets[runs.starts], begins, ends, runs.levels[run] + tilt * passed)


def _with(runs: Walks, starts: Ints, begins: Ints, ends: Ints, levels: Ints) -> Walks:
    return replace(runs, starts=starts, begins=begins, ends=ends, levels=levels)
