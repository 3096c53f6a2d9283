"""Sum, mean and count of data whose bounds nobody knows: the public functions.

Part of epsilon finds a clip (see `clip`), the rest pays for noise on the exact sum of the clipped records (see `sums`
and `average`). Under add-remove a sum changes by the largest magnitude, so its clip is [-c, c]; the sum under swap and
all means change by the width of an interval, which is found around a private centre.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nobounds.additive import Additive
from nobounds.average import AverageRule, sum_scales
from nobounds.clip import Clip, Search
from nobounds.engines.arrays import Column, column
from nobounds.exact import MAX, Number
from nobounds.ladder import Ladder
from nobounds.loss import Cost, Neighbors, PrivacyLoss, added_only, check_neighbors, pure
from nobounds.noise import Rng, Source, discrete_laplace, source
from nobounds.quantile import ladder_for
from nobounds.release import Release
from nobounds.rungs import finite_float
from nobounds.spending import Chargeable, Spending, charged
from nobounds.sums import Lattice, totals

# Parts of epsilon (benchmarks/clipping.py; docs/clipping.md has its table).
ONE_SIDED = Fraction(1, 3)  # for the clip of a sum under add-remove
TWO_SIDED = Fraction(1, 3)  # for the interval of all others; with few rows under swap, which have no scale:
FEW, FEW_ROWS = Fraction(9, 20), 400  # this part, if there are fewer rows over epsilon
SIZE_SHARE = Fraction(1, 50)  # for the number of records, where it is private
SIZE_NATS = 40  # under swap so much over the rows will do
SLACK = 4  # over its epsilon: a private number of records is too large by more in less than 1 of 100 cases
CHANCE = 0.05  # error bars hold 95 times of 100


@dataclass(frozen=True, slots=True)
class Plan:
    """What is spent on what, decided before the data are read."""

    size: Fraction  # epsilon for the number of records
    search: Search
    noise: Fraction
    neighbors: Neighbors
    integral: bool
    rows: int | None
    centered: bool
    zcdp: bool = False  # whether epsilons are nominal, and the noise Gaussian

    @classmethod
    def of(
        cls,
        data: Column,
        spending: Spending,
        lower: Number | None,
        upper: Number | None,
        resolution: Number | None,
        neighbors: Neighbors,
        centered: bool,
    ) -> "Plan":
        """The plan for a sum, or for a mean (`centered`)."""
        relation, ladder = check_neighbors(neighbors), ladder_for(data, lower, upper, resolution)
        rows = data.rows() if relation == "swap" else None  # public
        nullable, each = data.nullable, spending.each(data.unit.rows)
        return each.plan(lambda total, zcdp: cls._of(rows, nullable, total, ladder, relation, centered, zcdp))

    @classmethod
    def _of(
        cls,
        rows: int | None,
        nullable: bool,
        total: Fraction,
        ladder: Ladder,
        relation: Neighbors,
        centered: bool,
        zcdp: bool,
    ) -> "Plan":
        two_sided = centered or relation == "swap"
        size, part = total * SIZE_SHARE, total * (TWO_SIDED if two_sided else ONE_SIDED)
        if rows is not None:
            part = total * (FEW if rows * total < FEW_ROWS else TWO_SIDED)
            size = min(size, Fraction(SIZE_NATS, max(rows, 1))) if nullable else Fraction(0)
        if ladder.size <= 2 and ladder.lower is not None and ladder.upper is not None:
            size, part = Fraction(0), Fraction(0)  # the bounds leave nothing to search for
        search = Search(part, relation, ladder, two_sided, nullable)
        noise = total - part - (size if rows is None else 0)
        return cls(size, search, noise, relation, ladder.integral, rows, centered, zcdp)

    def cost(self) -> Cost:
        """The cost of the number of records, the clip and the noise.

        Under swap the number is paid by what the noise leaves for a record that turns from missing to present.
        """
        size = pure(self.size) if self.rows is None else added_only(self.size)
        return size + self.search.cost() + self._noise_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        size = {"size": pure(self.size)} if self.rows is None else {}
        return size | {"clip": self.search.cost(), "noise": self._noise_cost()}

    def _noise_cost(self) -> Cost:
        averaged = self.centered or self.neighbors == "swap"
        return self.average.cost() if averaged else self.additive.cost()

    @property
    def additive(self) -> Additive:
        """The noise on a sum under add-remove."""
        return Additive(self.noise, self.zcdp)

    def clip(self, data: Column, bits: Source) -> Clip:
        """The clip; if the bounds leave nothing to search for, it is the bounds."""
        if self.search.epsilon == 0:
            low, high = self.search.ladder.lower, self.search.ladder.upper
            assert low is not None
            assert high is not None
            return Clip(low, high, low, True)
        if self.size == 0:
            assert self.rows is not None
            return self.search.find(data, self.rows, 0, bits)
        size = max(0, totals(data.chunks())[0] + discrete_laplace(self.size, bits))
        size = size if self.rows is None else min(size, self.rows)
        return self.search.find(data, size, math.ceil(SLACK / self.size), bits)

    @property
    def average(self) -> AverageRule:
        """How averages of clipped records are taken."""
        spent = Fraction(0) if self.rows is None else self.size
        return AverageRule(self.noise, self.neighbors, self.rows, self.search.nullable, spent, self.zcdp)


def sum(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private sum of data whose bounds nobody knows; the keywords are those of `quantile`.

    The release tells the clip that was found, the scale of the noise, and in `interval` where the noise alone leaves
    the sum 95 times of 100. What clipping changed is not in the interval; with too few records it is infinite.

    >>> import random
    >>> release = sum([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1))
    >>> release.value, release.parameters["clip"]
    (285119, [-80, 80])
    """
    records, bits = column(data), source(rng)
    spending = Spending.of(epsilon, rho)
    plan = Plan.of(records, spending, lower, upper, resolution, neighbors, centered=False)
    swap = plan.neighbors == "swap"
    loss = charged(records.unit.loss(plan.cost(), plan.neighbors), budget, "sum")
    clip = plan.clip(records, bits)
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    count, total = totals(records.chunks(), lattice.steps)
    if swap:
        average = plan.average.release(count, total, lattice.width, bits)
        noisy = average.count * lattice.low + average.total
        *scales, overlooked = sum_scales(plan.average, lattice.low, lattice.width)
    else:
        noisy = Fraction(total + lattice.low * count + plan.additive.draw(lattice.largest, bits))
        scales, overlooked = [plan.additive.scale(lattice.largest), 0.0], 0.0
    value = noisy * lattice.step
    bar = Fraction(plan.additive.half_interval(scales[0], scales[1], CHANCE) + overlooked) * lattice.step
    told = spending.told(plan.parts(), records.unit)
    return _release("sum", value, bar, clip, Fraction(scales[0]) * lattice.step, plan, loss, told)


def mean(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private mean of data whose bounds nobody knows; the keywords and the release are those of `sum`.

    >>> import random
    >>> mean([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    47.48...
    """
    records, bits = column(data), source(rng)
    spending = Spending.of(epsilon, rho)
    plan = Plan.of(records, spending, lower, upper, resolution, neighbors, centered=True)
    loss = charged(records.unit.loss(plan.cost(), plan.neighbors), budget, "mean")
    clip = plan.clip(records, bits)
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    count, total = totals(records.chunks(), lattice.steps)
    average = plan.average.release(count, total, lattice.width, bits)
    value = min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high)
    bar = Fraction(average.half_interval(CHANCE)) * lattice.step
    scale = Fraction(math.hypot(*average.scales)) * lattice.step / max(average.count, Fraction(1))
    told = spending.told(plan.parts(), records.unit)
    return _release("mean", value, bar, clip, scale, plan, loss, told, whole=False)


def count(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors = "add-remove",
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private number of records that are not missing; under swap it is public if none can be missing.

    >>> import random
    >>> count([1, 2, None, 4], epsilon=1, rng=random.Random(1)).value
    3
    """
    records, bits = column(data), source(rng)
    relation = check_neighbors(neighbors)
    spending = Spending.of(epsilon, rho)
    noise = spending.each(records.unit.rows).plan(Additive)
    public = relation == "swap" and not records.nullable
    missing = added_only(noise.epsilon) if relation == "swap" and not noise.zcdp else noise.cost()
    cost = pure(Fraction(0)) if public else missing
    loss = charged(records.unit.loss(cost, relation), budget, "count")
    found = records.rows() if public else totals(records.chunks())[0] + noise.draw(1, bits)
    scale = 0.0 if public else noise.scale(1)
    bar = math.ceil(noise.half_interval(scale, 0.0, CHANCE))
    interval = (float(max(found - bar, 0)), float(max(found + bar, 0)))
    parameters = {"noise": noise.name, "noise_scale": scale} | spending.told({"noise": cost}, records.unit)
    return Release("count", max(found, 0), loss, parameters, interval)


def _release(
    statistic: str,
    value: Fraction,
    bar: Fraction,
    clip: Clip,
    scale: Fraction,
    plan: Plan,
    loss: PrivacyLoss,
    told: dict[str, Any],
    whole: bool = True,
) -> Release:
    plain: Callable[[Fraction], int | float] = int if plan.integral else lambda x: finite_float(x) + 0.0
    parameters: dict[str, Any] = {
        "clip": [plain(clip.low), plain(clip.high)],
        "noise": plan.additive.name,
        "noise_scale": finite_float(scale),
        **plan.search.ladder.describe(),
        **told,
    }
    ends = min(_end(value - bar), MAX), max(_end(value + bar), -MAX)  # infinite outward only
    interval = ends if clip.trusted else (-math.inf, math.inf)
    return Release(statistic, plain(value) if whole else finite_float(value) + 0.0, loss, parameters, interval)


def _end(end: Fraction) -> float:
    """The end of an interval; infinite if it is beyond the floats."""
    return finite_float(end) + 0.0 if abs(end) <= MAX else math.inf if end > 0 else -math.inf
