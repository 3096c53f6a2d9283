"""SmartNoise SQL: metadata with private bounds, and the loss of a query.

The tests of the library itself run in `make peers`, and are skipped where it is not installed.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import nobounds as nb
from nobounds.interop import Range, Ranges, private_ranges, smartnoise

ROWS = 20_000


@pytest.fixture
def visits():
    rng = np.random.default_rng(1)
    return {"user_id": np.arange(ROWS) // 2, "spend": rng.lognormal(3, 1, ROWS), "age": rng.integers(18, 90, ROWS)}


@pytest.fixture
def ranges():
    return Ranges(
        {"spend": Range((0.01, 0.99), (0.5, 200.0)), "age": Range((0.01, 0.99), (18, 89))}, nb.PrivacyLoss.pure(1)
    )


def test_metadata_have_the_released_bounds(ranges):
    """Types by the bounds; one row is protected, or all rows of a user."""
    found = smartnoise.metadata(ranges, "visits", columns={"region": "string"})[""]["public"]["visits"]
    assert found["row_privacy"] and found["spend"] == {"type": "float", "lower": 0.5, "upper": 200.0}
    assert found["age"] == {"type": "int", "lower": 18, "upper": 89} and found["region"] == {"type": "string"}
    by_user = smartnoise.metadata(ranges, "visits", schema="S", unit="user_id", rows_per_unit=4)[""]["S"]["visits"]
    assert by_user["max_ids"] == 4 and by_user["user_id"]["private_id"] and "row_privacy" not in by_user


def test_a_query_of_smartnoise_has_its_own_loss():
    """Pure without a delta; one without a finite epsilon is refused."""
    for cost, delta in (((0.5, 0.0), 0.0), ((0.5, 2.0**-20), 2.0**-20)):
        reader = SimpleNamespace(get_privacy_cost=lambda query, cost=cost: cost)
        found = smartnoise.loss(reader, "SELECT 1", unit="user_id")
        assert (found.epsilon, found.delta, found.unit) == (0.5, delta, "user_id")
    with pytest.raises(ValueError, match="no finite loss"):
        smartnoise.loss(SimpleNamespace(get_privacy_cost=lambda query: (math.inf, 0.0)), "SELECT 1")


@pytest.mark.filterwarnings("ignore")
def test_smartnoise_answers_within_private_bounds(visits):
    """A query with the metadata, charged before it runs."""
    snsql, pd = pytest.importorskip("snsql"), pytest.importorskip("pandas")
    found = private_ranges(nb.Table(visits), ["spend", "age"], epsilon="0.5")
    meta = smartnoise.metadata(found, "visits")
    reader = snsql.from_df(pd.DataFrame(visits), privacy=snsql.Privacy(epsilon=0.5), metadata=meta)
    query = "SELECT SUM(spend) AS total, SUM(age) AS years FROM public.visits"
    budget = nb.Budget(epsilon=4, delta="1e-4")
    budget.charge(smartnoise.loss(reader, query), "a SmartNoise query")
    ((_, _), (total, years)) = reader.execute(query)
    assert total == pytest.approx(visits["spend"].sum(), rel=0.1) and years == pytest.approx(
        visits["age"].sum(), rel=0.1
    )
    assert reader.odometer.spent[0] <= budget.history[0].loss.epsilon * (1 + 1e-9)
