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
from nobounds.noise.discrete import Noise
from nobounds.programs.law import paths
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import Method, Problem
from nobounds.ranks.question import Question
from nobounds.ranks.tuning import TUNING
from nobounds.ranks.values import floats_at
from nobounds.ranks.view import View

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
    """Log-probabilities of all answers."""
    if question.size.known is not None:
        question = replace(question, size=replace(question.size, known=len(data)))
    return _log_law(question, _counts(question, data), which)


def _counts(question: Question, data: Sequence[Any]) -> Counts:
    return Counts.of(lambda: [np.array(data, dtype=float)], question.ladder)


def _log_law(question: Question, counts: Counts, which: int) -> Floats:
    """From the positions of every part, merged where answers are equal; a walk that never halts ends at its last."""
    ladder = question.ladder
    total = np.full(ladder.last + 1 - ladder.first, -np.inf)
    for chance, route, part in AnswerLaw.of(question, counts, which, least=0).parts:
        masses = part.log_pmf() + math.log(chance)
        answers = floats_at(question, route, np.minimum(np.arange(len(masses)), part.length - 1))
        np.logaddexp.at(total, ladder.rungs(answers) - ladder.first, masses)
    return total


def joint_log_law(question: Question, data: Sequence[Any]) -> Floats:
    """Log-probabilities of two answers jointly, on some of the rungs: given the size they are independent."""
    some, counts = _telling(question.ladder), _counts(question, data)
    joint = np.full((len(some), len(some)), -np.inf)
    for chance, size in paths(lambda: question.learned(View(counts), question.routes)):
        known = replace(question, size=replace(question.size, known=size))
        one, other = (_log_law(known, counts, k)[some] for k in (0, 1))
        joint = np.logaddexp(joint, math.log(chance) + one[:, None] + other[None, :])
    return joint.ravel()


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
