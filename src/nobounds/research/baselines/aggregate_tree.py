"""Aggregate tree: noisy counts of equal parts of a range, of their parts and so on, made consistent.

The counts are those of Dwork, Naor, Pitassi and Rothblum (2010) and of Chan, Shi and Song (2011), the best estimates
from them are Honaker's (2015), and height 3 and branching 10 are the paper's choice, from Gillenwater, Joseph and
Kulesza (2021).

In the public code of the last (google-research, dp_multiq/tree.py) the estimates from above use the index of the parent
node instead of its count from the second level on, which distorts the leaves. `slip=True` does the same, to reproduce
experiments with that code.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_ranks
from nobounds.release.release import Release
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.statistics.keywords import spelled_out

Levels = list[Floats]  # one array of node values per level, from below the root down to the leaves
_TOLERANCE = 1e-6  # by which the share of records up to a child may fall short of the rank; as in the public code


@spelled_out
def tree_quantiles(
    data: object,
    qs: Iterable[Number],
    *,
    height: int = 3,
    branching: int = 10,
    neighbors: Neighbors = "swap",
    slip: bool = False,
    **options: Unpack[Ranged],
) -> Release:
    """Quantiles from one aggregate tree, in the order of `qs`; floating-point noise, for comparison only.

    A record is in one node per level, so neighbours differ by `height` counts under add-remove and by twice that under
    swap, where the number of records is public. All quantiles together cost epsilon.
    """
    ranks, (low, high), generator = (
        check_ranks(qs, "qs"),
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
    )
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    if not (isinstance(height, int) and isinstance(branching, int) and height >= 1 and branching >= 2):
        raise ValueError(f"height must be at least 1 and branching 2, got height={height!r}, branching={branching!r}")
    if slip and neighbors == "add-remove":
        raise ValueError("slip must be False under add-remove: it is that of the public code under swap")
    loss = PrivacyLoss.of(pure(total), neighbors)
    records = records_of(data, low, high)
    scale = float(tree_sensitivity(height, neighbors) / total)
    noisy = [
        counts + generator.laplace(0, scale, len(counts))
        for counts in tree_counts(records, low, high, height, branching)
    ]
    levels = aggregated(noisy, float(len(records)) if neighbors == "swap" else None, branching, slip)
    values = tuple(read_off(levels, q, low, high, branching) for q in ranks)
    method = f"aggregate tree of height {height} and branching {branching}{', with the slip' if slip else ''}"
    return Release("quantiles", values, loss, described(method, low, high, q=[str(q) for q in ranks]))


def tree_sensitivity(height: int, neighbors: Neighbors) -> int:
    """The total by which the counts below the root can differ between neighbours."""
    return height * (2 if neighbors == "swap" else 1)


def tree_counts(records: Floats, lower: float, upper: float, height: int, branching: int) -> Levels:
    """The number of records in each node; leaves are equal parts of the range, the last includes the upper bound."""
    leaves = branching**height
    places = np.minimum((records - lower) / (upper - lower) * leaves, leaves - 1).astype(np.int64)
    levels = [np.bincount(places, minlength=leaves).astype(float)]
    while len(levels[0]) > branching:
        levels.insert(0, _sums(levels[0], branching))
    return levels


def aggregated(noisy: Levels, size: float | None, branching: int, slip: bool = False) -> Levels:
    """The best linear estimates of all counts from noisy counts of equal variance; `size` is the root's, if known.

    Each node is estimated from its own and lower counts, then from its own and all others, and both estimates are
    weighted by their variances (Honaker 2015).
    """
    below, variances = [noisy[-1]], [1.0]  # in units of the noise's variance
    for own in reversed(noisy[:-1]):
        weight = 1 / (1 + 1 / (branching * variances[0]))
        below.insert(0, weight * own + (1 - weight) * _sums(below[0], branching))
        variances.insert(0, weight)
    parents, variance = np.array([below[0].sum() if size is None else size]), np.inf if size is None else 0.0
    best, first = [], 1
    for own, under, spread in zip(noisy, below, variances, strict=True):
        rest = np.repeat(parents - _sums(under, branching), branching) + under  # the parent without the siblings
        apart = variance + (branching - 1) * spread
        weight = 1 / (1 + spread / apart)
        best.append(weight * under + (1 - weight) * rest)
        if slip and first > 1:
            numbers = np.arange(first - len(parents), first)
            rest = np.repeat(numbers - _sums(under, branching), branching) + under
        weight = 1 / (1 + 1 / apart)
        parents, variance = weight * own + (1 - weight) * rest, weight
        first += len(own)
    return best


def read_off(levels: Levels, q: Fraction, lower: float, upper: float, branching: int) -> float:
    """The quantile: down the tree to the child that contains it, then linear interpolation inside the last node.

    A node whose children have no positive count is the last.
    """
    node, rank = 0, float(q)
    width = upper - lower
    for counts in levels:
        children = counts[node * branching : (node + 1) * branching]
        passed, total = np.cumsum(children), children.sum()
        if total <= 0:
            break
        child = int(np.argmax(passed / total >= rank - _TOLERANCE))
        own = children[child]
        rank = min(max((total * rank - (passed[child] - own)) / own, 0.0), 1.0) if own > 0 else 0.0
        node, width = node * branching + child, width / branching
    return min(lower + (node + rank) * width, upper)


def _sums(children: Floats, branching: int) -> Floats:
    return np.asarray(children.reshape(-1, branching).sum(axis=1))
