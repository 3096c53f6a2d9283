"""The records of one column as programs for ranks see them: histograms become decisions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.mechanisms.decisions import Choose, Halt, Level
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise
from nobounds.ranks.coarse import center_bounds, has_ends, serves, spread_bounds
from nobounds.ranks.framing import HALF, Around, octave_counts, octave_runs
from nobounds.ranks.route import ChoiceRoute, OneRoute, Price, Route
from nobounds.values import dataclass

FEW = 1 << 13
MANY = 1 << 12  # records from which a frame is drawn from coarse counts: bounds take longer to compute than fewer


class HistogramView:
    """Decisions about records of which there are histograms (see `route.RankView`)."""

    __slots__ = ()

    @property
    def coarse(self) -> Histogram:
        """All records on the coarse ladder."""
        raise NotImplementedError

    @property
    def total(self) -> int:
        """The number of records."""
        return self.coarse.total

    def look(self, q: Fraction, route: OneRoute) -> Histogram:
        """The records on the route's ladder, exact around the target."""
        raise NotImplementedError

    def full(self, route: OneRoute) -> Histogram:
        """All records on the ladder of a route that looks again."""
        raise NotImplementedError

    def level(self, epsilon: Fraction, most: int, levels: tuple[int, ...], cost: Price) -> Level:
        return Level(self.total, epsilon, levels, cost, most)

    def center(self, route: ChoiceRoute, cost: Price) -> Choose:
        return self.choose(HALF, route, cost)

    def spread(self, around: Around, rate: Fraction, cost: Price) -> Choose:
        return Choose(lambda: octave_runs(self.octaves(around), rate, around.heaped), True, cost)

    def octaves(self, around: Around) -> Histogram:
        """The deviations from the centre that are not 0, by octave."""
        raise NotImplementedError

    def halt(self, q: Fraction, route: Route, noise: Noise, cost: Price) -> Halt:
        full = (lambda: walk_of(self.full(route), q, route, noise)) if route.again else None
        return Halt(lambda: walk_of(self.look(q, route), q, route, noise), cost, full, route.one_end)

    def choose(self, q: Fraction, route: ChoiceRoute, cost: Price) -> Choose:
        full = (lambda: runs_of(self.full(route), q, route)) if route.again else None
        return Choose(lambda: runs_of(self.look(q, route), q, route), route.exponential, cost, full)


@dataclass(frozen=True, slots=True, eq=False)
class View(HistogramView):
    """The counts of one column."""

    counts: Counts

    @property
    def coarse(self) -> Histogram:
        return self.counts.coarse

    def look(self, q: Fraction, route: OneRoute) -> Histogram:
        """The records on the route's ladder: from a second look at those around the target, or from the first."""
        if not route.again:
            return self.coarse.on(route.ladder)
        if self.coarse.total <= FEW:  # reading all of them again is faster than to say which
            return self.full(route)
        return self.counts.around(route.placed, *route.window(q, self.coarse.total))

    def full(self, route: OneRoute) -> Histogram:
        return self.counts.full(route.placed)

    def center(self, route: ChoiceRoute, cost: Price) -> Choose:
        """The centre of many records is drawn from their coarse counts."""
        exact = HistogramView.center(self, route, cost)
        if self.total < MANY or not serves(self.coarse.ladder, route):
            return exact
        return replace(exact, bounded=lambda: center_bounds(self.counts, route, HALF, lambda: exact.runs))

    def spread(self, around: Around, rate: Fraction, cost: Price) -> Choose:
        """And so is their scale."""
        exact = HistogramView.spread(self, around, rate, cost)
        if self.total < MANY or not has_ends(self.coarse.ladder):
            return exact
        return replace(exact, bounded=lambda: spread_bounds(self.coarse, around, rate, lambda: self.octaves(around)))

    def octaves(self, around: Around) -> Histogram:
        return octave_counts(self.counts.chunks(), around)


def runs_of(histogram: Histogram, q: Fraction, route: ChoiceRoute) -> Runs:
    """The rungs of a route to choose from."""
    return Runs.of(histogram, q, route.rate, route.prior, route.slopes)


def walk_of(histogram: Histogram, q: Fraction, route: Route, noise: Noise) -> Walk:
    """The walk along a route: counts at or below each rung (above, walking down) against the target rank."""
    rungs, levels, target = histogram.rungs, histogram.up_to, q
    first, last, (low, high) = route.start, route.stop, histogram.exact
    if not route.up:
        rungs, levels, target = -rungs[::-1], histogram.down_to[::-1], 1 - q
        first, last, low, high = -first, -last, -high, -low
    begin = int(np.searchsorted(rungs, first, side="right"))  # all that is at or before the first rung is counted there
    end = int(np.searchsorted(rungs, last, side="left"))  # and all that is at or after the last rung there
    starts = np.concatenate([[0], rungs[begin:end] - first])
    counted = np.concatenate([[levels[begin - 1] if begin else 0], levels[begin:end]])
    if last > first and end < len(rungs):
        starts, counted = np.append(starts, last - first), np.append(counted, levels[-1])
    if route.tilt:
        starts, counted = _tilted(starts, counted, route)
    return Walk(
        starts=starts,
        levels=counted,
        length=last - first + 1,
        threshold=target * histogram.total - route.drop,
        step=Fraction(1, target.denominator),
        eps1=route.eps1,
        eps2=route.eps2,
        noise=noise,
        rising=True,
        trusted=None if (low, high) == (first, last) else (low - first, high - first),
    )


def _tilted(starts: Ints, levels: Ints, route: Route) -> tuple[Ints, Ints]:
    """The runs with their levels lowered by `tilt` ranks for each of the cuts that is still ahead."""
    ends = np.array(route.cuts)
    cut = np.union1d(starts, ends)
    left = len(ends) - np.searchsorted(ends, cut, side="right")
    return cut, levels[np.searchsorted(starts, cut, side="right") - 1] - route.tilt * left
