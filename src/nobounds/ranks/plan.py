"""Plans for quantiles, made from public facts alone."""

from fractions import Fraction
from functools import lru_cache, partial

from nobounds.accounting.terms import Terms
from nobounds.ladders.facts import Facts
from nobounds.ranks.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question


@lru_cache(maxsize=256)  # public arguments: the second call of a kind costs nothing
def plan_separately(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question:
    """The plan for quantiles that share the spending equally, each by the best route."""
    problem = problem_of(facts, terms, options, qs)
    return terms.spending.each(facts.unit.rows).plan(partial(Question.of, problem))


@lru_cache(maxsize=256)
def plan_together(facts: Facts, terms: Terms, options: Options, qs: tuple[Fraction, ...]) -> Question | Halving:
    """The plan for quantiles in increasing order: by recursive halving, if there is more than one."""
    if len(qs) == 1:
        return plan_separately(facts, terms, options, qs)
    problem = problem_of(facts, terms, options, qs)
    return terms.spending.each(facts.unit.rows).plan(partial(Halving.of, problem))


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
