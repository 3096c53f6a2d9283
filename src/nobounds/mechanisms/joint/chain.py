"""The chain of stretches: the joint law, quantile by quantile, in double precision.

Only the stretches of quantiles matter to their distance, so the law is a chain over stretches. `Chain` sums it from
the last quantile to the first, in logarithms; nothing is subtracted, so all sums are exact up to small relative errors.
Each sum over the next stretch is two running sums with decay, one beyond the wanted number of records and one before.
Stretches whose ranks are far from a quantile are left out: quantiles with one of them have a distance above `reach`.

What the chain says is a proposal: it is drawn from exactly, in whole numbers, and `draw` corrects it.
"""

import math
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.values import dataclass

_WEIGHT_BITS = 61  # all weights of a choice together have one bit more at most


@dataclass(frozen=True, slots=True)
class Window:
    """The stretches from `first` to before `end`."""

    first: int
    end: int

    def __and__(self, other: "Window") -> "Window":
        first = max(self.first, other.first)
        return Window(first, max(first, min(self.end, other.end)))

    @property
    def inside(self) -> slice:
        """As a part of all stretches."""
        return slice(self.first, self.end)

    def within(self, outer: "Window") -> slice:
        """As a part of a window that holds it."""
        return slice(self.first - outer.first, self.end - outer.first)


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The windows of the quantiles, and for each the logarithms of two sums.

    `entered[j]`: over all of the quantiles from j on, with j the first one in a stretch. `left[j]`: the same with j - 1
    the last one in a stretch, and with the gap that follows it.
    """

    stretches: Stretches
    windows: tuple[Window, ...]
    entered: list[Floats]  # on the window of j
    left: list[Floats]  # on the window of j - 1; the first is not used

    @classmethod
    def of(cls, stretches: Stretches, reach: float = math.inf) -> "Chain":
        """The chain of all quantiles whose distance is at most `reach`, and of some others."""
        m, ranks, rate = stretches.many, stretches.ranks, float(stretches.rate)
        windows = tuple(_window(stretches, j, reach) for j in range(m))
        chain = cls(stretches, windows, [np.zeros(0)] * m, [np.zeros(0)] * (m + 1))
        chain.left[m] = -rate * stretches.away(m, stretches.total - ranks[windows[-1].inside])
        for j in reversed(range(m)):
            chain.entered[j] = chain._sums(j)
            if j:
                after, before = (ranks[windows[k].inside] for k in (j, j - 1))
                chain.left[j] = passed_on(chain.entered[j], after, before, rate, *stretches.wanted[j])
        return chain

    @property
    def log_sum(self) -> float:
        """ln of the sum of the weights, over what the prior of all quantiles weighs."""
        return float(np.logaddexp.reduce(self.next_stretch(0, None)[1])) + math.lgamma(self.stretches.many + 1)

    @property
    def slack(self) -> float:
        """A bound on the error in the logarithm of a proposal (docs/proofs/joint.md, step 4)."""
        m, longest, ranks = self.stretches.many, max(map(len, self.entered)), self.stretches.ranks
        sums = [each[np.isfinite(each)] for each in (*self.entered, *self.left[1:])]
        widest = max(int(ranks[window.end - 1] - ranks[window.first]) for window in self.windows)
        largest = max(float(np.abs(each).max(initial=1.0)) for each in sums) + float(self.stretches.rate) * (widest + 4)
        rounding = (4 * longest + 8 * m + 64) * largest * 2.0**-52
        return 4 * m * (rounding + longest * 2.0 ** (longest.bit_length() - _WEIGHT_BITS))

    def next_stretch(self, j: int, before: int | None) -> tuple[int, Floats]:
        """The first stretch that quantile j may be in, after the stretch `before`, and the logarithms from it on."""
        window, ranks = self.windows[j], self.stretches.ranks
        ahead = window.first if before is None else max(before + 1, window.first)
        between = ranks[ahead : window.end] - (0 if before is None else ranks[before])
        logs = self.entered[j][ahead - window.first :] - float(self.stretches.rate) * self.stretches.away(j, between)
        return ahead, logs

    def next_number(self, j: int, stretch: int) -> Floats:
        """The logarithms for 1, 2, ... quantiles from j on in this stretch."""
        one = Window(stretch, stretch + 1)
        common = [k for k, both in enumerate(self._common(j), 1) if both.first <= stretch < both.end]
        return np.array([float(self._shared(j, k, one)[0]) for k in common])

    def _sums(self, j: int) -> Floats:
        """`entered[j]`, over the number of quantiles that share the stretch."""
        window = self.windows[j]
        sums = np.full(window.end - window.first, -np.inf)
        for k, common in enumerate(self._common(j), 1):
            here = common.within(window)
            sums[here] = np.logaddexp(sums[here], self._shared(j, k, common))
        return sums

    def _common(self, j: int) -> list[Window]:
        """The stretches that quantiles j to j + k - 1 may share, for k = 1, 2, ..."""
        windows, common = [], self.windows[j]
        for k in range(j, self.stretches.many):
            common = common & self.windows[k]
            if common.first == common.end:
                break
            windows.append(common)
        return windows

    def _shared(self, j: int, k: int, common: Window) -> Floats:
        """The logarithms of the sums with the quantiles j to j + k - 1 in a stretch, and no other."""
        missed = float(self.stretches.rate * sum(self.stretches.targets[j + 1 : j + k], Fraction(0)))
        after = self.left[j + k][common.within(self.windows[j + k - 1])]
        volume = k * self.stretches.log_masses[common.inside] - math.lgamma(k + 1)
        return np.asarray(volume - missed + after)


def whole_weights(logs: Floats) -> Ints:
    """Weights as whole numbers, rounded up, with a sum below 2**62; 0 only where there is none."""
    bits = _WEIGHT_BITS - len(logs).bit_length()
    weights = np.ceil(np.ldexp(np.exp(logs - logs.max()), bits)).astype(np.int64)
    return np.where(np.isneginf(logs), 0, np.maximum(weights, 1))


def _window(stretches: Stretches, j: int, reach: float) -> Window:
    """The stretches in which quantile j may be: a rank off by r has a distance of 2 r or more."""
    ranks = stretches.ranks
    if math.isinf(reach):
        return Window(0, len(ranks))
    target, far = sum(stretches.targets[: j + 1], Fraction(0)), math.ceil(reach / 2) + 1
    first, end = np.searchsorted(ranks, [math.floor(target) - far, math.ceil(target) + far + 1]).tolist()
    nearest = int(np.searchsorted(ranks, math.floor(target), side="right")) - 1  # never none at all
    return Window(min(first, nearest), max(end, nearest + 1))


def passed_on(logs: Floats, ranks: Ints, earlier: Ints, rate: float, whole: int, below: float) -> Floats:
    """ln of the sum over ranks x > y of exp(log - rate |x - y - whole + below|), for each earlier rank y.

    `below` is at least 0 and less than 1.
    """
    start = int(ranks[0])
    slopes, at = rate * (ranks - start), rate * (earlier + whole - start)
    far = np.append(np.logaddexp.accumulate((logs - slopes)[::-1])[::-1], -np.inf)
    sums = far[np.searchsorted(ranks, earlier + max(whole, 1))] + (at - rate * below)
    if whole > 1:
        sums = np.logaddexp(sums, _between(logs + slopes, ranks, earlier, whole - 1) - (at - rate * below))
    return np.asarray(sums)


def _between(logs: Floats, ranks: Ints, earlier: Ints, width: int) -> Floats:
    """ln of the sum of exp over the ranks from y + 1 to y + width, for each earlier rank y.

    Running sums start anew every `width` ranks: the ranks wanted are the end of one block and the start of the next.
    """
    start = min(int(ranks[0]), int(earlier[0]) + 1)
    cuts = (np.flatnonzero(np.diff((ranks - start) // width)) + 1).tolist()
    heads, tails = (np.full(len(logs) + 1, -np.inf) for _ in range(2))
    for low, high in zip([0, *cuts], [*cuts, len(logs)], strict=True):
        heads[low:high] = np.logaddexp.accumulate(logs[low:high])
        tails[low:high] = np.logaddexp.accumulate(logs[low:high][::-1])[::-1]
    first, end = np.searchsorted(ranks, earlier + 1), np.searchsorted(ranks, earlier + width, side="right")
    edge = np.searchsorted(ranks, start + ((earlier + 1 - start) // width + 1) * width)  # where the next block begins
    here, there = tails[np.where(first < edge, first, -1)], heads[np.where(end > edge, end - 1, -1)]
    return np.asarray(np.logaddexp(here, there))
