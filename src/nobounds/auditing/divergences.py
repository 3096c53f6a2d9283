"""Divergences between two laws, from their log-probabilities: Renyi for rho, hockey-stick for delta."""

import math
from collections.abc import Iterable

import numpy as np

from nobounds.arrays import Floats

ORDERS = (1.001, 1.1, 1.5, 2.0, 4.0, 16.0, 64.0)


def rho_between(log_p: Floats, log_q: Floats, orders: Iterable[float] = ORDERS) -> float:
    """The largest Renyi divergence divided by its order, both ways: the least rho that these two laws allow."""
    return max(renyi(a, b, order) / order for a, b in ((log_p, log_q), (log_q, log_p)) for order in orders)


def renyi(log_p: Floats, log_q: Floats, order: float) -> float:
    """The Renyi divergence of an order above 1; infinite if an outcome of the first is impossible in the second."""
    possible = ~np.isneginf(log_p)
    p, q = log_p[possible], log_q[possible]
    if np.isneginf(q).any():
        return math.inf
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


def delta_between(log_p: Floats, log_q: Floats, epsilon: float) -> float:
    """The larger of both hockey-stick divergences: the least delta that these two laws allow at epsilon."""
    p, q, x = np.exp(log_p), np.exp(log_q), math.exp(epsilon)
    return float(max(np.maximum(p - x * q, 0.0).sum(), np.maximum(q - x * p, 0.0).sum()))
