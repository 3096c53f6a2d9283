"""SparseVector: answer a stream of queries until `hits` of them were above a threshold.

"iterated" restarts AboveThreshold (Algorithm 1) after each hit, so its cost is that of a composition. "classical"
draws the noise on the threshold once, and the noise on the queries grows with `hits` (Lyu, Su and Li 2017).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from nobounds.accounting.bands import delta_of, oriented
from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.cost import Cost, general, monotonic
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable
from nobounds.exact import Number, positive, privacy_parameter, rational, round_up, shown
from nobounds.mechanisms.above_threshold import QueryStream, checked_share
from nobounds.mechanisms.hits import FreshThreshold, Hits, hits_of
from nobounds.mechanisms.queries import Query
from nobounds.noise.discrete import Noise, check_noise
from nobounds.noise.source import Rng
from nobounds.values import dataclass

Method: TypeAlias = Literal["iterated", "classical"]

_EXACTLY = 1000  # up to this many hits are composed exactly at a delta; more of them by zCDP


class SparseVector(QueryStream):
    """AboveThreshold with up to `hits` hits over any stream of queries with a stated sensitivity.

    The total cost for any number of queries is `epsilon`, `epsilon` at `delta`, or `rho` (zCDP). `monotonic` promises
    that between neighbouring data sets all queries of the stream change in the same direction. `method` and `share`,
    the part of eps1 in eps1 + eps2, default to those with the least noise. See `AboveThreshold` for the other
    parameters.

    >>> import random
    >>> mechanism = SparseVector(100, hits=2, epsilon=80, monotonic=True, rng=random.Random(1))
    >>> list(mechanism.answers([3, 150, 20, 180, 7])), mechanism.hits_found
    ([False, True, False, True], 2)
    >>> print(mechanism.loss)
    epsilon 80 (add-remove, per row; rho ...)
    """

    def __init__(
        self,
        threshold: Number,
        *,
        hits: int,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number = 1,
        monotonic: bool = False,
        noise: Noise = "exponential",
        share: Number | None = None,
        method: Method | None = None,
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        rng: Rng = None,
    ) -> None:
        super().__init__(threshold, sensitivity, rng)
        self.noise = check_noise(noise)
        promise, neighbors = Promise.of(epsilon, delta, rho), check_neighbors(neighbors)
        part = None if share is None else checked_share(share)
        rates = _least_noise(promise, _checked_hits(hits), monotonic, self.noise, method, part)
        self.hits, self.method = rates.hits, rates.method
        self._set_rates(rates.eps1, rates.eps2)
        self.loss = promise.loss(rates.costs(), neighbors)
        price, renewed = rates.costs()[0], self.method == "iterated"
        fresh = FreshThreshold(self._threshold, self.eps1, self.eps2, self.noise, self._lattice, lambda: price)
        self._begin(hits_of(fresh, self.hits, renewed), budget, f"sparse vector, {self.hits} hits")

    @property
    def hits_at(self) -> Hits:
        """The positions of the hits so far."""
        return self._hits

    @property
    def hits_found(self) -> int:
        """The number of hits so far: queries that were noisily above the threshold."""
        return len(self.hits_at)

    def answers(self, values: Iterable[Query]) -> Iterator[bool]:
        """Answer the values in order, up to the last hit."""
        for value in values:
            yield self.query(value)
            if not self._open:
                return


@dataclass(frozen=True, slots=True)
class Rates:
    """Noise rates of a sparse vector: scale sensitivity / eps1 on the threshold, sensitivity / eps2 on the queries."""

    method: Method
    hits: int
    is_monotonic: bool
    eps1: Fraction
    eps2: Fraction

    def costs(self) -> list[Cost]:
        """Its costs: `hits` runs of AboveThreshold, or one run with all hits (Lyu, Su and Li 2017, Algorithm 7)."""
        row = monotonic if self.is_monotonic else general
        if self.method == "iterated":
            return [row(self.eps1, self.eps2)] * self.hits
        return [row(self.eps1, self.hits * self.eps2)]

    def times(self, factor: Fraction) -> "Rates":
        """The same with all noise divided by `factor`."""
        return replace(self, eps1=self.eps1 * factor, eps2=self.eps2 * factor)

    @property
    def variance(self) -> Fraction:
        """Variance of the noise on a query minus that on the threshold, for exponential noise and sensitivity 1."""
        return 1 / self.eps1**2 + 1 / self.eps2**2


@dataclass(frozen=True, slots=True)
class Promise:
    """The total that may be spent: a pure epsilon, an epsilon at a delta, or a rho."""

    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None

    @classmethod
    def of(cls, epsilon: Number | None, delta: Number | None, rho: Number | None) -> "Promise":
        """The promise of these parameters, validated."""
        given = [name for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if value is not None]
        if given not in (["epsilon"], ["epsilon", "delta"], ["rho"]):
            raise ValueError(f"give epsilon, epsilon and delta, or rho; got {' and '.join(given) or 'none of them'}")
        at = None if delta is None else positive(delta, "delta")
        if at is not None and at >= 1:
            raise ValueError(f"delta must be less than 1, got delta={shown(delta)}")
        return cls(
            None if epsilon is None else privacy_parameter(epsilon, "epsilon"),
            at,
            None if rho is None else privacy_parameter(rho, "rho"),
        )

    def largest(self, rates: Rates) -> Rates:
        """The rates in the same ratio with the least noise that keeps the promise."""
        if self.epsilon is not None and self.delta is None:
            return rates.times(self.epsilon / sum(cost.epsilon for cost in rates.costs()))
        return rates.times(_largest(lambda factor: self._keeps(rates.times(factor).costs())))

    def ratios(self, is_monotonic: bool) -> set[Fraction]:
        """Candidate ratios of eps1 to eps2 for the least noise with one hit.

        At a cost of eps1 + w eps2 the variance is least where the ratio is the cube root of w; with several hits
        (`_least_noise`), of w times the hits. w is 1 for monotonic queries, 2 for others, and 2 for a range.
        """
        two = Fraction(2 ** (1 / 3)).limit_denominator(1000)
        if not is_monotonic or self.rho is not None:
            return {two}
        return {Fraction(1)} if self.delta is None else {Fraction(1), two}

    def loss(self, costs: list[Cost], neighbors: Neighbors) -> PrivacyLoss:
        """The loss to charge for mechanisms of these costs that keep the promise."""
        total = sum(costs[1:], costs[0])
        loss = PrivacyLoss.of(total, neighbors)
        if self.epsilon is None or self.delta is None or total.epsilon <= self.epsilon:
            return loss
        return replace(loss, epsilon=round_up(self.epsilon), eta=float("inf"), delta=round_up(self.delta))

    def _keeps(self, costs: list[Cost]) -> bool:
        if self.epsilon is None or self.delta is None:
            return len(costs) * costs[0].rho <= (self.rho or 0)
        if len(costs) > _EXACTLY:
            most = rho_from_approximate(self.epsilon, self.delta)
            return len(costs) * costs[0].rho <= most or len(costs) * costs[0].epsilon <= self.epsilon
        # No other composition allows more (`bands.cheapest`): this one is exact given the one-sided losses.
        deltas = (delta_of(bands, self.epsilon) for bands in oriented(costs))
        return all(rational(delta, "delta") <= self.delta for delta in deltas)


def _least_noise(
    promise: Promise, hits: int, is_monotonic: bool, noise: Noise, method: Method | None, share: Fraction | None
) -> Rates:
    """The rates for the given method and share, or for those with the least noise where they are None."""
    if method not in (None, *get_args(Method)):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got method={method!r}")
    if noise == "gumbel" and method == "classical" and hits > 1:
        raise ValueError("method must be iterated with Gumbel noise, got method='classical'")
    if noise == "gumbel" and share not in (None, Fraction(1, 2)):
        raise ValueError(f"share must be 1/2 with Gumbel noise, got share={share}")
    methods: tuple[Method, ...] = ("iterated",) if noise == "gumbel" else get_args(Method)
    ratios = {Fraction(1)} if noise == "gumbel" else promise.ratios(is_monotonic)
    candidates = []
    for one in methods if method is None else (method,):
        more = 1 if one == "iterated" else Fraction(hits ** (1 / 3)).limit_denominator(1000)
        for ratio in sorted(ratios) if share is None else (share / (1 - share) / more,):
            eps1 = ratio * more / (1 + ratio * more)
            candidates.append(promise.largest(Rates(one, hits, is_monotonic, eps1, 1 - eps1)))
    return min(candidates, key=lambda rates: rates.variance)


def _checked_hits(hits: object) -> int:
    number = rational(hits, "hits")
    if number.denominator != 1 or number < 1:
        raise ValueError(f"hits must be a whole number and at least 1, got hits={shown(hits)}")
    return int(number)


def _largest(within: Callable[[Fraction], bool]) -> Fraction:
    """The largest positive number for which `within` holds, rounded down to 7 digits; `within` is monotone."""
    low = Fraction(1)
    while within(2 * low):
        low *= 2
    while not within(low):
        low /= 2
    high = 2 * low
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low
