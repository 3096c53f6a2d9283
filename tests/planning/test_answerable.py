"""How many rows a plan says that an answer needs: with them it is answered nearly always, and with half of them not."""

from fractions import Fraction

import numpy as np
import pytest

import nobounds as nb
from nobounds.accounting.spending import Spending
from nobounds.planning.answerable import rows_to_answer

ONE = Spending(Fraction(1), False)
ASKED = {
    "quantile": lambda x, **options: nb.quantile(x, 0.5, **options),
    "maximum": nb.maximum,
    "sum": nb.sum,
    "mean": nb.mean,
}


def answered(statistic, rows, neighbors, runs):
    """The share of releases of this many rows that are answered."""
    found = [
        ASKED[statistic](np.random.default_rng(seed).normal(50, 10, rows), epsilon=1, neighbors=neighbors).value
        for seed in range(runs)
    ]
    return np.mean([value is not None for value in found])


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("statistic", ASKED)
def test_what_a_plan_calls_answerable_is_answered(statistic, neighbors):
    """In 95% of runs and more; with a fifth of the rows it is not."""
    qs = (Fraction(1, 2),) if statistic == "quantile" else ()
    rows = rows_to_answer(statistic, qs, ONE, neighbors)
    assert answered(statistic, rows, neighbors, 40) >= 0.9  # 36 of 40 have a chance of 0.05 at 95%
    assert answered(statistic, rows // 5, neighbors, 20) < 0.5


def test_a_tail_needs_more_rows_than_the_middle():
    """So does a smaller epsilon."""
    middle, tail = (rows_to_answer("quantile", (q,), ONE, "add-remove") for q in (Fraction(1, 2), Fraction(99, 100)))
    assert middle < tail < rows_to_answer("quantile", (Fraction(99, 100),), Spending(Fraction(1, 2), False), "swap")
    assert rows_to_answer("count", (), ONE, "add-remove") == 1
