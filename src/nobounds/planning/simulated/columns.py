"""Statistics whose errors are forecast by seeded releases, because their answers have no closed law.

Each of them is a truth on a data set, and a program for a plan that is made from public facts.
"""

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.clipping.moments.variance import VariancePlan
from nobounds.counting.scan import Records
from nobounds.counting.second_look import Counts
from nobounds.exact import finite_float
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.expectation import Outcomes
from nobounds.planning.samples import Sample
from nobounds.programs.program import Draw, Program
from nobounds.ranks.answerable import answers
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_together
from nobounds.ranks.view import View
from nobounds.values import dataclass

Answered = Callable[[Any], Program[float | None]]  # from records; None where it is not answered


@dataclass(frozen=True, slots=True)
class Simulated:
    """A statistic under a plan."""

    truth: Callable[[Sample], float]
    answer: Answered
    records: Callable[[Sample], Any]

    def outcomes(self, sample: Sample, number: int, cap: float) -> Outcomes:
        """The error of one seeded release; one that is not answered is off by the error of a useless answer."""
        value = Draw(random.Random(number).getrandbits).run(self.answer(self.records(sample)))
        error = cap if value is None else abs(value - self.truth(sample))
        return Outcomes(None, np.array([error]), np.ones(1))


@dataclass(frozen=True, slots=True)
class Simulation:
    """A statistic: its true value, how its plan answers, and the records that it is taken of."""

    truth: Callable[[Sample], float]
    answer: Callable[[Facts, Terms, Stated], Answered]
    records: Callable[[Sample], Any]  # of one column, or the rows of two

    def of(self, facts: Facts, terms: Terms, stated: Stated) -> Simulated:
        """The statistic under the plan for these facts."""
        return Simulated(self.truth, self.answer(facts, terms, stated), self.records)


def _values(sample: Sample) -> Records:
    return lambda: [(sample.values, sample.counts)]


def _above(sample: Sample) -> Records:
    """Which records lie above the middle of the values; a forecast of a share is for one near a half."""
    return lambda: [((sample.values > _middle(sample)).astype(np.float64), sample.counts)]


def _middle(sample: Sample) -> float:
    return sample.quantile(0.5)


def _share(sample: Sample) -> float:
    return float((sample.values > _middle(sample)) @ sample.counts) / sample.total


def _variance(sample: Sample) -> float:
    mean = float(sample.values @ sample.counts) / sample.total
    return float((sample.values - mean) ** 2 @ sample.counts) / sample.total


def _spread(root: bool) -> Callable[[Facts, Terms, Stated], Answered]:
    def answer(facts: Facts, terms: Terms, stated: Stated) -> Answered:
        plan = VariancePlan.of(facts, terms, stated)

        def program(records: Records) -> Program[float | None]:
            settled, noisy = yield from plan.program(records)
            if not settled.clip.trusted:
                return None
            return math.sqrt(finite_float(noisy.value)) if root else finite_float(noisy.value)

        return program

    return answer


def _proportion(facts: Facts, terms: Terms, stated: Stated) -> Answered:
    plan = ProportionPlan.of(facts, terms)

    def program(records: Records) -> Program[float | None]:
        average = yield from plan.program(records)
        return None if plan.interval(average) == (0.0, 1.0) else finite_float(average.value)

    return program


def _iqr(facts: Facts, terms: Terms, stated: Stated) -> Answered:
    options = Options.of({"lower": stated.lower, "upper": stated.upper, "resolution": stated.resolution})
    plan = plan_together(facts, terms, options, (Fraction(1, 4), Fraction(3, 4)))

    def program(records: Records) -> Program[float | None]:
        view = View(Counts.of(records, plan.ladder))
        size = yield from plan.learned(view)
        if not all(answers(plan, size)):
            return None
        low, high = yield from plan.program(view, size)
        return abs(float(high - low))

    return program


SIMULATED: dict[str, Simulation] = {
    "std": Simulation(lambda sample: math.sqrt(_variance(sample)), _spread(root=True), _values),
    "variance": Simulation(_variance, _spread(root=False), _values),
    "iqr": Simulation(lambda sample: sample.quantile(0.75) - sample.quantile(0.25), _iqr, _values),
    "proportion": Simulation(_share, _proportion, _above),
}
