"""The exact sampler of a walk: one noisy threshold, one exponential variable, and a jump to the halting position.

Given the noisy threshold, the walk passes query k without halting with probability exp(-H_k), H_k the sum of the
increments. So it halts at the first k with H_k >= E for one exponential variable E (for Gumbel noise: >= exp(E) - 1).
Runs far below the threshold add less than 2**-bits in all and are skipped; the comparison includes that as an error,
like all others, and is repeated at higher precision while it is undecided. So the law of the result is exact.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from nobounds.exact import ball
from nobounds.mechanisms.walk import Walk, increment_ball, increments
from nobounds.noise.discrete import Exponential, decide, threshold_noise
from nobounds.noise.source import RandomSource

_BITS = 60  # runs left out in double precision add less than 2**-60
_ERROR = 2.0**-42  # relative error allowed for one increment; numpy's exp and log1p stay below 2**-45 for |x| < 200
_SURE = 50.0  # larger than any E that the first 64 bits decide


def halt_position(walk: Walk, source: RandomSource, full: Callable[[], Walk] | None = None) -> int | None:
    """The position at which the walk halts, or None if it never halts (Algorithm 1).

    `full` returns the same walk with exact runs everywhere, for a walk whose runs are exact only where `trusted`.
    """
    threshold = walk.threshold
    if walk.noise != "gumbel":
        threshold += walk.step * threshold_noise(walk.noise, walk.eps1 * walk.step, source)
    e = Exponential(source)
    position = _in_doubles(walk, threshold, e)
    if walk.trusted and position is not None and position > walk.trusted[1]:
        position = None
    if position is None:
        walk = full() if full else walk
        position = decide(lambda precision: in_balls(walk, threshold, e, precision))
    return None if position == walk.length else position


def _window(walk: Walk, threshold: Fraction, bits: int, sure: float) -> tuple[int, int]:
    """The runs that matter at this precision, first and end: before them halts are negligible, after them certain."""
    floor, eps2 = math.floor(threshold), float(walk.eps2)
    reach = (math.log(max(walk.length, 2)) + (bits + 2) * math.log(2)) / eps2
    first = _first_at_least(walk, floor - math.ceil(reach * 1.001) - 1)  # with a margin on both sides
    last = _first_at_least(walk, floor + 1 + math.ceil(sure / eps2 * 1.001))
    return first, min(last + 1, len(walk.levels))


def _first_at_least(walk: Walk, level: int) -> int:
    """The first run whose level is at least `level`, or the number of runs."""
    bound = min(max(level, -(2**62)), 2**62)
    if walk.rising:
        return int(walk.levels.searchsorted(bound))
    reached = walk.levels >= bound
    k = int(np.argmax(reached))
    return k if reached[k] else len(reached)


def _in_doubles(walk: Walk, threshold: Fraction, e: Exponential) -> int | None:
    """The halting position, or walk.length if it never halts; None if double precision does not decide."""
    low, high = e.bounds()
    if high == math.inf:
        return None
    if walk.noise == "gumbel":
        low, high = math.expm1(low) * (1 - _ERROR), math.expm1(high) * (1 + _ERROR) if high < 700 else math.inf
    first, last = _window(walk, threshold, _BITS, 0.0 if walk.noise == "exponential" else _SURE)
    over = threshold.denominator
    floor, part = divmod(threshold.numerator, over)
    if abs(floor) > 2**60 or walk.length > 2**53:
        return None
    if walk.trusted and (first == len(walk.starts) or walk.starts[first] < walk.trusted[0]):
        return None
    # The whole part and the fraction are added with the sign of the gap: nothing cancels.
    whole = np.int64(floor) - walk.levels[first:last]
    gap = np.where(whole >= 0, whole + part / over, (whole + 1) - (over - part) / over)
    ends = np.empty(last - first, dtype=np.int64)
    ends[:-1] = walk.starts[first + 1 : last]
    ends[-1:] = walk.starts[last] if last < len(walk.starts) else walk.length
    lengths = (ends - walk.starts[first:last]).astype(np.float64)
    each = increments(gap * float(walk.eps2), walk.noise, float(walk.eps2 * walk.step))
    with np.errstate(over="ignore"):
        total = (each * lengths).cumsum()
    error = _ERROR + len(total) * 2.0**-52
    left_out = 2.0**-_BITS if first else 0.0
    if low <= left_out and first:  # it may halt among the runs that were left out
        return None
    run = int((total * (1 - error)).searchsorted(high))  # certainly halts by the end of this run ...
    if run != int((total * (1 + error) + left_out).searchsorted(low)):  # ... and certainly not before it
        return None
    if run == len(total):
        return walk.length if last == len(walk.levels) else None
    before = float(total[run - 1]) if run else 0.0
    if math.isinf(each[run]):
        return int(walk.starts[first + run])
    at_least = (low - before * (1 + error) - left_out) / (float(each[run]) * (1 + error))
    at_most = (high - before * (1 - error)) / (float(each[run]) * (1 - error))
    steps = max(math.ceil(at_least), 1)
    if steps != max(math.ceil(at_most), 1) or steps > lengths[run]:
        return None
    return int(walk.starts[first + run]) + steps - 1


def in_balls(walk: Walk, threshold: Fraction, e: Exponential, precision: int) -> int | None:
    """Like `_in_doubles`, in ball arithmetic; None if the working precision does not decide."""
    from flint import arb

    goal = e.ball(precision)
    if walk.noise == "gumbel":
        goal = goal.expm1()
    first, last = _window(walk, threshold, precision, 0.0 if walk.noise == "exponential" else 2.0 * precision)
    eps2, a = ball(walk.eps2), ball(walk.eps2 * walk.step)
    half = arb(2) ** -(precision + 1) if first else arb(0)
    before = arb(half, half)  # the runs left out add between 0 and 2**-precision
    if first and not goal > before:
        return None
    for run in range(first, last):
        gap = threshold - int(walk.levels[run])
        start = int(walk.starts[run])
        if walk.noise == "exponential" and gap <= 0:
            return start
        end = int(walk.starts[run + 1]) if run + 1 < len(walk.starts) else walk.length
        each = increment_ball(eps2 * ball(gap), 1 if gap > 0 else -1, walk.noise, a)
        after = before + each * (end - start)
        if goal > after:
            before = after
        elif goal < after:
            steps = ((goal - before) / each).ceil().unique_fmpz()
            return None if steps is None else start + min(max(int(steps), 1), end - start) - 1
        else:
            return None
    return walk.length if last == len(walk.levels) else None
