"""The exact auditor: the worst log-ratio of exact laws over all neighbouring pairs of small data sets.

No sampling: a mechanism is given as a function from a data set to its log-probabilities, and the largest ratio of any
outcome between two neighbours is its true cost on these data. A claim below it is false; one far above it is wasteful.
Use data sets on a few rungs of a long ladder: a hundred equal queries and then one step reveal more than a few queries.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.values import dataclass

Data: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The worst pure loss and range, and the pairs of data sets with these losses."""

    epsilon: float
    eta: float
    epsilon_pair: tuple[Data, Data]
    eta_pair: tuple[Data, Data]


def all_data(spots: Sequence[Hashable], most: int, least: int = 0) -> Iterator[Data]:
    """Every data set of `least` to `most` records on these spots (the order of records does not matter)."""
    for n in range(least, most + 1):
        yield from combinations_with_replacement(spots, n)


def neighbors_of(data: Data, spots: Sequence[Hashable], neighbors: Neighbors) -> Iterator[Data]:
    """The neighbours of a data set: one record less (each pair occurs once), or one record changed."""
    order = {spot: k for k, spot in enumerate(spots)}
    for i in range(len(data)):
        rest = data[:i] + data[i + 1 :]
        if i and data[i] == data[i - 1]:
            continue  # the neighbours are those of the record before
        if neighbors == "add-remove":
            yield rest
        else:
            yield from (tuple(sorted((*rest, spot), key=order.__getitem__)) for spot in spots if spot != data[i])


def audit(
    log_law: Callable[[Data], Floats], spots: Sequence[Hashable], most: int, neighbors: Neighbors, least: int = 0
) -> Finding:
    """The worst loss of a mechanism over all neighbouring data sets of up to `most` records on the given spots."""
    laws: dict[Data, Floats] = {data: log_law(data) for data in all_data(spots, most, least)}
    worst = Finding(0.0, 0.0, ((), ()), ((), ()))
    done: set[Data] = set()
    for data, law in laws.items():
        if neighbors == "swap":
            done.add(data)  # these pairs occur both ways, and have the same loss
        for other in neighbors_of(data, spots, neighbors):
            if other in laws and other not in done:
                epsilon, eta = pair_loss(law, laws[other])
                if epsilon > worst.epsilon:
                    worst = Finding(epsilon, worst.eta, (data, other), worst.eta_pair)
                if eta > worst.eta:
                    worst = Finding(worst.epsilon, eta, worst.epsilon_pair, (data, other))
    return worst


def pair_loss(log_p: Floats, log_q: Floats) -> tuple[float, float]:
    """The pure loss between two laws, the larger of both directions, and its range (Definition A.2)."""
    possible = ~(np.isneginf(log_p) & np.isneginf(log_q))
    with np.errstate(invalid="ignore"):
        ratio = (log_p - log_q)[possible]
    if len(ratio) == 0:
        return 0.0, 0.0
    if not np.all(np.isfinite(ratio)):
        return math.inf, math.inf
    return float(np.abs(ratio).max()), float(ratio.max() - ratio.min())
