"""Plans for quantiles, made from public facts alone."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial

from nobounds.accounting.cost import Cost
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.noise.additive import Additive
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.intervals.percentiles import SHARE, Percentiles
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class QuantilePlan:
    """The plan for one quantile: its answer, perhaps with an interval, and perhaps its percentiles."""

    answer: Question | IntervalPlan | ExtremesPlan
    percentiles: Percentiles | None = None

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.answer.ladder

    def cost(self) -> Cost:
        """The cost of all of it."""
        own = self.answer.cost()
        return own if self.percentiles is None else own + self.percentiles.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        extra = {} if self.percentiles is None else {"percentiles": self.percentiles.cost()}
        return self.answer.parts() | extra


@lru_cache(maxsize=256)  # public arguments: the second call of a kind costs nothing
def plan_quantile(
    facts: Facts, terms: Terms, options: Options, q: Fraction, wanted: Wanted | None = None, ranks: bool = False
) -> QuantilePlan:
    """The plan for one quantile, with an interval or its percentiles, if these are wanted."""
    if wanted is None and not ranks:
        return QuantilePlan(plan_separately(facts, terms, options, (q,)))
    problem, spending = problem_of(facts, terms, options, (q,)), terms.spending.each(facts.unit.rows)
    return _quantile(problem, spending, wanted, ranks)


@lru_cache(maxsize=256)
def plan_separately(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question:
    """The plan for quantiles in equal parts of what may be spent, each by the best route."""
    return _separately(problem_of(facts, terms, options, qs), terms.spending.each(facts.unit.rows))


@lru_cache(maxsize=256)
def plan_extremes(
    facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...], wanted: Wanted
) -> ExtremesPlan:
    """The plan for extremes with one-sided intervals."""
    return _extremes(problem_of(facts, terms, options, qs), terms.spending.each(facts.unit.rows), wanted)


def plan_for_groups(
    facts: Facts, terms: Terms, options: Options, q: Fraction, wanted: Wanted | None = None, learned: bool = False
) -> Question | IntervalPlan | ExtremesPlan:
    """The plan for a quantile of each group: more goes to the size, which is released as the count of the group.

    Nothing does where the sizes are learned already.
    """
    problem, spending = problem_of(facts, terms, options, (q,)), terms.spending.each(facts.unit.rows)
    many = Fraction(0) if learned else problem.tuning.group_count
    problem = replace(problem, tuning=replace(problem.tuning, size_share=many, interval_size=many))
    return _separately(problem, spending) if wanted is None else _quantile(problem, spending, wanted, False).answer


@lru_cache(maxsize=256)
def plan_together(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question | Halving:
    """The plan for quantiles in increasing order: by recursive halving, if there is more than one."""
    problem, spending = problem_of(facts, terms, options, qs), terms.spending.each(facts.unit.rows)
    return _separately(problem, spending) if len(qs) == 1 else _together(problem, spending)


@lru_cache(maxsize=256)  # for columns that differ by name alone
def _separately(problem: Problem, spending: Spending) -> Question:
    return spending.plan(partial(Question.of, problem))


@lru_cache(maxsize=256)
def _together(problem: Problem, spending: Spending) -> Halving:
    return spending.plan(partial(Halving.of, problem))


@lru_cache(maxsize=256)
def _extremes(problem: Problem, spending: Spending, wanted: Wanted) -> ExtremesPlan:
    return spending.plan(partial(ExtremesPlan.of, problem, wanted))


@lru_cache(maxsize=256)
def _quantile(problem: Problem, spending: Spending, wanted: Wanted | None, ranks: bool) -> QuantilePlan:
    def make(epsilon: Fraction, zcdp: bool) -> QuantilePlan:
        own = epsilon * (1 - SHARE) if ranks else epsilon
        percentiles = Percentiles(Additive(epsilon * SHARE, zcdp), problem.neighbors) if ranks else None
        if wanted is None:
            return QuantilePlan(Question.of(problem, own, zcdp), percentiles)
        plan = IntervalPlan if 0 < problem.qs[0] < 1 else ExtremesPlan
        return QuantilePlan(plan.of(problem, wanted, own, zcdp), percentiles)

    return spending.plan(make)


def problem_of(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Problem:
    """The problem that these public facts and options pose; a size that was paid for is as good as a stated one."""
    stated = facts.size if options.rows is None else options.rows
    return Problem(
        qs,
        options.ladder(facts),
        terms.neighbors,
        facts.nullable,
        rows=facts.rows if stated is None else stated,
        stated=stated is not None,
        noise=options.noise,
        method=options.method,
        grows=options.grows,
    )
