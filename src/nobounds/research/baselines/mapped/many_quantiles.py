"""Many quantiles without bounds: Kaplan's recursion and JointExp over the public measure of magnitudes.

The recursion is that of Kaplan, Schnapp and Stemmer (2022), the joint mechanism that of Gillenwater, Joseph and Kulesza
(2021); the masses of intervals take the place of their widths, and nothing else changes.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_ranks
from nobounds.release.release import Release
from nobounds.research.baselines.joint_exponential import JointLaw, increasing, joint_rate
from nobounds.research.baselines.mapped.records import Unbounded, ordered_records
from nobounds.research.baselines.measures import MAGNITUDES
from nobounds.research.baselines.records import FLOATING, check_rng
from nobounds.research.baselines.recursive_quantiles import levels_for, node_rate, recursion, recursion_cost
from nobounds.statistics.keywords import spelled_out


@spelled_out
def mapped_recursive_quantiles(
    data: object, qs: Iterable[Number], *, neighbors: Neighbors = "swap", **options: Unpack[Unbounded]
) -> Release:
    """Quantiles by recursion after the public map, in the order of `qs`; floating-point noise, for comparison only."""
    ranks, generator = check_ranks(qs, "qs"), check_rng(options["rng"])
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    different = tuple(sorted(set(ranks)))
    each = total / levels_for(len(different))
    loss = PrivacyLoss.of(recursion_cost(len(different), each), neighbors)

    def rate(q: Fraction, first: bool) -> Fraction:
        return node_rate(q, each, neighbors, first)

    records = ordered_records(data)
    answers = dict(recursion(records, different, -np.inf, np.inf, rate, generator, measure=MAGNITUDES))
    method = "recursion (Kaplan, Schnapp and Stemmer 2022) over magnitudes"
    parameters = {"q": [str(q) for q in ranks], "method": method, "noise": FLOATING}
    return Release("quantiles", tuple(answers[q] for q in ranks), loss, parameters)


@spelled_out
def mapped_joint_quantiles(
    data: object, qs: Iterable[Number], *, neighbors: Neighbors = "swap", **options: Unpack[Unbounded]
) -> Release:
    """Quantiles by JointExp after the public map, `qs` increasing; floating-point noise, for comparison only."""
    ranks, generator = increasing(qs), check_rng(options["rng"])
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = mapped_joint_law(data, ranks, epsilon=total, neighbors=neighbors)
    method = "JointExp (Gillenwater, Joseph and Kulesza 2021) over magnitudes"
    parameters = {"q": [str(q) for q in ranks], "method": method, "noise": FLOATING}
    return Release("quantiles", tuple(law.draw(generator).tolist()), loss, parameters)


def mapped_joint_law(data: object, qs: Iterable[Number], *, epsilon: Number, neighbors: Neighbors = "swap") -> JointLaw:
    """The law of `mapped_joint_quantiles`, to draw from more than once."""
    ranks, neighbors = increasing(qs), check_neighbors(neighbors)
    rate = joint_rate(ranks, privacy_parameter(epsilon, "epsilon"), neighbors)
    return JointLaw.of(ordered_records(data), ranks, rate, -np.inf, np.inf, MAGNITUDES)
