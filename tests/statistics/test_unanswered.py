"""Why a sum or a mean is not answered, and what would do."""

from random import Random

import numpy as np
import pytest
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW


@pytest.mark.parametrize("statistic", [nb.sum, nb.mean])
def test_too_few_rows_are_named_with_the_number_that_would_do(statistic):
    """More rows of the same kind then get an answer."""
    few = statistic(np.arange(30.0), epsilon=1, rng=Random(1))
    assert few.value is None and few.reason == TOO_FEW
    enough = statistic(np.arange(float(few.parameters["needed"]["rows"])), epsilon=1, rng=Random(1))
    assert enough.value is not None and enough.reason is None and "needed" not in enough.parameters


@pytest.mark.sampled
def test_a_heap_is_answered_where_bounds_say_how_far_off_it_may_be():
    """Without bounds the reason asks for them, or is that no spread was found; no number of rows is named.

    Hardly ever noise looks like records beside the heap, and the answer is right then as well.
    """
    data = np.full(2000, 7.5)
    reasons, answered = set(), 0
    for seed in range(40):
        alone = nb.mean(data, epsilon=1, rng=Random(seed_of(seed)))
        assert alone.value in (None, 7.5) and "needed" not in alone.parameters
        reasons.add(alone.reason)
        bounded = nb.mean(data, epsilon=1, lower=0, upper=100, rng=Random(seed_of(seed)))
        if bounded.value is not None:  # seldom it is not: the heap does not stand out from its noise
            low, high = bounded.interval
            assert bounded.value == pytest.approx(7.5, abs=0.5) and low <= 7.5 <= high < 20
            answered += 1
    assert answered >= fewest(40, 0.9)
    assert ONE_VALUE in reasons <= {ONE_VALUE, NO_SPREAD, None}
