"""Sums and means when nobody knows any bounds, with intervals (docs/mechanism.md).

    centre   a private median, of means and under swap; else 0
    start    a walk inward over the distances from it, to where a few records lie beyond
    shells   noisy numbers of records in octaves of the distance around the start, disjoint, so one price for all
    clip     the outer end of the outermost loud shell, and the louder it must be the further out
    noise    on the exact sum of the clipped deviations

The shells choose the clip and say what may lie beyond it: nothing else is bought for the interval. Zeros, constants and
few records are no cases of their own.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.answers.spent import Known, Part, bought_center, bought_size
from nobounds.arrays import Ints
from nobounds.counting.classes import Classes
from nobounds.counting.lattice import Lattice, steps_total
from nobounds.counting.order import Order
from nobounds.counting.scan import Chunk, Records, blocks, present, scan
from nobounds.exact import MAX
from nobounds.mechanisms.clock import Ring, distance, fixed_cost
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.programs.program import Program

SAFE = 8  # nats that keep the start from halting where no records are
START_NATS = 60  # records times epsilon for a start, ...
LEAST_START, MOST_START = Fraction(1, 10), Fraction(3, 10)  # ... and the least and the most of epsilon
COUNTS = Fraction(3, 10)  # of what is left, for the shells; half as much is no better without an interval
SIZE = Fraction(3, 50)  # of epsilon for the number of records that a mean is divided by
LOUD = 2.5  # noises that a count must pass to be taken for records
LOUDER = 2.0  # and so many more for each e-fold that is skipped: a false alarm far out is as rare as it does harm
INSIDE, SHELLS = 4, 12  # octaves inside the start, and shells in all; the last one has no end
MARGIN = 2.0  # noises added to a count for an interval
FALL = 0.48  # the most that an octave may keep of the one before it, for what lies beyond the clip to be bounded
HALF_OCTAVES = (*range(-2 * INSIDE, 0, 2), 0, 1, *range(2, 2 * (SHELLS - INSIDE - 1), 2))


class Shells(NamedTuple):
    """Noisy numbers of records at distances between edges, of which the last is infinite, and the scale of the noise."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    noise: float


@dataclass(frozen=True)
class Clipped:
    """A noisy sum of clipped deviations from a centre, and all that is known of what was clipped."""

    center: Fraction
    low: Fraction  # the clip
    high: Fraction
    total: Fraction  # of deviations
    bar: float  # what the noise on it changes, at the level
    below: float  # the most that records below the clip, and above it, may lie beyond it in all; infinite if not known
    above: float
    size: int | None  # a noisy number of records; None if there may be none
    size_bar: float  # what noise changes that by, at the level
    spread: float  # about the root of the sum of all squared deviations, from above
    scale: float  # of the noise on the sum
    parts: dict[str, Cost]

    def sum(self) -> tuple[Fraction, float, float]:
        """The sum of the records, and the ends of its interval."""
        assert self.size is not None
        value = self.total + self.center * self.size
        off = self.bar + abs(float(self.center)) * self.size_bar
        return value, float(value) - off - self.below, float(value) + off + self.above

    def mean(self, away: float) -> tuple[Fraction, float, float]:
        """The mean, and the ends of its interval; `away` standard errors of the sample are added, 0 for the rows alone."""
        assert self.size is not None
        size = max(self.size, 1)
        value = min(max(self.center + self.total / size, self.low), self.high)
        least = size - self.size_bar
        if least <= 0:
            return value, -math.inf, math.inf
        more = self.size_bar / least * abs(float(value - self.center)) + away * self.spread / size
        return value, float(value) - (self.bar + self.below) / least - more, float(value) + (self.bar + self.above) / least + more


def clipped(
    order: Order,
    records: Records,
    whole: Part,
    known: Known,
    *,
    centered: bool,
    integral: bool,
    unit: Fraction,
    level: float,
) -> Program[Clipped]:
    """The noisy sum of clipped deviations; of a sum under add-remove they are from 0."""
    line = order.line
    share = SIZE if centered else SIZE / 2
    size, spent, left = yield from bought_size(order, whole, known, share)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        nothing = Fraction(0)
        return Clipped(nothing, nothing, nothing, nothing, 0.0, math.inf, math.inf, None, 0.0, math.inf, 0.0, parts | {"noise": left.cost})
    size_bar = _quantile_of(spent, level) if spent.amount else 0.0
    key = 0
    if centered:
        key, after = yield from bought_center(order, size, left)
        parts["center"], left = left.less(after).cost, after
    step = 1.0 if line.unit is None else float(line.unit)  # of distances
    center = line.number(key) if centered else Fraction(0)
    own = left.of(min(max(Fraction(START_NATS * left.twice) / (size * left.epsilon), LEAST_START), MOST_START))
    start = yield from _start(order, key, own)
    parts["start"], left = own.cost, left.less(own)
    own = left.of(COUNTS)
    shells = yield from _shells(order, records, float(center), step * start, own)
    parts["shells"], left = own.cost, left.less(own)
    loudest = clip_of(shells, step * start)
    reach = Fraction(shells.edges[loudest - 1]) if loudest else Fraction(0)
    low, high = center - reach, center + reach
    low = low if line.lower is None else min(max(low, line.lower), center)
    high = high if line.upper is None else max(min(high, line.upper), center)
    lattice = Lattice.of(low, high, integral, unit)
    zero = round(center / lattice.step)
    count, steps = steps_total(records(), lattice)
    most = max(abs(lattice.low - zero), abs(lattice.low + lattice.width - zero), 1)
    sensitivity = lattice.width if whole.neighbors == "swap" else most
    additive = left.additive
    noisy: int = yield Noisy(steps + count * (lattice.low - zero), additive, additive.cost, sensitivity)
    parts["noise"] = left.cost
    scale = additive.scale(sensitivity) * float(lattice.step)
    far = beyond(shells, loudest)
    outside = _outside(shells, loudest)
    below, above = (
        min(float(reach) * far if far < math.inf else math.inf, math.inf if bound is None else outside * float(abs(bound - end)))
        for bound, end in ((line.lower, low), (line.upper, high))
    )
    return Clipped(
        center=zero * lattice.step,
        low=low,
        high=high,
        total=noisy * lattice.step,
        bar=additive.half_interval(scale, 0.0, 1 - level),
        below=below,
        above=above,
        size=size,
        size_bar=size_bar,
        spread=_spread(shells, loudest, size),
        scale=scale,
        parts=parts,
    )


def _quantile_of(part: Part, level: float) -> float:
    """What the noise of a number of records changes it by, at a level."""
    return part.additive.half_interval(part.additive.scale(1), 0.0, 1 - level)


def _start(order: Order, center: int, own: Part) -> Program[float]:
    """A distance that a few records lie beyond, however many there are; 0 if none was seen away from the centre."""
    eps = own.fixed_walk()
    level = Fraction(math.exp(SAFE))
    cost = partial(fixed_cost, *eps, own.neighbors)
    rung: int | None = yield Ring(order, center, 0, True, Fraction(0), *eps, level, cost)
    return 0.0 if rung is None else distance(rung)


def _shells(order: Order, records: Records, center: float, start: float, own: Part) -> Program[Shells]:
    """The noisy counts of the shells around a start."""
    edges = [min(start * 2.0 ** (half / 2), MAX) for half in HALF_OCTAVES]
    additive = own.additive
    raw = scan(records(), Placed.of(center, edges), np.add).tolist()
    inner = len(edges)
    counts = [raw[inner - 1 - k] + raw[inner + 1 + k] for k in range(inner)]
    sensitivity = 1 if own.neighbors == "add-remove" else 2
    if own.zcdp and sensitivity == 2:  # two shells change by one each: a Euclidean norm of the root of 2
        additive, sensitivity = own.of(Fraction(1, 2)).additive, 1
    noisy: list[int] = yield NoisyMany(counts, additive, lambda: own.cost, sensitivity)
    scale = additive.scale(sensitivity) / (math.sqrt(2) if own.zcdp else 1)
    return Shells((*edges[1:], math.inf), tuple(map(float, noisy)), scale)


class Placed(NamedTuple):
    """The pass that counts the records between edges; missing ones are nowhere."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, center: float, distances: Iterable[float]) -> "Placed":
        """Records at these distances or beyond them, on both sides."""
        away = list(distances)
        with np.errstate(over="ignore"):
            low = [math.nextafter(max(center - each, -MAX), math.inf) for each in reversed(away)]
            return cls((*low, *(min(center + each, MAX) for each in away)))

    @property
    def classes(self) -> Classes:
        """Records at the same place among the edges."""
        return Classes(edges=self.edges)

    def __call__(self, chunks: Iterable[Chunk]) -> Ints:
        numbers = np.zeros(len(self.edges) + 1, dtype=np.int64)
        edges = np.array(self.edges)
        for block, counts in blocks(chunks):
            values, times = present(block, counts)
            places = np.searchsorted(edges, values, side="right")
            numbers += np.bincount(places, times, len(numbers)).astype(np.int64)
        return numbers


def clip_of(shells: Shells, start: float) -> int:
    """How many shells lie inside the clip, the outer end of the outermost loud one; 0 where none is loud.

    A false alarm r times further out has r times the noise: `LOUDER` nats an e-fold make it r**2 times rarer, so all of
    them together cost little, near or far.
    """
    inside = 0
    inner = (start * 2.0**-INSIDE, *shells.edges)
    for k, count in enumerate(shells.counts[:-1]):
        reach = max(inner[inside], start)
        skipped = math.log(max(inner[k] / reach, 1.0)) if reach > 0 else 0.0
        if count > (LOUD + LOUDER * skipped) * shells.noise:
            inside = k + 1
    return inside


def _octaves(shells: Shells, order: Iterable[int]) -> Iterable[tuple[float, int]]:
    """The numbers of records in whole octaves, of these shells in their order, and how many shells each has."""
    count, half, many = 0.0, 0, 0
    for k in order:
        wide = HALF_OCTAVES[k + 1] - HALF_OCTAVES[k] if k + 1 < len(HALF_OCTAVES) else 2
        count, half, many = count + shells.counts[k], half + wide, many + 1
        if half >= 2:
            yield count, many
            count, half, many = 0.0, 0, 0


def _outside(shells: Shells, inside: int) -> float:
    """The most records that lie beyond the clip, with a margin for the noise."""
    rest = shells.counts[inside:]
    return max(sum(rest), 0.0) + MARGIN * shells.noise * math.sqrt(len(rest))


def beyond(shells: Shells, inside: int) -> float:
    """The most that records beyond the clip lie beyond it in all, over the clip; infinite if that is not known.

    Assumed is that each octave outward keeps at most the share of the one before it that was seen on the way to the
    clip, and that values in an octave lie on average at 1.5 times its inner end, as they do where a density falls.
    """
    noise = shells.noise
    outward = list(_octaves(shells, range(inside, len(shells.counts))))
    if not inside or not outward or sum(shells.counts[:inside]) < LOUD * noise:
        return math.inf
    count, many = outward[0]
    further = shells.counts[inside + many :]
    if sum(further) > MARGIN * noise * math.sqrt(len(further)):
        return math.inf
    most, kept = max(count, 0.0) + MARGIN * noise * math.sqrt(many), 1.0
    for octaves, (count, many) in enumerate(_octaves(shells, range(inside - 1, -1, -1)), start=1):
        if octaves > INSIDE:
            break
        least = count - MARGIN * noise * math.sqrt(many)
        if least > 0:
            kept = min(kept, (most / least) ** (1 / octaves))
    return most * (1.5 / (1 - 2 * kept) - 1 / (1 - kept)) if kept < FALL else math.inf


def _spread(shells: Shells, inside: int, size: int) -> float:
    """The root of the sum of squared deviations in the clip, from above."""
    if not inside:
        return math.inf
    inner = shells.edges[0] / 2.0 ** ((HALF_OCTAVES[1] - HALF_OCTAVES[0]) / 2)
    counts = (max(count + MARGIN * shells.noise, 0.0) for count in shells.counts[:inside])
    return math.sqrt(size * inner**2 + sum(n * edge**2 for n, edge in zip(counts, shells.edges[:inside], strict=True)))


def standard_errors(level: float) -> float:
    """How many standard errors hold a sample's mean at this level."""
    return NormalDist().inv_cdf((1 + level) / 2)


