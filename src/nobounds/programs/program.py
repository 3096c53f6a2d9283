"""A program is a mechanism written once: a generator that yields decisions, is sent their outcomes, and returns.

A decision is one thing that noise decides: whether a noisy count is above, where a walk halts, which candidate is
chosen, what a noisy sum is. It holds the data that it is about, and knows how to be drawn exactly, what its law is, and
what it costs. Between two decisions a program uses outcomes and public facts alone, so whatever it does there is safe
to release; the audit tells runs apart that do not. Drivers run programs: to release (`Draw`), as a law (`law`), for
forecasts, for many groups at once, and side by side on neighbouring data to audit them.

    def rounded_count(total: int, epsilon: Fraction) -> Program[int]:
        noisy = yield Noisy(total, Additive(epsilon), cost=lambda: pure(epsilon))
        return max(0, 10 * round(noisy / 10))
"""

from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Any, Protocol, TypeAlias, TypeVar

from nobounds.accounting.cost import Cost
from nobounds.noise.source import RandomSource, random_source

R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Decision(Protocol[T_co]):
    """One thing that noise decides, on one data set. Sensitive, all but its `public` facts and its cost."""

    @property
    def cost(self) -> Callable[[], Cost]:
        """The cost of the decision, whatever its outcome."""
        ...

    @property
    def public(self) -> Hashable:
        """What is the same for neighbouring data, such as the scale of the noise."""
        ...

    def draw(self, source: RandomSource) -> T_co:
        """An exact draw of the outcome."""
        ...


Program: TypeAlias = Generator[Decision[Any], Any, R]


class Driver:
    """Runs programs. Given in the place of a random generator, it settles the decisions of a release."""

    def decide(self, decision: Decision[T]) -> T:
        """The outcome of a decision."""
        raise NotImplementedError

    def run(self, program: Program[R]) -> R:
        """The result of a program."""
        outcome = None
        while True:
            try:
                decision = program.send(outcome)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            outcome = self.decide(decision)


class Draw(Driver):
    """The driver that releases: every decision is drawn."""

    __slots__ = ("source",)

    def __init__(self, source: RandomSource) -> None:
        self.source = source

    def decide(self, decision: Decision[T]) -> T:
        """An exact draw."""
        return decision.draw(self.source)


def driver_of(rng: Any) -> Driver:
    """The driver given in the place of a generator, or the one that draws from it."""
    return rng if isinstance(rng, Driver) else Draw(random_source(rng))


def alone(decision: Decision[T]) -> Program[T]:
    """The program of one decision."""
    outcome: T = yield decision
    return outcome


def sent(program: Program[R], outcomes: Iterable[Any]) -> Decision[Any]:
    """The decision that a program comes to after these outcomes; raises StopIteration with the result at its end."""
    decision = next(program)
    for outcome in outcomes:
        decision = program.send(outcome)
    return decision
