"""Decisions about all groups of a table at once. Groups are disjoint, so all of them cost as much as one.

They hold data, so their reprs show only their public facts.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.groups.driver import answers, by_quantile, program_of
from nobounds.groups.noise import noise_many
from nobounds.groups.records import Groups
from nobounds.noise.additive import Additive
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Program
from nobounds.ranks.question import Question
from nobounds.ranks.values import Values

LARGEST = 1 << 60  # whole numbers below this add up in 64 bits, with noise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyGroups:
    """A whole number of each group plus independent noise, for numbers that a record changes by the sensitivity.

    The numbers are below `LARGEST`, or Python's.
    """

    numbers: NDArray[Any]
    noise: Additive
    cost: Callable[[], Cost]
    sensitivity: int = 1

    @property
    def public(self) -> Hashable:
        """The noise, and how many groups there are."""
        return self.noise, self.sensitivity, len(self.numbers)

    def draw(self, source: RandomSource) -> NDArray[Any]:
        """The noisy numbers, in 64 bits or as Python's whole numbers; which of them must not show."""
        noise = noise_many(self.noise, self.sensitivity, len(self.numbers), source)
        if noise.dtype != object and int(np.abs(noise).max(initial=0)) < LARGEST:
            return np.asarray(self.numbers + noise)
        return np.asarray(self.numbers.astype(object) + noise.astype(object))

    def __repr__(self) -> str:
        return f"NoisyGroups({self.public}, data hidden)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupQuantiles:
    """The answers of all groups to one question: an array for each of its quantiles.

    A driver may go through the groups one by one, by `program_of`, and put their answers together by `result`.
    """

    question: Question
    groups: Groups

    def cost(self) -> Cost:
        """The cost of the question."""
        return self.question.cost()

    @property
    def public(self) -> Hashable:
        """The question, and how many groups there are."""
        return self.question, len(self.groups)

    def draw(self, source: RandomSource) -> list[Values]:
        """The answers, by the groups driver."""
        return answers(self.question, self.groups, source)

    def program_of(self, g: int) -> Program[tuple[int | float, ...]]:
        """The program of one group."""
        return program_of(self.question, self.groups, g)

    def result(self, rows: list[tuple[int | float, ...]]) -> list[Values]:
        """What is decided, from the results of the programs of all groups."""
        return by_quantile(self.question, rows)

    def __repr__(self) -> str:
        return f"GroupQuantiles({len(self.groups)} groups, data hidden)"
