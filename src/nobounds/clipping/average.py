"""The noisy sum and average of whole numbers between 0 and a public width, whose number may be sensitive.

Under swap the number of rows is public. If a record can be missing, the sum is taken around the middle: a record that
moves then changes it by the width, one that turns from missing to present by half of it, and the rest of epsilon (of
rho, under zCDP) for that pair buys the number of records.

Under add-remove the sum of k and the sum of width - k get noise of the same scale: a record changes both by the width
together (Kulesza, Suresh and Wang 2024), in the Euclidean norm as well. The average is never noisier than under swap,
and no epsilon goes to a count.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.accounting.cost import Cost, both, pure
from nobounds.accounting.loss import Neighbors
from nobounds.mechanisms.decisions import Noisy, NoisyMany, Together
from nobounds.noise.additive import Additive, reach
from nobounds.programs.program import Program
from nobounds.values import dataclass

# Rows count as all present unless the noisy number of missing ones is above this, over its epsilon: no noise then, and
# no more missing records than that are overlooked (see `believed`). In a sum far from 0 more are (see `few_missing`):
# there noise that is believed does so much harm that this part of the noise of the sum is what it may add.
FEW_MISSING = 2
ADDED = 200


@dataclass(frozen=True, slots=True)
class Average:
    """The noisy number of records, sum and average of whole numbers from 0 to `width`.

    `scales` are those of the two independent noises in the error of the sum around the average.
    """

    width: int
    count: Fraction
    total: Fraction
    value: Fraction
    scales: tuple[float, float]
    noise: Additive
    missing: int | None = None  # the noisy number of missing records, where it was bought

    def half_interval(self, chance: float) -> float:
        """The noise alone moves the average by more than this with at most this probability."""
        if self.count <= 0:
            return float(self.width)
        return min(self.noise.half_steps(*self.scales, chance) / float(self.count), float(self.width))


@dataclass(frozen=True, slots=True)
class AverageRule:
    """How the average is taken, all of it public."""

    epsilon: Fraction
    neighbors: Neighbors
    rows: int | None  # public under swap
    nullable: bool
    # Of the epsilon for the number of records under swap, on an earlier look at it, less what other parts leave for it.
    spent: Fraction = Fraction(0)
    zcdp: bool = False  # whether the noise is Gaussian, and epsilon nominal

    @property
    def noise(self) -> Additive:
        """The noise on the sum."""
        return Additive(self.epsilon, self.zcdp)

    def cost(self) -> Cost:
        """Epsilon, for a record that moves and for one that is added."""
        if self.neighbors == "swap" and self.nullable and not self.zcdp:
            return both(pure(self.epsilon), pure(self.epsilon - self.spent))
        return self.noise.cost()

    @property
    def for_count(self) -> Additive:
        """The noise on the number of records under swap, if some can be missing.

        A record that turns from missing to present costs half of epsilon for the sum. Under zCDP that is a quarter of
        its square, and 4/5 for the number use almost all of the rest.
        """
        return Additive(self.epsilon * Fraction(4, 5) if self.zcdp else self.epsilon / 2 - self.spent, self.zcdp)

    def few_missing(self, middle: Any, width: Any) -> Any:
        """How many missing records count as none in a sum of records around `middle`, or in each of many sums.

        Believed without a cause, each moves the sum by `middle`. With the t of the result over epsilon, noise alone is
        believed with probability below exp(-t).
        """
        each = self.for_count
        ratio = np.abs(middle) * float(self.epsilon / each.epsilon) / np.maximum(width, 1e-300)
        rare = np.log(np.maximum(ADDED * ratio, 1.0))
        return np.maximum(np.sqrt(2 * rare) if self.zcdp else rare, FEW_MISSING) / float(each.epsilon)

    def sees(self, average: "Average") -> bool:
        """Whether there clearly are records: noise alone hardly makes their number."""
        if self.neighbors == "swap":
            return average.missing is None or average.count > reach(self.for_count.scale(1), self.zcdp)
        each = self.noise.scale(1)
        return average.count > reach(each, self.zcdp, each)

    def release(self, count: int, total: int, width: int, middle: float | None = None) -> Program[Average]:
        """The noisy average of `count` whole numbers with this sum.

        For a sum, `middle` is the number in the middle of their range; see `few_missing`.
        """
        noise = self.noise
        scale = noise.scale(width)
        if self.neighbors == "add-remove":
            # A record changes both sums by the width together.
            above, below = yield NoisyMany((total, width * count - total), noise, self.cost, width)
            share = Fraction(above, above + below) if above + below > 0 else Fraction(1, 2)
            share = min(max(share, Fraction(0)), Fraction(1))
            part = float(share)
            scales = ((1 - part) * scale, part * scale)
            return Average(width, Fraction(above + below, width), Fraction(above), share * width, scales, noise)
        assert self.rows is not None
        if not self.nullable:
            noisy = Fraction((yield Noisy(total, noise, self.cost, width)))
            return Average(width, Fraction(self.rows), noisy, _average(noisy, self.rows, width), (scale, 0.0), noise)
        each = self.for_count
        twice = Noisy(2 * total - width * count, noise, noise.cost, 2 * width)
        around, missing = yield Together((twice, Noisy(self.rows - count, each, each.cost)), self.cost)
        few = FEW_MISSING / each.epsilon if middle is None else Fraction(float(self.few_missing(middle, width)))
        present = max(self.rows - math.floor(believed(missing, few)), 0)
        noisy_sum = Fraction(around + width * present, 2)
        value = _average(noisy_sum, present, width)
        uneven = abs(float(value) - width / 2) * each.scale(1)  # also where a few missing records may be overlooked
        return Average(width, Fraction(present), noisy_sum, value, (scale, uneven), noise, missing)


def believed(missing: Any, few: Any) -> Any:
    """How many of a noisy number of missing records are believed, or of each of many: none up to `few`.

    From half as many again on all of them are, and in between without a jump, so that noise alone does less harm.
    """
    return np.maximum(np.minimum(3 * (missing - few), missing), 0)


def missing_range(rule: AverageRule, average: Average, chance: float) -> tuple[int, int]:
    """How many records more may be present than an average counts, at least and at most; wrong with this chance.

    No fewer than none are missing, so that the range is short where none are.
    """
    if average.missing is None or rule.rows is None:
        return 0, 0
    noise, counted = rule.for_count, rule.rows - int(average.count)  # as missing
    reach = math.ceil(noise.half_steps(noise.scale(1), 0.0, chance))
    fewest, most = (min(max(average.missing + each, 0), rule.rows) for each in (-reach, reach))
    return min(counted - most, 0), max(counted - fewest, 0)


def more_present(rule: AverageRule, average: Average, chance: float) -> float:
    """How many records more there are than an average counts, at most; wrong with this chance."""
    if rule.neighbors == "swap":
        return missing_range(rule, average, chance)[1]
    scale = rule.noise.scale(average.width)
    return rule.noise.half_interval(scale, scale, chance) / average.width


def _average(total: Fraction, count: int, width: int) -> Fraction:
    return min(max(total / count, Fraction(0)), Fraction(width)) if count > 0 else Fraction(width, 2)
