"""Recursive halving: many quantiles for the cost of a few levels (Kaplan, Schnapp and Stemmer 2022).

The middle quantile comes first and splits the records; then the middle ones of both halves, and so on. A level of the
recursion chooses in disjoint slices, so it costs as much as one choice: m quantiles cost ceil(log2(m + 1)) levels.

- A slice aims at the rank slope * (its weight) + offset. Under add-remove a record moves that by at most
  max(slope, 1 - slope) against the ranks, so a slope of one half is the cheapest. The offset is public: the size of the
  data is known, or a noisy count. Half of the error of the answers on both sides is passed on.
- Under swap a record that moves in its slice costs a choice at sensitivity 1; one that crosses into another slice
  costs two choices at the sensitivity of add-remove, which with a slope of one half is the same.
- Where a slice has no bound, rungs far outside the scale of the data are lowered by a public prior. Next to the end of
  the data all rungs beyond it would be as good as the right one, and a walk outward is taken.

Its cost is proven in docs/proofs/halving.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import groupby

import numpy as np

from nobounds.accounting.cost import Cost, added_only, both, monotonic, moving_threshold, pure, range_bounded
from nobounds.accounting.loss import Neighbors
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid
from nobounds.mechanisms.decisions import Choose, Halt, Noisy, Together
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.auto import SizeRule, is_bound, scale_nats, size_rule
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.scale import Scale, octave
from nobounds.ranks.slices import Prior, Slice, SliceAim, runs_in, walk_in
from nobounds.ranks.tuning import RankTuning
from nobounds.ranks.view import View

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Node:
    """A quantile, the two that it lies between (-1 and m for the ends), its level, and whether none follow it."""

    which: int
    left: int
    right: int
    level: int
    leaf: bool


@lru_cache(maxsize=256)
def tree(qs: tuple[Fraction, ...]) -> tuple[Node, ...]:
    """The nodes for quantiles in increasing order, by level: as few levels as possible, each near the middle."""
    nodes: list[Node] = []
    ends = {-1: Fraction(0), len(qs): Fraction(1)}

    def halve(first: int, last: int, level: int) -> None:
        if first > last:
            return
        most = 2 ** ((last - first + 1).bit_length() - 1) - 1  # nodes that a side may have, without one more level
        left, right = first - 1, last + 1
        low, high = (ends.get(k, qs[min(max(k, 0), len(qs) - 1)]) for k in (left, right))
        allowed = range(max(first, last - most), min(last, first + most) + 1)
        middle = min(allowed, key=lambda k: (abs(2 * qs[k] - low - high), k))
        nodes.append(Node(middle, left, right, level, first == last))
        halve(first, middle - 1, level + 1)
        halve(middle + 1, last, level + 1)

    halve(0, len(qs) - 1, 0)
    return tuple(sorted(nodes, key=lambda node: node.level))


@dataclass(frozen=True, slots=True)
class Setting:
    """What the size and the scale decide before the first choice; all of it already noised, safe to branch on."""

    ladder: Ladder
    size: int
    exact: bool  # whether the size has no noise that matters
    scaled: bool  # whether there is a scale
    prior: Prior


@dataclass(frozen=True, slots=True)
class Halving:
    """A plan for two or more quantiles, in increasing order, for one epsilon; all of it public.

    With `zcdp` the exponential mechanism is used, and `each` is the range of a level.
    """

    problem: Problem
    zcdp: bool
    size: SizeRule
    eps_scale: Fraction
    each: Fraction  # epsilon for a level

    @classmethod
    def of(cls, problem: Problem, epsilon: Fraction, zcdp: bool = False) -> "Halving":
        """Plan the spending: the size, the scale, and equal parts for the levels."""
        size, tuning = size_rule(problem, epsilon), problem.tuning
        if size.epsilon and problem.neighbors == "swap":
            share = tuning.levels_size_share_zcdp if zcdp else tuning.levels_size_share
            size = replace(size, epsilon=epsilon * share)
        eps_scale = epsilon * tuning.levels_scale_share if problem.grows else Fraction(0)
        # Under swap only a record that turns from missing to present changes the size, and its levels cost half.
        left = epsilon - eps_scale - (size.epsilon if problem.neighbors == "add-remove" else 0)
        return cls(problem, zcdp, size, eps_scale, left / levels(problem.qs))

    @property
    def qs(self) -> tuple[Fraction, ...]:
        """The quantiles, in increasing order."""
        return self.problem.qs

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.problem.ladder

    @property
    def neighbors(self) -> Neighbors:
        """The neighbour relation."""
        return self.problem.neighbors

    @property
    def tuning(self) -> RankTuning:
        """The constants of the problem."""
        return self.problem.tuning

    def cost(self) -> Cost:
        """The cost of the size, the scale and the levels, whatever the answers."""
        parts = [self._scale_cost(), *(self._level_cost(level) for level in range(levels(self.qs)))]
        return sum(parts, self._size_cost())

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for; under swap the size costs nothing beyond the levels, so there is one part."""
        if self.neighbors == "swap":
            return {"answer": self.cost()}
        each = [self._level_cost(level) for level in range(levels(self.qs))]
        return {"size": self._size_cost(), "scale": self._scale_cost(), "answer": sum(each[1:], each[0])}

    def _size_cost(self) -> Cost:
        if self.neighbors == "swap" and self.problem.nullable:
            return added_only(self.size.epsilon)
        return pure(self.size.epsilon)

    def _scale_cost(self) -> Cost:
        return pure(self.eps_scale)

    def _level_cost(self, level: int) -> Cost:
        """The cost of all choices of a level: those in disjoint slices cost as much as one.

        Under swap a record may cross into another slice; one that turns from missing to present costs half, except at
        the first level.
        """
        each = range_bounded(self.each) if self.zcdp else pure(self.each)
        if self.neighbors == "add-remove":
            return each
        across = 2 * range_bounded(self.each * Fraction(2, 3)).rho  # into another slice
        moved = Cost(each.kinds, max(each.rho, across) if self.zcdp else each.rho)
        if not self.problem.nullable:
            return moved
        return Cost(both(moved, moved if level == 0 else pure(self.each / 2)).kinds, moved.rho)

    def program(self, view: View) -> Program[tuple[int | float, ...]]:
        """The quantiles in increasing order: the size, the scale, and the choices level by level."""
        counts = view.counts
        setting = yield from self.settled(counts.coarse)
        histogram, whole = counts.full(setting.ladder), Slice.whole(setting.ladder, self.tuning.places)
        rungs: dict[int, int] = {}
        cuts = {-1: whole.low, len(self.qs): whole.high}
        for level, nodes in groupby(tree(self.qs), lambda node: node.level):
            pieces = {node: Slice(cuts[node.left], cuts[node.right], self.tuning.places) for node in nodes}
            if level == 0 and not self.is_safe(next(iter(pieces)), setting):
                places = yield from self._walked(pieces, view, setting)
            else:
                places = yield from self._chosen(pieces, histogram, setting, partial(self._level_cost, level))
            for node, place in places.items():
                rungs[node.which], cuts[node.which] = place // self.tuning.places, pieces[node].cut(place)
                setting = self.with_scale(setting, rungs[node.which])
        values = (setting.ladder.value(rung) for rung in sorted(rungs.values()))
        return tuple(value if self.ladder.integral else float(value) for value in values)

    def settled(self, histogram: Histogram) -> Program[Setting]:
        """Learn the size and, if there are enough records, the scale; the steps of the ladder follow from them."""
        size = self.size.known
        if size is None:
            noisy: int = yield Noisy(histogram.total, Additive(self.size.epsilon), self._size_cost)
            size = min(max(0, noisy), self.size.at_most)
        exponent = None
        unit = Scale(Fraction(1), Fraction(1)).cost(self.neighbors, False).epsilon
        if size > 0 and self.eps_scale * size >= unit * scale_nats(size * self.each * levels(self.qs)):
            scale = Scale(self.eps_scale / unit, self.eps_scale / unit, octaves=self.tuning.octaves)
            exponent = octave((yield Halt(lambda: scale.walk(histogram), self._scale_cost)))
        return self.setting(size, exponent)

    def setting(self, size: int, exponent: int | None) -> Setting:
        """The setting for a size and a scale of 2**exponent, or for no scale."""
        ladder = self.ladder
        if self.problem.grows:
            nats = max(float(size * self.rate(HALF)), 1.0)
            bits = min(
                max(round(math.log2(nats) + self.tuning.flip_bits), ladder.least_bits(self.tuning.least_bits)),
                self.tuning.most_bits,
            )
            ladder = ladder.with_bits(bits) if exponent is None else ladder.with_bits(bits).at_scale(exponent)
        exact = self.size.known is not None or self.neighbors == "swap"
        prior = Prior(0, Fraction(0)) if exponent is None else self.prior(2.0**exponent)
        return Setting(ladder, size, exact, exponent is not None, prior)

    def with_scale(self, setting: Setting, rung: int) -> Setting:
        """The setting after an answer: without a scale, the first answer is the scale of the prior for the others."""
        if setting.scaled:
            return setting
        return replace(setting, scaled=True, prior=self.prior(setting.ladder.value(rung)))

    def prior(self, scale: float) -> Prior:
        """The prior for data of this scale."""
        least = float(self.ladder.map.unit) if isinstance(self.ladder.map, Grid) else self.tuning.levels_least_scale
        return Prior(math.frexp(max(abs(scale), least))[1] - 1 + self.tuning.prior_from, self.tuning.prior_nats)

    def rate(self, slope: Fraction) -> Fraction:
        """The rate of noise of a choice; its sensitivity is 1 in a slice, max(slope, 1 - slope) for an added record.

        Under swap a record that crosses into another slice costs two of the latter.
        """
        moves = max(slope, 1 - slope)
        if self.neighbors == "add-remove":
            return self.each / (2 * moves)
        return self.each / max(Fraction(2), 4 * moves)

    def split(self, slope: Fraction, up: bool) -> tuple[Fraction, Fraction]:
        """(eps1, eps2) of a walk outward, whose threshold is slope * (the weight of its slice)."""
        added = moving_threshold(slope if up else 1 - slope, self.tuning.outer, 1 - self.tuning.outer)
        moved = monotonic(self.tuning.outer, 1 - self.tuning.outer)
        if self.neighbors == "add-remove":
            whole = added.eta if self.zcdp else added.epsilon
        elif self.zcdp:
            whole = max(moved.eta, added.eta * Fraction(3, 2), 2 * added.epsilon)
        else:
            whole = max(moved.epsilon, 2 * added.epsilon)
        return self.each * self.tuning.outer / whole, self.each * (1 - self.tuning.outer) / whole

    def is_safe(self, node: Node, setting: Setting) -> bool:
        """Whether there are enough records for the first choice among all rungs."""
        ladder, q = setting.ladder, self.qs[node.which]
        # With a scale: the rungs that the prior does not lower, and as many for all others.
        candidates = 2 * setting.prior.plain(ladder) if setting.scaled else ladder.size
        return (
            float(self.rate(q) * min(q, 1 - q)) * (setting.size - self.size.slack)
            >= math.log(candidates) + self.tuning.margin
        )

    def outward(self, node: Node, setting: Setting) -> bool | None:
        """Whether a walk goes up (True) or down (False), because the end of the data is near; None for a choice."""
        return self.near_end(node, setting, self.tuning.near_end)

    def prior_for(self, node: Node, setting: Setting) -> Prior:
        """The prior, a tighter one near an end of the data."""
        if not setting.scaled or self.near_end(node, setting, 2 * self.tuning.near_end) is None:
            return setting.prior
        return Prior(setting.prior.octave + self.tuning.tight_from - self.tuning.prior_from, self.tuning.tight_nats)

    def near_end(self, node: Node, setting: Setting, nats: int) -> bool | None:
        """Which end of the data is nearer than `nats` of a level, the upper (True) or the lower; None if none is.

        A public bound is no end: no answer lies beyond it.
        """
        q, ladder, most = self.qs[node.which], setting.ladder, len(self.qs)
        for at_end, tail, end, up in (
            (node.right == most, 1 - q, ladder.last, True),
            (node.left == -1, q, ladder.first, False),
        ):
            if at_end and setting.size * self.each * tail < nats and not is_bound(ladder, end):
                return up
        return None

    def decision(
        self, node: Node, piece: Slice, histogram: Histogram, setting: Setting, cost: Callable[[], Cost]
    ) -> Halt | Choose:
        """The decision of a node on its slice: a walk near an end of the data, else a choice."""
        q, low, high = (self._rank(k) for k in (node.which, node.left, node.right))
        share = (q - low) / (high - low) if high > low else HALF
        up = self.outward(node, setting)
        # Wide slices under add-remove would inherit too much of the noise of the size; and a walk must not aim at a
        # rank beyond all records.
        exact = (setting.exact or high - low <= HALF) if up is None else self.neighbors == "swap"
        slope = HALF if exact else share
        aim = SliceAim(slope, (share - slope) * (high - low) * setting.size, node.leaf)
        if up is not None:
            return Halt(partial(walk_in, histogram, piece, aim, up, *self.split(slope, up)), cost)
        runs = partial(runs_in, histogram, piece, aim, self.rate(slope), self.prior_for(node, setting))
        return Choose(runs, self.zcdp or not node.leaf, cost)

    def place(self, node: Node, piece: Slice, setting: Setting, outcome: int | None) -> int:
        """The place for an outcome of this decision; a walk that never halts ends at its last rung."""
        up, (first, last) = self.outward(node, setting), piece.rungs
        if up is not None:
            position = last - first if outcome is None else outcome
            return piece.middle(first + position if up else last - position)
        assert outcome is not None
        return outcome * (self.tuning.places if node.leaf else 1)

    def _chosen(
        self, pieces: dict[Node, Slice], histogram: Histogram, setting: Setting, cost: Callable[[], Cost]
    ) -> Program[dict[Node, int]]:
        """The places that are chosen in disjoint slices; a slice of one place has no choice."""
        several = {node: piece for node, piece in pieces.items() if piece.high - piece.low > 1}
        places = {node: piece.low for node, piece in pieces.items()}
        if several:
            parts = (self.decision(node, piece, histogram, setting, cost) for node, piece in several.items())
            outcomes = yield Together(tuple(parts), cost)
            for (node, piece), outcome in zip(several.items(), outcomes, strict=True):
                places[node] = self.place(node, piece, setting, outcome)
        return places

    def _walked(self, pieces: dict[Node, Slice], view: View, setting: Setting) -> Program[dict[Node, int]]:
        """The first answer when there are few records: that of a single quantile, in the middle of its rung."""
        (node,) = pieces
        epsilon = self.each / 2 if self.zcdp else self.each  # a range is at most twice the epsilon
        rank = replace(
            self.problem,
            qs=(self.qs[node.which],),
            rows=setting.size,
            stated=True,
            noise="exponential",
            method="walk",
        )
        (value,) = yield from Question.of(rank, epsilon).program(view)
        rung = int(setting.ladder.rungs(np.array([float(value)]))[0])
        return {node: rung * self.tuning.places + self.tuning.places // 2}

    def _rank(self, which: int) -> Fraction:
        return Fraction(0) if which < 0 else Fraction(1) if which == len(self.qs) else self.qs[which]


def levels(qs: tuple[Fraction, ...]) -> int:
    """The number of levels for these quantiles."""
    return len(qs).bit_length()
