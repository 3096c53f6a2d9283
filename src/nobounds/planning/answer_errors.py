"""The expected errors of a private quantile: every route to the answer with its probability, and the law along it.

This is `ranks.law` made fast: the probabilities of the routes come from the data set whose records lie at their
expected places, rare routes are merged, and the laws are those of `quick_laws`.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.arrays import Ints
from nobounds.mechanisms.quick_laws import Blocks
from nobounds.planning.expectation import Outcomes, together
from nobounds.planning.samples import Sample, SampleView
from nobounds.programs.law import paths
from nobounds.ranks.question import Question
from nobounds.ranks.route import ChoiceRoute, OneRoute
from nobounds.ranks.values import floats_at

LEAST = 1e-5  # routes with less probability are left out, if no other number is given
_FAR = 1e290  # such values divided by a unit are still floats


def likely_routes(
    question: Question, which: int, typical: Sample, least: float = LEAST
) -> list[tuple[float, OneRoute]]:
    """The routes that one of the answers may take, with their probabilities; equal ones are merged."""
    view, chances = SampleView(typical, question.ladder), dict[OneRoute, float]()
    for chance, route in paths(lambda: question.route(which, view), least / 10, quick_outcomes):
        chances[route] = chances.get(route, 0.0) + chance
    return list(together((chance, route) for route, chance in chances.items() if chance > least))


def quick_outcomes(decision: Any) -> Iterable[tuple[Any, float]]:
    """The outcomes of a decision with their probabilities, by a quick law where there is one."""
    outcomes: Iterable[tuple[Any, float]] = getattr(decision, "quick_outcomes", decision.outcomes)()
    return outcomes


def outcomes(question: Question, which: int, route: OneRoute, sample: Sample, number: int) -> Outcomes:
    """The errors of an answer that takes this route on this data set."""
    q = question.qs[which]
    blocks = _blocks(question, q, route, sample, number)
    truth = sample.quantile(float(q))
    # Blocks of a walk may hold several records, and those of a choice lie between two, some of them far from both.
    ends = (_middles(blocks),) if isinstance(route, ChoiceRoute) else (blocks.first, blocks.last)
    values = floats_at(question.ladder, route, np.concatenate(ends)).reshape(len(ends), -1)
    low, high = values[0], values[-1]
    ranks = (sample.rank_errors(low, float(q)) + sample.rank_errors(high, float(q))) / 2
    errors = np.minimum(np.abs(low - truth), _FAR) / 2 + np.minimum(np.abs(high - truth), _FAR) / 2
    return Outcomes(ranks, errors, blocks.masses)


def point(question: Question, typical: Sample, chance: float) -> float:
    """The answer to the only quantile of a question that is not exceeded with this probability."""
    values, masses = [], []
    for share, route in likely_routes(question, 0, typical):
        blocks = _blocks(question, question.qs[0], route, typical, 0)
        values.append(floats_at(question.ladder, route, _middles(blocks)))
        masses.append(share * blocks.masses)
    every, chances = np.concatenate(values), np.concatenate(masses)
    order = np.argsort(every)
    passed = np.cumsum(chances[order])
    return float(every[order][np.searchsorted(passed, chance * passed[-1])])


def _middles(blocks: Blocks) -> Ints:
    """The middle of each block; positions may be so large that the sum of two is not a whole number of 64 bits."""
    return blocks.first + (blocks.last - blocks.first) // 2


def _blocks(question: Question, q: Fraction, route: OneRoute, sample: Sample, number: int) -> Blocks:
    last = route.last(q, question.problem, SampleView(sample, question.ladder))
    blocks: Blocks = last.blocks(number)
    return blocks
