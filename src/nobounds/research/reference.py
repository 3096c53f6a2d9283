"""The paper's algorithms as printed: Algorithm 2 with a lower bound, Algorithm 4 without.

For researchers and for comparison; `nobounds.quantile` needs neither a lower bound nor two walks. The candidates are
beta**i + lower - 1, and the answer is the candidate itself, not the middle of a rung. Two slips of the paper's listing
are fixed: the signs of `lower` and 1 in the answer, and that records below the lower bound are never counted.
"""

from fractions import Fraction

from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.counting.histogram import Histogram
from nobounds.counting.scan import gathered
from nobounds.engines.memory.arrays import Column, column
from nobounds.exact import Number, privacy_parameter
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.noise.discrete import Noise, check_noise
from nobounds.noise.source import RandomSource, Rng, random_source
from nobounds.ranks.problem import check_rank
from nobounds.ranks.route import Route, walk_cost
from nobounds.ranks.view import walk_of
from nobounds.release.release import Release


def unbounded_quantile(
    data: object,
    q: Number,
    *,
    eps1: Number,
    eps2: Number,
    lower: Number = 0,
    beta: Number = 1.001,
    neighbors: Neighbors = "swap",
    noise: Noise = "exponential",
    rng: Rng = None,
) -> Release:
    """The quantile of data with a lower bound and no upper bound (Algorithm 2).

    >>> import random
    >>> unbounded_quantile(range(1000), 0.5, eps1=5, eps2=5, rng=random.Random(3)).value
    499.1...
    """
    rank, route, neighbors, kind = _checked(q, eps1, eps2, neighbors, noise, Ladder.geometric(beta, lower=lower))
    records = column(data)
    loss = PrivacyLoss.of(walk_cost(rank, True, neighbors, route.eps1, route.eps2, records.facts.nullable), neighbors)
    position = _halt(records, 1, rank, route, kind, random_source(rng))
    value = route.ladder.top(route.stop if position is None else position)
    return Release("quantile", value, loss, {"q": str(rank), "method": "Algorithm 2", "beta": str(beta)})


def fully_unbounded_quantile(
    data: object,
    q: Number,
    *,
    eps1: Number,
    eps2: Number,
    beta: Number = 1.001,
    neighbors: Neighbors = "swap",
    noise: Noise = "exponential",
    rng: Rng = None,
) -> Release:
    """The quantile of any data, by one walk over the positive and one over the negative numbers (Algorithm 4).

    `eps1` and `eps2` are those of each walk. Under swap the two walks cost eps1 + 2 eps2 together, less than twice one
    walk: moving a record up raises the counts of one walk and lowers those of the other (missing records aside).
    """
    rank, route, neighbors, kind = _checked(q, eps1, eps2, neighbors, noise, Ladder.geometric(beta))
    records, source = column(data), random_source(rng)
    # The second walk goes up the negated data, which is down the data.
    both = [walk_cost(rank, up, neighbors, route.eps1, route.eps2, records.facts.nullable) for up in (True, False)]
    loss = PrivacyLoss.of(both[0] + both[1], neighbors)
    up = _halt(records, 1, rank, route, kind, source)
    down = _halt(records, -1, 1 - rank, route, kind, source)
    value: int | float = 0
    if up != 0:
        value = route.ladder.top(route.stop if up is None else up)
    elif down != 0:
        value = -route.ladder.top(route.stop if down is None else down)
    return Release("quantile", value, loss, {"q": str(rank), "method": "Algorithm 4", "beta": str(beta)})


def _checked(
    q: Number, eps1: Number, eps2: Number, neighbors: object, noise: object, ladder: Ladder
) -> tuple[Fraction, Route, Neighbors, Noise]:
    route = Route(
        ladder, True, ladder.first, ladder.last, privacy_parameter(eps1, "eps1"), privacy_parameter(eps2, "eps2")
    )
    return check_rank(q), route, check_neighbors(neighbors), check_noise(noise)


def _halt(records: Column, sign: int, q: Fraction, route: Route, noise: Noise, source: RandomSource) -> int | None:
    histogram = Histogram.of([sign * gathered(records.chunks())], route.ladder)
    return halt_position(walk_of(histogram, q, route, noise), source)
