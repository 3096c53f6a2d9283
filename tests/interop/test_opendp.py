"""OpenDP: a loss as the terms of a context, and the losses of its measurements.

The tests of the library itself run in `make peers`, and are skipped where it is not installed.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import nobounds as nb
from nobounds.interop import opendp, private_ranges

ROWS = 20_000
PURE, AT_DELTA = nb.PrivacyLoss.pure("0.8"), nb.PrivacyLoss.approximate("0.8", "1e-6")


@pytest.fixture
def visits():
    rng = np.random.default_rng(1)
    return {"user_id": np.arange(ROWS) // 2, "spend": rng.lognormal(3, 1, ROWS), "age": rng.integers(18, 90, ROWS)}


def measurement(measure, spent, metric="SymmetricDistance()"):
    """What of a measurement of OpenDP is looked at."""
    return SimpleNamespace(input_metric=metric, output_measure=measure, map=lambda d_in: spent)


def test_a_loss_of_opendp_is_that_of_its_map_and_never_less():
    """Pure, zCDP, an epsilon at a delta and a privacy profile; the binary value of 0.1 is above its text."""
    assert opendp.loss(measurement("MaxDivergence", 0.5)).epsilon == 0.5
    assert 0.1 < opendp.loss(measurement("MaxDivergence", 0.1)).epsilon < 0.1 * (1 + 1e-15)
    assert opendp.loss(measurement("ZeroConcentratedDivergence", 0.25)).rho == 0.25
    found = opendp.loss(measurement("Approximate(MaxDivergence)", (0.5, 2.0**-20), "ChangeOneDistance()"))
    assert (found.epsilon, found.delta, found.neighbors) == (0.5, 2.0**-20, "swap")
    assert opendp.loss(measurement("Approximate(MaxDivergence)", (0.5, 0.0))).delta == 0
    profile = SimpleNamespace(epsilon=lambda delta: 0.75)
    assert opendp.loss(measurement("SmoothedMaxDivergence", profile), delta="1e-6").epsilon == 0.75


@pytest.mark.parametrize(
    ("given", "options", "error"),
    [
        (measurement("SmoothedMaxDivergence", None), {}, "needs a delta"),
        (measurement("RenyiDivergence", None), {}, "no epsilon or rho"),
        (measurement("MaxDivergence", 1.0, "AbsoluteDistance(f64)"), {}, "distance between data sets"),
        (measurement("MaxDivergence", 1.0), {"d_in": 3}, "name the privacy unit"),
    ],
)
def test_what_opendp_cannot_say_here_is_refused(given, options, error):
    """Several rows without a name, other measures and other metrics."""
    with pytest.raises(ValueError, match=error):
        opendp.loss(given, **options)


def test_opendp_spends_what_a_loss_allows(visits):
    """A context with private bounds and candidates: its own map says no more than was charged."""
    dp = pytest.importorskip("opendp.prelude")
    pl = pytest.importorskip("polars")
    dp.enable_features("contrib")
    budget = nb.Budget(epsilon=1)
    found = private_ranges(nb.Table(visits, budget=budget), ["spend"], epsilon="0.2")["spend"]
    budget.charge(PURE, "an OpenDP context")
    assert budget.remaining == 0
    context = dp.Context.compositor(
        data=pl.LazyFrame(visits), margins=[dp.polars.Margin(max_length=10**6)], **opendp.terms(PURE)
    )
    loss = opendp.loss(context)
    assert loss.epsilon <= 0.8 and loss.epsilon > 0.799 and loss.neighbors == "add-remove"
    column = pl.col("spend").fill_nan(0.0)
    total = context.query(epsilon=0.4).select(column.dp.sum(found.bounds)).release().collect().item()
    assert total == pytest.approx(visits["spend"].sum(), rel=0.1)
    middle = context.query(epsilon=0.3).select(column.dp.quantile(0.5, found.candidates(500)))
    assert middle.release().collect().item() == pytest.approx(np.median(visits["spend"]), rel=0.1)
    swap, rho = nb.PrivacyLoss.pure("0.8", neighbors="swap"), nb.PrivacyLoss.zcdp("0.1", unit="user_id")
    assert "ChangeOne" in str(opendp.terms(swap)["privacy_unit"])
    assert "ZeroConcentrated" in str(opendp.terms(rho)["privacy_loss"])
    assert "Approximate" in str(opendp.terms(AT_DELTA)["privacy_loss"])


def test_a_measurement_of_opendp_is_charged_with_its_own_loss():
    """Laplace, Gaussian and their conversion to an epsilon at a delta."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    clipped = space >> dp.t.then_clamp((0.0, 100.0)) >> dp.t.then_sum()
    laplace, gaussian = clipped >> dp.m.then_laplace(scale=200.0), clipped >> dp.m.then_gaussian(scale=200.0)
    assert opendp.loss(laplace).epsilon == pytest.approx(0.5, rel=1e-6) and opendp.loss(laplace).epsilon >= 0.5
    assert opendp.loss(gaussian).rho == pytest.approx(0.125, rel=1e-6)
    profile = dp.c.make_zCDP_to_approxDP(gaussian)
    at_delta = opendp.loss(profile, delta="1e-6")
    assert at_delta.epsilon == pytest.approx(opendp.loss(dp.c.make_fix_delta(profile, 1e-6)).epsilon, rel=1e-6)
    assert opendp.loss(laplace, d_in=3, unit="user_id").epsilon == pytest.approx(1.5, rel=1e-6)
    budget = nb.Budget(epsilon=1)
    budget.charge(opendp.loss(laplace), "an OpenDP sum")
    with pytest.raises(nb.BudgetExceeded):
        budget.charge(opendp.loss(laplace), "an OpenDP sum")
