"""Shifted Inverse: a maximum by aiming at a lower rank (Fang, Dong and Yi 2022).

The records above y are those to remove before the maximum is at most y. An answer with none of them costs nothing, so
the exponential mechanism would run away; it aims at `shift` of them instead, with a score that counts no further than
shift + 1. The shift for |Y| candidates and a failure probability beta is 2/epsilon ln(|Y| / beta). After the public map
the candidates are `cells` of equal mass; the law is that of a fine grid inside them.
"""

import math
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, privacy_parameter
from nobounds.release.release import Release
from nobounds.research.baselines.mapped.records import Unbounded, ordered_records
from nobounds.research.baselines.measures import MAGNITUDES
from nobounds.research.baselines.records import FLOATING, check_rng
from nobounds.research.baselines.steps import Steps
from nobounds.statistics.keywords import spelled_out

CELLS, BETA = 10**5, 0.1


@spelled_out
def shifted_maximum(data: object, *, neighbors: Neighbors = "swap", **options: Unpack[Unbounded]) -> Release:
    """A maximum by Shifted Inverse (Fang et al. 2022) after the public map; floating-point noise, for comparison only.

    A record added, removed or changed moves the number of records above any point by at most 1.
    """
    generator, neighbors = check_rng(options["rng"]), check_neighbors(neighbors)
    total = privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = shifted_law(data, epsilon=total)
    parameters = {"method": "Shifted Inverse (Fang, Dong and Yi 2022) over magnitudes", "noise": FLOATING}
    return Release("maximum", float(law.draw(generator)[0, 0]), loss, parameters)


def shifted_law(data: object, *, epsilon: Number) -> Steps:
    """The exact law of `shifted_maximum`."""
    total = privacy_parameter(epsilon, "epsilon")
    ordered, shift = ordered_records(data), shift_for(total)
    edges = np.concatenate([[-np.inf], ordered, [np.inf]])
    above = len(ordered) - np.arange(len(ordered) + 1)
    weights = MAGNITUDES.log_masses(edges) - float(total / 2) * np.minimum(np.abs(above - shift), shift + 1)
    top = weights.max()
    return Steps(edges, (weights - (top + math.log(np.exp(weights - top).sum())))[None, :], MAGNITUDES)


def shift_for(epsilon: Fraction) -> int:
    """The rank from above that is aimed at."""
    return math.ceil(2 / epsilon * Fraction(math.log(CELLS / BETA)))
