"""Decisions about all groups of a table at once. Groups are disjoint, so all of them cost as much as one.

They hold data, so their reprs show only their public facts.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.arrays import Ints
from nobounds.groups.driver import answers, settled
from nobounds.groups.noise import noise_many
from nobounds.groups.records import Groups
from nobounds.groups.view import GroupsView, Many
from nobounds.mechanisms.decisions import Hidden, Together
from nobounds.noise.additive import Additive
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Draw, Driver, Program
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import Interval, IntervalPlan
from nobounds.ranks.question import Question
from nobounds.ranks.values import Values
from nobounds.values import dataclass

R = TypeVar("R")

LARGEST = 1 << 60  # whole numbers below this add up in 64 bits, with noise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyGroups(Hidden):
    """A whole number of each group plus independent noise, for numbers that a record changes by the sensitivity.

    The numbers are below `LARGEST`, or Python's.
    """

    numbers: NDArray[Any]
    noise: Additive
    cost: Callable[[], Cost]
    sensitivity: int = 1

    @property
    def public(self) -> Hashable:
        return self.noise, self.sensitivity, len(self.numbers)

    def draw(self, source: RandomSource) -> NDArray[Any]:
        """The noisy numbers, in 64 bits or as Python's whole numbers; which of them must not show."""
        noise = noise_many(self.noise, self.sensitivity, len(self.numbers), source)
        if noise.dtype != object and int(np.abs(noise).max(initial=0)) < LARGEST:
            return np.asarray(self.numbers + noise)
        return np.asarray(self.numbers.astype(object) + noise.astype(object))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupQuantiles:
    """The answers of all groups to one question: an array for each of its quantiles.

    `sizes` are the noisy sizes of the groups, if these are learned already. A driver may look inside, at the decisions
    about each group.
    """

    question: Question
    groups: Groups
    sizes: NDArray[Any] | None = None

    def cost(self) -> Cost:
        return self.question.cost() if self.sizes is None else self.question.parts()["answer"]

    @property
    def public(self) -> Hashable:
        return self.question, len(self.groups), None if self.sizes is None else tuple(self.sizes.tolist())

    def draw(self, source: RandomSource) -> list[Values]:
        return answers(self.question, self.groups, source, self.sizes)

    def settled_by(self, driver: Driver) -> list[Values]:
        """The answers, by a driver that settles the decisions about each group."""
        everyone = GroupsView(self.groups, np.arange(len(self.groups)), self.question.ladder)

        def decide(many: Many) -> Ints:
            outcomes = driver.decide(Together(tuple(map(many.one, range(len(many)))), many.cost))
            return np.array([many.code(outcome) for outcome in outcomes], dtype=np.int64)

        return settled(self.question, everyone, decide, self.sizes)

    def __repr__(self) -> str:
        return f"GroupQuantiles({len(self.groups)} groups, data hidden)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupIntervals:
    """The answers of all groups with their intervals, group by group: each as if it were alone, of its noisy size."""

    plan: IntervalPlan | ExtremesPlan
    groups: Groups
    sizes: NDArray[Any]
    marks: bool

    def cost(self) -> Cost:
        return self.plan.parts()["answer"]

    @property
    def public(self) -> Hashable:
        return self.plan, len(self.groups), tuple(self.sizes.tolist()), self.marks

    def draw(self, source: RandomSource) -> list[tuple[int | float | None, Interval]]:
        return self.settled_by(Draw(source))

    def settled_by(self, driver: Driver) -> list[tuple[int | float | None, Interval]]:
        """The answers and their ends, None where a group has too few rows, by a driver that settles each decision."""
        everyone = GroupsView(self.groups, np.arange(len(self.groups)), self.plan.ladder)
        return [self._one(driver, everyone, group, int(size)) for group, size in enumerate(self.sizes.tolist())]

    def _one(self, driver: Driver, view: GroupsView, group: int, noisy: int) -> tuple[int | float | None, Interval]:
        plan, size = self.plan, self.plan.sized(noisy)
        if isinstance(plan, IntervalPlan):
            bracket = driver.run(plan.program(view.alone(group), self.marks, size))
            return bracket.value, bracket.ends
        extremes = driver.run(plan.program(view.alone(group), self.marks, size))
        return extremes.values[0], extremes.ends[0]

    def __repr__(self) -> str:
        return f"GroupIntervals({len(self.groups)} groups, data hidden)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupPrograms(Generic[R]):
    """The results of a program for each group, one after the other. Groups are disjoint: all cost as much as one."""

    programs: tuple[Callable[[], Program[R]], ...]
    cost: Callable[[], Cost]

    @property
    def public(self) -> Hashable:
        return len(self.programs)

    def draw(self, source: RandomSource) -> list[R]:
        return self.settled_by(Draw(source))

    def settled_by(self, driver: Driver) -> list[R]:
        """The results by a driver that settles each decision."""
        return [driver.run(program()) for program in self.programs]

    def __repr__(self) -> str:
        return f"GroupPrograms({len(self.programs)} groups, data hidden)"
