"""The expected errors of private sums, means and counts: the law of the clip, and the noise on clipped sums.

This is `clipping.law` made fast, like `answer_errors`: the probabilities of scales come from the data set whose records
lie at their expected places, its size and centre are taken at a few points, and widths have the laws of `quick_laws`.
Noise is taken at points that fill its law evenly, different ones for each data set.
"""

import math
from collections import Counter
from dataclasses import field
from functools import partial

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.clipping.average import FEW_MISSING, believed
from nobounds.clipping.clip import ClipStart, Search
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tail import anchored, cells, moved_rung
from nobounds.clipping.widths import DEVIATIONS, WidthWalk
from nobounds.counting.histogram import Histogram
from nobounds.exact import finite_float
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Nested, Noisy, NoisyMany
from nobounds.mechanisms.quick_laws import spread, walk_blocks
from nobounds.noise.additive import Additive
from nobounds.planning.answer_errors import quick_outcomes
from nobounds.planning.expectation import Outcomes, together
from nobounds.planning.families import normal_quantile
from nobounds.planning.samples import Sample, SampleView
from nobounds.programs.law import paths
from nobounds.programs.program import alone
from nobounds.ranks.route import Price
from nobounds.values import dataclass

LEAST = 1e-5  # clips with less probability are left out
POINTS, STRIDE = 64, 19  # a lattice of points for two noises
LOOKS = (0.125, 0.375, 0.625, 0.875)  # where the law of the number of records is evaluated
TAIL_LOOKS = 4  # at the halts of a walk and the noise of the counts of octaves, for each data set
_MOST = 1 << 20  # of a count's errors are taken one by one


@dataclass(frozen=True, slots=True, eq=False)
class SamplePoint:
    """A sample as the search for a clip sees it, with the noisy size at the point of its law not exceeded so often."""

    sample: Sample = field(repr=False)
    size: float = 0.5

    def number(self, noise: Additive, cost: Price) -> Nested[int]:
        """The number of records at this point of its noise; at its true value where the noise is small."""
        n = self.sample.total

        def point() -> tuple[tuple[int, float]]:
            noisy = n if noise.epsilon * n > 50 else int(n + _noise(noise, 1, np.array([self.size]), False)[0])
            return ((noisy, 1.0),)

        return Nested(lambda: alone(Noisy(n, noise, cost)), cost, point)

    def outer(self, low: float, high: float, noise: Additive, cost: Price) -> Nested[list[int]]:
        """The numbers of records below, between and above two ends, with the noise of all in that between."""
        values, counts = self.sample.values, self.sample.counts
        below, above = int(counts[values <= low].sum()), int(counts[values >= high].sum())
        exact = [below, self.sample.total - below - above, above]

        def point() -> tuple[tuple[list[int], float]]:
            shift = int(_noise(noise, 1, np.array([self.size]), False)[0])
            return (([below, exact[1] + shift, above], 1.0),)

        return Nested(lambda: alone(NoisyMany(exact, noise, cost)), cost, point)

    def ranks(self, ladder: Ladder) -> SampleView:
        return SampleView(self.sample, ladder)

    def deviations(self, center: float, low: float, high: float, all_present: bool, octave: int) -> Histogram:
        """The deviations from a centre; no record of a sample is missing."""
        rungs = DEVIATIONS.rungs(np.ldexp(np.clip(self.sample.values, low, high) - center, -octave))
        starts = np.flatnonzero(np.diff(rungs, prepend=rungs[0] - 1))
        return Histogram(DEVIATIONS, rungs[starts], np.add.reduceat(self.sample.counts, starts))


def clip_starts(plan: SumPlan, typical: Sample) -> list[tuple[float, tuple[SumPlan, ClipStart | None]]]:
    """The plans and the starts of the search for a clip, with their probabilities; None if nothing is searched for."""
    chances: dict[tuple[SumPlan, ClipStart | None], float] = {}
    for look in LOOKS:
        view = SamplePoint(typical, look)
        for chance, start in paths(partial(plan.start, view), 10 * LEAST, quick_outcomes):
            chances[start] = chances.get(start, 0.0) + chance / len(LOOKS)
    return list(together((chance, start) for start, chance in chances.items() if chance > LEAST))


def outcomes(plan: SumPlan, start: ClipStart | None, sample: Sample, number: int, of: Sample | None = None) -> Outcomes:
    """The errors of a sum or mean on this data set, or `of` one group of it, for this start of a search for a clip."""
    lows, highs, chances = _clips(plan, start, sample, number)
    places = np.arange(POINTS)
    u, v = ((steps % POINTS + spread(k * number)) / POINTS for steps, k in ((places, 1), (STRIDE * places, STRIDE)))
    errors = np.abs(_errors(plan, Clipping.of(sample if of is None else of, lows, highs), u, v))
    return Outcomes(None, errors.ravel(), np.repeat(chances / POINTS, POINTS))


def _clips(plan: SumPlan, start: ClipStart | None, sample: Sample, number: int) -> tuple[Floats, Floats, Floats]:
    """The ends of the possible clips, and their probabilities."""
    search = plan.search
    if start is None:
        assert search.ladder.lower is not None
        assert search.ladder.upper is not None
        return np.array([float(search.ladder.lower)]), np.array([float(search.ladder.upper)]), np.ones(1)
    around = search.deviations(SamplePoint(sample), start)
    if search.walks_from(start):
        halts = [_rungs(search, walk, number) for walk in search.walks(around, start)]
    else:
        halts = [([search.beginning], np.ones(1)) for _ in search.sides(start.center)]
    level = plan.eps_tail > 0 and not search.walks_from(start) and len(halts) == 2
    if level:
        halts = _moved_together(plan, start, around, number)
    elif plan.eps_tail:
        halts = _moved(plan, start, around, halts, number)
    by_side = {
        side: (np.array([finite_float(search.width_at(rung, start.octave)) for rung in rungs]), chances)
        for side, (rungs, chances) in zip(search.sides(start.center), halts, strict=True)
    }
    if 0 in by_side:
        widths, chances = by_side[0]
        below = above = widths
    else:
        nothing = np.zeros(1), np.ones(1)
        (below, low_chances), (above, high_chances) = by_side.get(-1, nothing), by_side.get(1, nothing)
        if level:  # both were moved by the same counts
            chances = low_chances
        else:
            chances = np.outer(low_chances, high_chances).ravel()
            below, above = np.repeat(below, len(above)), np.tile(above, len(below))
    kept = chances > LEAST
    center, (low, high) = finite_float(start.center), (search.ladder.lower, search.ladder.upper)
    lows = np.maximum(center - below[kept], -np.inf if low is None else float(low))
    highs = np.minimum(center + above[kept], np.inf if high is None else float(high))
    return lows, highs, chances[kept] / chances[kept].sum()


def _rungs(search: Search, width_walk: WidthWalk, number: int) -> tuple[list[int], Floats]:
    """The rungs where a walk halts, and their probabilities."""
    first, last, masses = walk_blocks(width_walk.walk, number)
    kept = masses > LEAST
    places = ((first + last) // 2)[kept].tolist()
    return [search.rung(width_walk.candidates, place) for place in places], masses[kept]


def _moved(
    plan: SumPlan, start: ClipStart, around: Histogram, halts: list[tuple[list[int], Floats]], number: int
) -> list[tuple[list[int], Floats]]:
    """The rungs after the counts of octaves have moved them, for a few halts of the walks and noises of the counts."""
    signs = plan.tailing.signs(start.center)
    most = [rungs[int(np.argmax(chances))] for rungs, chances in halts]
    points = (np.arange(TAIL_LOOKS) + spread(number)) / TAIL_LOOKS
    result = []
    for which, (rungs, chances) in enumerate(halts):
        others = most[:which] + most[which + 1 :]
        passed = np.cumsum(chances)
        drawn = [rungs[place] for place in np.searchsorted(passed[:-1] / passed[-1], points).tolist()]
        anchors = [anchored([rung, *others])[0] for rung in drawn]
        own = signs[which : which + 1] if plan.search.two_sided else signs
        counts = np.array([[cells(around, sign, anchor) for sign in own] for anchor in anchors], dtype=np.float64)
        noise = _count_noise(plan, counts.shape, (number, which))
        moves = plan.tailing.moves(counts + noise, start.outside, whole=plan.tailing.whole(start))
        moved = moves.reshape(TAIL_LOOKS).tolist()
        ends = zip(drawn, anchors, moved, strict=True)
        times = Counter(moved_rung(anchor, move) if anchor else rung for rung, anchor, move in ends)
        result.append((list(times), np.array(list(times.values())) / TAIL_LOOKS))
    return result


def _moved_together(plan: SumPlan, start: ClipStart, around: Histogram, number: int) -> list[tuple[list[int], Floats]]:
    """The same for both sides of a frame, where no walk was made: pairs of rungs, for a few noises of the counts."""
    anchors = (plan.search.beginning,) * 2
    counts = np.array([cells(around, *side) for side in zip(plan.tailing.signs(start.center), anchors, strict=True)])
    noisy = counts + _count_noise(plan, (TAIL_LOOKS, *counts.shape), (number, 0))
    moves = plan.tailing.moves(noisy, start.outside, plan.tailing.off(start, anchors), plan.tailing.whole(start))
    chances = np.full(TAIL_LOOKS, 1 / TAIL_LOOKS)
    return [([moved_rung(anchors[0], move) for move in side], chances) for side in moves.T.tolist()]


def _count_noise(plan: SumPlan, shape: tuple[int, ...], seed: tuple[int, int]) -> Floats:
    """Noise for the counts of octaves, the same for a seed each time."""
    noise = plan.tail.count_noise
    points = np.random.default_rng(seed).random(shape)
    if noise.gaussian:
        return noise.scale * normal_quantile(points)
    return np.asarray(-noise.scale * np.sign(points - 0.5) * np.log(2 * np.minimum(points, 1 - points)))


@dataclass(frozen=True, slots=True, eq=False)
class Clipping:
    """Clips of a sample, one in each row: their ends and the sum of the clipped records; and the true sum."""

    lows: Floats
    highs: Floats
    sums: Floats
    n: int
    truth: float

    @classmethod
    def of(cls, sample: Sample, lows: Floats, highs: Floats) -> "Clipping":
        """The sums of the records clipped to each of these intervals."""
        up_to = np.append(0.0, np.cumsum(sample.values * sample.counts))
        counted = np.append(0, sample.up_to)
        below, above = np.searchsorted(sample.values, lows), np.searchsorted(sample.values, highs)
        sums = lows * counted[below] + up_to[above] - up_to[below] + highs * (sample.total - counted[above])
        return cls(lows[:, None], highs[:, None], sums[:, None], sample.total, float(up_to[-1]))

    @property
    def widths(self) -> Floats:
        """The distance between the ends."""
        return np.maximum(self.highs - self.lows, 1e-300)


def _errors(plan: SumPlan, clipped: Clipping, u: Floats, v: Floats) -> Floats:
    """The answer minus the truth for each clip (down) and each point of the noise (across)."""
    lows, widths, n = clipped.lows, clipped.widths, clipped.n
    if not plan.centered and plan.neighbors == "add-remove":
        largest = np.maximum(np.abs(lows), np.abs(clipped.highs))
        return clipped.sums - clipped.truth + _noise(plan.additive, largest, u, plan.integral)
    above = clipped.sums - n * lows + _noise(plan.average.noise, widths, u, plan.integral)
    count: Floats | int = n
    if plan.neighbors == "add-remove":
        below = n * clipped.highs - clipped.sums + _noise(plan.average.noise, widths, v, plan.integral)
        share = np.where(above + below > 0, above / np.maximum(above + below, 1e-300), 0.5)
        return np.asarray(lows + widths * np.clip(share, 0, 1) - clipped.truth / n)
    if plan.search.nullable:
        missing = _noise(plan.average.for_count, 1, v, True)
        few = FEW_MISSING / float(plan.average.for_count.epsilon)
        if not plan.centered:
            few = plan.average.few_missing(lows + widths / 2, widths)
        missing = np.minimum(np.floor(believed(missing, few)), n)
        count, above = n - missing, above - widths * missing / 2
    if not plan.centered:
        return np.asarray(count * lows + above - clipped.truth)
    return np.asarray(lows + np.clip(above / np.maximum(count, 1), 0, widths) - clipped.truth / n)


def _noise(noise: Additive, sensitivity: Floats | int, u: Floats, integral: bool) -> Floats:
    """Noise for this sensitivity at points between 0 and 1; Laplace noise on whole numbers if `integral`."""
    sizes = np.maximum(sensitivity, 1e-300) / float(noise.epsilon)
    if noise.zcdp:
        return np.asarray(sizes * normal_quantile(u))
    tails, signs = 2 * np.minimum(u, 1 - u), np.sign(u - 0.5)
    if not integral:
        return np.asarray(-signs * sizes * np.log(tails))
    # P(|J| >= j) = 2 p**j / (1 + p) for p = exp(-1 / size).
    lift = np.log1p(np.exp(-1 / sizes)) - math.log(2)
    return np.asarray(signs * np.maximum(np.floor(-sizes * (np.log(tails) + lift)), 0.0))


def count_outcomes(noise: Additive, n: int, neighbors: Neighbors, nullable: bool) -> Outcomes:
    """The errors of a private count."""
    if neighbors == "swap" and not nullable:
        return Outcomes(None, np.zeros(1), np.ones(1))
    size = noise.scale(1)
    step = max(math.ceil(40 * size / _MOST), 1)
    errors = np.arange(0, 40 * size + 2, step, dtype=np.float64)
    logs = -((errors / size) ** 2) / 2 if noise.zcdp else -errors / size
    both = np.where(errors == 0, 1.0, 2.0)
    held = np.where((errors > n), 1.0, both)  # a count is never below 0, so the error is at most n on that side
    masses = both * np.exp(logs)
    cut = float((masses * (1 - held / both)).sum())
    return Outcomes(None, np.append(errors, float(n)), np.append(masses * held / both, cut))


def outside(plan: SumPlan, start: ClipStart | None, sample: Sample, number: int) -> Outcomes:
    """How many records of a data set lie outside a clip, as ranks, for this start of the search."""
    lows, highs, chances = _clips(plan, start, sample, number)
    counted = np.append(0, sample.up_to)
    below = counted[np.searchsorted(sample.values, lows, side="left")]
    above = sample.total - counted[np.searchsorted(sample.values, highs, side="right")]
    return Outcomes((below + above).astype(np.float64), np.zeros(len(chances)), chances)
