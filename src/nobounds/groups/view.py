"""The records of many groups as programs for ranks see them: one decision about each group, drawn for all at once."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Ints
from nobounds.counting.second_look import Counts
from nobounds.groups.choices import choices_one_by_one, flips, near_runs, weighted
from nobounds.groups.draws import Draws
from nobounds.groups.noise import laplaces
from nobounds.groups.records import Groups, sums
from nobounds.groups.walks import halts, halts_one_by_one, route_walks, walks_at
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Decision
from nobounds.ranks.route import FlipRoute, OneRoute, Price, Route, rank_sensitivity
from nobounds.ranks.scale import Scale
from nobounds.ranks.values import NEVER
from nobounds.ranks.view import View, walk_of

_LARGEST = 1 << 61


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Many(Hidden):
    """The same decision about each group of a view. Sensitive: its repr shows only its public facts.

    codes: a draw for each group; groups with the same code have the same outcome.
    outcome, code: the outcome of a code, as the decision about one group has it, and back.
    one: the decision about one of the groups.
    gathers: whether the outcomes are many, so that those who share one are few in each block.
    """

    codes: Callable[[Draws], Ints]
    outcome: Callable[[int], Any]
    code: Callable[[Any], int]
    one: Callable[[int], Decision[Any]]
    cost: Price
    public: Hashable
    size: int
    gathers: bool = False

    def __len__(self) -> int:
        return self.size

    def draw(self, source: RandomSource) -> Any:
        return [self.outcome(code) for code in self.codes(Draws(source)).tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class GroupsView:
    """Decisions about the groups `who` of many (see `route.RankView`); `ladder` is the coarse one."""

    groups: Groups
    who: Ints
    ladder: Ladder
    near: "tuple[Groups, Ints] | None" = None  # groups on the coarse ladder, and which of them these are

    @cached_property
    def coarse(self) -> Groups:
        return self.groups.take(self.who).on(self.ladder) if self.near is None else self.near[0].take(self.near[1])

    def look(self, route: OneRoute) -> Groups:
        return (self.groups.take(self.who) if route.again else self.coarse).on(route.ladder)

    def only(self, places: Ints) -> "GroupsView":
        """The view of the groups in these places; what is on the coarse ladder already is taken from there."""
        near = (self.coarse, places) if "coarse" in vars(self) else None
        return GroupsView(self.groups, self.who[places], self.ladder, near)

    def blocks(self) -> Iterator["GroupsView"]:
        """The view in parts of about as many records as are processed together."""
        for some in self.groups.blocks(self.who):
            yield self if len(some) == len(self.who) else GroupsView(self.groups, some, self.ladder)

    def level(self, epsilon: Fraction, most: int, levels: tuple[int, ...], cost: Price) -> Many:
        rising = np.array(levels[::-1])

        def codes(draws: Draws) -> Ints:
            noisy = self.groups.take(self.who).totals + laplaces(epsilon, self.who, draws)
            kept = np.asarray(np.clip(noisy, 0, most), dtype=np.int64)
            return np.minimum(len(levels) - np.searchsorted(rising, kept, side="right"), len(levels) - 1)

        one = self._one(lambda view: view.level(epsilon, most, levels, cost))
        return Many(
            codes, levels.__getitem__, levels.index, one, cost, (epsilon, most, levels), len(self.who), gathers=True
        )

    def scale(self, scale: Scale, cost: Price) -> Many:
        def codes(draws: Draws) -> Ints:
            parts = [_octaves(scale, block.coarse, block.who, draws) for block in self.blocks()]
            return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

        one = self._one(lambda view: view.scale(scale, cost))
        return Many(codes, _position, _code, one, cost, scale, len(self.who), gathers=True)

    def negative(self, q: Fraction, epsilon: Fraction, neighbors: Neighbors, cost: Price) -> Many:
        """Records below 0 (zeros count half) minus q n, with noise, against 0; ties go to the longer side."""
        lattice = q.denominator
        rate = epsilon / (2 * lattice) / rank_sensitivity(q, neighbors)

        def codes(draws: Draws) -> Ints:
            coarse = self.coarse
            zero = int(coarse.ladder.rungs(np.zeros(1))[0])
            below = (coarse.rungs < zero).astype(np.int64) + (coarse.rungs <= zero)
            twice, totals = sums(coarse.counts * below, coarse.starts), coarse.totals
            if 2 * lattice * int(totals.max(initial=0)) > _LARGEST:
                twice, totals = twice.astype(object), totals.astype(object)
            noisy = twice * lattice - 2 * q.numerator * totals + laplaces(rate, self.who, draws)
            return np.asarray(noisy >= 0 if 2 * q < 1 else noisy > 0, dtype=np.int64)

        one = self._one(lambda view: view.negative(q, epsilon, neighbors, cost))
        return Many(codes, bool, int, one, cost, (q, rate), len(self.who))

    def halt(self, q: Fraction, route: Route, noise: Noise, cost: Price) -> Many:
        """The walk along a route, for exponential noise."""

        def codes(draws: Draws) -> Ints:
            on = self.look(route)
            walks = route_walks(on, q, route)

            def one(k: int) -> Walk:
                return walk_of(on.histogram(k), q, route, noise)

            if walks is None:
                return halts_one_by_one(self.who, draws, one)
            if route.up:
                return halts(walks, self.who, draws, one)
            last = len(self.who) - 1
            return halts(walks, self.who[::-1], draws, lambda k: one(last - k))[::-1]

        alone = self._one(lambda view: view.halt(q, route, noise, cost))
        return Many(codes, _position, _code, alone, cost, (q, route, noise), len(self.who))

    def choose(self, q: Fraction, route: FlipRoute, cost: Price) -> Many:
        def codes(draws: Draws) -> Ints:
            on = self.look(route)
            runs = near_runs(on, q, route.rate)

            def one(k: int) -> Runs:
                return Runs.of(on.histogram(k), q, route.rate)

            if runs is None:
                return choices_one_by_one(route.exponential, self.who, draws, one)
            select = weighted if route.exponential else flips
            return select(runs, q.denominator, route.rate, self.who, draws, one)

        alone = self._one(lambda view: view.choose(q, route, cost))
        return Many(codes, int, int, alone, cost, (q, route), len(self.who))

    def alone(self, place: int) -> View:
        """The view of one group."""
        one = self.groups.histogram(int(self.who[place]))
        values = self.groups.ladder.map.floats(one.rungs)
        return View(Counts(one.on(self.ladder), lambda: [(values, one.counts)]))

    def _one(self, decision: Callable[[View], Decision[Any]]) -> Callable[[int], Decision[Any]]:
        return lambda place: decision(self.alone(place))

    def __repr__(self) -> str:
        return f"GroupsView({len(self.who)} groups, the rest hidden)"


def _position(code: int) -> int | None:
    """Where a walk halted."""
    return None if code == NEVER else code


def _code(position: int | None) -> int:
    return NEVER if position is None else position


def _octaves(scale: Scale, coarse: Groups, who: Ints, draws: Draws) -> Ints:
    """The position at which the walk over the octaves halts, for each group."""
    rungs = scale.octaves.rungs(np.abs(coarse.ladder.map.floats(coarse.rungs)))
    halved = Groups(
        scale.octaves, coarse.starts, rungs, coarse.counts
    ).merged()  # few entries remain: one per sign and octave
    group = np.repeat(np.arange(len(halved)), halved.sizes)
    order = np.argsort(group * (scale.octaves.last + 1) + halved.rungs, kind="stable")
    positions, counts = halved.rungs[order], halved.counts[order]
    walks = walks_at(
        positions,
        counts,
        halved.starts,
        length=scale.octaves.last + 1,
        rank=scale.rank,
        raised=Fraction(0),
        eps1=scale.eps1,
        eps2=scale.eps2,
    )

    def one(k: int) -> Walk:
        return scale.walk(coarse.histogram(k))

    return halts_one_by_one(who, draws, one) if walks is None else halts(walks, who, draws, one)
