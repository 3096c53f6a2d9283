"""The random source: bits of the operating system, or of a seeded generator in tests and experiments."""

import os
import random
import struct
import sys
from collections.abc import Iterable
from typing import Protocol, TypeAlias

import numpy as np

Rng: TypeAlias = "np.random.Generator | random.Random | None"


class RandomSource(Protocol):
    """A function that returns `k` random bits as a whole number."""

    def __call__(self, k: int, /) -> int: ...


def random_source(rng: Rng = None) -> RandomSource:
    """The random source of `rng`: the operating system if it is None, else the seeded generator given."""
    if rng is None:
        return _system_bits
    if isinstance(rng, random.Random):
        return rng.getrandbits
    loaded = sys.modules.get("numpy.random")  # no Generator can exist before numpy.random is imported
    if loaded is not None and isinstance(rng, loaded.Generator):
        return lambda k: int.from_bytes(rng.bytes((k + 7) // 8), "little") >> (-k % 8)
    raise TypeError(
        f"rng must be None (the operating system's generator), a numpy Generator or a random.Random, "
        f"got rng of type {type(rng).__name__}"
    )


def _system_bits(k: int) -> int:
    return int.from_bytes(os.urandom((k + 7) // 8), "little") >> (-k % 8)


_SYSTEM = _system_bits


def signs_and_bits(source: RandomSource, many: int) -> Iterable[tuple[int, int]]:
    """`many` pairs of one random bit and 64; those of the operating system are read at once, because a call is slow.

    All of them are used by the draws that need them, so none is left for a process that forks.
    """
    if source is _SYSTEM:
        return [(sign & 1, bits) for sign, bits in struct.iter_unpack("<BQ", os.urandom(9 * many))]
    return ((source(1), source(64)) for _ in range(many))
