"""Permute-and-flip and the exponential mechanism over the rungs of one ladder, for many groups at once.

Distances from the target are whole numbers of 1 / lattice ranks, so they are exact. Runs far from the target are left
out with an error of 2**-60. If doubles do not decide for a group, the scalar code takes over with the words drawn.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.groups.draws import Bools, Draws, Words, exponential_bounds, uniform_bounds
from nobounds.groups.ragged import Room, running
from nobounds.groups.records import Groups
from nobounds.ladders.prior import Prior
from nobounds.mechanisms.exponential_mechanism import weighted_rung
from nobounds.mechanisms.flip import flip_rung
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, EQUAL, Runs, reach
from nobounds.noise.discrete import uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

_LEFT_OUT = 2.0 ** (1 - DOUBLE_BITS)
_CLOSE = 2.0**-30  # relative half-width of the interval around the solution
_STEPS = 200
_LARGEST = 1 << 60


@dataclass(frozen=True, slots=True, eq=False)
class NearRuns:
    """The runs of rungs near the target, group after group. Sensitive: its repr shows only the number of groups."""

    starts: Ints  # the first run of each group; every group has one
    rungs: Ints
    lengths: Ints
    distances: Ints  # in units of 1 / lattice
    below: Bools  # whether the ranks of a run lie below the target
    prior: Prior | None = None

    @property
    def sizes(self) -> Ints:
        """The number of runs of each group."""
        return np.diff(self.starts, append=len(self.rungs))

    @property
    def multiplicities(self) -> Floats:
        """What each run weighs beside its distance."""
        if self.prior is None:
            return self.lengths.astype(np.float64)
        return self.prior.masses(self.rungs, self.rungs + self.lengths - 1)

    def drawn(self, run: int, source: RandomSource) -> int:
        """A rung of a run, each as likely as it weighs under the prior."""
        assert self.prior is not None
        first, last = int(self.rungs[run]), int(self.rungs[run] + self.lengths[run]) - 1
        return self.prior.rung_at(first, last, uniform_below(self.prior.mass(first, last), source))

    def __repr__(self) -> str:
        return f"NearRuns({len(self.starts)} groups, the rest hidden)"


def near_runs(
    groups: Groups, q: Fraction, rate: Fraction, prior: Prior | None = None, slopes: tuple[int, int] = EQUAL
) -> NearRuns | None:
    """The near runs of each group, as in `Runs.of` and `Runs.near`; None if numbers do not fit into 64 bits."""
    lattice, ladder = q.denominator, groups.ladder
    totals, most = groups.totals, reach(ladder.size, rate, DOUBLE_BITS, prior) * lattice
    if int(totals.max(initial=0)) * lattice * max(slopes) > _LARGEST or most > _LARGEST:
        return None
    far = math.floor(most)
    room = Room.behind(groups.starts)
    rungs, counts = room.filled(groups.rungs, ladder.last + 1), room.filled(groups.counts, 0)
    gaps = np.empty_like(rungs)  # the start of the gap before each occupied rung, and of the one after the last
    gaps[1:] = rungs[:-1] + 1
    gaps[room.firsts] = ladder.first
    up_to = np.cumsum(counts)
    before = (up_to - counts)[room.firsts]
    high = up_to * lattice - room.spread(before * lattice + q.numerator * totals)  # ranks relative to the target
    low = high - counts * lattice
    under, over = slopes
    some = np.flatnonzero((over * low <= far) & (under * high >= -far))
    rungs, gaps, low, high = rungs[some], gaps[some], low[some], high[some]
    # Each entry is two runs: the empty rungs before it, and the occupied rung.
    starts, lengths = _two(gaps, rungs), _two(rungs - gaps, counts[some] > 0)
    lows, highs = _two(low, low), _two(low, high)
    distances = np.maximum(np.maximum(over * lows, -under * highs), 0)
    good = np.flatnonzero((lengths > 0) & (distances <= far))
    group = room.spread(np.arange(len(groups)))[some[good >> 1]]
    first = np.searchsorted(group, np.arange(len(groups)))
    return NearRuns(first, starts[good], lengths[good], distances[good], highs[good] <= 0, prior)


def _two(one: Ints, other: Ints | Bools) -> Ints:
    return np.stack([one, other.astype(np.int64)], axis=1).ravel()


def flips(runs: NearRuns, lattice: int, rate: Fraction, who: Ints, draws: Draws, one: Callable[[int], Runs]) -> Ints:
    """The rung that permute-and-flip selects for each group; `one` returns a group's runs for the scalar code."""
    e, u = draws.words(who), draws.words(who)
    low, high = exponential_bounds(e)
    x = np.asarray(runs.distances * float(rate / lattice), dtype=np.float64)
    s, solved, weights = _solved(x, runs, low, high)
    error = s * (_CLOSE * 1.01) + DOUBLE_ERROR + runs.sizes * 2.0**-50
    run, decided = _picked(weights, error, runs, u)
    return _within(
        run, decided & solved, runs, who, draws, lambda k, source: flip_rung(one(k), source), (e, u), ends=False
    )


def weighted(runs: NearRuns, lattice: int, rate: Fraction, who: Ints, draws: Draws, one: Callable[[int], Runs]) -> Ints:
    """Like `flips`, for the exponential mechanism."""
    u = draws.words(who)
    weights = np.exp(-(runs.distances * float(rate / lattice))) * runs.multiplicities
    run, decided = _picked(weights, np.full(len(who), DOUBLE_ERROR), runs, u)
    return _within(run, decided, runs, who, draws, lambda k, source: weighted_rung(one(k), source), (u,), ends=True)


def choices_one_by_one(exponential: bool, who: Ints, draws: Draws, one: Callable[[int], Runs]) -> Ints:
    """Like `flips` or `weighted`, by the scalar code."""
    select = weighted_rung if exponential else flip_rung
    return np.array([select(one(k), draws.after(g)) for k, g in enumerate(who.tolist())], dtype=np.int64)


def _within(
    run: Ints,
    decided: Bools,
    runs: NearRuns,
    who: Ints,
    draws: Draws,
    scalar: Callable[[int, RandomSource], int],
    drawn: tuple[Words, ...],
    *,
    ends: bool,
) -> Ints:
    """A uniform rung of each selected run; with `ends`, counted from the end nearer to the target.

    Groups that are not `decided` get their rung from the scalar code.
    """
    rungs = np.zeros(len(who), dtype=np.int64)
    even = np.ones(len(who), dtype=bool)
    if runs.prior is not None:
        even = runs.prior.is_even(runs.rungs[run], runs.rungs[run] + runs.lengths[run] - 1)
    for k in np.flatnonzero(~decided).tolist():
        rungs[k] = scalar(k, draws.after(int(who[k]), *(int(words[k]) for words in drawn)))
    for k in np.flatnonzero(decided & ~even).tolist():
        rungs[k] = runs.drawn(int(run[k]), draws.after(int(who[k])))
    some = np.flatnonzero(decided & even)
    chosen = run[some]
    length, first = runs.lengths[chosen], runs.rungs[chosen]
    place = below(length, who[some], draws)
    rungs[some] = np.where(runs.below[chosen], first + length - 1 - place, first + place) if ends else first + place
    return rungs


def below(n: Ints, who: Ints, draws: Draws) -> Ints:
    """A whole number from 0 to n - 1 for each group, all equally likely."""
    drawn = np.zeros(len(n), dtype=np.int64)
    # The bit lengths of n - 1: frexp rounds above 2**53, and may then return one more.
    widths = np.frexp((n - 1).astype(np.float64))[1].astype(np.int64)
    widths -= (widths > 0) & (((n - 1) >> np.maximum(widths - 1, 0)) == 0)
    left = np.flatnonzero(widths)
    while len(left):
        drawn[left] = draws.short(who[left], widths[left])
        left = left[drawn[left] >= n[left]]
    return drawn


def _picked(weights: Floats, error: Floats, runs: NearRuns, drawn: Words) -> tuple[Ints, Bools]:
    """The run that a uniform number falls on, and whether that is certain for weights of relative error `error`."""
    sums = running(weights, runs.starts)
    low, high = uniform_bounds(drawn)
    sizes = runs.sizes
    total = sums[runs.starts + sizes - 1]
    error = error + 2.0**-46
    goal = np.repeat((low + high) / 2 * total, sizes)
    passed = np.add.reduceat(sums < goal, runs.starts, dtype=np.int64)
    run = runs.starts + np.minimum(passed, sizes - 1)
    before = np.where(passed > 0, sums[np.maximum(runs.starts + passed - 1, 0)], 0.0)
    # A weight grows with s by no more than that of the run at the target, which is in `total`.
    left_out = _LEFT_OUT * total
    decided = before * (1 + error) + left_out < low * (total * (1 - error))
    decided &= sums[run] * (1 - error) > high * ((total + left_out) * (1 + error))
    return run, decided & (passed < sizes)


def _solved(x: Floats, runs: NearRuns, low: Floats, high: Floats) -> tuple[Floats, Bools, Floats]:
    """The s with H(s) = E (see `flip`), whether it is certified to a part in 2**30, and the weights of all runs for it.

    Newton's method from 0, as H is concave. At the last s, H(s (1 - d)) <= H(s) - H'(s) s d, and
    H(s (1 + d)) >= H(s) + H'(s) s d exp(-s d), as H' falls no faster than exp(-s).
    """
    n = len(runs.starts)
    a, rest, lengths = np.exp(-x), -np.expm1(-x), runs.lengths.astype(np.float64)
    weights = a * lengths
    goal = (low + high) / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        s = goal / np.add.reduceat(weights, runs.starts)
    solved = np.zeros(n, dtype=bool)
    active = np.flatnonzero(np.isfinite(goal) & (low > 0))
    every = len(active) == n
    for _ in range(_STEPS):
        if not len(active):
            break
        sizes = runs.sizes[active]
        starts = np.cumsum(sizes) - sizes
        entries = slice(None) if every else np.arange(sizes.sum()) + np.repeat(runs.starts[active] - starts, sizes)
        at = s[active]
        value, slope, now = _sums(a[entries], rest[entries], lengths[entries], at, starts, sizes)
        step = (goal[active] - value) / slope
        done = step <= 1e-12 * at
        weights[entries] = now  # final for the groups that are done
        width, error = slope * at * _CLOSE, DOUBLE_ERROR + sizes * 2.0**-50
        sure = (value - width) * (1 + error) + _LEFT_OUT < low[active]
        sure &= (value + width * (1 - 2.0**-20)) * (1 - error) > high[active]
        solved[active] = done & sure
        s[active] = np.where(done, at, at + np.maximum(step, 0.0))
        every = every and not done.any()
        active = active[~done]
    return s, solved, weights


def _sums(
    a: Floats, rest: Floats, lengths: Floats, s: Floats, starts: Ints, sizes: Ints
) -> tuple[Floats, Floats, Floats]:
    """H(s) and H'(s) of each group, and the weights of its runs."""
    shrink = np.repeat(np.exp(-s), sizes)
    az = a * np.repeat(-np.expm1(-s), sizes)
    left = rest + a * shrink  # 1 - a (1 - exp(-s))
    each = np.where(az < 0.5, -np.log1p(-np.minimum(az, 0.5)), -np.log(left))
    weights = a / left * lengths
    value = np.add.reduceat(each * lengths, starts)
    return value, np.add.reduceat(weights, starts) * np.exp(-s), weights
