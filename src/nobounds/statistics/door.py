"""The door: every statistic passes through here, in this order.

Plan from public facts, charge, read, answer, release. A plan sees facts and no records, so its cost cannot depend on
them; the charge comes before the first record is read; what an answer reads is already paid for, and is read at one
moment (see `engines.moment`). An answer is a program (see `programs`), which the driver of the call runs: by default,
the one that draws.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit
from nobounds.accounting.spending import Chargeable, charged
from nobounds.accounting.terms import Terms
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.engines.moment import at_one_moment
from nobounds.ladders.facts import Facts
from nobounds.noise.source import Rng
from nobounds.programs.program import Program, driver_of
from nobounds.release.answer import later, may_wait
from nobounds.release.release import Release
from nobounds.release.schema import Interval
from nobounds.release.words import TOO_FEW, TOO_FEW_NUMBERS
from nobounds.statistics.typed import require_type, type_of, typed_intervals, typed_rung, typed_value
from nobounds.values import dataclass

F_co = TypeVar("F_co", covariant=True)
F = TypeVar("F")
D = TypeVar("D")
P = TypeVar("P")
R = TypeVar("R")


class Unread(Protocol[F_co]):
    """Data that were opened and not read: only their public facts are known."""

    def public(self, sized: bool) -> F_co:
        """The public facts; `sized`: with the number of rows, which is public under swap."""
        ...


@dataclass(frozen=True, slots=True)
class Request(Generic[F, D, P, R]):
    """A requested statistic, with its parameters checked.

    plan: from public facts to the plan.
    loss: what the plan costs a unit.
    purpose: what the charge is for, as a budget's ledger states it.
    answer: the program from the plan, the facts, the data and the loss to the release.
    sized: whether the plan uses the number of rows under swap; counting them may take a pass, before the charge.
    """

    neighbors: Neighbors
    plan: Callable[[F], P]
    loss: Callable[[P, F], PrivacyLoss]
    purpose: Callable[[F], str]
    answer: Callable[[P, F, D, PrivacyLoss], Program[R]]
    sized: bool = True


class Inside:
    """In the place of a random generator: the statistic is a part of another one, which has charged for it.

    Then a statistic returns its program, for the other one to run.
    """


INSIDE: Any = Inside()


def admit(request: Request[F, Any, P, R], data: Unread[F], budget: Chargeable | None, rng: Rng) -> R:
    """The release of a statistic: plan, charge, and only then read and answer."""
    if isinstance(rng, Inside):
        part: Any = _part(request, data)
        return part
    driver = driver_of(rng)

    def released() -> R:
        facts = data.public(request.neighbors == "swap" and request.sized)
        plan = request.plan(facts)
        loss = charged(request.loss(plan, facts), budget, request.purpose(facts))
        with np.errstate(all="ignore"):  # a warning would reveal a record, such as a NaN that signals
            return driver.run(request.answer(plan, facts, data, loss))

    return at_one_moment(released)


def _part(request: Request[F, Any, P, R], data: Unread[F]) -> Program[R]:
    """The program of a statistic that is a part of another one; nothing is charged."""
    facts = data.public(request.neighbors == "swap" and request.sized)
    plan = request.plan(facts)
    return request.answer(plan, facts, data, request.loss(plan, facts))


class ColumnPlan(Protocol):
    """A plan for a statistic of one column."""

    def cost(self) -> Cost:
        """The cost for one row."""
        ...

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        ...

    def __hash__(self) -> int:
        """A plan is a public value."""
        ...


@may_wait("parameters", "intervals", "parts")
@dataclass(frozen=True, slots=True)
class Answer:
    """A noisy answer, and what its release says about it; `parts` is the cost by part, if a noisy size has set it.

    What is not answered is None, and `reason` says why. `size` is the noisy number of records, if one was bought.
    """

    value: int | float | Fraction | tuple[int | float | Fraction | None, ...] | None
    parameters: dict[str, Any]
    intervals: tuple[Interval, ...] = ()
    parts: dict[str, Cost] | None = None
    reason: str | None = None
    size: int | None = None

    def with_first(self, parameters: dict[str, Any]) -> "Answer":
        """The same answer, with these parameters before its own."""
        return Answer(
            self.value,
            later(lambda: parameters | self.parameters),
            later(lambda: self.intervals),
            later(lambda: self.parts),
            self.reason,
            self.size,
        )


C = TypeVar("C", bound=ColumnPlan)
Released: TypeAlias = Program[Release]
Answering: TypeAlias = Program[Answer]  # named, because functions inside others evaluate their hints at each call


@lru_cache(maxsize=256)  # plans are public values: the second call of a kind costs nothing
def _loss(plan: ColumnPlan, unit: Unit, neighbors: Neighbors) -> PrivacyLoss:
    return unit.loss(plan.cost(), neighbors)


def _parameters(statistic: str, plan: ColumnPlan, terms: Terms, facts: Facts, noisy: Answer) -> dict[str, Any]:
    """What a release says about how it was made."""
    kind = facts.kind.of_answer(statistic)
    read = {"values_read": noisy.size} if facts.texts and noisy.size is not None else {}
    breakdown = terms.spending.breakdown(plan.parts() if noisy.parts is None else noisy.parts, facts.unit)
    return facts.origin() | type_of(statistic, facts.kind) | typed_rung(noisy.parameters, kind) | read | breakdown


def release_column(
    statistic: str,
    purpose: str,
    terms: Terms,
    plan: Callable[[Facts], C],
    answer: Callable[[C, Column], Program[Answer]],
    data: object,
    options: Any,
    *,
    sized: bool = True,
) -> Release:
    """The release of a statistic of one column; `options` has the budget and the generator."""

    def released(plan: C, facts: Facts, data: Column, loss: PrivacyLoss) -> Released:
        noisy = yield from answer(plan, data.read_once())
        reason = TOO_FEW_NUMBERS if facts.texts and noisy.reason == TOO_FEW else noisy.reason
        value = typed_value(statistic, facts.kind, noisy.value)
        parameters = later(lambda: _parameters(statistic, plan, terms, facts, noisy))
        bars = later(lambda: typed_intervals(statistic, facts.kind, noisy.intervals))
        return Release(statistic, value, loss, parameters, bars, reason)

    def checked(facts: Facts) -> C:
        require_type(statistic, facts)
        return plan(facts)

    request = Request(
        terms.neighbors,
        checked,
        lambda plan, facts: _loss(plan, facts.unit, terms.neighbors),
        lambda facts: facts.purpose(purpose),
        released,
        sized,
    )
    return admit(request, column(data), options.get("budget"), options.get("rng"))
