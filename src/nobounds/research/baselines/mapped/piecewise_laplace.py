"""A quantile by the piecewise Laplace mechanism of Durfee (2025), after the public map.

The exponential mechanism scores an answer by its distance in ranks from the target, a step function. Piecewise Laplace
noise makes the distance continuous: linear between one record and the next, so that each piece is a part of an
exponential law whose scale is the local sensitivity there (Unifying Laplace Mechanism with Instance Optimality in
Differential Privacy, arXiv 2505.02798; its abstract states the construction, and the constants here are ours).

Private as the exponential mechanism is: the ends of the line are the records of ranks 0 and n + 1, a record more moves
the place of every rank by at most one rank, so between records as well, and the target 1 + q (n - 1) by q. So the
distance from the target moves by at most max(q, 1 - q) under add-remove, and by 1 under swap.
"""

import math
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_rank
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate
from nobounds.research.baselines.mapped.records import Unbounded, ordered_records
from nobounds.research.baselines.measures import MAGNITUDES, Measure
from nobounds.research.baselines.records import FLOATING, check_rng
from nobounds.research.baselines.steps import Steps
from nobounds.statistics.keywords import spelled_out


@spelled_out
def piecewise_laplace(
    data: object, q: Number, *, neighbors: Neighbors = "swap", **options: Unpack[Unbounded]
) -> Release:
    """A quantile by the piecewise Laplace mechanism (Durfee 2025); floating-point noise, for comparison only."""
    rank, generator = check_rank(q), check_rng(options["rng"])
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = piecewise_law(data, rank, epsilon=total, neighbors=neighbors)
    parameters = {"q": str(rank), "method": "piecewise Laplace (Durfee 2025) over magnitudes", "noise": FLOATING}
    return Release("quantile", float(law.draw(generator)[0, 0]), loss, parameters)


def piecewise_law(data: object, q: Number, *, epsilon: Number, neighbors: Neighbors = "swap") -> Steps:
    """The exact law of `piecewise_laplace`."""
    rank, neighbors = check_rank(q), check_neighbors(neighbors)
    rate = emq_rate(rank, privacy_parameter(epsilon, "epsilon"), neighbors)
    return pieces(ordered_records(data), rank, float(rate), -np.inf, np.inf, MAGNITUDES)


def pieces(ordered: Floats, q: Fraction, rate: float, lower: float, upper: float, measure: Measure) -> Steps:
    """The law on sorted records between the bounds: density exp(-rate |place - target|) with regard to the measure."""
    edges, places = np.concatenate([[lower], ordered, [upper]]), np.arange(len(ordered) + 2.0)
    target = min(max(float(1 + q * (len(ordered) - 1)), 0.0), len(ordered) + 1.0)
    before, part = math.floor(target), target - math.floor(target)
    if part > 0:
        cut = float(measure.inside(edges[before], edges[before + 1], np.array(part)))
        edges, places = np.insert(edges, before + 1, cut), np.insert(places, before + 1, target)
    away = np.abs(places - target)
    spans = np.abs(np.diff(away))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(spans > 0, -np.expm1(-rate * spans) / (rate * spans), 1.0)
        weights = measure.log_masses(edges) - rate * np.minimum(away[:-1], away[1:]) + np.log(means)
    top = weights.max()
    log_masses = weights - (top + math.log(np.exp(weights - top).sum()))
    return Steps(edges, log_masses[None, :], measure, -rate * np.diff(away))
