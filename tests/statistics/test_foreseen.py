"""What a summary will answer: the plan of describe itself, on simulated noisy counts."""

import pytest

from nobounds.accounting.loss import Unit
from nobounds.accounting.terms import Terms
from nobounds.statistics.foreseen import Foreseen


@pytest.mark.parametrize("terms", [Terms.of(1, None), Terms.of(None, "0.1"), Terms.of(1, None, "swap")], ids=str)
def test_the_rows_for_a_part_are_the_fewest(terms):
    """With one row fewer, the part is not answered."""
    foreseen = Foreseen(("a", "b"), terms, Unit())
    rows = foreseen.rows_for("quartiles")
    assert "quartiles" in foreseen.parts(rows)
    assert "quartiles" not in foreseen.parts(rows - 1)


def test_slack_is_that_of_the_noise():
    """It grows as epsilon falls."""
    slacks = [Foreseen(("a",), Terms.of(epsilon, None), Unit()).slack for epsilon in (2, 1, "0.1")]
    assert slacks == sorted(slacks) and slacks[2] > 5 * slacks[1]
