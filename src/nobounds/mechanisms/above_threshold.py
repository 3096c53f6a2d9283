"""AboveThreshold: answer a stream of queries until the first noisy one reaches a noisy threshold.

Algorithm 1, with lattice exponential, discrete Laplace or Gumbel noise, and the iterative exponential mechanism
(Algorithm 3). Both are plain loops over the queries; `skip_ahead` jumps over equal queries and is tested against them.
"""

import math
import os
import threading
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

from nobounds.accounting.cost import general, monotonic, split
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable, charged
from nobounds.exact import Number, ball, privacy_parameter, rational, upper_bound
from nobounds.mechanisms.queries import Query, exact_value
from nobounds.noise.discrete import (
    Exponential,
    Noise,
    check_noise,
    decide,
    discrete_laplace,
    geometric,
    threshold_noise,
)
from nobounds.noise.source import RandomSource, Rng, random_source
from nobounds.noise.unique import Unique

# Queries are clamped to this many noise scales around the threshold. Clamping keeps the sensitivity and the order too,
# and noise reaches that far with probability exp(-2**2000).
_REACH = 2**2000


class QueryStream(Unique):
    """Base of mechanisms over a stream of queries: reads each query exactly and never uses noise twice.

    Threads may share a mechanism, because it answers one query at a time. It cannot be copied or pickled, and answers
    only in the process that created it.
    """

    # Queries are rounded down to 1/1024 of the sensitivity. Rounding down keeps the sensitivity and the order, and does
    # not change whole numbers if the sensitivity is 1.
    _lattice: ClassVar[int] = 1024
    loss: PrivacyLoss

    def __init__(self, threshold: Number, sensitivity: Number, rng: Rng) -> None:
        self._scale = upper_bound(sensitivity, "sensitivity")
        self._threshold = self._snap(rational(threshold, "threshold"))
        self._source = random_source(rng)
        self._owner = (os.getpid(), id(self))
        self._lock = threading.RLock()  # re-entrant: a signal handler must not deadlock with the query it interrupts
        self._open = True
        self._drawing = False
        self.answered = 0

    def _set_rates(self, eps1: Fraction, eps2: Fraction) -> None:
        """Set the noise rates of the threshold and of the queries, and the range to which queries are clamped."""
        self.eps1, self.eps2 = eps1, eps2
        reach = math.ceil(_REACH / min(eps1, eps2))
        self._lowest, self._highest = self._threshold - reach, self._threshold + reach

    def _pay(self, budget: Chargeable | None, purpose: str) -> None:
        """Charge the loss before the first noise is drawn."""
        charged(self.loss, budget, purpose)

    def _fresh_threshold(self, noise: Noise) -> "NoisyThreshold":
        return NoisyThreshold(self._threshold, self.eps1, self.eps2, noise, self._source, self._lattice)

    def query(self, value: Query) -> bool:
        """Whether the query is noisily above the threshold; raises once the mechanism has halted.

        NaN counts as minus infinity, so no number makes a query fail. A query that is interrupted, for example by
        Ctrl-C, is the last one.
        """
        number = self._read(value)  # before the lock, because this may run the value's own code
        self._check_owner()
        with self._lock:
            self._check_open()
            self._drawing = True  # if anything below raises, this stays set and no later query is answered
            above = self._noisy_above(number) if isinstance(number, Fraction) else number > 0
            if above:
                self._hit()
            self.answered += 1
            self._drawing = False
        return above

    def stop(self) -> None:
        """Refuse further queries. Stopping early does not change the loss."""
        self._check_owner()
        with self._lock:
            self._open = False

    def _check_owner(self) -> None:
        """Refuse copies and forked processes; called before the lock, which a forked process might never acquire."""
        if self._owner != (os.getpid(), id(self)):
            raise RuntimeError(
                f"this {type(self).__name__} is a copy, or was created in another process, and its noise may answer "
                f"only once; query the original, or create a new one here, at its own cost"
            )

    def _check_open(self) -> None:
        name = type(self).__name__
        if self._drawing:
            raise RuntimeError(
                f"a query of this {name} was interrupted or is still being answered; start a new one, at its own cost"
            )
        if not self._open:
            raise RuntimeError(f"this {name} has halted or was stopped; start a new one, at its own cost")

    def _read(self, value: Query) -> Fraction | float:
        """The value rounded to the lattice and clamped to the reach of the noise; an infinity stays infinite.

        With a finite sensitivity, neighbouring data sets have the same infinite queries.
        """
        exact = exact_value(value)
        if isinstance(exact, float):
            return exact
        return min(max(self._snap(exact), self._lowest), self._highest)

    def _snap(self, value: Fraction) -> Fraction:
        """The value in units of the sensitivity, rounded down to the lattice."""
        return Fraction(math.floor(value / self._scale * self._lattice), self._lattice)

    def _noisy_above(self, value: Fraction) -> bool:
        raise NotImplementedError

    def _hit(self) -> None:
        raise NotImplementedError


class NoisyThreshold(Unique):
    """A noisy threshold, compared with queries that each get fresh noise."""

    def __init__(
        self, threshold: Fraction, eps1: Fraction, eps2: Fraction, noise: Noise, source: RandomSource, lattice: int
    ) -> None:
        self.eps2, self.noise, self._source, self._lattice = eps2, noise, source, lattice
        self._threshold = threshold
        if noise == "gumbel":
            self._first = Exponential(source)  # the Gumbel noise on the threshold is -ln of this
        else:
            self._threshold += Fraction(threshold_noise(noise, eps1 / lattice, source), lattice)

    def reached_by(self, value: Fraction) -> bool:
        """Whether the noisy query is at or above the noisy threshold."""
        # Fresh noise each time: one shared draw would leave the queries bare, and that variant is not private.
        gap = (self._threshold - value) * self._lattice
        if self.noise == "exponential":
            return geometric(self.eps2 / self._lattice, self._source) >= gap
        if self.noise == "laplace":
            return discrete_laplace(self.eps2 / self._lattice, self._source) >= gap
        fresh = Exponential(self._source)

        def attempt(precision: int) -> int | None:
            left = fresh.ball(precision)
            right = self._first.ball(precision) * ball(self.eps2 * (value - self._threshold)).exp()
            return 1 if left < right else 0 if left > right else None

        return bool(decide(attempt))


class _OneHit(QueryStream):
    """Base of Algorithms 1 and 3, which share their parameters and halt at the first hit."""

    def __init__(
        self,
        threshold: Number,
        epsilon: Number,
        sensitivity: Number,
        is_monotonic: bool,
        share: Number,
        neighbors: str,
        rng: Rng,
    ) -> None:
        super().__init__(threshold, sensitivity, rng)
        cost = monotonic if is_monotonic else general
        self._set_rates(*split(cost, privacy_parameter(epsilon, "epsilon"), checked_share(share)))
        self.loss = PrivacyLoss.of(cost(self.eps1, self.eps2), check_neighbors(neighbors))
        self.halted_at: int | None = None

    def first_above(self, values: Iterable[Query]) -> int | None:
        """Index of the first value that is noisily above the threshold, or None if none is (Algorithm 1)."""
        return next((k for k, value in enumerate(values) if self.query(value)), None)

    def _hit(self) -> None:
        self.halted_at, self._open = self.answered, False


def checked_share(share: Number) -> Fraction:
    """The part of eps1 in eps1 + eps2, validated."""
    part = rational(share, "share")
    if not 0 < part < 1:
        raise ValueError(f"share must be between 0 and 1, got share={share!r}")
    return part


class AboveThreshold(_OneHit):
    """AboveThreshold over any stream of queries with a stated sensitivity (Algorithm 1).

    `epsilon` is the total cost for any number of queries. `monotonic` promises that between neighbouring data sets all
    queries change in the same direction, which lowers the noise. `share` is the part of eps1 in eps1 + eps2; Gumbel
    noise requires 1/2. A `budget` is charged before the first query.

    Query values of any numeric type are read exactly and rounded down to 1/1024 of `sensitivity`, which must bound the
    change of the values as computed, rounding errors included. The mechanism answers only in the process that created
    it and cannot be copied or pickled. Threads may share it.

    >>> import random
    >>> mechanism = AboveThreshold(100, epsilon=50, monotonic=True, rng=random.Random(1))
    >>> [mechanism.query(value) for value in (3, 20, 180)], mechanism.loss.epsilon
    ([False, False, True], 50.0)
    """

    def __init__(
        self,
        threshold: Number,
        *,
        epsilon: Number,
        sensitivity: Number = 1,
        monotonic: bool = False,
        noise: Noise = "exponential",
        share: Number = Fraction(1, 2),
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        rng: Rng = None,
    ) -> None:
        self.noise = check_noise(noise)
        super().__init__(threshold, epsilon, sensitivity, monotonic, share, neighbors, rng)
        if self.noise == "gumbel" and self.eps1 != self.eps2:
            raise ValueError(f"share must be 1/2 with Gumbel noise, got share={share!r}")
        self._pay(budget, "above threshold")
        self._noisy_threshold = self._fresh_threshold(self.noise)

    def _noisy_above(self, value: Fraction) -> bool:
        return self._noisy_threshold.reached_by(value)


class IterativeExponential(_OneHit):
    """For each query, the exponential mechanism selects among it, all earlier queries and the threshold (Algorithm 3).

    The outcomes have the law of AboveThreshold with Gumbel noise, and so the cost is the same.
    """

    def __init__(
        self,
        threshold: Number,
        *,
        epsilon: Number,
        sensitivity: Number = 1,
        monotonic: bool = False,
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        rng: Rng = None,
    ) -> None:
        super().__init__(threshold, epsilon, sensitivity, monotonic, Fraction(1, 2), neighbors, rng)
        self._pay(budget, "iterative exponential mechanism")
        self._seen: Counter[Fraction] = Counter([self._threshold])

    def _noisy_above(self, value: Fraction) -> bool:
        self._seen[value] += 1
        e = Exponential(self._source)

        def attempt(precision: int) -> int | None:
            # Divided by this query's weight, all weights sum to 1/p, p the chance to select it; and P(E > ln(1/p)) = p.
            total = sum((n * ball(self.eps2 * (other - value)).exp() for other, n in self._seen.items()), ball(0))
            left, right = e.ball(precision), total.log()
            return 1 if left > right else 0 if left < right else None

        return bool(decide(attempt))
