"""The decision of all quantiles at once: its law, its public facts, and what its repr hides."""

from fractions import Fraction

import numpy as np
import pytest
from support.joint import CASES, enumerated, stretches

from nobounds.accounting.cost import range_bounded
from nobounds.mechanisms.joint.decision import ChooseAll


def decision(case):
    return ChooseAll(lambda: stretches(case), lambda: range_bounded(Fraction(1)))


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_law_is_that_of_enumeration(case):
    """All outcomes with their probabilities, which add up to 1."""
    places, logs = enumerated(stretches(case))
    outcomes = list(decision(case).outcomes())
    assert [row for row, _ in outcomes] == places
    assert sum(chance for _, chance in outcomes) == pytest.approx(1, abs=1e-9)
    law = np.exp(logs - np.logaddexp.reduce(logs))
    assert [chance for _, chance in outcomes] == pytest.approx(law, rel=1e-8, abs=1e-15)


def test_public_facts_are_those_of_all_data_sets():
    """Ranks, rate, places and prior, but no record."""
    one, other = (decision(CASES[0]._replace(data=data)) for data in ((1, 2, 3), ()))
    assert one.public == other.public
    assert one.public != decision(CASES[1]).public
    assert repr(one) == repr(other)
