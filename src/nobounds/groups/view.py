"""The records of many groups as programs for ranks see them: one decision about each group, drawn for all at once."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.second_look import Counts
from nobounds.groups.choices import choices_one_by_one, flips, near_runs, weighted
from nobounds.groups.draws import Draws
from nobounds.groups.noise import laplaces
from nobounds.groups.records import Groups
from nobounds.groups.walks import halts, halts_one_by_one, route_walks
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_of_scales
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Decision
from nobounds.ranks.framing import HALF, OCTAVES, Around, deviation_octaves, octave_runs
from nobounds.ranks.route import ChoiceRoute, OneRoute, Price, Route
from nobounds.ranks.values import NEVER
from nobounds.ranks.view import View, runs_of, walk_of
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Many(Hidden):
    """The same decision about each group of a view. Sensitive: its repr shows only its public facts.

    codes: a draw for each group; groups with the same code have the same outcome.
    outcome, code: the outcome of a code, as the decision about one group has it, and back.
    one: the decision about one of the groups.
    gathers: whether the outcomes are many, so that those who share one are few in each block.
    tabled: whether all groups go on together: their outcome is an array of codes, by the number of the group.
    """

    codes: Callable[[Draws], Ints]
    outcome: Callable[[int], Any]
    code: Callable[[Any], int]
    one: Callable[[int], Decision[Any]]
    cost: Price
    public: Hashable
    size: int
    gathers: bool = False
    tabled: bool = False

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
        records = self.groups.take(self.who) if route.again else self.coarse
        if route.frame is None:
            return records.on(route.ladder)
        return records.within(route.frame.of_group(self.who), route.ladder)

    def table(self, codes: Ints) -> Ints:
        """The codes by the number of the group."""
        every = np.zeros(len(self.groups), dtype=np.int64)
        every[self.who] = codes
        return every

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

        one = self._one(lambda view, group: view.level(epsilon, most, levels, cost))
        return Many(
            codes, levels.__getitem__, levels.index, one, cost, (epsilon, most, levels), len(self.who), gathers=True
        )

    def center(self, route: ChoiceRoute, cost: Price) -> Many:
        def codes(draws: Draws) -> Ints:
            return _joined(block.choose(HALF, route, cost).codes(draws) for block in self.blocks())

        one = self._one(lambda view, group: view.center(route, cost))
        return Many(codes, int, int, one, cost, route, len(self.who), gathers=True, tabled=True)

    def spread(self, around: Around, rate: Fraction, cost: Price) -> Many:
        def codes(draws: Draws) -> Ints:
            return _joined(block.octaves(around, rate, draws) for block in self.blocks())

        one = self._one(lambda view, group: view.spread(around.at(float(around.center[group])), rate, cost))
        return Many(
            codes, int, int, one, cost, (around.unit, around.heaped, rate), len(self.who), gathers=True, tabled=True
        )

    def octaves(self, around: Around, rate: Fraction, draws: Draws) -> Ints:
        """The octave of the scale of each group."""
        records = self.groups.take(self.who)
        values = records.ladder.map.floats(records.rungs)
        rungs = deviation_octaves(values, around.at(np.repeat(around.center[self.who], records.sizes)))
        group = np.repeat(np.arange(len(records)), records.sizes)
        order = np.lexsort((rungs, group))
        kept = order[rungs[order] > 0]
        starts = np.searchsorted(group[kept], np.arange(len(records) + 1))
        on = Groups(OCTAVES, starts, rungs[kept], records.counts[kept]).merged()
        runs = near_runs(on, HALF, rate, prior_of_scales(OCTAVES, around.heaped))

        def one(k: int) -> Runs:
            return octave_runs(on.histogram(k), rate, around.heaped)

        if runs is None:
            return choices_one_by_one(True, self.who, draws, one)
        return weighted(runs, 2, rate, self.who, draws, one)

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

        alone = self._one(lambda view, group: view.halt(q, _of_group(route, group), noise, cost))
        return Many(codes, _position, _code, alone, cost, (q, unframed(route), noise), len(self.who))

    def choose(self, q: Fraction, route: ChoiceRoute, cost: Price) -> Many:
        def codes(draws: Draws) -> Ints:
            on = self.look(route)
            runs = near_runs(on, q, route.rate, route.prior, route.slopes)

            def one(k: int) -> Runs:
                return runs_of(on.histogram(k), q, route)

            if runs is None:
                return choices_one_by_one(route.exponential, self.who, draws, one)
            select = weighted if route.exponential else flips
            return select(runs, q.denominator, route.rate, self.who, draws, one)

        alone = self._one(lambda view, group: view.choose(q, _of_group(route, group), cost))
        return Many(codes, int, int, alone, cost, (q, unframed(route)), len(self.who))

    def alone(self, place: int) -> View:
        """The view of one group."""
        one = self.groups.histogram(int(self.who[place]))
        values = self.groups.ladder.map.floats(one.rungs)
        return View(Counts(one.on(self.ladder), lambda: [(values, one.counts)]))

    def _one(self, decision: Callable[[View, int], Decision[Any]]) -> Callable[[int], Decision[Any]]:
        return lambda place: decision(self.alone(place), int(self.who[place]))

    def __repr__(self) -> str:
        return f"GroupsView({len(self.who)} groups, the rest hidden)"


def _position(code: int) -> int | None:
    """Where a walk halted."""
    return None if code == NEVER else code


def _code(position: int | None) -> int:
    return NEVER if position is None else position


def _of_group(route: Any, group: int) -> Any:
    """The route in the frame of one group."""
    frame = route.frame
    if frame is None:
        return route
    return replace(route, frame=replace(frame, center=float(frame.center[group]), octave=int(frame.octave[group])))


def unframed(route: OneRoute) -> OneRoute:
    """What is public about a route of many groups."""
    return replace(route, frame=None)


def _joined(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
