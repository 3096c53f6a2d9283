"""Forecasters: the expected errors of a statistic on a shape of data, as a function of the spending.

No noise is drawn except where answers have no closed law, as for `quantiles`: there seeded releases are made.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.plan import SumPlan
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.planning import answer_errors, sum_errors
from nobounds.planning.expectation import ROUNDS, Errors, Outcomes, expect
from nobounds.planning.families import Shape
from nobounds.planning.samples import Sample, SampleCounts, Sampling
from nobounds.programs.program import Draw
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_separately, plan_together
from nobounds.ranks.question import Question
from nobounds.ranks.route import OneRoute
from nobounds.ranks.view import View
from nobounds.values import dataclass

if TYPE_CHECKING:
    from nobounds.planning.simulated.columns import Simulation

Statistic: TypeAlias = Literal[
    "quantile",
    "median",
    "quantiles",
    "maximum",
    "minimum",
    "bounds",
    "sum",
    "mean",
    "count",
    "std",
    "variance",
    "iqr",
    "proportion",
    "ratio",
    "weighted_mean",
    "covariance",
    "correlation",
    "histogram",
    "cdf",
    "value_counts",
    "top_k",
    "count_distinct",
]
CLOSED = ("sum", "mean", "count")
RANKED = ("quantile", "median", "quantiles", "maximum", "minimum", "bounds")
RANKS: dict[str, tuple[Fraction, ...]] = {
    "median": (Fraction(1, 2),),
    "maximum": (Fraction(1),),
    "minimum": (Fraction(0),),
}
RANKS |= {"bounds": (Fraction(0), Fraction(1))}
_SAMPLED_ROUNDS, _SIMULATED_ROUNDS = (64, 128, 256), (64, 128)
TINY = 1e-300  # the error of a useless answer if all records are 0
_KEPT = 256  # data sets that are kept for the next epsilon


def _simulation(statistic: str) -> "Simulation | None":
    """How releases of this statistic are simulated; None if their errors follow from laws."""
    if statistic in CLOSED + RANKED:
        return None  # without the modules of all the others
    from nobounds.planning.simulated import SIMULATED

    return SIMULATED.get(statistic)


def check_statistic(statistic: object) -> Statistic:
    """The name of the statistic, checked."""
    if not isinstance(statistic, str) or statistic not in get_args(Statistic):
        names = ", ".join(get_args(Statistic))
        raise ValueError(f"statistic must be one of {names}, got statistic={statistic!r}")
    return statistic  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class Forecaster:
    """A statistic of n records of a shape, and the keywords of its function."""

    statistic: Statistic
    qs: tuple[Fraction, ...]
    sampling: Sampling
    options: dict[str, Any]  # lower, upper, resolution and neighbors
    fresh: Callable[[int], Sample]
    groups: int = 1  # each of them with n records
    whole: Callable[[int], Sample] | None = None  # the records of all groups

    @classmethod
    def of(
        cls,
        statistic: Statistic,
        qs: tuple[Fraction, ...],
        n: int,
        shape: Shape,
        options: dict[str, Any],
        groups: int = 1,
        strata: int = 1,
    ) -> "Forecaster":
        """The forecaster, with its data sets around the ranks that matter."""
        qs = RANKS.get(statistic, qs)
        sampling = Sampling(shape, n, tuple(map(float, qs)) if statistic in RANKED else (0.0, 1.0), strata)
        whole = None if groups == 1 else lru_cache(maxsize=_KEPT)(Sampling(shape, groups * n, (0.0, 1.0)).fresh)
        return cls(statistic, qs, sampling, options, lru_cache(maxsize=_KEPT)(sampling.fresh), groups, whole)

    @property
    def facts(self) -> Facts:
        """The public facts of data of this shape and number."""
        rows = self.sampling.n if self.options["neighbors"] == "swap" else None
        return replace(self.sampling.shape.facts, rows=rows)

    def terms(self, spending: Spending) -> Terms:
        """The terms for this spending."""
        return Terms(spending, self.options["neighbors"])

    @property
    def sampled(self) -> bool:
        """Whether releases are simulated, because there is no closed law."""
        return _simulation(self.statistic) is not None or (self.statistic == "quantiles" and len(self.qs) > 1)

    def typical(self) -> tuple[float, ...]:
        """The true values where every record lies at its expected place."""
        sample = self.sampling.typical()
        if self.statistic in RANKED:
            return tuple(sample.quantile(float(q)) for q in self.qs)
        if (simulation := _simulation(self.statistic)) is not None:
            return (simulation.truth(sample),)
        total = float(sample.values @ sample.counts)
        return ({"sum": total, "mean": total / sample.total, "count": float(sample.total)}[self.statistic],)

    def useless(self, typical: Sample) -> float:
        """The error of a useless answer: in the mean no error counts for more."""
        if self.statistic in RANKED:
            return max(float(max(typical.values[-1], 0.0) - min(typical.values[0], 0.0)), TINY)
        if (simulation := _simulation(self.statistic)) is not None:
            return max(abs(simulation.truth(typical)), TINY)
        magnitudes = max(float(np.abs(typical.values) @ typical.counts), TINY)
        return {"sum": magnitudes, "mean": magnitudes / typical.total}.get(self.statistic, float(typical.total))

    def errors(
        self, spending: Spending, rounds: tuple[int, ...] = ROUNDS, least: float = answer_errors.LEAST
    ) -> Errors:
        """The expected errors for an epsilon or a rho; of a quantile, over routes with at least this probability."""
        typical = self.sampling.typical()
        cap = self.useless(typical)
        if self.statistic == "count":
            counted = sum_errors.count_outcomes(
                spending.plan(Additive), typical.total, self.options["neighbors"], self.facts.nullable
            )
            return expect([(1.0, None)], lambda _, number: counted, cap, (1,))
        if self.statistic in ("sum", "mean"):
            plan = self.sum_plan(spending)
            if self.whole is not None:
                return self._of_groups(plan, self.whole, cap, rounds)
            starts = sum_errors.clip_starts(plan, typical)
            return expect(starts, lambda start, k: sum_errors.outcomes(*start, self.fresh(k), k), cap, rounds)
        if (simulation := _simulation(self.statistic)) is not None:
            rounds = tuple(goal for goal in _SIMULATED_ROUNDS if goal <= rounds[-1]) or rounds
            simulated = simulation.of(self.facts, self.terms(spending), self.stated)
            return expect([(1.0, None)], lambda _, k: simulated.outcomes(self.fresh(k), k, cap), cap, rounds)
        if self.sampled:
            halving = plan_together(self.facts, self.terms(spending), Options.of(self.options), self.qs)
            assert isinstance(halving, Halving), "there is more than one quantile"
            rounds = tuple(goal for goal in _SAMPLED_ROUNDS if goal <= rounds[-1]) or rounds
            return expect([(1.0, None)], lambda _, number: self._released(halving, number), cap, rounds)
        question = plan_separately(self.facts, self.terms(spending), Options.of(self.options), self.qs)
        return self._answers(question, typical, cap, rounds, least)

    @property
    def stated(self) -> Stated:
        """What is public about the values."""
        return Stated.of(*(self.options.get(name) for name in ("lower", "upper", "resolution")))

    def sum_plan(self, spending: Spending) -> SumPlan:
        """The plan for a sum or a mean."""
        stated = self.stated
        if self.groups > 1:
            return SumPlan.for_groups(self.facts, self.terms(spending), stated, self.statistic == "mean", self.groups)
        return SumPlan.of(self.facts, self.terms(spending), stated, centered=self.statistic == "mean")

    def _of_groups(self, plan: SumPlan, whole: Callable[[int], Sample], cap: float, rounds: tuple[int, ...]) -> Errors:
        """The errors of the sum or mean of one group, within a clip that all groups share."""
        starts = sum_errors.clip_starts(plan, Sampling(self.sampling.shape, whole(0).total, (0.0, 1.0)).typical())
        return expect(starts, lambda start, k: sum_errors.outcomes(*start, whole(k), k, of=self.fresh(k)), cap, rounds)

    def _answers(
        self, question: Question, typical: Sample, cap: float, rounds: tuple[int, ...], least: float
    ) -> Errors:
        """The errors of one quantile, or of both ends in equal parts."""
        branches = [
            (chance / len(self.qs), (which, route))
            for which in range(len(self.qs))
            for chance, route in answer_errors.likely_routes(question, which, typical, least)
        ]

        def outcomes(branch: tuple[int, OneRoute], number: int) -> Outcomes:
            return answer_errors.outcomes(question, *branch, self.fresh(number), number)

        return expect(branches, outcomes, cap, rounds)

    def _released(self, halving: Halving, number: int) -> Outcomes:
        """The errors of one seeded release, in equal parts."""
        sample = self.fresh(number)
        view = View(SampleCounts.on(sample, halving.ladder))
        answers = Draw(random.Random(number).getrandbits).run(halving.program(view))
        pairs = list(zip(map(float, self.qs), map(float, answers), strict=True))
        ranks = [float(sample.rank_errors(np.array([value]), q)[0]) for q, value in pairs]
        errors = [abs(value - sample.quantile(q)) for q, value in pairs]
        return Outcomes(np.array(ranks), np.array(errors), np.ones(len(pairs)))
