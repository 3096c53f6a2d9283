"""The cases of permute-and-flip and of the exponential mechanism: a choice among 3000 rungs."""

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
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.ranks.route import FlipRoute, rank_sensitivity

RUNGS = 3000
SPOTS = (0.5, 1.5, 2998.5, 2999.5)  # nearly all rungs are empty, and lie on one side of a record at the end
RANKS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


def choice_law(
    law: Callable[[Runs], RunLaw], q: Fraction, neighbors: Neighbors, epsilon: Fraction, data: Data
) -> Floats:
    """The law of the chosen rung."""
    histogram = Histogram.of([np.array(data, dtype=float)], _ladder())
    return law(Runs.of(histogram, q, epsilon / (2 * rank_sensitivity(q, neighbors)))).log_pmf()


def cases() -> Iterator[Case]:
    """Both mechanisms, add-remove and swap, several ranks."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for exponential in (False, True):
        for neighbors in both:
            for q in RANKS:
                yield _case(exponential, neighbors, q)


@cache
def _ladder() -> Ladder:
    return Ladder.uniform(0, RUNGS, RUNGS)


def _case(exponential: bool, neighbors: Neighbors, q: Fraction) -> Case:
    law = partial(choice_law, weighted_law if exponential else flip_law, q, neighbors, Fraction(1))
    taken = FlipRoute(_ladder(), Fraction(1), Fraction(1), exponential)
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
