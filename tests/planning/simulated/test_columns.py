"""Forecasts by seeded releases of one column: errors of answers, and of what is not answered."""

import numpy as np
import pytest

from nobounds.accounting.terms import Terms
from nobounds.kinds.kind import BOOLEAN
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.samples import Sample
from nobounds.planning.simulated.columns import SIMULATED

VALUES = np.sort(np.random.default_rng(4).normal(10, 2, 3000))
SAMPLE = Sample(VALUES, np.ones(3000, dtype=np.int64))
TRUTHS = {
    "std": VALUES.std(),
    "variance": VALUES.var(),
    "iqr": float(np.subtract(*np.quantile(VALUES, [0.75, 0.25]))),
    "proportion": 0.5,
}


def simulated(statistic, epsilon):
    facts = Facts(False, True, kind=BOOLEAN) if statistic == "proportion" else Facts(False, True)
    return SIMULATED[statistic].of(facts, Terms.of(epsilon, None, "add-remove"), Stated())


@pytest.mark.parametrize("statistic", SIMULATED)
def test_the_truth_is_that_of_the_sample(statistic):
    """As numpy has it; and with next to no noise the error is next to 0."""
    assert SIMULATED[statistic].truth(SAMPLE) == pytest.approx(TRUTHS[statistic], rel=1e-9)
    off = simulated(statistic, 10**5).outcomes(SAMPLE, 1, 99.0)
    assert off.errors.tolist() == pytest.approx([0.0], abs=0.02)


@pytest.mark.parametrize("statistic", ["std", "iqr", "proportion"])
def test_what_is_not_answered_is_off_by_a_useless_answer(statistic):
    """Five records at a small epsilon carry nothing."""
    few = Sample(VALUES[:5], np.ones(5, dtype=np.int64))
    assert simulated(statistic, 0.01).outcomes(few, 1, 99.0).errors.tolist() == [99.0]


def test_a_number_seeds_a_release():
    """The same number gives the same error, and another another."""
    of = simulated("variance", 1)
    first, again, other = (of.outcomes(SAMPLE, number, 99.0).errors.tolist() for number in (1, 1, 2))
    assert first == again != other
