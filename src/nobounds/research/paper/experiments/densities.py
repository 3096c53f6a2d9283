"""Figure 1: densities of the answer for the 90% quantile of a few uniform records, from exact laws.

EMQ gets the range [0, 20] or [0, 10]. UQE (Gumbel noise, uniform inside its step, as in the paper's figure) and
nobounds get only the lower bound 0, so their densities are the same in both panels.
"""

from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.route import Route
from nobounds.ranks.view import walk_of
from nobounds.research.baselines import emq_law
from nobounds.research.paper.work import Result, Task
from nobounds.statistics.searched import planned

ROWS, Q, UPPERS = 60, Fraction(9, 10), (20.0, 10.0)
EDGES = np.linspace(0, 20, 401)  # of the bins of the densities, each 1/20 wide


def laws(rng: np.random.Generator) -> Result:
    """The probability of each step of [0, 20] by method, epsilon 1."""
    data = np.sort(rng.uniform(0, 10, ROWS))
    masses: Result = {f"EMQ, told [0, {upper:g}]": _bounded(data, upper).tolist() for upper in UPPERS}
    masses["UQE"] = _walked(data).tolist()
    question = planned(column(data), (Q,), epsilon=1, lower=0)
    law = AnswerLaw.of(question, Counts.of(column(data).chunks, question.ladder), least=1e-4)
    answers, chances = law.pmf(EDGES[0], EDGES[-1])
    masses["nobounds"] = np.histogram(answers, EDGES, weights=chances)[0].tolist()
    masses["truth"] = float(np.quantile(data, float(Q)))
    return masses


def _bounded(data: Floats, upper: float) -> Floats:
    law = emq_law(data, [Q], epsilon=1, lower=0, upper=upper)
    before = np.concatenate([[0.0], np.cumsum(law.masses[0])])
    return np.diff(np.interp(EDGES, law.edges, before))


def _walked(data: Floats) -> Floats:
    ladder, half = Ladder.geometric("1.01"), Fraction(1, 2)
    route = Route(ladder, True, ladder.first, ladder.last, half, half)
    law = Law(walk_of(Histogram.of([data], ladder), Q, route, "gumbel"))
    rungs = np.arange(ladder.first, int(ladder.rungs(np.array([25.0]))[0]) + 1)
    tops = np.array([ladder.top(int(rung)) for rung in rungs])
    before = 1 - law.tail(rungs - ladder.first + 1)
    return np.diff(np.interp(EDGES, np.append(0.0, tops), np.append(0.0, before)))


def tasks(_: bool) -> list[Task]:
    """One task."""
    return [Task("densities", "laws", laws)]
