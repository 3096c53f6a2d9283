"""Beyond the paper: the probability that a clip or a maximum is far too large, by exact laws, for 1000 uniform records.

Past the data all counts are equal. The probability that a walk continues falls like a power of the number of rungs,
while candidates grow exponentially: the expected error of the paper's method is infinite. A hundred runs hide this.
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
from nobounds.research.paper.work import Result, Task
from nobounds.statistics.searched import planned

ROWS = 1000
FACTORS = tuple(float(f) for f in np.geomspace(1.0, 1e4, 33))
PAPER = {
    "UQE, beta 1.001, q = 0.99": ("1.001", Fraction(99, 100), 0),
    "UQE, beta 1.01, q = 0.99": ("1.01", Fraction(99, 100), 0),
    "UQE, beta 1.01, q = 1": ("1.01", Fraction(1), 0),
    "UQE, beta 1.01, n + 1/epsilon": ("1.01", Fraction(1), -1),
}
OURS = "nobounds.maximum"


def chances(_: np.random.Generator) -> Result:
    """P(answer > factor times the largest record) for each factor, epsilon 1."""
    data = np.linspace(0, 100, ROWS)
    by_method = {name: _paper(data, *setting) for name, setting in PAPER.items()}
    question = planned(column(data), (Fraction(1),), epsilon=1)
    law = AnswerLaw.of(question, Counts.of(column(data).chunks, question.ladder), least=1e-15)
    by_method[OURS] = [law.above(factor * float(data.max())) for factor in FACTORS]
    return by_method


def _paper(data: Floats, beta: str, q: Fraction, drop: int) -> list[float]:
    ladder = Ladder.geometric(beta)
    half = Fraction(1, 2)
    route = Route(ladder, True, ladder.first, ladder.last, half, half, Fraction(drop))
    law = Law(walk_of(Histogram.of([data], ladder), q, route, "exponential"))
    tops = ladder.rungs(np.array([factor * float(data.max()) for factor in FACTORS]))
    return [float(law.tail([int(rung) + 1])[0]) for rung in tops]


def tasks(_: bool) -> list[Task]:
    """One task."""
    return [Task("runaways", "chances", chances)]
