"""The share of the records that are true: the public function."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack

from nobounds.accounting.terms import Terms
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import finite_float
from nobounds.kinds.kind import BOOLEAN
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.release.release import Single
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, release_column
from nobounds.statistics.keywords import CountKeywords, flag, spelled_out, terms_of


@spelled_out
def proportion(data: object, **options: Unpack[CountKeywords]) -> Single:
    """A private share of the records that are true, from 0 to 1, with a 95% interval that holds for every data set.

    data: a column of a boolean type, such as `df["late"] > 15`; or a list, in which what is nearer to 1 than to 0 is
    true. A missing record is neither true nor false. With so few rows that nothing is known of the share, the value is
    None.

    >>> import random
    >>> proportion([True] * 300 + [False] * 700, epsilon=1, rng=random.Random(1)).value
    0.30...
    """
    terms = terms_of(options)

    def plan(facts: Facts) -> ProportionPlan:
        require_boolean(facts)
        return ProportionPlan.of(facts, terms)

    read = column(data)
    if isinstance(data, list | tuple):  # its elements have no common type
        read = replace(read, facts=replace(read.facts, declared=False))
    return release_column(
        "proportion", "proportion", terms, plan, answered(flag(options, "marks"), terms), read, options
    )


def require_boolean(facts: Facts) -> None:
    """TypeError for a column that is declared to be of another type than that of booleans."""
    if facts.declared and facts.kind != BOOLEAN:
        raise TypeError(
            "a proportion needs a boolean column, of which it is the share that is true; "
            "give a condition, for example df['late'] > 15"
        )


def answered(marks: bool, terms: Terms) -> Callable[[ProportionPlan, Column], Program[Answer]]:
    """The answer of a proportion; with `marks` False even where nothing is known of it."""

    def answer(plan: ProportionPlan, data: Column) -> Program[Answer]:
        average = yield from plan.program(data.chunks)
        bar, noise = plan.interval(average), plan.rule.noise
        parameters: dict[str, Any] = {
            "noise": noise.name,
            "noise_scale": noise.scale(1),
            "interval": {"level": 1 - CHANCE, "of": "sample", "guarantee": True},
        }
        value = finite_float(average.value) + 0.0
        if marks and (bar == (0.0, 1.0) or not plan.rule.sees(average)):
            needed = {"needed": plan.needed(average, terms.spending)}
            return Answer(None, parameters | needed, ((0.0, 1.0),), reason=TOO_FEW)
        return Answer(value, parameters, (bar,))

    return answer
