"""Recursive halving: many quantiles for the cost of a few levels (Kaplan, Schnapp and Stemmer 2022).

The middle quantile comes first and splits the records; then the middle ones of both halves, and so on. A level of the
recursion chooses in disjoint slices, so it costs as much as one choice: m quantiles cost ceil(log2(m + 1)) levels.

- A slice aims at the rank slope * (its weight) + offset. Under add-remove a record moves that by at most
  max(slope, 1 - slope) against the ranks, so a slope of one half is the cheapest. The offset is public: the size of the
  data is known, or a noisy count. Half of the error of the answers on both sides is passed on.
- Under swap a record that moves in its slice costs a choice at sensitivity 1; one that crosses into another slice
  costs two choices at the sensitivity of add-remove, which with a slope of one half is the same.
- With enough records the ladder is one in a private frame (see `framing`), and rungs far outside the scale are lowered
  by a public prior. Next to the end of the data all rungs beyond it would be as good as the right one, and a walk
  outward is taken.
- With fewer the slices are of all numbers under the public prior, and no rank is aimed at that is too near the end. So
  a few quantiles, of which one lies near an end, are answered one by one instead (see `question`).

With enough records for a few dozen quantiles all of them are chosen at once instead (see `joint`).

Its cost is proven in docs/proofs/slices.md.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

import numpy as np

from nobounds.accounting.cost import (
    Cost,
    added_only,
    both,
    gaussian,
    monotonic,
    moving_threshold,
    pure,
    pure_parts,
    range_bounded,
)
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import rest, share
from nobounds.exact import finite_float
from nobounds.ladders.frame import Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior, prior_around, prior_of
from nobounds.ladders.rungs import FloatBits, Grid, Rungs
from nobounds.mechanisms.decisions import Choose, Halt, Noisy, Together
from nobounds.mechanisms.runs import DOUBLE_BITS, reach
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.auto import SizeRule, even, even_bits, size_rule
from nobounds.ranks.framing import FrameRule, expected
from nobounds.ranks.many.joint import JointRule, is_for, smallest_gap
from nobounds.ranks.many.look import Look
from nobounds.ranks.many.slices import Lowered, Slice, SliceAim, runs_in, walk_in
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import placed
from nobounds.ranks.tuning import RankTuning
from nobounds.ranks.values import value_of
from nobounds.ranks.view import View
from nobounds.values import dataclass

HALF = Fraction(1, 2)
_LOWERED = 12  # nats by which rungs at a rank may well be lowered


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
    """What the size and the frame decide before the first choice; all of it already noised, safe to branch on."""

    ladder: Ladder  # of the records themselves
    size: int
    exact: bool  # whether the size has no noise that matters
    framed: bool
    each: Fraction  # epsilon for a level
    places: int  # of a rung
    absolute: bool = False  # whether answers are chosen among all numbers
    octave: int = 0  # of the deviations that are expected from the first of them ...
    tight: bool = False  # ... and whether this is their scale
    levels: tuple[Fraction, ...] = ()  # the epsilon of each level, if they differ; `each` is that of the one at hand

    def at(self, level: int) -> "Setting":
        """The setting of a level."""
        return replace(self, each=self.levels[level]) if self.levels else self


@dataclass(frozen=True, slots=True)
class Halving:
    """A plan for two or more quantiles, in increasing order, for one epsilon; all of it public.

    With `zcdp` the exponential mechanism is used, and `each` is the range of a level.
    """

    problem: Problem
    zcdp: bool
    size: SizeRule
    left: Fraction  # epsilon for the frame and the levels
    shares: tuple[Fraction, ...] = ()  # of the levels, which add up to 1; with `zcdp` of rho; equal ones by default

    @classmethod
    def of(
        cls, problem: Problem, epsilon: Fraction, zcdp: bool = False, shares: tuple[Fraction, ...] = ()
    ) -> "Halving":
        """Plan the spending: the size, and the rest for the frame and the levels."""
        size, tuning = size_rule(problem, epsilon), problem.tuning
        # That the size is free under swap is proven for equal levels alone.
        assert not (shares and size.epsilon), "levels get unequal shares where the size is known"
        if size.epsilon and problem.neighbors == "swap":
            share = tuning.levels_size_share_zcdp if zcdp else free_share(problem)
            size = replace(size, epsilon=epsilon * share)
        # Under swap only a record that turns from missing to present changes the size, and then it costs less.
        return cls(problem, zcdp, size, epsilon - (size.epsilon if problem.neighbors == "add-remove" else 0), shares)

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
        """The cost of the size, the frame and the levels, whatever the answers and the noisy size (docs/proofs).

        Under swap a record that moves does not change the size; for one that turns from missing to present the levels
        but the first cost half, and the size is paid from that.
        """
        if self.neighbors == "swap" and not self.zcdp:
            return self._rest_cost()
        return self._size_cost() + self._rest_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for; under swap the size costs nothing beyond the levels, so there is one part."""
        if self.neighbors == "swap":
            return {"answer": self.cost()}
        return {"size": self._size_cost(), "answer": self._rest_cost()}

    def _rest_cost(self) -> Cost:
        if self.zcdp:
            return gaussian(self.left**2 / 8)
        if self.shares:
            return pure(self.left)
        halved = pure_parts(self.left, (Fraction(0), self._dearest), levels(self.qs))
        rhos = [halved.rho, self._turning_rho, *([pure(self.left).rho] if self._may_part else [])]
        return Cost(halved.kinds, max([*rhos, range_bounded(self.left).rho] if is_for(self.problem) else rhos))

    @property
    def _turning_rho(self) -> Fraction:
        """An upper bound for the rho of a record that turns from missing to present, which pays for the size as well.

        Under swap its levels but the first cost half; no part of a frame is left out.
        """
        if self.neighbors == "add-remove" or not self.size.epsilon:
            return Fraction(0)
        each, many = self.left / levels(self.qs), levels(self.qs)
        spent = (self.size.epsilon, self._dearest, each)
        return sum((pure(part).rho for part in spent), Fraction(0)) + (many - 1) * pure(each / 2).rho

    @property
    def _dearest(self) -> Fraction:
        """The most that a frame costs: with as few records as it is bought for."""
        tuning = self.tuning
        return self.left * Fraction(sum(tuning.frame_nats(Fraction(tuning.framed_many))), tuning.framed_many)

    def _size_cost(self) -> Cost:
        if self.neighbors == "swap" and self.problem.nullable:
            return added_only(self.size.epsilon)
        return pure(self.size.epsilon)

    def _level_cost(self, level: int, epsilon: Fraction) -> Cost:
        """The cost of all choices of a level: those in disjoint slices cost as much as one.

        Under swap a record may cross into another slice; one that turns from missing to present costs half, except at
        the first level.
        """
        each = range_bounded(epsilon) if self.zcdp else pure(epsilon)
        if self.neighbors == "add-remove":
            return each
        across = 2 * range_bounded(epsilon * Fraction(2, 3)).rho  # into another slice
        moved = Cost(each.kinds, max(each.rho, across) if self.zcdp else each.rho)
        if not self.problem.nullable:
            return moved
        return Cost(both(moved, moved if level == 0 else pure(epsilon / 2)).kinds, moved.rho)

    def program(self, view: View, size: int | None = None) -> Program[tuple[int | float, ...]]:
        """The quantiles in increasing order: the size, unless it is learned already, and all in one choice, or levels.

        Before these a frame is bought, if there are enough records.
        """
        if size is None:
            size = yield from self.learned(view)
        if apart := self.apart(size):
            return (yield from _one_by_one(apart, view, size))
        if (joint := self.joint(size)) is not None:
            return (yield from self._at_once(joint, view, size))
        setting = yield from self.settled(view, size)
        look, whole = Look(view.counts, setting.ladder), Slice.whole(setting.ladder, setting.places)
        values: dict[int, int | float] = {}
        cuts = {-1: whole.low, len(self.qs): whole.high}
        for level, nodes in groupby(tree(self.qs), lambda node: node.level):
            setting = setting.at(level)
            pieces = {node: Slice(cuts[node.left], cuts[node.right], setting.places) for node in nodes}
            self._look_near(look, pieces, setting)
            places = yield from self._chosen(pieces, look, setting, partial(self._level_cost, level, setting.each))
            for node, place in places.items():
                values[node.which] = value_of(self.ladder, setting.ladder, place // setting.places)
                cuts[node.which] = pieces[node].cut(place)
            if level == 0 and setting.absolute and len(self.qs) > 1:
                ((node, place),) = places.items()
                setting = around(setting, place // setting.places)
                look, whole = Look(view.counts, setting.ladder), Slice.whole(setting.ladder, setting.places)
                cuts = {-1: whole.low, len(self.qs): whole.high, node.which: place % setting.places}
            elif level > 0 and setting.absolute:
                setting = self.scaled(setting, values)
        return tuple(sorted(values.values()))

    def scaled(self, setting: Setting, values: dict[int, int | float]) -> Setting:
        """The setting after more answers: their largest distance is a scale for the prior, and costs nothing."""
        away = abs(Fraction(max(values.values())) - Fraction(min(values.values())))
        if not away or not isinstance(setting.ladder.map, Framed):
            return setting
        frame = setting.ladder.map.frame
        octave = math.frexp(finite_float(away / (frame.unit or 1)))[1] - 1 - frame.octave
        return replace(setting, octave=octave, tight=True)

    def learned(self, view: View) -> Program[int]:
        """The number of records, or a noisy one."""
        if self.size.known is not None:
            return self.size.known
        noisy: int = yield Noisy(view.total, Additive(self.size.epsilon), self._size_cost)
        return min(max(0, noisy), self.size.at_most)

    def joint(self, size: int) -> JointRule | None:
        """The choice of all quantiles at once, where it is better for this many records; it has no shares of levels."""
        rule = JointRule(self.problem, self.zcdp, self.left, size, self.size.epsilon)
        return rule if rule.is_better and not self.shares else None

    @property
    def _may_part(self) -> bool:
        """Whether the quantiles may be answered one by one: there are few of them, and one is far out."""
        tail, tuning = min(self.qs[0], 1 - self.qs[-1]), self.tuning
        return (
            self.problem.grows and not self.shares and len(self.qs) <= tuning.apart_most and tail <= tuning.apart_tail
        )

    def apart(self, size: int) -> tuple[Question, ...]:
        """The plans that answer one by one, where this many records are too few for levels to aim near the end."""
        tail = min(self.qs[0], 1 - self.qs[-1])
        nats = size * tail * self.rate(HALF, share(self.left, levels(self.qs), self.zcdp))
        least = self.tuning.apart_nats if self.frame_rule(size) is None else self.tuning.apart_framed
        if not self._may_part or nats >= least or self.joint(size) is not None:
            return ()
        # Under swap, but for zCDP, a size was paid from what a record costs less that turns from missing to present.
        paid = 0 if self.neighbors == "add-remove" or self.zcdp else self.size.epsilon
        each = share(self.left - paid, len(self.qs), self.zcdp)
        problems = (replace(self.problem, qs=(q,)) for q in self.qs)
        return tuple(Question(problem, each + self.size.epsilon, self.size, self.zcdp) for problem in problems)

    def _at_once(self, joint: JointRule, view: View, size: int) -> Program[tuple[int | float, ...]]:
        """All quantiles in one choice: if there are enough records, in a frame."""
        if (rule := joint.frame_rule) is not None:
            joint = joint.within((yield from rule.program(self.problem, view)), self._after(rule))
        return (yield from joint.program(view))

    def settled(self, view: View, size: int) -> Program[Setting]:
        """The setting for a size: if there are enough records, the frame is learned first."""
        rule = self.frame_rule(size)
        frame = None if rule is None else (yield from rule.program(self.problem, view))
        return self.setting(size, frame, rule)

    def frame_rule(self, size: int) -> FrameRule | None:
        """The frame that is bought for this many records, if any."""
        tuning, twice = self.tuning, 2 if self.neighbors == "swap" else 1
        if not self.problem.grows or size * self.left < twice * tuning.framed_many:
            return None
        return FrameRule.affordable(self.problem, size, self.left)

    def _after(self, rule: FrameRule) -> Fraction:
        """What a frame leaves of epsilon."""
        return rest(self.left, (rule.center.epsilon, rule.eps_scale), self.zcdp)

    def setting(self, size: int, frame: Frame | None, rule: FrameRule | None) -> Setting:
        """The setting for a size and a frame, or for none."""
        whole = self.left if rule is None else self._after(rule)
        each = share(whole, levels(self.qs), self.zcdp)
        unequal = tuple(share(whole, 1 / part, self.zcdp) for part in self.shares)
        exact = self.size.known is not None or self.neighbors == "swap"
        if not self.problem.grows:
            return Setting(self.ladder, size, exact, False, each, self.tuning.places, levels=unequal)
        nats = max(float(size * self.rate(HALF, each)), 1.0)
        if frame is None:
            fine = self.ladder.finest(self.tuning.many_bits, self.tuning.prior_floor)
            return Setting(fine, size, exact, False, each, self.tuning.places, absolute=True, levels=unequal)
        bits = even_bits(nats, self.tuning)
        if frame.unit is not None:
            frame = frame.at_least(bits)
        return Setting(placed(even(bits), frame), size, exact, True, each, self.tuning.places, levels=unequal)

    def rate(self, slope: Fraction, each: Fraction) -> Fraction:
        """The rate of noise of a choice; its sensitivity is 1 in a slice, max(slope, 1 - slope) for an added record.

        Under swap a record that crosses into another slice costs two of the latter.
        """
        moves = max(slope, 1 - slope)
        if self.neighbors == "add-remove":
            return each / (2 * moves)
        return each / max(Fraction(2), 4 * moves)

    def split(self, slope: Fraction, up: bool, each: Fraction) -> tuple[Fraction, Fraction]:
        """(eps1, eps2) of a walk outward, whose threshold is slope * (the weight of its slice)."""
        added = moving_threshold(slope if up else 1 - slope, self.tuning.outer, 1 - self.tuning.outer)
        moved = monotonic(self.tuning.outer, 1 - self.tuning.outer)
        if self.neighbors == "add-remove":
            whole = added.eta if self.zcdp else added.epsilon
        elif self.zcdp:
            whole = max(moved.eta, added.eta * Fraction(3, 2), 2 * added.epsilon)
        else:
            whole = max(moved.epsilon, 2 * added.epsilon)
        return each * self.tuning.outer / whole, each * (1 - self.tuning.outer) / whole

    def outward(self, node: Node, setting: Setting) -> bool | None:
        """Whether a walk goes up (True) or down (False), because the end of the data is near; None for a choice."""
        return self.near_end(node, setting, self.tuning.near_end) if setting.framed else None

    def lowered(self, node: Node, setting: Setting) -> Lowered:
        """By how much rungs far outside the scale are lowered, more near an end of the data."""
        if not setting.framed:
            return Lowered(0, Fraction(0))
        if self.near_end(node, setting, 2 * self.tuning.near_end) is None:
            return Lowered(self.tuning.prior_from, self.tuning.prior_nats)
        return Lowered(self.tuning.tight_from, self.tuning.tight_nats)

    def near_end(self, node: Node, setting: Setting, nats: int) -> bool | None:
        """Which end of the data is nearer than `nats` of a level, the upper (True) or the lower; None if none is."""
        q, most = self.qs[node.which], len(self.qs)
        for at_end, tail, up in ((node.right == most, 1 - q, True), (node.left == -1, q, False)):
            if at_end and setting.size * setting.each * tail < nats:
                return up
        return None

    def aim(self, node: Node, setting: Setting) -> SliceAim:
        """The rank that a node aims at in its slice."""
        low, high = (self._rank(k) for k in (node.left, node.right))
        q = self.kept(node, setting)
        part = (q - low) / (high - low) if high > low else HALF
        up = self.outward(node, setting)
        # Wide slices under add-remove would inherit too much of the noise of the size; and a walk must not aim at a
        # rank beyond all records.
        exact = (setting.exact or high - low <= HALF) if up is None else self.neighbors == "swap"
        slope = HALF if exact else part
        return SliceAim(slope, (part - slope) * (high - low) * setting.size, node.leaf)

    def decision(
        self, node: Node, piece: Slice, look: "Look", setting: Setting, cost: Callable[[], Cost]
    ) -> Halt | Choose:
        """The decision of a node on its slice: a walk near an end of the data, else a choice."""
        aim, up = self.aim(node, setting), self.outward(node, setting)
        if up is not None:
            eps1, eps2 = self.split(aim.slope, up, setting.each)
            return Halt(lambda: walk_in(look.full, piece, aim, up, eps1, eps2), cost)
        prior, rate, lowered = self.prior(setting), self.rate(aim.slope, setting.each), self.lowered(node, setting)
        near = None
        if (exact := look.exact(piece, aim)) is not None:
            near = partial(runs_in, look.near, piece, aim, rate, lowered, prior, exact)
        weighted = self.zcdp or not node.leaf or prior is not None
        return Choose(lambda: runs_in(look.full, piece, aim, rate, lowered, prior), weighted, cost, near=near)

    def _look_near(self, look: "Look", pieces: dict[Node, Slice], setting: Setting) -> None:
        """Look at the records around the ranks that the nodes of a level aim at."""
        if setting.framed and all(self.outward(node, setting) is None for node in pieces):
            aims = {node: self.aim(node, setting) for node in pieces}
            rate = min(self.rate(aim.slope, setting.each) for aim in aims.values())
            far = reach(setting.ladder.size * setting.places, rate, DOUBLE_BITS) + _LOWERED / float(rate)
            look.around([(piece, aims[node]) for node, piece in pieces.items()], far, self.qs)

    def prior(self, setting: Setting) -> Prior | None:
        """What rungs weigh where all numbers are to choose from, or their deviations from the first answer."""
        if not setting.absolute:
            return None
        rungs = setting.ladder.map
        if not isinstance(rungs, Framed):
            return prior_of(setting.ladder)
        deviations: Any = rungs.inner
        return prior_around(deviations, setting.octave, setting.tight)

    def kept(self, node: Node, setting: Setting) -> Fraction:
        """The rank to aim at: without a frame, not too near an end of the data, and within the half of its slice."""
        q, low, high = (self._rank(k) for k in (node.which, node.left, node.right))
        if setting.framed or not self.problem.grows:
            return q
        least = Fraction(self.tuning.end_nats) / max(setting.size * self.rate(HALF, setting.each), Fraction(1))
        inside = min(Fraction(math.ceil(least * 64), 64), (high - low) / 2)
        q = min(q, high - inside) if node.right == len(self.qs) else q
        return max(q, low + inside) if node.left == -1 else q

    def place(self, node: Node, piece: Slice, setting: Setting, outcome: int | None) -> int:
        """The place for an outcome of this decision; a walk that never halts ends at its last rung."""
        up, (first, last) = self.outward(node, setting), piece.rungs
        if up is not None:
            position = last - first if outcome is None else outcome
            return piece.middle(first + position if up else last - position)
        assert outcome is not None
        return outcome * (setting.places if node.leaf else 1)

    def _chosen(
        self, pieces: dict[Node, Slice], look: "Look", setting: Setting, cost: Callable[[], Cost]
    ) -> Program[dict[Node, int]]:
        """The places that are chosen in disjoint slices; a slice of one place has no choice."""
        several = {node: piece for node, piece in pieces.items() if piece.high - piece.low > 1}
        places = {node: piece.low for node, piece in pieces.items()}
        if several:
            parts = (self.decision(node, piece, look, setting, cost) for node, piece in several.items())
            outcomes = yield Together(tuple(parts), cost)
            for (node, piece), outcome in zip(several.items(), outcomes, strict=True):
                places[node] = self.place(node, piece, setting, outcome)
        return places

    def _rank(self, which: int) -> Fraction:
        return Fraction(0) if which < 0 else Fraction(1) if which == len(self.qs) else self.qs[which]


def _one_by_one(plans: tuple[Question, ...], view: View, size: int) -> Program[tuple[int | float, ...]]:
    """The answers of plans for one quantile each, in increasing order."""
    values: list[int | float] = []
    for plan in plans:
        values += yield from plan.program(view, size)
    return tuple(sorted(values))


def around(setting: Setting, rung: int) -> Setting:
    """The setting after the first answer, without a frame: the others are chosen by their deviations from it.

    Far from 0 the prior then lies where the data are. All numbers on the rung of the first answer are one rung of the
    deviations too, of which both sides get their places: nothing says where in it the records are.
    """
    own, unit, octave = setting.ladder.map, None, 0
    rungs: Rungs = own
    if isinstance(own, Grid):
        first, last = (int(points[0]) for points in own.points(np.array([rung])))
        octave, unit, rungs = (last - first).bit_length(), own.unit, Grid(Fraction(1), own.bits)
        center = float(first + (last - first) // 2)
    else:
        assert isinstance(own, FloatBits)
        low, high = own.interval(rung)
        center = math.nextafter(finite_float((low + high) / 2), 0.0)  # the inner edge is on the rung, the outer is not
        rungs = replace(own, floor=max(own.floor, math.frexp(finite_float((high - low) / 2))[1] - 1))
    frame = Frame(center, octave, unit, isinstance(own, Grid) and own.clock)
    return replace(setting, ladder=placed(Ladder(rungs, *rungs.ends), frame), octave=expected(center) - octave)


def free_share(problem: Problem) -> Fraction:
    """The share of epsilon for the size under swap: what levels leave, or all quantiles in one choice if possible."""
    tuning = problem.tuning
    if not is_for(problem):
        return tuning.levels_size_share
    return min(max(smallest_gap(problem.qs), tuning.joint_size_share), tuning.levels_size_share)


def levels(qs: tuple[Fraction, ...]) -> int:
    """The number of levels for these quantiles."""
    return len(qs).bit_length()
