"""A clip with its tail: moved by the noisy counts of octaves around it, with intervals that include what it cuts off.

`tail` has the counts, `excess` the law of what lies beyond, and `interval` both together with the noise.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.clipping.clip import Clip, ClipStart, Search
from nobounds.clipping.interval import CHANCE, reach
from nobounds.clipping.octaves.excess import ASSUMES
from nobounds.clipping.octaves.moving import AWAY, BELOW, alike, errors_of_both, posteriors
from nobounds.clipping.tail import (
    CELLS,
    CLEARLY,
    LOWEST,
    MOVES,
    SURE,
    WIDTHS,
    Side,
    TailRule,
    anchored,
    beside_heap,
    biases,
    carried,
    moved_rung,
    stands_out,
)
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import BITS, top
from nobounds.exact import MAX, finite_float
from nobounds.ladders.ladder import Ladder, float_bounds
from nobounds.programs.program import Program
from nobounds.values import dataclass

_OFF = 0.1  # how far a centre may lie from that of the data, over the scale: 40 to 70 nats leave it about that


@dataclass(frozen=True, slots=True)
class Tailed:
    """A clip, and its sides as octaves show them.

    `sides` is empty if nothing lies beyond the clip, and None if nothing is known of what does.
    """

    clip: Clip
    sides: tuple[Side, ...] | None
    rule: TailRule
    ladder: Ladder
    heap: int = 0  # a noisy number of records at the centre, where there were enough for the search
    others: int | None = None  # how many records lie elsewhere, at most, where nearly all lie at the centre
    faint: bool = False  # whether the counts might be noise alone, of a clip that has run away

    def among(self, count: Fraction, more: float) -> "Tailed":
        """The same for a noisy number of all records, of which there are at most `more` than that.

        If nearly all lie at the centre, that is the answer, but only where it is known how far off it may be: if none
        lie elsewhere, or not beyond a public bound.
        """
        if self.heap <= 0:
            return self
        others = beside_heap(self.heap, count, more, self.rule.count_noise, CHANCE / 2)
        if others is None:
            return self
        bounded = self.ladder.lower is not None or self.ladder.upper is not None
        return replace(self, clip=replace(self.clip, trusted=others == 0 or bounded), others=others)

    def describe(self) -> dict[str, object]:
        """What an interval is for, as a release says it."""
        return {"level": 1 - CHANCE, "of": "sample"} | ({"assumes": ASSUMES} if self.sides else {})

    def interval(
        self, value: Fraction, bar: Fraction, records: Fraction, chance: float = CHANCE
    ) -> tuple[float, float]:
        """The interval around a clipped sum, or around a mean: a sum over this many records.

        `bar` is the 95% half interval of its noise. Infinite ends are outward only. It fails with probability `chance`.
        """
        if not self.clip.trusted:
            return -math.inf, math.inf
        if self.others is not None:
            return self._around_heap(value, self.others / records)
        if self.sides is None:
            return -math.inf, math.inf
        if not self.sides:
            bar *= Fraction(math.log(chance) / math.log(CHANCE))  # of Laplace noise, and more than enough for others
            return _end(value, -bar, -1), _end(value, bar, 1)
        low, high = self.ladder.lower, self.ladder.upper
        unit = max(side.width for side in self.sides) or Fraction(1)
        upper = math.inf if high is None else finite_float((high - self.clip.high) / unit)
        lower = math.inf if low is None else finite_float((self.clip.low - low) / unit)
        most = [upper if side.sign > 0 else lower for side in self.sides]
        noise, total = (finite_float(each * records / unit) for each in (bar, value))
        below, above = reach(self.sides, unit, self.rule.count_noise, most, noise, total, self.rule.zcdp, chance)
        first, last = (Fraction(each) * unit / records if math.isfinite(each) else None for each in (-below, above))
        return (
            -math.inf if first is None else _end(value, min(first, Fraction(0)), -1),
            math.inf if last is None else _end(value, max(last, Fraction(0)), 1),
        )

    def _around_heap(self, value: Fraction, others: Fraction) -> tuple[float, float]:
        """The same where `others` records, or this part of them, may lie anywhere between the public bounds."""
        if not others:
            return _end(value, Fraction(0), -1), _end(value, Fraction(0), 1)
        low, high, center = self.ladder.lower, self.ladder.upper, self.clip.center
        return (
            -math.inf if low is None else _end(value, others * (low - center), -1),
            math.inf if high is None else _end(value, others * (high - center), 1),
        )


@dataclass(frozen=True, slots=True)
class Tailing:
    """How a clip is moved, all of it public: by a search, the counts of octaves, and the epsilon of the noise.

    Where groups share the clip, as many records more may lie outside as where the search begins (see `ClipStart`).
    """

    search: Search
    rule: TailRule
    eps_noise: Fraction
    power: int = 1  # of the deviations that are summed
    groups: int = 1  # that share the clip

    def bounded(self, clip: Clip) -> Tailed:
        """A clip that nothing lies beyond."""
        return Tailed(clip, (), self.rule, self.search.ladder)

    def unknown(self, clip: Clip) -> Tailed:
        """A clip of which nothing more is known."""
        return Tailed(clip, None, self.rule, self.search.ladder)

    def program(self, view: RecordsView, start: ClipStart, rungs: tuple[int, ...], trusted: bool) -> Program[Tailed]:
        """The clip whose sides end near these rungs, moved by the noisy counts of the octaves around it."""
        search, anchors, signs = self.search, anchored(rungs), self.signs(start.center)
        each = anchors if search.two_sided else anchors * len(signs)
        around = search.deviations(view, start, present=True)
        central = view.at_center(finite_float(start.center), *float_bounds(search.ladder), start.octave or 0)
        *noisy, heap = yield self.rule.decision(around, central, signs, each)
        heap = heap if trusted else 0
        trusted = trusted and any(anchors) and carried(noisy, self.rule.count_noise)
        if not any(anchors):
            return replace(self.unknown(search.clip_at(start, rungs, trusted)), heap=heap)
        counts = np.array(noisy, dtype=np.float64).reshape(len(signs), CELLS)
        moves = np.atleast_1d(self.moves(counts, start.outside, self.off(start, anchors), self.whole(start))).tolist()
        ends = [moved_rung(anchor, move) for anchor, move in zip(anchors, moves, strict=True)]
        clip = search.clip_at(start, ends, trusted)
        ends = ends if search.two_sided else ends * len(signs)
        sides = (
            self._side(sign, tuple(noisy[k * CELLS : (k + 1) * CELLS]), end, anchor, start.octave)
            for k, (sign, end, anchor) in enumerate(zip(signs, ends, each, strict=True))
        )
        faint = not stands_out(noisy, self.rule.count_noise, CLEARLY)
        return Tailed(clip, tuple(sides), self.rule, search.ladder, heap, faint=faint)

    def _side(self, sign: int, noisy: tuple[int, ...], end: int, anchor: int, octave: int | None) -> Side:
        """The side of a clip that ends at this rung."""
        move = end - anchor + (1 << BITS - 1) >> BITS
        width, last = (self.search.width_at(rung, octave) for rung in (anchor + (move << BITS), end))
        return Side(sign, noisy, width, move, finite_float(last / width) if width else 1.0)

    def signs(self, center: Fraction) -> tuple[int, ...]:
        """The sides of the centre where records may lie."""
        low, high = self.search.ladder.lower, self.search.ladder.upper
        sides = ((1, high is None or high > center), (-1, low is None or low < center))
        return tuple(sign for sign, some in sides if some)

    def off(self, start: ClipStart, anchors: Sequence[int]) -> float | None:
        """How far a noisy centre may lie from that of the data, over the width that both sides are counted around.

        None unless there is one such width for two sides, and a scale.
        """
        if start.octave is None or len(anchors) != 2 or anchors[0] != anchors[1]:
            return None
        return _OFF / finite_float(top(anchors[0]))

    def whole(self, start: ClipStart) -> bool:
        """Whether a clip is moved by whole octaves: where groups share it, squares are summed, or a centre is missing.

        Octaves around 0 do not say where in one of them data far from 0 lie, all of which may be near its upper end.
        """
        lost = self.search.two_sided and start.octave is None and self.search.neighbors == "add-remove"
        return lost or self.power > 1 or self.groups > 1

    def moves(self, counts: Floats, outside: int = 0, off: float | None = None, whole: bool = False) -> Ints:
        """How many candidates the sides of a clip are moved by, for noisy counts of each side (in the last axes).

        Where magnitudes are clipped, both sides move together. `outside` is as in `ClipStart`: with more groups than
        records, the noise of all groups together would outweigh every record. With `off` and `whole` (which see) both
        sides may get one width, and the clip is moved by whole octaves.
        """
        weight, shrunk = self.search.tuning.moves(self.search.neighbors)
        each, scale = 1 / float(self.eps_noise), self.rule.count_noise.scale
        unit = weight * min(self.groups * each, each + outside)
        beyond = biases(counts, shrunk * scale, SURE * scale, self.power)
        beyond = beyond if self.search.two_sided else beyond.sum(axis=-2)
        octaves: Ints = MOVES[(beyond + unit * WIDTHS**self.power).argmin(axis=-1)]
        if whole:
            return octaves << BITS
        batch = counts.reshape(-1, *counts.shape[-2:])
        sides = octaves.reshape(len(batch), -1)
        return np.array([self._finer(*one, each, off) for one in zip(batch, sides, strict=True)]).reshape(octaves.shape)

    def _finer(self, counts: Floats, octaves: Ints, each: float, off: float | None) -> list[int]:
        """The candidates that the sides are moved by, near these octaves, where `each` is the noise of one record."""
        noise, unit = self.rule.count_noise, self.search.tuning.weight * each
        if self.search.two_sided:
            return self._ends(counts, octaves, unit, off)
        at = int(octaves[0])
        return [_best(errors_of_both([side[at - LOWEST - BELOW :] for side in counts], noise, unit), at)]

    def _ends(self, counts: Floats, octaves: Ints, unit: float, off: float | None) -> list[int]:
        """The same for the sides of an interval, where `unit` is its noise over its width."""
        noise, whole = self.rule.count_noise, 2.0**octaves
        beside = ((whole.sum() - whole) / whole).tolist()
        places = octaves.tolist()
        sides = [side[at - LOWEST - BELOW :] for side, at in zip(counts, places, strict=True)]
        level = len(set(places)) == 1
        laws = posteriors(sides, noise) if level else [posteriors([side], noise)[0] for side in sides]
        ends = [_best(law.errors(unit, other), at) for law, other, at in zip(laws, beside, places, strict=True)]
        if off is None or not level:
            return ends
        first = places[0] << BITS
        end = alike(laws, unit, off / whole[0], [each - first for each in ends])
        return ends if end is None else [_within(end + first)] * 2


def _best(errors: Floats, octave: int) -> int:
    """The number of candidates with the smallest error, near this octave and where octaves are counted."""
    return _within(int(AWAY[np.argmin(errors)]) + (octave << BITS))


def _within(move: int) -> int:
    """The number of candidates, where octaves are counted."""
    return min(max(move, int(MOVES[0]) << BITS), int(MOVES[-1]) << BITS)


def _end(value: Fraction, reach: Fraction, side: int) -> float:
    """The end of an interval on a side of a value, so far from it; infinite beyond the floats, outward only."""
    end = value + reach
    if abs(end) <= MAX:
        return finite_float(end) + 0.0
    sign = 1 if end > 0 else -1
    return sign * (math.inf if sign == side else MAX)
