"""OpenDP: a loss as the terms of a `Context`, and the loss of a measurement or a context.

The bounds of a range are those of `dp.sum` and `dp.mean`, and its candidates those of `dp.quantile`.
"""

import math
from typing import Any

from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.exact import Number, rational
from nobounds.interop.floats import at_most, exactly

_ADDED = ("SymmetricDistance", "InsertDeleteDistance", "SymmetricIdDistance", "InsertDeleteIdDistance")
_CHANGED = ("ChangeOneDistance", "HammingDistance", "ChangeOneIdDistance")


def terms(loss: PrivacyLoss) -> dict[str, Any]:
    """`privacy_unit` and `privacy_loss` of `Context.compositor`, for a loss that is already charged to a budget.

    The unit is one row, or the rows with one identifier. A context spends no more than the loss: its epsilon at its
    delta, or its rho if it has no epsilon.
    """
    from opendp.prelude import loss_of, unit_of

    if loss.unit == "row":
        unit = unit_of(changes=1) if loss.neighbors == "swap" else unit_of(contributions=1)
    else:
        unit = unit_of(contributions=1, identifier=loss.unit)
    if loss.epsilon == math.inf:
        return {"privacy_unit": unit, "privacy_loss": loss_of(rho=at_most(loss.rho))}
    delta = {"delta": at_most(loss.delta)} if loss.delta else {}
    return {"privacy_unit": unit, "privacy_loss": loss_of(epsilon=at_most(loss.epsilon), **delta)}


def loss(measurement: Any, *, d_in: int = 1, unit: str = "row", delta: Number | None = None) -> PrivacyLoss:
    """The loss of a measurement on data sets at distance `d_in`, or of a context, by its own privacy map; rounded up.

    unit: whom the distance is about; a distance of several rows needs its name. delta: for a measurement with a privacy
    profile.
    """
    if hasattr(measurement, "accountant"):
        measurement, d_in = measurement.accountant, measurement.d_in
    if d_in != 1 and unit == "row":
        raise ValueError(f"d_in={d_in} is about more than one row: name the privacy unit, such as unit='user_id'")
    terms: dict[str, Any] = {"neighbors": _neighbors(str(measurement.input_metric)), "unit": unit}
    measure, spent = str(measurement.output_measure), measurement.map(d_in)
    if measure == "MaxDivergence":
        return PrivacyLoss.pure(exactly(spent), **terms)
    if measure == "ZeroConcentratedDivergence":
        return PrivacyLoss.zcdp(exactly(spent), **terms)
    if measure == "Approximate(MaxDivergence)":
        epsilon, at = map(exactly, spent)
        return PrivacyLoss.approximate(epsilon, at, **terms) if at else PrivacyLoss.pure(epsilon, **terms)
    if measure == "SmoothedMaxDivergence" and delta is not None:
        least = spent.epsilon(at_most(float(rational(delta, "delta"))))
        return PrivacyLoss.approximate(exactly(least), delta, **terms)
    if measure == "SmoothedMaxDivergence":
        raise ValueError("a measurement with a privacy profile needs a delta")
    raise ValueError(f"a loss in {measure} has no epsilon or rho here: convert the measurement with opendp.combinators")


def _neighbors(metric: str) -> Neighbors:
    """The neighbours of a metric, by its name."""
    if any(name in metric for name in _CHANGED):
        return "swap"
    if any(name in metric for name in _ADDED):
        return "add-remove"
    raise ValueError(f"the input metric must be a distance between data sets, got {metric}")
