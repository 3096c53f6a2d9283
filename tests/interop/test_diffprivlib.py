"""diffprivlib: calls within private bounds that charge a budget before the data are read.

The tests of the library itself run in `make peers`, and are skipped where it is not installed.
"""

import numpy as np
import pytest

import nobounds as nb
from nobounds.interop import diffprivlib, private_ranges

ROWS = 20_000


@pytest.fixture
def visits():
    rng = np.random.default_rng(1)
    return {"user_id": np.arange(ROWS) // 2, "spend": rng.lognormal(3, 1, ROWS), "age": rng.integers(18, 90, ROWS)}


def test_a_call_of_diffprivlib_is_for_a_row_that_changes():
    """Pure, or with a delta."""
    assert diffprivlib.loss(0.5) == nb.PrivacyLoss.pure(0.5, neighbors="swap")
    assert diffprivlib.loss(0.5, 1e-6) == nb.PrivacyLoss.approximate(0.5, 1e-6, neighbors="swap")


@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_charges_a_budget_before_it_reads(visits):
    """Tools and a model within private bounds; what does not fit is refused, and the data are not looked at."""
    library = pytest.importorskip("diffprivlib")
    budget = nb.Budget(epsilon=2)
    table = nb.Table(visits, neighbors="swap", budget=budget)
    found = private_ranges(table, ["spend", "age"], epsilon="0.5")
    accountant = diffprivlib.accountant(budget)
    mean = library.tools.mean(visits["spend"], epsilon=0.5, bounds=found["spend"].bounds, accountant=accountant)
    assert mean == pytest.approx(visits["spend"].mean(), rel=0.1) and budget.remaining == 1.0
    with accountant:
        scaler = library.models.StandardScaler(epsilon=0.5, bounds=found.arrays())
        scaler.fit(np.column_stack([visits["spend"], visits["age"]]))
    assert budget.remaining == 0.5 and accountant.total() == (1.0, 0) and len(budget.history) == 3
    with pytest.raises(nb.BudgetExceeded):
        library.tools.mean(visits["spend"], epsilon=1.0, bounds=(0, 1), accountant=accountant)
    assert budget.remaining == 0.5
