"""The cases of whole answers: quantiles and bounds with every branch reachable, for records and for users.

A whole answer is a noisy size, possibly a sign, and the walk or choice that they lead to; its law is the mixture. On a
ladder with one or a few rungs for each power of two that law can be enumerated, and with sizes of a few records every
branch has a substantial probability.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from nobounds.accounting.loss import Neighbors, Unit
from nobounds.accounting.spending import Spending
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Measure, Worst, audited
from nobounds.auditing.claims.walks import NOISES
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law
from nobounds.noise.discrete import Noise
from nobounds.ranks.auto import first_allowed
from nobounds.ranks.law import AnswerLaw, laplace_at_least
from nobounds.ranks.problem import Method, Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import AnyRoute, FlipRoute
from nobounds.ranks.tuning import TUNING

MISSING = math.nan
EPSILON = Fraction(2)
# At the ends hardly any rungs lie before the first record: those between two records carry nearly all the weight.
FAR = 1.7e308
SPOTS = (-FAR, -1e200, -3.0, 0.0, 5.0, 1e200, FAR)
# The public number of rows, and whether records can be missing: the size is then noisy, capped, known or too small.
PUBLIC: dict[str, tuple[int | None, bool]] = {
    "add-remove": (None, True),
    "swap": (400, True),
    "swap, no missing": (10**6, False),
    "swap, few rows": (2, False),
}
RANKS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1))
# The rows of users who have two each.
PERSONS = ((-FAR, -FAR), (-1e200, -1e200), (-3.0, 5.0), (0.0, 0.0), (5.0, 5.0), (FAR, FAR))


# Walks take the steps of the ladder itself, so that their laws are short; nothing else changes.
SHORT = replace(TUNING, fine_bits=0)


def live(question: Question) -> Question:
    """The question with sizes so small that every route has a substantial probability on a handful of records."""
    routes = tuple(
        tuple(replace(route, at_least=len(alternatives) - 1 - k) for k, route in enumerate(alternatives))
        for alternatives in question.routes
    )
    return replace(question, routes=routes)


def log_law(question: Question, data: Sequence[Any], which: int = 0) -> Floats:
    """Log-probabilities of all answers, from the positions of every part, merged where answers are equal."""
    ladder = question.ladder
    counts = Counts.of(lambda: [np.array(data, dtype=float)], ladder)
    if question.size.known is not None:
        question = replace(question, size=replace(question.size, known=len(data)))
    law = AnswerLaw.of(question, counts, which, least=0)
    total = np.full(ladder.last + 1 - ladder.first, -np.inf)
    for chance, route, part in law.parts:
        masses = part.log_pmf() + math.log(chance)
        if isinstance(route, FlipRoute):  # it always answers
            np.logaddexp.at(total, np.arange(len(masses)), masses)
            continue
        assert isinstance(part, Law)
        where = route.start + np.arange(part.walk.length) * (1 if route.up else -1) - ladder.first
        if route.from_zero:
            where[0] = -ladder.first
        np.logaddexp.at(total, where, masses[:-1])
        np.logaddexp.at(total, [route.stop - ladder.first], masses[-1:])
    return total


def joint_log_law(question: Question, data: Sequence[Any]) -> Floats:
    """Log-probabilities of two answers jointly, on some of the rungs: given the size they are independent."""
    some = _telling(question.ladder)
    present = sum(x == x for x in data)
    sizes = sorted({route.at_least for routes in question.routes for route in routes} | {0})
    joint = np.full((len(some), len(some)), -np.inf)
    for low, high in zip(sizes, [*sizes[1:], None], strict=True):
        reached = 1.0 if low == 0 else laplace_at_least(question.size.epsilon, low - present)
        chance = reached - (0.0 if high is None else laplace_at_least(question.size.epsilon, high - present))
        routes = [first_allowed(routes, low) for routes in question.routes]
        one, other = (log_law(_only(question, route, k), data)[some] for k, route in enumerate(routes))
        joint = np.logaddexp(joint, math.log(chance) + one[:, None] + other[None, :])
    return joint.ravel()


def _only(question: Question, route: AnyRoute, which: int) -> Question:
    """The question for one of the answers, on one route."""
    size = replace(question.size, known=0)
    problem = replace(question.problem, qs=(question.qs[which],))
    return replace(question, problem=problem, routes=((replace(route, at_least=0),),), size=size)


def _telling(ladder: Ladder) -> Any:
    """Some rungs: around every spot, at the ends, and spread over the rest."""
    near = ladder.rungs(np.array(SPOTS))[:, None] + np.array([-1, 0, 1])
    spread = np.linspace(ladder.first, ladder.last, 40).astype(np.int64)
    return np.unique(np.clip(np.concatenate([near.ravel(), spread]), ladder.first, ladder.last)) - ladder.first


def answers_seen(question: Question, neighbors: Neighbors, nullable: bool) -> Iterator[Worst]:
    """The worst losses over all neighbouring data sets of up to two records of both signs, some missing."""
    spots = (*SPOTS, *((MISSING,) if nullable else ()))
    law = log_law if len(question.qs) == 1 else joint_log_law
    return audited(partial(law, question), spots, 2, neighbors)


def users_seen(question: Question) -> Iterator[Worst]:
    """The worst losses for users with two rows each."""

    def law(data: Data) -> Floats:
        return log_law(question, [row for person in data for row in person])  # type: ignore[attr-defined]

    return audited(law, PERSONS, 2, "add-remove")


def live_question(variant: str, qs: tuple[Fraction, ...], noise: Noise, method: Method = "walk") -> Question:
    """The question with all of its routes alive; short ladders only."""
    rows, nullable = PUBLIC[variant]
    ladder, neighbors = Ladder.float_bits(0), _neighbors(variant)
    problem = Problem(qs, ladder, neighbors, nullable, rows, noise=noise, method=method, tuning=SHORT)
    return live(Question.of(problem, EPSILON))


def cases() -> Iterator[Case]:
    """Quantiles by walks and by choices, the bounds, and quantiles for users."""
    for variant in PUBLIC:
        for noise in NOISES:
            for q in RANKS:
                quick = noise == "exponential" and q in (Fraction(1, 2), Fraction(1))
                yield _case("quantile", variant, (q,), noise, "walk", quick)
    methods: tuple[Method, ...] = ("flip", "exponential")
    for variant in ("add-remove", "swap"):
        for method in methods:
            yield _case(f"quantile by {method}", variant, (Fraction(1, 2),), "exponential", method, False)
        yield _case("bounds", variant, (Fraction(0), Fraction(1)), "exponential", "walk", variant == "add-remove")
    for q in RANKS:
        yield _users(q)


def _case(name: str, variant: str, qs: tuple[Fraction, ...], noise: Noise, method: Method, quick: bool) -> Case:
    nullable = PUBLIC[variant][1] and variant != "add-remove"

    def question() -> Question:
        return live_question(variant, qs, noise, method)

    def claims() -> dict[Measure, float]:
        loss = question().loss()
        return {"epsilon": loss.epsilon, "range": loss.eta}

    def look() -> list[Worst]:
        return list(answers_seen(question(), _neighbors(variant), nullable))

    of = ", ".join(f"q {q}" for q in qs) if len(qs) == 1 else "minimum and maximum"
    more = variant.removeprefix(_neighbors(variant)).removeprefix(", ")
    setting = of + (f", {more}" if more else "")
    tight = _tight(variant, qs, noise) if method == "walk" else ()
    return Case(
        name,
        setting,
        noise,
        neighbors=_neighbors(variant),
        unit="row",
        claims=claims,
        look=look,
        tight=tight,
        quick=quick,
    )


def _tight(variant: str, qs: tuple[Fraction, ...], noise: Noise) -> tuple[Measure, ...]:
    """Every walk reaches its epsilon; the range is reached where both its sides come from one pair and one route."""
    inner = 0 < qs[0] < 1
    reached = {
        "add-remove": inner,
        "swap": not inner and noise != "gumbel",
        "swap, no missing": noise == "exponential",
        "swap, few rows": True,
    }
    return ("epsilon", "range") if reached[variant] else ("epsilon",)


def _users(q: Fraction) -> Case:
    unit = Unit("user", 2)

    def question() -> Question:
        each = Spending.of(EPSILON, None).each(unit.rows).amount
        return live(Question.of(Problem((q,), Ladder.float_bits(0), "add-remove", tuning=SHORT), each))

    def claims() -> dict[Measure, float]:
        loss = unit.loss(question().cost(), "add-remove")
        return {"epsilon": loss.epsilon, "range": loss.eta}

    def look() -> list[Worst]:
        return list(users_seen(question()))

    tight = _tight("add-remove", (q,), "exponential")
    return Case(
        "quantile",
        f"q {q}",
        "exponential",
        neighbors="add-remove",
        unit="user of 2 rows",
        claims=claims,
        look=look,
        tight=tight,
        quick=q == 1,
    )


def _neighbors(variant: str) -> Neighbors:
    return "swap" if variant.startswith("swap") else "add-remove"
