"""The cases of permute-and-flip and of the exponential mechanism: a choice among 3000 rungs, or under a prior."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, audited, pure_claims
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_of
from nobounds.ladders.zoned import Zoned
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.ranks.route import ChoiceRoute, rank_sensitivity

RUNGS = 3000
SPOTS = (0.5, 1.5, 2998.5, 2999.5)  # nearly all rungs are empty, and lie on one side of a record at the end
PLACES = (-64.0, -62.0, -60.0, 0.0, 3.0, 60.0, 64.0)
FEWER = (-64.0, -62.0, 0.0, 60.0, 64.0)  # in the quick table
RANKS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


def choice_law(
    law: Callable[[Runs], RunLaw], q: Fraction, neighbors: Neighbors, epsilon: Fraction, data: Data
) -> Floats:
    """The law of the chosen rung."""
    histogram = Histogram.of([np.array(data, dtype=float)], _ladder())
    return law(Runs.of(histogram, q, epsilon / (2 * rank_sensitivity(q, neighbors)))).log_pmf()


def weighed_law(ladder: Ladder, q: Fraction, neighbors: Neighbors, epsilon: Fraction, data: Data) -> Floats:
    """The law of a rung that the exponential mechanism chooses under the prior of a ladder."""
    histogram = Histogram.of([np.array(data, dtype=float)], ladder)
    return weighted_law(
        Runs.of(histogram, q, epsilon / (2 * rank_sensitivity(q, neighbors)), prior_of(ladder))
    ).log_pmf()


def cases() -> Iterator[Case]:
    """Both mechanisms, add-remove and swap, several ranks."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for exponential in (False, True):
        for neighbors in both:
            for q in RANKS:
                yield _case(exponential, neighbors, q)
    for neighbors in both:
        for name, ladder in priors().items():
            yield _weighed(name, ladder, neighbors)


@cache
def priors() -> dict[str, Ladder]:
    """Short ladders of numbers, of a grid, and of deviations in a frame, each with a prior of its own."""
    rungs = Zoned(((-6, 1), (-2, 4), (3, 1)), 2)
    return {
        "numbers": Ladder.float_bits(4, -4).limited(Fraction(-64), Fraction(64)),
        "a grid": Ladder.grid(Fraction(1, 4), 4).limited(Fraction(-64), Fraction(64)),
        "deviations": Ladder(rungs, *rungs.ends).limited(Fraction(-64), Fraction(64)),
    }


@cache
def _ladder() -> Ladder:
    return Ladder.uniform(0, RUNGS, RUNGS)


def _case(exponential: bool, neighbors: Neighbors, q: Fraction) -> Case:
    law = partial(choice_law, weighted_law if exponential else flip_law, q, neighbors, Fraction(1))
    taken = ChoiceRoute(_ladder(), Fraction(1), Fraction(1), exponential)
    return Case(
        "exponential mechanism" if exponential else "permute-and-flip",
        f"{RUNGS} rungs, q {q}",
        "Gumbel" if exponential else "exponential",
        neighbors,
        "row",
        lambda: pure_claims(taken.cost(q, neighbors, nullable=False)),
        lambda: audited(law, SPOTS, 4, neighbors),
        tight=("epsilon", "range") if exponential else ("epsilon",),
        quick=q == Fraction(1, 2),
    )


def _weighed(name: str, ladder: Ladder, neighbors: Neighbors) -> Case:
    q, epsilon = Fraction(1, 2), Fraction(1)
    taken = ChoiceRoute(ladder, epsilon, epsilon / (2 * rank_sensitivity(q, neighbors)), exponential=True, weighed=True)
    return Case(
        "exponential mechanism with a prior",
        f"{name}, {ladder.size} rungs, q {q}",
        "Gumbel",
        neighbors,
        "row",
        lambda: pure_claims(taken.cost(q, neighbors, nullable=False)),
        lambda: audited(partial(weighed_law, ladder, q, neighbors, epsilon), PLACES, 4, neighbors),
        tight=("range",),
        quick=neighbors == "add-remove",
        brief=lambda: audited(partial(weighed_law, ladder, q, neighbors, epsilon), FEWER, 4, neighbors),
    )
