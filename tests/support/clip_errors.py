"""The error of a private sum by the exact law of its clip: what clipping changes, and Laplace noise on top."""

import math
from dataclasses import dataclass

import numpy as np

from nobounds.accounting.terms import Terms
from nobounds.clipping.law import clip_law
from nobounds.clipping.plan import SumPlan
from nobounds.engines.memory.arrays import column
from nobounds.ladders.stated import Stated


@dataclass(frozen=True)
class SumError:
    """The law of the error: a mixture of Laplace laws of these scales around these biases."""

    chances: np.ndarray
    biases: np.ndarray
    scales: np.ndarray
    tenfold: float  # P(the clip is above ten times the largest magnitude), with all that is left out
    left_out: float  # the probability of clips that the law leaves out; most of them are far too large
    cap: float  # errors count up to this: that of answering 0

    @property
    def expected(self) -> float:
        """The expected error, where errors beyond the cap count as much as the cap."""
        b, bias, cap = self.scales, np.minimum(np.abs(self.biases), self.cap), self.cap
        beyond = b * (np.exp(-(cap - bias) / b) + np.exp(-(cap + bias) / b)) / 2
        return float(self.chances @ (bias + b * np.exp(-bias / b) - beyond) + self.left_out * cap)

    def above(self, z: float) -> float:
        """P(|error| > z), but for what is left out."""
        bias, b = np.abs(self.biases), self.scales
        outside = (np.exp((np.minimum(bias, z) - z) / b) + np.exp(-(bias + z) / b)) / 2
        inside = (np.exp(np.minimum(z - bias, 0) / b) - np.exp(-(bias + z) / b)) / 2
        return float(self.chances @ np.where(bias <= z, outside, 1 - inside))

    def point(self, chance: float) -> float:
        """The error that is exceeded with this probability."""
        low, high = 1e-9 * self.cap, 1e280
        while high > 1.001 * low:
            middle = math.sqrt(low) * math.sqrt(high)
            low, high = (middle, high) if self.above(middle) > chance else (low, middle)
        return high


def sum_plan(data, epsilon=1, neighbors="add-remove", centered=False, **stated) -> SumPlan:
    """The plan of nobounds.sum(data, ...), or of the mean (`centered`)."""
    terms = Terms.of(epsilon, None, neighbors)
    return SumPlan.of(column(data).public(neighbors == "swap"), terms, Stated.of(**stated), centered)


def settled(plan, size) -> SumPlan:
    """The plan for this many records."""
    return plan.at(size) if plan.rows is None else plan


def sum_error(data, epsilon=1, neighbors="add-remove", least=1e-6, **options) -> SumError:
    """The law of nobounds.sum(data, ...).value minus the sum, for data without missing records.

    Under add-remove the size is taken to be learned as it is. Scales with less than `least` probability are left out.
    """
    data = np.sort(np.asarray(data, dtype=float))
    records, n = column(data), len(data)
    plan = settled(sum_plan(records, epsilon, neighbors, **options), n)
    parts = clip_law(plan.search, records.chunks, plan.careful(n), least)
    up_to = np.concatenate([[0.0], np.cumsum(data)])

    def raised(low):  # what clipping from below adds
        below = np.searchsorted(data, low)
        return low * below - up_to[below]

    def lowered(high):  # what clipping from above takes away
        above = np.searchsorted(data, high, side="right")
        return up_to[-1] - up_to[above] - high * (n - above)

    found, near, far = [], 0.0, 10 * np.abs(data).max()
    for part in parts:
        low_near = float(part.low_chances[np.abs(part.lows) <= far].sum())
        high_near = float(part.high_chances[np.abs(part.highs) <= far].sum())
        if plan.search.two_sided:
            lows, highs = np.repeat(part.lows, len(part.highs)), np.tile(part.highs, len(part.lows))
            chances = part.chance * np.outer(part.low_chances, part.high_chances).ravel()
            near += part.chance * low_near * high_near
        else:  # one magnitude for both
            lows, highs, chances = part.lows, part.highs, part.chance * part.high_chances
            near += part.chance * high_near
        kept = chances > 1e-11
        lows, highs, chances = lows[kept], highs[kept], chances[kept]
        with np.errstate(over="ignore"):
            width = highs - lows if neighbors == "swap" else np.maximum(np.abs(lows), np.abs(highs))
        scales = np.clip(width, 1e-300, 1e300) / float(plan.eps_noise)
        found.append((chances, raised(lows) - lowered(highs), scales))
    chances, biases, scales = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return SumError(chances, biases, scales, 1 - near, 1 - float(chances.sum()), float(np.abs(data).sum()))
