"""Forecasts by seeded releases of two columns: the truth of both, and errors of answers."""

import numpy as np
import pytest

from nobounds.accounting.terms import Terms
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.samples import Sample
from nobounds.planning.simulated.pairs import PAIRED

VALUES = np.sort(np.random.default_rng(4).normal(50, 2, 4000))
SAMPLE = Sample(VALUES, np.ones(4000, dtype=np.int64))
# The second column is another order of the first, or the sum of both; over independent columns.
TRUTHS = {"ratio": 0.5, "weighted_mean": VALUES.mean(), "covariance": VALUES.var(), "correlation": 0.5**0.5}


@pytest.mark.parametrize("statistic", PAIRED)
def test_the_truth_is_that_of_two_columns(statistic):
    """Within what the chance of another order leaves; with next to no noise the error is next to 0."""
    truth = PAIRED[statistic].truth(SAMPLE)
    assert truth == pytest.approx(TRUTHS[statistic], rel=0.1)
    of = PAIRED[statistic].of(Facts(False, True), Terms.of(10**6, None, "add-remove"), Stated())
    assert of.outcomes(SAMPLE, 1, 99.0).errors.tolist() == pytest.approx([0.0], abs=0.01 * truth)


@pytest.mark.parametrize("statistic", PAIRED)
def test_few_records_are_not_answered(statistic):
    """Then the error is that of a useless answer."""
    few = Sample(VALUES[:5], np.ones(5, dtype=np.int64))
    of = PAIRED[statistic].of(Facts(False, True), Terms.of(0.01, None, "add-remove"), Stated())
    assert of.outcomes(few, 1, 99.0).errors.tolist() == [99.0]


def test_very_many_records_are_refused():
    """Two columns are made record by record."""
    many = Sample(np.array([1.0]), np.array([1 << 18]))
    with pytest.raises(ValueError, match="up to 131,072 records"):
        PAIRED["ratio"].truth(many)
