"""Numbers of few digits between two others."""

import math
import random

import pytest

from nobounds.answers.quantile import roundest
from nobounds.core.prior import float_of, key_of


@pytest.mark.parametrize(
    ("one", "other", "best"),
    [(1234.2, 1301.0, 1300.0), (-0.5, 3.0, 0.0), (0.0123, 0.0129, 0.0125), (19.9, 19.9, 19.9), (-18.4, -17.2, -18.0)],
)
def test_the_number_of_the_fewest_digits_is_between(one, other, best):
    """In either order of the two."""
    found = {float_of(roundest(key_of(a), key_of(b))) for a, b in ((one, other), (other, one))}
    digits = {len(repr(each).strip("-0.").replace(".", "")) for each in found}
    assert all(min(one, other) <= each <= max(one, other) for each in found)
    assert digits <= {len(repr(best).strip("-0.").replace(".", ""))}


def test_it_lies_between_any_two():
    """Of all sizes and signs."""
    source = random.Random(1)
    for _ in range(500):
        one, other = (source.choice((-1, 1)) * math.exp(source.uniform(-600, 600)) for _ in range(2))
        assert min(one, other) <= float_of(roundest(key_of(one), key_of(other))) <= max(one, other)
