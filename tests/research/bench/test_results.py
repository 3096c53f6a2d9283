"""Ratios of errors and their standard errors."""

import pytest

from nobounds.research.bench import results


def test_a_ratio_has_the_standard_error_of_pairs():
    """None if one error is always twice the other; and geometric means bound single ratios."""
    assert results.ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx((2.0, 0.0))
    value, deviation = results.ratio([1.0, 3.0], [2.0, 2.0])
    assert (value, deviation) == pytest.approx((1.0, 0.5 / 2**0.5))
    assert results.geometric([0.0, 1.0]) == pytest.approx(results.FLOOR**0.5)
