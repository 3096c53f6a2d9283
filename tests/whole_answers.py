"""The exact law of a whole answer over all rungs of a short ladder, with every branch of the mechanism alive."""

import math
from dataclasses import replace

import numpy as np

from nobounds.answer_law import AnswerLaw
from nobounds.counts import Counts
from nobounds.route import FlipRoute


def live(question):
    """The question with sizes so small that every route has a real chance on a handful of records."""
    routes = tuple(
        tuple(replace(route, at_least=len(found) - 1 - k) for k, route in enumerate(found)) for found in question.routes
    )
    return replace(question, routes=routes)


def log_law(question, data):
    """Log-probabilities of all answers, by position of every part, merged where answers are equal."""
    ladder = question.ladder
    counts = Counts.of(lambda: [np.array(data, dtype=float)], ladder)
    if question.size.known is not None:
        question = replace(question, size=replace(question.size, known=len(data)))
    law = AnswerLaw.of(question, counts, least=0)
    total = np.full(ladder.last + 1 - ladder.first, -np.inf)
    for chance, route, part in law.parts:
        masses = part.log_pmf() + math.log(chance)
        if isinstance(route, FlipRoute):  # it always answers
            np.logaddexp.at(total, np.arange(len(masses)), masses)
            continue
        where = route.start + np.arange(part.walk.length) * (1 if route.up else -1) - ladder.first
        if route.from_zero:
            where[0] = -ladder.first
        np.logaddexp.at(total, where, masses[:-1])
        np.logaddexp.at(total, [route.stop - ladder.first], masses[-1:])
    return total
