"""Tumult Analytics: a loss as the terms of a session, and the losses of its budgets.

The tests of the library itself run in `make peers`, and are skipped where it is not installed.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import nobounds as nb
from nobounds.interop import private_ranges, tumult

ROWS = 20_000
PURE, AT_DELTA = nb.PrivacyLoss.pure("0.8"), nb.PrivacyLoss.approximate("0.8", "1e-6")


@pytest.fixture
def visits():
    rng = np.random.default_rng(1)
    return {"user_id": np.arange(ROWS) // 2, "spend": rng.lognormal(3, 1, ROWS), "age": rng.integers(18, 90, ROWS)}


def test_a_change_without_a_name_is_refused_of_tumult():
    """Several rows of nobody, and losses under swap that it does not have."""
    with pytest.raises(ValueError, match="privacy unit"):
        tumult.loss(None, SimpleNamespace(max_rows=3))


@pytest.mark.filterwarnings("ignore")
def test_tumult_spends_what_a_loss_allows(visits):
    """A session with private bounds; budgets and changes become losses again, none smaller than was spent."""
    analytics = pytest.importorskip("tmlt.analytics")
    pd, sql = pytest.importorskip("pandas"), pytest.importorskip("pyspark.sql")
    found = private_ranges(nb.Table(visits), ["spend"], epsilon="0.2")["spend"]
    spark = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session = analytics.Session.from_dataframe(
        dataframe=spark.createDataFrame(pd.DataFrame(visits)), source_id="visits", **tumult.terms(PURE)
    )
    low, high = found.bounds
    total = analytics.QueryBuilder("visits").sum("spend", low=low, high=high, name="total")
    answer = session.evaluate(total, session.remaining_privacy_budget).collect()[0]["total"]
    assert answer == pytest.approx(visits["spend"].sum(), rel=0.1)
    spark.stop()
    for loss in (PURE, AT_DELTA, nb.PrivacyLoss.zcdp("0.1", unit="user_id")):
        terms = tumult.terms(loss)
        again = tumult.loss(terms["privacy_budget"], terms["protected_change"])
        assert again.unit == loss.unit and again.delta <= loss.delta
        assert (again.epsilon, again.rho) <= (loss.epsilon, loss.rho)
        assert loss.epsilon == math.inf or again.epsilon >= loss.epsilon * (1 - 1e-15)
    with pytest.raises(ValueError, match="infinite"):
        tumult.loss(analytics.PureDPBudget(math.inf), analytics.AddOneRow())
    with pytest.raises(ValueError, match="under swap"):
        tumult.terms(nb.PrivacyLoss.pure(1, neighbors="swap"))
