"""How many rows a statistic needs to be answered at all."""

from fractions import Fraction

import pytest

from nobounds.accounting.spending import Spending
from nobounds.planning.answerable import NATS, rows_to_answer


@pytest.mark.parametrize("q", [0.05, 0.5, 0.75, 0.99])
def test_a_quantile_has_its_nats_on_the_smaller_side(q):
    """Rows times epsilon times min(q, 1 - q) / (2 max(q, 1 - q)) is 20 or more; the tails need more than the middle."""
    rows = rows_to_answer("quantile", (Fraction(str(q)),), Spending(Fraction(1), False), "add-remove")
    assert rows * min(q, 1 - q) / (2 * max(q, 1 - q)) >= NATS
    assert rows >= rows_to_answer("quantile", (Fraction(1, 2),), Spending(Fraction(1), False), "add-remove")


@pytest.mark.parametrize("statistic", ["maximum", "bounds", "sum", "mean"])
def test_less_epsilon_needs_more_rows(statistic):
    """Half of epsilon needs twice the rows, and swap twice as many as add-remove."""
    one, half = (rows_to_answer(statistic, (), Spending(Fraction(1, k), False), "add-remove") for k in (1, 2))
    assert half == 2 * one
    assert rows_to_answer(statistic, (), Spending(Fraction(1), False), "swap") == 2 * one
