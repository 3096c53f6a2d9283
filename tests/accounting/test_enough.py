"""What would do where there are too few records: rows and spending make up for each other."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.accounting.enough import MOST, would_do
from nobounds.accounting.spending import Spending

AMOUNTS = st.fractions(min_value=Fraction(1, 1000), max_value=10)


@given(st.integers(1, 10**7), st.integers(-50, 10**5), st.integers(0, 1000), AMOUNTS, st.booleans())
def test_what_is_named_is_sensible(rows, size, noise, amount, zcdp):
    """Never fewer rows than are needed, and never an epsilon or rho above 20, whatever the noisy size is."""
    spending = Spending(amount, zcdp)
    found = would_do(rows, size, noise, spending)
    assert rows <= found.pop("rows") <= 1.1 * rows + 1
    assert set(found) <= {"rho" if zcdp else "epsilon"}
    assert all(0 < more <= MOST for more in found.values())


@pytest.mark.parametrize(("zcdp", "times"), [(False, 2), (True, 4)])
def test_half_of_the_rows_need_twice_the_epsilon(zcdp, times):
    """Or four times the rho, as of an epsilon that it is the square of."""
    found = would_do(400, 200, 0, Spending(Fraction(1), zcdp))
    assert found == {"rows": 400, "rho" if zcdp else "epsilon": times}


def test_a_size_within_its_noise_says_nothing():
    """Then the rows alone are named; with a larger size the epsilon is one for fewer rows than the noisy number."""
    one = Spending(Fraction(1), False)
    assert would_do(400, 90, 50, one) == {"rows": 400}
    assert would_do(400, 150, 50, one) == {"rows": 400, "epsilon": 4}
