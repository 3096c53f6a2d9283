"""Evidence of keys that counts choose: the law of one key, outcomes that both data sets may have, what they tell."""

from fractions import Fraction

import numpy as np
import pytest

from nobounds.auditing.claims.keys import count_law
from nobounds.auditing.evidence.counted_keys import CountedKeys, _law
from nobounds.groups.key_counts import KeyCounts

COUNTED = KeyCounts(Fraction(1), Fraction(1, 20))


@pytest.mark.parametrize("rows", [0, 1, 3, 12])
def test_the_law_of_a_key_is_that_of_balls(rows):
    """A second computation, in ball arithmetic; a key without rows is never shown."""
    law = _law(COUNTED, rows, 12)
    assert law == pytest.approx([float(p) for p in count_law(COUNTED, rows, 12)], abs=1e-12)
    assert law.sum() == pytest.approx(1) and (rows or not law[1:].any())


def test_what_counts_tell_is_what_is_charged():
    """One row more in a key, and a key more, cost at most epsilon at delta; at less delta a key more costs more."""
    for mine, yours in (({"a": 9}, {"a": 10}), ({"a": 2}, {"a": 3}), ({}, {"a": 1})):
        one, other = (CountedKeys(COUNTED, rows, {}) for rows in (mine, yours))
        assert one.epsilon(other, 0.05) <= 1 + 1e-9
    assert one.epsilon(other, 0.049) > 1.5, "a key of one row is shown with the probability delta"


def test_outcomes_are_those_that_both_data_sets_may_have():
    """A key of one data set alone is shown by neither, drawn or not; the worst outcome tells the most."""
    one = CountedKeys(COUNTED, {"a": 9, "b": 1}, {"a": 10, "b": COUNTED.most + 1})
    other = CountedKeys(COUNTED, {"a": 10}, {})
    assert one.shown(other, worst=False) == {"a": 10}
    (worst,) = one.shown(other, worst=True).values()
    mine, yours = (_law(COUNTED, rows, 12) for rows in (9, 10))
    both = (mine > 0) & (yours > 0)
    ratios = np.log(mine[both] / yours[both])
    place = worst - COUNTED.most + 1
    assert np.log(mine[place] / yours[place]) == pytest.approx(ratios.max())
    mask, noisy = one.given({"a": 10}, True)
    assert mask.tolist() == [True, False] and noisy.tolist() == [10]
