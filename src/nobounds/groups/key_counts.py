"""Keys that are chosen and counted by one noise: a key is shown with its noisy count if that passes a public limit.

The noise is discrete Laplace between -k and k, and a key is shown if its noisy count is greater than k: one without
rows never is, so it makes no difference whether it exists. For single rows this is the truncated geometric mechanism of
Desfontaines, Voss, Gipson and Mandayam (2022). Units with several rows, and limits k of which each key draws one so
that all of delta is used, are in docs/proofs/key_selection.md, section 7. All of epsilon goes into the counts.
"""

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost, pure
from nobounds.arrays import Floats, Ints
from nobounds.exact import ball
from nobounds.groups.noise import Wholes, discrete_laplace_many
from nobounds.mechanisms.decisions import Hidden
from nobounds.noise.discrete import decide
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

_BITS = 32  # of the share of a limit


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """(epsilon, delta)-private noisy counts of all keys, if a unit has at most `rows_per_unit` rows in all groups.

    >>> counted = KeyCounts(Fraction(1), Fraction(1, 10**6))
    >>> counted.most, counted.needed()
    (14, 16)
    """

    epsilon: Fraction
    delta: Fraction
    rows_per_unit: int = 1

    @property
    def rate(self) -> Fraction:
        """P(noise = j) is proportional to exp(-rate * |j|)."""
        return self.epsilon / self.rows_per_unit

    @property
    def most(self) -> int:
        """The larger limit of the noise; the smaller one is `most` - 1."""
        return _limits(self.rate, self.delta, self.rows_per_unit)[0]

    @property
    def smaller(self) -> int:
        """Of 2**32, how often a key has the smaller limit."""
        return _limits(self.rate, self.delta, self.rows_per_unit)[1]

    def limits(self) -> tuple[tuple[int, float], ...]:
        """Both limits, and how often a key has each."""
        share = self.smaller / 2**_BITS
        return (self.most, 1 - share), (self.most - 1, share)

    def chance(self, rows: int) -> float:
        """The probability that a key with `rows` rows is shown."""
        return math.fsum(share * _beyond(float(self.rate), limit, limit - rows) for limit, share in self.limits())

    def needed(self, chance: float = 0.95) -> int:
        """The smallest number of rows with which a key is shown with at least this chance, which is above one half."""
        low, high = self.most - 1, 2 * self.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(middle) >= chance else (middle, high)
        return high

    def half_interval(self, chance: float) -> int:
        """Half of the interval around a noisy count, see `intervals`."""
        return math.ceil(math.log(1.5 / chance) / float(self.rate))

    def intervals(self, noisy: NDArray[Any], chance: float) -> Floats:
        """An interval for each count that is shown; given that it is, the interval misses it with at most this chance.

        A small count may be shown for its noise alone. So the lower end is 1 unless it would be greater than `most`.
        """
        half, middle = self.half_interval(chance), noisy.astype(np.float64)
        low = middle - half
        return np.column_stack([np.where(low > self.most, low, 1.0), middle + half])

    def draw(self, n: int, source: RandomSource) -> tuple[Wholes, Ints]:
        """The noise of n keys, and the limit of each."""
        words = np.frombuffer(source(_BITS * n).to_bytes(_BITS // 8 * n, "little"), dtype="<u4")
        limits = self.most - (words < self.smaller).astype(np.int64)
        noise = discrete_laplace_many(self.rate, n, source)
        while len(beyond := np.flatnonzero(np.abs(noise) > limits)):
            noise[beyond] = discrete_laplace_many(self.rate, len(beyond), source)
        return noise, limits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountKeys(Hidden):
    """The decision which keys are shown, in the order of the keys, with their noisy counts. Sensitive, as its keys are.

    rows: how many rows each key has.
    listed: the keys, for drivers that compare data sets; one that is not listed has no rows, and is never shown.
    """

    counted: KeyCounts
    rows: Ints
    listed: Callable[[], list[tuple[Any, ...]]]

    def cost(self) -> Cost:
        """Epsilon for a unit with all of its rows; what it costs at `delta` beyond that is no `Cost`."""
        return pure(self.counted.epsilon)

    @property
    def public(self) -> Hashable:
        """The noise and its limit; the keys and their number are not public."""
        return self.counted

    def draw(self, source: RandomSource) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which keys are shown, and the noisy counts of those."""
        noise, limits = self.counted.draw(len(self.rows), source)
        noisy = np.asarray(self.rows + noise)
        shown = np.asarray(noisy > limits, dtype=bool)
        return shown, noisy[shown]


@lru_cache(maxsize=256)
def _limits(rate: Fraction, delta: Fraction, rows: int) -> tuple[int, int]:
    """The smallest k at which the `rows` largest values of the noise have a probability of at most delta.

    And of 2**32, how often k - 1 may stand in its place for that probability to be delta on average. With x = e^rate,
    the first is (x^rows - 1 + 2 delta) / (delta (1 + x)) <= x^k.
    """

    def last_below(precision: int) -> int | None:
        nats = ball(rate)
        ratio = ((rows * nats).expm1() + 2 * ball(delta)) / (ball(delta) * (1 + nats.exp()))
        return _whole(ratio.log() / nats)

    # The logarithm is no whole number of rates (Lindemann), so the next whole number is the first that is enough.
    most = decide(last_below) + 1

    def share(precision: int) -> int | None:
        nats = ball(rate)

        def top(limit: int) -> "arb":
            return (rows * nats).expm1() / ((limit * nats).exp() * (1 + nats.exp()) - 2)

        return _whole(2**_BITS * (ball(delta) - top(most)) / (top(most - 1) - top(most)))

    return most, decide(share)


def _whole(x: "arb") -> int | None:
    """The floor of a ball, if it has one."""
    floor = x.floor().unique_fmpz()
    return None if floor is None else int(floor)


def _beyond(rate: float, limit: int, least: int) -> float:
    """P(noise > least) for noise from -limit to limit."""
    if not -limit <= least < limit:
        return float(least < -limit)
    end = math.exp(-rate * (limit + 1))
    tail = (math.exp(-rate * (abs(least + 0.5) + 0.5)) - end) / (1 + math.exp(-rate) - 2 * end)
    return tail if least >= 0 else 1 - tail
