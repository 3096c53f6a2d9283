"""Plans for quantiles, made from public facts alone."""

from fractions import Fraction
from functools import lru_cache, partial

from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.ladders.facts import Facts
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question


def plan_separately(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question:
    """The plan for quantiles in equal parts of what may be spent, each by the best route."""
    return _separately(problem_of(facts, terms, options, qs), terms.spending.each(facts.unit.rows))


def plan_together(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question | Halving:
    """The plan for quantiles in increasing order: by recursive halving, if there is more than one."""
    problem, spending = problem_of(facts, terms, options, qs), terms.spending.each(facts.unit.rows)
    return _separately(problem, spending) if len(qs) == 1 else _together(problem, spending)


@lru_cache(maxsize=256)  # public arguments: the second call of a kind costs nothing
def _separately(problem: Problem, spending: Spending) -> Question:
    return spending.plan(partial(Question.of, problem))


@lru_cache(maxsize=256)
def _together(problem: Problem, spending: Spending) -> Halving:
    return spending.plan(partial(Halving.of, problem))


def problem_of(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Problem:
    """The problem that these public facts and options pose."""
    return Problem(
        qs,
        options.ladder(facts),
        terms.neighbors,
        facts.nullable,
        rows=facts.rows if options.rows is None else options.rows,
        stated=options.rows is not None,
        noise=options.noise,
        method=options.method,
        grows=options.grows,
    )
