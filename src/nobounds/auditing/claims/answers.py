"""The cases of quantiles: every decision that an answer is made of, for records and for users.

An answer on a ladder that the user fixes is one walk or one choice, and its law can be enumerated. Other answers are
made of a size, a centre, a scale, and a walk or a choice in their frame; each of these is audited by itself, for sizes
and frames that the data need not have, because whatever was decided before is public by then. Their costs add up to no
more than what is charged, which the cases in `releases` check.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from nobounds.accounting.cost import Cost, pure
from nobounds.accounting.loss import Neighbors, Unit
from nobounds.accounting.spending import Spending
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Measure, Worst, audited, pure_claims
from nobounds.auditing.claims.walks import NOISES
from nobounds.auditing.evidence.kinds import evidence_of
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.noise.discrete import Noise
from nobounds.ranks.auto import auto, size_rule
from nobounds.ranks.framing import Around, FrameRule, octave_runs, prior_choice
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import Method, Problem
from nobounds.ranks.question import Question
from nobounds.ranks.route import ChoiceRoute, OneRoute, Route
from nobounds.ranks.tuning import TUNING, RankTuning
from nobounds.ranks.values import floats_at
from nobounds.ranks.view import View

MISSING = math.nan
EPSILON = Fraction(2)
HALF = Fraction(1, 2)
# At the ends almost no rungs lie before the first record: those between two records carry nearly all the weight.
FAR = 1.7e308
SPOTS = (-FAR, -1e200, -3.0, 0.0, 5.0, 1e200, FAR)
RANKS = (Fraction(0), Fraction(1, 4), HALF, Fraction(1))
# The rows of users who have two each.
PERSONS = ((-FAR, -FAR), (-1e200, -1e200), (-3.0, 5.0), (0.0, 0.0), (5.0, 5.0), (FAR, FAR))
# Neighbours, and whether records can be missing.
RELATIONS: dict[str, tuple[Neighbors, bool]] = {
    "add-remove": ("add-remove", True),
    "swap": ("swap", True),
    "swap, no missing": ("swap", False),
}
# All numbers under the prior are few here, and so are the rungs of a choice in a frame; nothing else changes.
SHORT: RankTuning = replace(
    TUNING, center_bits=4, choice_bits=4, most_choice_bits=4, prior_floor=-4, least_bits=1, most_bits=1
)
FEW = Ladder.float_bits(4, -4).limited(Fraction(-64), Fraction(64))
NUMBERS = (-64.0, -63.0, -61.0, 0.0, 7.0, 61.0, 64.0)
SCALED = (-1e300, 0.0, 1e-85, 2e-86, 5.0, 1e300)
PLACED = (-1e300, -40.0, 3.0, 3.0001, 47.0, 1e300)  # around the centre 3
FRAME = Frame(3.0, -4)
# The records in the quick table: those of the worst pairs.
FEWER: dict[Sequence[Any], Sequence[Any]] = {
    SPOTS: (-FAR, -1e200, 5.0, 1e200),
    PERSONS: ((-FAR, -FAR), (0.0, 0.0), (5.0, 5.0)),
    NUMBERS: (-64.0, -63.0, 7.0, 61.0, 64.0),
    SCALED: (-1e300, 1e-85, 2e-86, 5.0),
    PLACED: (3.0, 47.0, 1e300),
}
FRAMED: tuple[tuple[Fraction, Noise], ...] = (
    (HALF, "exponential"),
    (Fraction(9, 10), "exponential"),
    (Fraction(1, 10), "laplace"),
    (Fraction(1), "exponential"),
)
MANY = 3000  # records, for routes in a frame


def plain(relation: str, q: Fraction, ladder: Ladder, method: Method = "auto", noise: Noise = "exponential") -> Problem:
    """The problem of one quantile without a fixed ladder."""
    neighbors, nullable = RELATIONS[relation]
    return Problem((q,), ladder, neighbors, nullable, 10**6, noise=noise, method=method, grows=True, tuning=SHORT)


def log_law(question: Question, data: Sequence[Any], which: int = 0) -> Floats:
    """Log-probabilities of all answers on a fixed ladder, merged where they are equal."""
    ladder, total = question.ladder, np.full(question.ladder.size, -np.inf)
    for chance, route, part in AnswerLaw.of(question, _counts(data, ladder), which, least=0).parts:
        masses = part.log_pmf() + math.log(chance)
        # A walk that never halts ends at its last rung.
        answers = floats_at(ladder, route, np.minimum(np.arange(len(masses)), part.length - 1))
        np.logaddexp.at(total, ladder.rungs(answers) - ladder.first, masses)
    return total


def joint_log_law(question: Question, data: Sequence[Any]) -> Floats:
    """Log-probabilities of two answers on a fixed ladder jointly, on some of the rungs: they are independent."""
    some = _telling(question.ladder)
    one, other = (log_law(question, data, k)[some] for k in (0, 1))
    return np.asarray(one[:, None] + other[None, :]).ravel()


def _counts(data: Sequence[Any], ladder: Ladder) -> Counts:
    return Counts.of(lambda: [np.array(data, dtype=float)], ladder)


def _telling(ladder: Ladder) -> Any:
    """Some rungs: around every spot, at the ends, and spread over the rest."""
    near = ladder.rungs(np.array(SPOTS))[:, None] + np.array([-1, 0, 1])
    spread = np.linspace(ladder.first, ladder.last, 40).astype(np.int64)
    return np.unique(np.clip(np.concatenate([near.ravel(), spread]), ladder.first, ladder.last)) - ladder.first


def route_law(problem: Problem, route: OneRoute, data: Sequence[Any]) -> Floats:
    """Log-probabilities of the last decision on a route."""
    decision = route.last(problem.qs[0], problem, View(_counts(data, problem.ladder)))
    exact = replace(decision, make=decision.full) if decision.full is not None else decision
    return np.asarray(exact.log_pmf()[1])


def level_law(problem: Problem, epsilon: Fraction, data: Sequence[Any]) -> Floats:
    """Log-probabilities of the sizes that plans tell apart, up to 40."""
    rule = replace(size_rule(problem, epsilon), at_most=40)
    decision = View(_counts(data, problem.ladder)).level(epsilon, rule.at_most, rule.levels, partial(pure, epsilon))
    return np.array(list(evidence_of(decision, random.Random(0).getrandbits).logs.values()))


def scale_law(rule: FrameRule, center: float, data: Sequence[Any]) -> Floats:
    """Log-probabilities of all octaves of the scale around a centre."""
    rate = rule.eps_scale / 2 if rule.neighbors == "swap" else rule.eps_scale
    octaves = View(_counts(data, Ladder.float_bits(0))).octaves(Around(center, None))
    return weighted_law(octave_runs(octaves, rate, rule.heaped)).log_pmf()


def users_seen(question: Question, persons: Sequence[Any] = PERSONS) -> Iterator[Worst]:
    """The worst losses for users with two rows each."""

    def law(data: Data) -> Floats:
        return log_law(question, [row for person in data for row in person])  # type: ignore[attr-defined]

    return audited(law, persons, 2, "add-remove")


def fixed(
    relation: str, qs: tuple[Fraction, ...], noise: Noise, method: Method = "walk", epsilon: Fraction = EPSILON
) -> Question:
    """A question on a fixed ladder of one rung for each power of two."""
    neighbors, nullable = RELATIONS[relation]
    problem = Problem(qs, Ladder.float_bits(0), neighbors, nullable, noise=noise, method=method)
    return Question.of(problem, epsilon)


def cases() -> Iterator[Case]:
    """Sizes, centres, scales, routes in frames, and answers on fixed ladders, for records and for users."""
    for relation in RELATIONS:
        yield from _sizes(relation)
        yield from _numbers(relation)
        yield from _scales(relation)
        yield from _framed(relation)
        yield from _answers(relation)
    for q in RANKS:
        yield _users(q)


def _case(
    name: str,
    setting: str,
    relation: str,
    cost: Callable[[], Cost],
    law: Callable[[Data], Floats],
    spots: Sequence[float],
    most: int,
    *,
    tight: tuple[Measure, ...] = (),
    noise: str = "exponential",
    quick: bool = False,
) -> Case:
    neighbors, nullable = RELATIONS[relation]
    gone = (MISSING,) if nullable and neighbors == "swap" else ()
    more = relation.removeprefix(neighbors)
    return Case(
        name,
        setting + more,
        noise,
        neighbors=neighbors,
        unit="row",
        claims=lambda: pure_claims(cost()),
        look=lambda: audited(law, (*spots, *gone), most, neighbors),
        tight=tight,
        quick=quick,
        brief=lambda: audited(law, (*FEWER.get(spots, spots), *gone), most, neighbors),
    )


def _sizes(relation: str) -> Iterator[Case]:
    """The size that a plan is made for; under swap it is sensitive if records can be missing."""
    if relation == "swap, no missing":
        return
    for epsilon in (Fraction(1, 10), EPSILON):
        problem = replace(plain(relation, HALF, FEW), rows=None)
        law = partial(level_law, problem, epsilon)
        yield _case(
            "quantile, size",
            f"epsilon {epsilon}",
            relation,
            partial(pure, epsilon),
            law,
            (1.0,),
            5,
            tight=("epsilon",) if epsilon == EPSILON else (),
            noise="discrete Laplace",
            quick=epsilon == EPSILON,
        )


def _numbers(relation: str) -> Iterator[Case]:
    """A choice among all numbers under the prior: the centre of a frame, or an answer with few records."""
    for q in (Fraction(1, 64), Fraction(1, 4), HALF):
        problem = plain(relation, q, FEW)
        route = prior_choice(problem, q, EPSILON, SHORT.center_bits)
        yield _case(
            "quantile, choice under the prior",
            f"q {q}",
            relation,
            partial(route.cost, q, problem.neighbors, problem.nullable),
            partial(route_law, problem, route),
            NUMBERS,
            4,
            tight=("epsilon",) if q == HALF else (),
            noise="Gumbel",
            quick=q == HALF,
        )
    if RELATIONS[relation][0] == "swap":
        yield from _lopsided(relation)


def _lopsided(relation: str) -> Iterator[Case]:
    """The same in a tail of few records, where ranks count more on one side of the target."""
    for q, slopes in ((Fraction(1, 4), (3, 1)), (Fraction(3, 4), (2, 5))):
        problem = plain(relation, q, FEW)
        route = replace(prior_choice(problem, q, EPSILON, SHORT.center_bits), rate=EPSILON / sum(slopes), slopes=slopes)
        yield _case(
            "quantile, lopsided choice under the prior",
            f"q {q}, slopes {slopes[0]} and {slopes[1]}",
            relation,
            partial(route.cost, q, problem.neighbors, problem.nullable),
            partial(route_law, problem, route),
            NUMBERS,
            4,
            noise="Gumbel",
            quick=slopes == (3, 1),
        )


def _scales(relation: str) -> Iterator[Case]:
    """The octave of the median deviation that is not 0."""
    rule = FrameRule.of(plain(relation, HALF, FEW), EPSILON, EPSILON)
    settings = ((0.0, SCALED), (1e9, (-1e300, 999999999.0, 1e9, 1000000001.0, 1e12)))
    for center, spots in settings:
        yield _case(
            "quantile, scale",
            f"centre {center:g}",
            relation,
            rule.scale_cost,
            partial(scale_law, rule, center),
            spots,
            4,
            tight=("epsilon",) if center == 0 else (),
            noise="Gumbel",
            quick=center == 0,
        )


def _framed(relation: str) -> Iterator[Case]:
    """The walks and choices of auto in a frame."""
    for q, noise in FRAMED:
        problem = plain(relation, q, Ladder.float_bits(0), noise=noise)
        for zcdp in (False, True) if noise == "exponential" else (False,):
            (route,) = auto(problem, EPSILON, MANY, zcdp).routes
            placed = route.within(FRAME)
            yield _case(
                f"quantile, {_kind(route)} in a frame",
                f"q {q}{', at a rho' if zcdp else ''}",
                relation,
                partial(route.cost, q, problem.neighbors, problem.nullable),
                partial(route_law, problem, placed),
                PLACED,
                2 if isinstance(route, Route) else 3,
                tight=("epsilon",) if isinstance(route, Route) and relation == "add-remove" else (),
                noise=noise,
                quick=relation == "add-remove" and not zcdp and noise == "exponential",
            )


def _kind(route: OneRoute) -> str:
    if isinstance(route, Route):
        return "walk"
    assert isinstance(route, ChoiceRoute)
    return "weighed choice" if route.exponential else "choice"


def _answers(relation: str) -> Iterator[Case]:
    """Whole answers on a fixed ladder."""
    for noise in NOISES:
        for q in RANKS:
            yield _answer(
                "quantile",
                relation,
                (q,),
                noise,
                "walk",
                noise == "exponential" and q in (HALF, 1) and relation != "swap, no missing",
            )
    if relation != "swap, no missing":
        methods: tuple[Method, ...] = ("flip", "exponential")
        for method in methods:
            yield _answer(f"quantile by {method}", relation, (HALF,), "exponential", method, False)
        yield _answer("bounds", relation, (Fraction(0), Fraction(1)), "exponential", "walk", relation == "add-remove")


def _answer(name: str, relation: str, qs: tuple[Fraction, ...], noise: Noise, method: Method, quick: bool) -> Case:
    question = partial(fixed, relation, qs, noise, method)
    law = log_law if len(qs) == 1 else joint_log_law
    return _case(
        name,
        f"q {qs[0]}" if len(qs) == 1 else "minimum and maximum",
        relation,
        lambda: question().cost(),
        lambda data: law(question(), data),
        SPOTS,
        2,
        tight=("epsilon",) if method == "walk" else (),
        noise=noise,
        quick=quick,
    )


def _users(q: Fraction) -> Case:
    unit = Unit("user", 2)

    def question() -> Question:
        return fixed("add-remove", (q,), "exponential", epsilon=Spending.of(EPSILON, None).each(unit.rows).amount)

    def claims() -> dict[Measure, float]:
        loss = unit.loss(question().cost(), "add-remove")
        return {"epsilon": loss.epsilon, "range": loss.eta}

    return Case(
        "quantile",
        f"q {q}",
        "exponential",
        neighbors="add-remove",
        unit="user of 2 rows",
        claims=claims,
        look=lambda: list(users_seen(question())),
        tight=("epsilon",),
        quick=q == 1,
        brief=lambda: list(users_seen(question(), FEWER[PERSONS])),
    )
