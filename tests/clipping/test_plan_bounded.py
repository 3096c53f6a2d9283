"""Two public bounds: they are the clip where records fill what is between them, and else the clip is searched for."""

from fractions import Fraction

import numpy as np
import pytest
from support.clip_errors import sum_plan

from nobounds.accounting.cost import pure
from nobounds.clipping.view import RecordsView
from nobounds.noise.additive import Additive

FULL = np.linspace(0, 100, 4000)


def test_a_record_lies_in_one_of_the_three_parts():
    """A missing one in none: so all three counts cost what one does."""
    view = RecordsView(lambda: [np.array([-5.0, -1, 0, 1, 5, np.nan])])
    assert list(view.outer(-1, 1, Additive(1), None).numbers) == [2, 1, 2]


@pytest.mark.parametrize("centered", [False, True])
def test_both_ways_cost_no_more_than_is_charged(centered):
    """With the bounds as the clip, the size and the noise cost what the plan says; with a search it costs less rho."""
    split = sum_plan(FULL, centered=centered, lower=0, upper=100)
    filled = split._unsearched()
    for each in (filled, split.at(4000)):
        total = sum(each.parts().values(), start=pure(Fraction(0)))
        assert total.epsilon <= split.cost().epsilon and total.rho <= split.cost().rho
