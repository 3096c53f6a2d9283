"""Random words for many groups: one request to the source for all of them.

Each group uses words in the roles and the order of the scalar code. Where doubles cannot decide, the scalar code takes
over with the words that were drawn and asks for more, so the law of the result is the law on paper.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.noise.discrete import FIRST_BITS
from nobounds.noise.source import RandomSource

Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]

# Double precision is trusted to 2**-47 in log and log1p of a word.
_SLACK = 2.0**-47
_HALF = np.uint64(1 << 63)


def words(source: RandomSource, n: int) -> Words:
    """n words of 64 random bits, from one request."""
    return np.frombuffer(source(FIRST_BITS * n).to_bytes(8 * n, "little"), dtype="<u8").astype(np.uint64, copy=False)


class Draws:
    """A source of random bits for many groups; `who` says for which."""

    __slots__ = ("_bits",)

    def __init__(self, source: RandomSource) -> None:
        self._bits = source

    def words(self, who: Ints) -> Words:
        """64 bits for each group."""
        return words(self._bits, len(who))

    def flips(self, who: Ints) -> Bools:
        """One bit for each group."""
        n = len(who)
        packed = np.frombuffer(self._bits(n).to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
        return np.unpackbits(packed, count=n, bitorder="little").view(np.bool_)

    def short(self, who: Ints, widths: Ints) -> Ints:
        """A whole number of `widths` bits for each group, from 1 to 63."""
        return (words(self._bits, len(who)) >> (FIRST_BITS - widths).astype(np.uint64)).astype(np.int64)

    def after(self, group: int, *drawn: int) -> RandomSource:
        """A source for the scalar code: the words that a group has drawn, and then new bits."""
        waiting = list(drawn)

        def more(k: int, /) -> int:
            return waiting.pop(0) if waiting else self._bits(k)

        return more


def exponential_bounds(drawn: Words) -> tuple[Floats, Floats]:
    """Doubles below and above E = -ln U, for U with these first bits.

    As ln is known at one point of the word, and has the slope 1 / word there, both are within 1 / word of it.
    """
    rest = ~drawn
    whole = drawn.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # a word of zeros decides nothing: infinity, or not a number
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
