"""The tally: the number of records of each group on each rung; small, and equal in all engines.

Every engine runs this kernel on batches of (group, value). The effect of a record depends on the bits of its float64
alone, and whole numbers add up in any order. So tallies of parts can be added, and the tally is the same to the last
bit for any order, batching and place of the records.

Rungs have 16 mantissa bits: a record counts as the middle of its rung (to 1 in 130,000; multiples of a resolution are
exact up to 65,536 of them).
"""

from collections.abc import Iterable
from dataclasses import field

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import CHUNK
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

BITS = 16
_WAITING = 1 << 24  # records to wait for before they are sorted
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Entries in the order of groups and rungs, each with a number of records. Sensitive: its repr hides them."""

    ladder: Ladder
    groups: Ints
    rungs: Ints
    counts: Ints

    @classmethod
    def of(cls, groups: Ints | None, values: Floats, ladder: Ladder) -> "Tally":
        """The tally of an array of records without the missing ones. `groups` are whole numbers; None is one group."""
        growing = Tallying(ladder)
        growing.add(groups, values)
        return growing.tally()

    def __add__(self, other: "Tally") -> "Tally":
        """The tally of both parts of the data."""
        return merged([self, other])

    @property
    def number(self) -> int:
        """One more than the largest group (sensitive, unless all keys are public)."""
        return int(self.groups[-1]) + 1 if len(self.groups) else 0

    def starts(self, number: int) -> Ints:
        """The start of the entries of each group from 0 to number - 1, and the end of the last group."""
        return np.searchsorted(self.groups, np.arange(number + 1))

    def only(self, kept: Ints) -> "Tally":
        """The tally of the groups `kept`, renumbered from 0 in that order."""
        starts = self.starts(int(kept.max(initial=-1)) + 1)
        sizes = np.diff(starts)[kept]
        groups = np.repeat(np.arange(len(kept)), sizes)
        entries = np.arange(len(groups)) + np.repeat(starts[kept] - (np.cumsum(sizes) - sizes), sizes)
        return Tally(self.ladder, groups, self.rungs[entries], self.counts[entries])

    def __repr__(self) -> str:
        return f"Tally({self.ladder.describe()}, the rest hidden)"


def merged(parts: Iterable[Tally]) -> Tally:
    """The tally of all parts of the data."""
    tallies = list(parts)
    if len(tallies) == 1:
        return tallies[0]
    ladder = tallies[0].ladder
    keys = np.concatenate([_packed(ladder, each.groups, each.rungs) for each in tallies])
    counts = np.concatenate([each.counts for each in tallies])
    return _reduced(ladder, keys, counts)


@dataclass(slots=True)
class Tallying:
    """A tally that grows batch by batch; memory grows with the number of entries only."""

    ladder: Ladder
    _parts: list[Tally] = field(default_factory=list)
    _keys: list[Ints] = field(default_factory=list)
    _waiting: int = 0

    def add(self, groups: Ints | None, values: Floats) -> None:
        """Count a batch of records."""
        for start in range(0, len(values), CHUNK):
            window = slice(start, start + CHUNK)
            self._add(None if groups is None else groups[window], values[window])
        if self._waiting >= _WAITING:
            self._reduce()

    def tally(self) -> Tally:
        """The tally of all records so far."""
        self._reduce()
        self._parts = [merged(self._parts)]
        return self._parts[0]

    def _add(self, groups: Ints | None, values: Floats) -> None:
        missing = np.isnan(values)
        if missing.any():
            values, groups = values[~missing], None if groups is None else groups[~missing]
        rungs = self.ladder.rungs(np.ascontiguousarray(values, dtype=np.float64))
        self._keys.append(_packed(self.ladder, groups, rungs))
        self._waiting += len(rungs)

    def _reduce(self) -> None:
        self._parts.append(_reduced(self.ladder, np.concatenate([_NONE, *self._keys]), None))
        self._keys, self._waiting = [], 0
        if len(self._parts) > 1 and sum(len(part.rungs) for part in self._parts[1:]) > len(self._parts[0].rungs):
            self._parts = [merged(self._parts)]


def _packed(ladder: Ladder, groups: Ints | None, rungs: Ints) -> Ints:
    """Group and rung in one number: a rung takes up to 28 bits, which leaves 35 for the group."""
    keys = rungs - np.int64(ladder.first)
    if groups is not None:
        keys |= groups << np.int64(int(ladder.size).bit_length())
    return keys


def _reduced(ladder: Ladder, keys: Ints, counts: Ints | None) -> Tally:
    """The tally of the keys, one entry per group and rung, in order; without counts each key is one record."""
    if counts is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    firsts = np.flatnonzero(new)
    if counts is None:
        records = np.diff(firsts, append=len(keys))
    else:
        records = np.add.reduceat(counts, firsts) if len(firsts) else counts
    entries, width = keys[firsts], np.int64(int(ladder.size).bit_length())
    rungs = (entries & ((np.int64(1) << width) - 1)) + np.int64(ladder.first)
    return Tally(ladder, entries >> width, rungs, records)
