"""Google's dp_accounting: a loss as an event or a privacy loss distribution, and the loss of an event or accountant."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.accounting.bands import Band
from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.arrays import Floats
from nobounds.exact import Number, rational
from nobounds.interop.floats import at_most, exactly

_RELATIONS: dict[str, Neighbors] = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "swap"}


def event(loss: PrivacyLoss, *, zcdp: bool = False) -> Any:
    """A `DpEvent` whose loss is no less than this one.

    Of a pure loss it is an event for the PLD accountant of its neighbours: discrete Laplace noise on a count, or under
    swap randomised response. No mechanism of that epsilon has a larger delta. With `zcdp=True`, or if the loss is a rho
    alone, it is a `ZCDpEvent`, for the RDP accountant.
    """
    from dp_accounting import RandomizedResponseDpEvent, ZCDpEvent
    from dp_accounting.dp_event import DiscreteLaplaceDpEvent

    pure = loss.epsilon < math.inf and not loss.delta
    if zcdp or not pure:
        if loss.rho == math.inf:
            raise ValueError("an epsilon at a delta with no rho is no event: compose `pld` of it")
        return ZCDpEvent(_at_least(loss.rho))
    epsilon = _at_least(loss.epsilon)
    if loss.neighbors == "add-remove":
        return DiscreteLaplaceDpEvent(epsilon, 1)
    return RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)) * (1 - 2**-50), 2)


def pld(loss: PrivacyLoss, *, value_discretization_interval: float = 1e-4) -> Any:
    """A `PrivacyLossDistribution` that dominates every mechanism with this loss, to be composed with others.

    It uses the range `eta`, so that it is tighter than that of the epsilon alone for an exponential mechanism. A loss
    that is a rho alone has none: compose `event` of it.
    """
    from dp_accounting.pld import privacy_loss_distribution
    from dp_accounting.pld.common import DifferentialPrivacyParameters
    from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots

    if loss.epsilon == math.inf:
        raise ValueError("a rho alone has no privacy loss distribution: compose `event` of it")
    if loss.delta:
        terms = DifferentialPrivacyParameters(_at_least(loss.epsilon), _at_least(loss.delta))
        return privacy_loss_distribution.from_privacy_parameters(terms, value_discretization_interval)
    band = Band.of(rational(loss.epsilon, "epsilon"), rational(min(loss.eta, 2 * loss.epsilon), "eta"))
    most = math.ceil(float(band.high) / value_discretization_interval) + 1
    grid = np.arange(-most, most + 1)
    deltas = _deltas(band, np.asarray(grid * value_discretization_interval, dtype=np.float64))
    pmf = create_pmf_pessimistic_connect_dots(value_discretization_interval, grid, deltas)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf, pmf)


def loss(
    spent: Any, *, delta: Number | None = None, neighbors: Neighbors = "add-remove", unit: str = "row"
) -> PrivacyLoss:
    """The loss of an event, or of all that an accountant has composed, at a delta; rounded up.

    An accountant knows its own neighbours. Of events: Gaussian, Laplace, discrete Laplace, randomised response and zCDP
    events, and compositions of these; others, such as those of DP-SGD, go through an accountant.
    """
    if hasattr(spent, "get_epsilon"):
        relation = spent.neighboring_relation.name
        if relation not in _RELATIONS:
            raise ValueError(
                f"an accountant for {relation} has no neighbours here: use ADD_OR_REMOVE_ONE or REPLACE_ONE"
            )
        if delta is None:
            raise ValueError("the loss of an accountant needs a delta")
        epsilon = spent.get_epsilon(at_most(float(rational(delta, "delta"))))
        return PrivacyLoss.approximate(exactly(epsilon), delta, neighbors=_RELATIONS[relation], unit=unit)
    return _of_event(spent, neighbors, unit)


def _of_event(event: Any, neighbors: Neighbors, unit: str) -> PrivacyLoss:
    kind, about = type(event).__name__, {"neighbors": neighbors, "unit": unit}
    if kind == "NoOpDpEvent":
        return PrivacyLoss.pure(0, neighbors=neighbors, unit=unit)
    if kind == "ComposedDpEvent" and event.events:
        first, *others = (_of_event(each, neighbors, unit) for each in event.events)
        return sum(others, first)
    if kind == "SelfComposedDpEvent" and event.count > 0:
        return _times(_of_event(event.event, neighbors, unit), event.count)
    if kind == "GaussianDpEvent" and event.noise_multiplier > 0:
        return PrivacyLoss.zcdp(1 / (2 * exactly(event.noise_multiplier) ** 2), **about)  # type: ignore[arg-type]
    if kind == "ZCDpEvent" and not event.xi:
        return PrivacyLoss.zcdp(exactly(event.rho), **about)  # type: ignore[arg-type]
    if kind == "LaplaceDpEvent" and event.noise_multiplier > 0:
        return PrivacyLoss.pure(1 / exactly(event.noise_multiplier), **about)  # type: ignore[arg-type]
    if kind == "DiscreteLaplaceDpEvent":
        return PrivacyLoss.pure(exactly(event.noise_parameter) * event.sensitivity, **about)  # type: ignore[arg-type]
    if kind == "RandomizedResponseDpEvent" and neighbors == "swap" and event.noise_parameter > 0:
        odds = 1 + event.num_buckets * (1 / exactly(event.noise_parameter) - 1)
        return PrivacyLoss.pure(exactly(math.log(odds)) * (1 + Fraction(1, 2**50)), **about)  # type: ignore[arg-type]
    raise ValueError(f"{kind} has no loss of its own here: compose it in an accountant, and pass that with a delta")


def _times(loss: PrivacyLoss, count: int) -> PrivacyLoss:
    """The loss of `count` equal ones, by doubling."""
    if count == 1:
        return loss
    half = _times(loss, count // 2)
    return half + half + loss if count % 2 else half + half


def _deltas(band: Band, epsilons: Floats) -> Floats:
    """The largest delta of mechanisms with this band at each epsilon, rounded up.

    (1 - e^(t - eta)) (1 - e^(epsilon - t)) / (1 - e^-eta) is largest at t = (epsilon + eta) / 2, within the band.
    """
    least = np.maximum(-np.expm1(epsilons), 0.0)
    if not band.eta:
        return least
    eta, low, high = float(band.eta), float(band.low), float(band.high)
    t = np.clip((epsilons + eta) / 2, low, high)
    inside = np.expm1(t - eta) * np.expm1(np.minimum(epsilons - t, 0.0)) / -math.expm1(-eta)
    return np.asarray(np.minimum(np.maximum(inside, least) * (1 + 2**-40), 1.0))


def _at_least(number: float) -> float:
    """The smallest float whose binary value is not below the decimal text of this one."""
    return number if Fraction(number) >= rational(number, "number") else math.nextafter(number, math.inf)
