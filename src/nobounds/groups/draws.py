"""Random words for many groups, drawn in one request to the random source.

Each group uses words in the same roles and order as the scalar code. Where doubles do not decide, the scalar code takes
over with the words already drawn and draws more, so the law of the result is exact.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.noise.discrete import FIRST_BITS
from nobounds.noise.source import RandomSource

Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]

# Relative error assumed for log and log1p of a word in double precision.
_SLACK = 2.0**-47
_HALF = np.uint64(1 << 63)


def words(source: RandomSource, n: int) -> Words:
    """n words of 64 random bits, from one request."""
    return np.frombuffer(source(FIRST_BITS * n).to_bytes(8 * n, "little"), dtype="<u8").astype(np.uint64, copy=False)


class Draws:
    """The random words of many groups; `who` lists the groups that draw."""

    __slots__ = ("_source",)

    def __init__(self, source: RandomSource) -> None:
        self._source = source

    def words(self, who: Ints) -> Words:
        """64 bits for each group."""
        return words(self._source, len(who))

    def flips(self, who: Ints) -> Bools:
        """One bit for each group."""
        n = len(who)
        packed = np.frombuffer(self._source(n).to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
        return np.unpackbits(packed, count=n, bitorder="little").view(np.bool_)

    def short(self, who: Ints, widths: Ints) -> Ints:
        """A whole number of `widths` bits, from 1 to 63, for each group."""
        return (words(self._source, len(who)) >> (FIRST_BITS - widths).astype(np.uint64)).astype(np.int64)

    def after(self, group: int, *drawn: int) -> RandomSource:
        """A random source for the scalar code: first the words that the group has drawn, then new bits."""
        waiting = list(drawn)

        def more(k: int, /) -> int:
            return waiting.pop(0) if waiting else self._source(k)

        return more


def exponential_bounds(drawn: Words) -> tuple[Floats, Floats]:
    """Doubles below and above E = -ln U, for U with these first bits.

    ln is computed at one point of the interval and has slope 1 / word there, so both are within 1 / word of it.
    """
    rest = ~drawn
    whole = drawn.astype(np.float64)
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # a word of zeros decides nothing: the result is infinite or NaN
        e = np.where(drawn < _HALF, -np.log(whole * 2.0**-64), -np.log1p(-(rest.astype(np.float64) + 0.5) * 2.0**-64))
        width = 1.0 / whole
        low, high = e * (1 - _SLACK), e * (1 + _SLACK)
        high += width
        low -= width
    return np.maximum(low, 0.0, out=low), high


def uniform_bounds(drawn: Words) -> tuple[Floats, Floats]:
    """Doubles below and above U, for U with these first bits."""
    u = drawn.astype(np.float64)
    return u * (2.0**-64 * (1 - _SLACK)), (u + 1) * (2.0**-64 * (1 + _SLACK))
