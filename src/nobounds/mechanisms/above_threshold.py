"""AboveThreshold: answer a stream of queries until the first noisy one reaches a noisy threshold.

Algorithm 1 and the iterative exponential mechanism (Algorithm 3), as objects that answer one query at a time. What they
answer is decided by their programs, in `hits`.
"""

import math
import os
import threading
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import ClassVar

from nobounds.accounting.cost import general, monotonic, split
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable, charged
from nobounds.exact import Number, privacy_parameter, rational, upper_bound
from nobounds.mechanisms.hits import FreshThreshold, Hits, first_selected, hits_of
from nobounds.mechanisms.queries import Query, exact_value
from nobounds.noise.discrete import Noise, check_noise
from nobounds.noise.source import Rng
from nobounds.noise.unique import Unique
from nobounds.programs.program import driver_of
from nobounds.programs.streams import StreamProgram, step

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
        self._step = upper_bound(sensitivity, "sensitivity") / self._lattice
        self._threshold = self._snap(rational(threshold, "threshold"))
        self._driver = driver_of(rng)
        self._owner = (os.getpid(), id(self))
        self._lock = threading.RLock()  # re-entrant: a signal handler must not deadlock with the query it interrupts
        self._open = True
        self._drawing = False
        self._hits: Hits = ()
        self.answered = 0

    def _set_rates(self, eps1: Fraction, eps2: Fraction) -> None:
        """Set the noise rates of the threshold and of the queries, and the range to which queries are clamped."""
        self.eps1, self.eps2 = eps1, eps2
        reach = math.ceil(_REACH / min(eps1, eps2))
        self._lowest, self._highest = self._threshold - reach, self._threshold + reach

    def _begin(self, program: StreamProgram[Hits], budget: Chargeable | None, purpose: str) -> None:
        """Charge the loss, and only then start the program, which draws the first noise."""
        charged(self.loss, budget, purpose)
        self._program = program
        self._hits, _ = self._driver.run(step(program))

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
            before = len(self._hits)
            self._hits, waits = self._driver.run(step(self._program, number))
            if not waits:
                self._open = False
            self.answered += 1
            above = len(self._hits) > before
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
        """The value rounded to the lattice and clamped to the reach of the noise; an infinity stays infinite."""
        exact = exact_value(value)
        if isinstance(exact, float):
            return exact
        return min(max(self._snap(exact), self._lowest), self._highest)

    def _snap(self, value: Fraction) -> Fraction:
        """The value in units of the sensitivity, rounded down to the lattice."""
        return Fraction(value // self._step, self._lattice)


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
        self._cost = partial(cost, self.eps1, self.eps2)
        self.loss = PrivacyLoss.of(self._cost(), check_neighbors(neighbors))

    @property
    def halted_at(self) -> int | None:
        """The position of the query that was noisily above the threshold, or None if none was so far."""
        return self._hits[0] if self._hits else None

    def first_above(self, values: Iterable[Query]) -> int | None:
        """Index of the first value that is noisily above the threshold, or None if none is (Algorithm 1)."""
        return next((k for k, value in enumerate(values) if self.query(value)), None)


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
        fresh = FreshThreshold(self._threshold, self.eps1, self.eps2, self.noise, self._lattice, self._cost)
        self._begin(hits_of(fresh), budget, "above threshold")


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
        program = first_selected(self._threshold, self.eps2, self._cost)
        self._begin(program, budget, "iterative exponential mechanism")
