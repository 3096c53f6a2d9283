"""Sum, mean and count of data whose bounds nobody knows: the public functions.

Part of epsilon finds a clip (see `clip`), the rest pays for noise on the exact sum of the clipped records (see `sums`
and `average`). Under add-remove a sum changes by the largest magnitude, so its clip is [-c, c]; the sum under swap and
all means change by the width of an interval, which is found around a private centre.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from nobounds.accounting.cost import added_only, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable, Spending, charged
from nobounds.clipping.average import sum_scales
from nobounds.clipping.clip import Clip
from nobounds.clipping.plan import CHANCE, SumPlan
from nobounds.counting.lattice import Lattice, totals
from nobounds.engines.memory.arrays import column
from nobounds.exact import MAX, Number, finite_float
from nobounds.noise.additive import Additive
from nobounds.noise.source import Rng, random_source
from nobounds.release.release import Release


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
    records, source = column(data), random_source(rng)
    spending = Spending.of(epsilon, rho)
    plan = SumPlan.of(records, spending, lower, upper, resolution, neighbors, centered=False)
    swap = plan.neighbors == "swap"
    loss = charged(records.unit.loss(plan.cost(), plan.neighbors), budget, "sum")
    clip = plan.clip(records, source)
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    count, total = totals(records.chunks(), lattice.steps)
    if swap:
        average = plan.average.release(count, total, lattice.width, source)
        noisy = average.count * lattice.low + average.total
        *scales, overlooked = sum_scales(plan.average, lattice.low, lattice.width)
    else:
        noisy = Fraction(total + lattice.low * count + plan.additive.draw(lattice.largest, source))
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
    records, source = column(data), random_source(rng)
    spending = Spending.of(epsilon, rho)
    plan = SumPlan.of(records, spending, lower, upper, resolution, neighbors, centered=True)
    loss = charged(records.unit.loss(plan.cost(), plan.neighbors), budget, "mean")
    clip = plan.clip(records, source)
    lattice = Lattice.of(clip.low, clip.high, plan.integral)
    count, total = totals(records.chunks(), lattice.steps)
    average = plan.average.release(count, total, lattice.width, source)
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
    records, source = column(data), random_source(rng)
    relation = check_neighbors(neighbors)
    spending = Spending.of(epsilon, rho)
    noise = spending.each(records.unit.rows).plan(Additive)
    public = relation == "swap" and not records.nullable
    missing = added_only(noise.epsilon) if relation == "swap" and not noise.zcdp else noise.cost()
    cost = pure(Fraction(0)) if public else missing
    loss = charged(records.unit.loss(cost, relation), budget, "count")
    found = records.rows() if public else totals(records.chunks())[0] + noise.draw(1, source)
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
    plan: SumPlan,
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
