"""Many quantiles by recursion: the middle one by EMQ, then both parts of the data (Kaplan, Schnapp and Stemmer 2022).

m quantiles take floor(log2(m)) + 1 levels, of epsilon / levels each. Under add-remove an added record is in one part
per level. Under swap a record may move from one part to another, and two parts differ by a record each: at the rates of
add-remove a level below the first would cost twice as much, so its rates are halved.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import Cost, range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_ranks
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.measures import FLAT, Measure
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.statistics.keywords import spelled_out

Rate = Callable[[Fraction, bool], Fraction]


@spelled_out
def recursive_quantiles(
    data: object,
    qs: Iterable[Number],
    *,
    neighbors: Neighbors = "swap",
    **options: Unpack[Ranged],
) -> Release:
    """Quantiles by recursion, in the order of `qs` (Kaplan et al. 2022); floating-point noise, for comparison only.

    All together cost epsilon, and a larger q never has a smaller answer.
    """
    ranks, (low, high), generator = (
        check_ranks(qs, "qs"),
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
    )
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    different = tuple(sorted(set(ranks)))
    each = total / levels_for(len(different))
    loss = PrivacyLoss.of(recursion_cost(len(different), each), neighbors)

    def rate(q: Fraction, first: bool) -> Fraction:
        return node_rate(q, each, neighbors, first)

    answers = dict(recursion(records_of(data, low, high), different, low, high, rate, generator))
    parameters = described("recursion (Kaplan, Schnapp and Stemmer 2022)", low, high, q=[str(q) for q in ranks])
    return Release("quantiles", tuple(answers[q] for q in ranks), loss, parameters)


def levels_for(m: int) -> int:
    """The number of levels for m quantiles."""
    return m.bit_length()


def recursion_cost(m: int, each: Fraction) -> Cost:
    """The cost of m quantiles at `each` per level: the range of a level is `each`, whether one part changes or two."""
    return sum([range_bounded(each)] * (levels_for(m) - 1), range_bounded(each))


def node_rate(q: Fraction, each: Fraction, neighbors: Neighbors, first: bool) -> Fraction:
    """The rate of one EMQ with which a level costs `each`.

    Below the first level under swap, the worst case is a record less in one part and a record more in another: each
    gets half. A record that moves inside a part costs no more than both.
    """
    if neighbors == "add-remove" or first:
        return emq_rate(q, each, neighbors)
    return emq_rate(q, each / 2, "add-remove")


def recursion(
    ordered: Floats,
    qs: tuple[Fraction, ...],
    lower: float,
    upper: float,
    rate: Rate,
    rng: np.random.Generator,
    *,
    first: bool = True,
    measure: Measure = FLAT,
) -> list[tuple[Fraction, float]]:
    """Each rank with its answer, for sorted records between the bounds."""
    if not qs:
        return []
    half = len(qs) // 2
    q, value = qs[half], lower  # equal bounds allow one answer only
    if lower < upper:
        value = float(steps_of(ordered, [q], [rate(q, first)], lower, upper, measure).draw(rng)[0, 0])
    cut = int(np.searchsorted(ordered, value))
    left, right = tuple(r / q for r in qs[:half]), tuple((r - q) / (1 - q) for r in qs[half + 1 :])
    below = recursion(ordered[:cut], left, lower, value, rate, rng, first=False, measure=measure)
    above = recursion(ordered[cut:], right, value, upper, rate, rng, first=False, measure=measure)
    answers = [answer for _, answer in below] + [value] + [answer for _, answer in above]
    return list(zip(qs, answers, strict=True))
