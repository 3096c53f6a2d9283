"""The decisions of programs (see `programs`): what noise decides, with its exact draw, its law and its cost.

All of them hold data or counts, so their reprs show none of it. `cost` is a function, because few drivers ask for it.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from nobounds.accounting.cost import Cost, pure
from nobounds.arrays import Floats
from nobounds.mechanisms.exponential_mechanism import Bounded, proposed_rung, weighted_law, weighted_rung
from nobounds.mechanisms.flip import flip_law, flip_rung
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.quick_laws import Blocks, choice_blocks, walk_blocks
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import discrete_laplace
from nobounds.noise.laws import laplace_at_least
from nobounds.noise.source import RandomSource
from nobounds.programs.law import paths
from nobounds.programs.program import Decision, Draw, Driver, Program
from nobounds.values import dataclass

R = TypeVar("R")
FREE = pure(Fraction(0))
_LISTED = 1 << 13  # rungs that are listed one by one
_POINTS = 4  # rungs that stand for the law of a choice among more


class AddedNoise(Protocol):
    """Noise on whole numbers, as much as a sensitivity asks for; hashable, and equal if it has the same law."""

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is discrete Gaussian; else it is discrete Laplace."""
        ...

    def parameter(self, sensitivity: int) -> Fraction:
        """The variance of Gaussian noise, or the rate of Laplace noise."""
        ...

    def draw(self, sensitivity: int, source: RandomSource) -> int:
        """One draw."""
        ...

    def draws(self, sensitivity: int, many: int, source: RandomSource) -> list[int]:
        """Independent draws."""
        ...


class Hidden:
    """Base of decisions: the repr names the decision and its public facts."""

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}({self.public}, data hidden)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Noisy(Hidden):
    """A number plus noise, for a number that a record changes by at most the sensitivity."""

    number: int
    noise: AddedNoise
    cost: Callable[[], Cost]
    sensitivity: int = 1

    @property
    def public(self) -> Hashable:
        return self.noise, self.sensitivity

    def draw(self, source: RandomSource) -> int:
        return self.number + self.noise.draw(self.sensitivity, source)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyMany(Hidden):
    """Numbers that get independent noise of the same kind, for a vector that a record changes by the sensitivity.

    The sensitivity is in the norm of the noise: the Euclidean one for Gaussian noise.
    """

    numbers: Sequence[int]
    noise: AddedNoise
    cost: Callable[[], Cost]
    sensitivity: int = 1

    @property
    def public(self) -> Hashable:
        return self.noise, self.sensitivity, len(self.numbers)

    @property
    def parts(self) -> list[Noisy]:
        """The numbers one by one."""
        return [Noisy(number, self.noise, self.cost, self.sensitivity) for number in self.numbers]

    def draw(self, source: RandomSource) -> list[int]:
        drawn = self.noise.draws(self.sensitivity, len(self.numbers), source)
        return list(map(add, self.numbers, drawn))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Hidden):
    """The first of some levels, in falling order, that a noisy number reaches; the last one, if it reaches none."""

    number: int
    rate: Fraction
    levels: tuple[int, ...]
    cost: Callable[[], Cost]
    most: int  # larger noisy numbers count as this one, and negative ones as 0; no level is higher

    def __post_init__(self) -> None:
        if max(self.levels) > self.most:
            raise ValueError("a level must not be higher than the largest number")

    @property
    def public(self) -> Hashable:
        return self.rate, self.levels, self.most

    def draw(self, source: RandomSource) -> int:
        return self.reached(self.number + discrete_laplace(self.rate, source))

    def reached(self, noisy: int) -> int:
        """The level that this noisy number reaches."""
        kept = min(max(0, noisy), self.most)
        return next((level for level in self.levels if level <= kept), self.levels[-1])

    def outcomes(self) -> Iterator[tuple[int, float]]:
        left = 1.0
        for level in self.levels:
            last = level <= 0 or level == self.levels[-1]
            reached = 1.0 if last else laplace_at_least(self.rate, level - self.number)
            yield level, max(0.0, reached - (1 - left))  # it reaches this level and none of the earlier ones
            left = min(left, 1 - reached)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Above(Hidden):
    """Whether a number plus noise, whole numbers of `step`, is above 0; with `ties`, or at 0."""

    number: Fraction
    step: Fraction
    rate: Fraction
    ties: bool
    cost: Callable[[], Cost]

    @property
    def public(self) -> Hashable:
        return self.step, self.rate, self.ties

    def draw(self, source: RandomSource) -> bool:
        noisy = self.number + self.step * discrete_laplace(self.rate, source)
        return noisy > 0 or (noisy == 0 and self.ties)

    @property
    def chance(self) -> float:
        """The probability that it is above."""
        least = -self.number / self.step
        at_0 = self.ties and least.denominator == 1
        return laplace_at_least(self.rate, least.__floor__() + (0 if at_0 else 1))

    def outcomes(self) -> Iterator[tuple[bool, float]]:
        yield from ((False, 1 - self.chance), (True, self.chance))


@dataclass(frozen=True, eq=False, repr=False)
class Halt(Hidden):
    """The position where a walk halts, or None if it never does.

    The walk is made when it is needed. `full` makes the same walk with exact runs everywhere (see `skip_ahead`). With
    `one_end`, to halt at the last position and never to halt mean the same to the program.
    """

    make: Callable[[], Walk]
    cost: Callable[[], Cost]
    full: Callable[[], Walk] | None = None
    one_end: bool = False

    @cached_property
    def walk(self) -> Walk:
        """The walk, perhaps with exact runs around its target alone."""
        return self.make()

    @property
    def public(self) -> Hashable:
        walk = self.walk
        return walk.length, walk.step, walk.eps1, walk.eps2, walk.noise, self.one_end

    def draw(self, source: RandomSource) -> int | None:
        return halt_position(self.walk, source, self.full)

    def law(self) -> Law:
        return Law(self.walk)

    def log_pmf(self) -> tuple[list[int | None], Floats]:
        """All positions and never, with their log-probabilities, for a walk that is not long."""
        return [*range(self.walk.length), None], self.law().log_pmf()

    def outcomes(self) -> Iterator[tuple[int | None, float]]:
        """Never, and each position, for a walk that is not long."""
        tails = np.append(self.law().tail(np.arange(self.walk.length + 1)), 0.0)
        *masses, never = (tails[:-1] - tails[1:]).tolist()
        yield None, never
        yield from ((position, mass) for position, mass in enumerate(masses) if mass > 0)

    def blocks(self, number: int = 0) -> Blocks:
        """The law in blocks (see `quick_laws`)."""
        return walk_blocks(self.walk, number)


@dataclass(frozen=True, eq=False, repr=False)
class Choose(Hidden):
    """The rung that permute-and-flip or the exponential mechanism chooses; `make` and `full` as in `Halt`.

    `near` makes runs that are exact around the target alone, for a draw; then `make` makes those that are exact.
    `bounded`, for the exponential mechanism, makes bounds on distances to draw from.
    """

    make: Callable[[], Runs]
    exponential: bool
    cost: Callable[[], Cost]
    full: Callable[[], Runs] | None = None
    near: Callable[[], Runs] | None = None
    bounded: Callable[[], Bounded] | None = None

    @cached_property
    def runs(self) -> Runs:
        """The runs of rungs, perhaps exact around the target alone."""
        return self.make()

    @property
    def public(self) -> Hashable:
        runs = self.runs
        prior = None if runs.prior is None else runs.prior.key
        ends = int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1])
        return self.exponential, runs.rate, runs.slopes, *ends, prior

    def draw(self, source: RandomSource) -> int:
        if self.bounded is not None:
            return proposed_rung(self.bounded(), source)
        drawn = weighted_rung if self.exponential else flip_rung
        return drawn(self.runs, source, self.full) if self.near is None else drawn(self.near(), source, self.make)

    def law(self) -> RunLaw:
        return (weighted_law if self.exponential else flip_law)(self.runs)

    def log_pmf(self) -> tuple[list[int | None], Floats]:
        """All rungs with their log-probabilities, for a ladder that is not long."""
        first = int(self.runs.starts[0])
        return list(range(first, first + self.law().length)), self.law().log_pmf()

    def blocks(self, number: int = 0) -> Blocks:
        return choice_blocks(self.runs, self.exponential)

    def outcomes(self) -> Iterator[tuple[int, float]]:
        """Each rung of a ladder that is not long; of all numbers, a few that stand for equal parts of the law."""
        law = self.law()
        if law.length <= _LISTED:
            rungs, logs = self.log_pmf()
            yield from (
                (rung, math.exp(log)) for rung, log in zip(rungs, logs.tolist(), strict=True) if rung is not None
            )
        else:
            yield from self.points(_POINTS)

    def points(self, many: int) -> Iterator[tuple[int, float]]:
        """Rungs that stand for parts of the law with this probability each."""
        first, last, masses = self.blocks()
        passed = np.cumsum(masses) / masses.sum()
        at = np.searchsorted(passed, (np.arange(many) + 0.5) / many)
        middle = int(self.runs.starts[0]) + first + (last - first) // 2
        yield from ((rung, 1 / many) for rung in middle[np.minimum(at, len(middle) - 1)].tolist())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Together(Hidden):
    """Independent decisions about disjoint parts of the records, or for one price: drawn in their order."""

    parts: tuple[Decision[Any], ...]
    cost: Callable[[], Cost]

    @property
    def public(self) -> Hashable:
        return tuple((type(part).__name__, part.public) for part in self.parts)

    def draw(self, source: RandomSource) -> tuple[Any, ...]:
        return tuple(part.draw(source) for part in self.parts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nested(Hidden, Generic[R]):
    """The result of another program, as one decision; a driver may go through its decisions one by one.

    `shortcut` gives its outcomes with their probabilities, if there is a quicker way than to go through all of them.
    """

    program: Callable[[], Program[R]]
    cost: Callable[[], Cost]
    shortcut: Callable[[], Iterable[tuple[R, float]]] | None = None

    @property
    def public(self) -> Hashable:
        """Nothing but the decisions of the program."""
        return ()

    def draw(self, source: RandomSource) -> R:
        return self.settled_by(Draw(source))

    def settled_by(self, driver: Driver) -> R:
        """The result of a run by a driver that looks inside."""
        return driver.run(self.program())

    def outcomes(self) -> Iterator[tuple[R, float]]:
        """Each result with its probability; equal ones are not merged."""
        if self.shortcut is not None:
            yield from self.shortcut()
        else:
            yield from ((result, chance) for chance, result in paths(self.program))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bits(Hidden):
    """Public random bits, which decide nothing about records by themselves."""

    width: int

    def cost(self) -> Cost:
        return FREE

    @property
    def public(self) -> Hashable:
        return self.width

    def draw(self, source: RandomSource) -> int:
        return source(self.width)
