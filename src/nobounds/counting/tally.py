"""The tally: how many records each group has on each rung, and their exact sum; small, and the same in all engines.

This is the kernel that every engine runs, on batches of (group, value): what it does with a record depends on that
record alone, by the bits of its float64, and whole numbers add up in any order. So tallies of parts can be added, and
the tally is the same to the last bit however the records were cut into batches and wherever they lay.

Rungs have 16 mantissa bits. A record stands for the middle of its rung in quantiles (to 1 in 130,000; multiples of a
resolution are exact up to 65,536 of them); sums keep the rest of its mantissa, so they are exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.lattice import Lattice
from nobounds.counting.scan import CHUNK, Chunk
from nobounds.exact import MAX, finite_float
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits

BITS = 16
SUMMED = Ladder.float_bits(BITS)
"""The ladder of tallies with sums."""

_SHIFT = 52 - BITS  # mantissa bits that a rung leaves out
_REST = np.int64((1 << _SHIFT) - 1)
_WAITING = 1 << 24  # records that are sorted at a time, at least
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Entries in the order of groups and rungs, each with a number of records. Sensitive: its repr hides them.

    With sums, the parts of the mantissas that the rung leaves out add up to `high` * 2**36 + `low` in an entry.
    """

    ladder: Ladder
    groups: Ints
    rungs: Ints
    counts: Ints
    high: Ints | None = None
    low: Ints | None = None

    @classmethod
    def of(cls, groups: Ints | None, values: Floats, ladder: Ladder, sums: bool = False) -> "Tally":
        """The tally of some records; those that are NaN are left out. `groups` are whole numbers, None is one group.

        With sums the ladder must be one of float bits.
        """
        growing = Tallying(ladder, sums)
        growing.add(groups, values)
        return growing.tally()

    def __add__(self, other: "Tally") -> "Tally":
        """The tally of both parts of the data."""
        return merged([self, other])

    @property
    def number(self) -> int:
        """One more than the largest group (private, unless all keys are public)."""
        return int(self.groups[-1]) + 1 if len(self.groups) else 0

    def starts(self, number: int) -> Ints:
        """Where the entries of groups 0 to number - 1 start, and where the last of them end."""
        return np.searchsorted(self.groups, np.arange(number + 1))

    def chunks(self) -> Iterable[Chunk]:
        """The records of all groups as values with counts."""
        return [(self.ladder.map.floats(self.rungs), self.counts)]

    def only(self, kept: Ints) -> "Tally":
        """The groups listed, numbered from 0 on in the order of the list."""
        starts = self.starts(int(kept.max(initial=-1)) + 1)
        sizes = np.diff(starts)[kept]
        groups = np.repeat(np.arange(len(kept)), sizes)
        entries = np.arange(len(groups)) + np.repeat(starts[kept] - (np.cumsum(sizes) - sizes), sizes)
        parts = (None if part is None else part[entries] for part in (self.high, self.low))
        return Tally(self.ladder, groups, self.rungs[entries], self.counts[entries], *parts)

    def totals(self, lattice: Lattice, number: int) -> tuple[Ints, Ints]:
        """How many records each group has, and the sum of their whole numbers on a lattice, from 0 to its width each.

        A rung inside the clip has the exact sum of its records, rounded once; all records of a rung that reaches
        across an end of it stand at their rung's value. Either way one record changes the sum of its group by a whole
        number from 0 to the width: rounding is monotone, and whole numbers pass through it.
        """
        steps = self._steps(lattice)
        starts = self.starts(number)
        counts = np.diff(np.append(0, np.cumsum(self.counts))[starts])
        most = int(counts.max(initial=0)) * lattice.width
        wide: Ints = steps if most < 1 << 62 else steps.astype(object)
        sums = np.diff(np.append(0, np.cumsum(wide))[starts])
        return counts, sums

    def _steps(self, lattice: Lattice) -> Ints:
        """The sum of each entry on the lattice."""
        assert self.high is not None
        assert self.low is not None
        assert isinstance(self.ladder.map, FloatBits)
        size = np.abs(self.rungs)
        pattern = (size + self.ladder.map.below) << _SHIFT
        first, last = pattern.view(np.float64), (pattern | _REST).view(np.float64)
        sign = np.where(self.rungs < 0, -1, 1)
        step = lattice.step
        bottom, top = (finite_float(end * step) for end in (lattice.low, lattice.low + lattice.width))
        # No record lies beyond the public bounds, so a rung that reaches across one is inside if they are.
        least, most = _ends(self.ladder)
        inside = (size > 0) & (np.maximum(np.minimum(sign * first, sign * last), least) >= bottom)
        inside &= np.minimum(np.maximum(sign * first, sign * last), most) <= top
        wide = int(self.counts.max(initial=0)) * (lattice.width + abs(lattice.low)) >= 1 << 62

        def whole_numbers(numbers: Ints) -> Ints:
            return numbers.astype(object) if wide else numbers

        counts = whole_numbers(self.counts)
        outside = counts * whole_numbers(lattice.steps(self.ladder.map.floats(self.rungs)))
        # A record is (leading * 2**36 + rest) * 2**(exponent - 52); the shift to steps leaves out at least one bit.
        leading = (pattern >> _SHIFT & ((1 << BITS) - 1)) + (1 << BITS)
        shift = lattice.exponent - ((pattern >> 52) - 1023 - 52)
        whole = whole_numbers(sign * (self.counts * leading + self.high))
        rest = whole_numbers(sign * self.low)
        near = whole_numbers(np.clip(shift, 1, _SHIFT))
        low = (whole << (_SHIFT - near)) + ((rest + (1 << (near - 1))) >> near)
        # Far below a step: the rest no longer matters, but for its sign.
        far = whole_numbers(np.clip(shift - _SHIFT, 1, 62))
        high = (whole - (rest < 0) + (1 << (far - 1))) >> far
        exact = np.where(shift <= _SHIFT, low, high) - counts * lattice.low
        return np.where(inside, exact, outside)

    def __repr__(self) -> str:
        return f"Tally({self.ladder.describe()}, the rest hidden)"


def merged(parts: Iterable[Tally]) -> Tally:
    """The tally of all parts of the data."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    ladder = found[0].ladder
    keys = np.concatenate([_packed(ladder, part.groups, part.rungs) for part in found])
    counts = np.concatenate([part.counts for part in found])
    return _reduced(ladder, keys, counts, _joined([part.high for part in found]), _joined([part.low for part in found]))


def _joined(arrays: list[Ints | None]) -> Ints | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None


@dataclass(slots=True)
class Tallying:
    """A tally that grows batch by batch, in memory that grows with its entries alone."""

    ladder: Ladder
    sums: bool = False
    _parts: list[Tally] = field(default_factory=list)
    _keys: list[Ints] = field(default_factory=list)
    _rests: list[Ints] = field(default_factory=list)
    _waiting: int = 0

    def add(self, groups: Ints | None, values: Floats) -> None:
        """Count some records more."""
        for start in range(0, len(values), CHUNK):
            window = slice(start, start + CHUNK)
            self._add(None if groups is None else groups[window], values[window])
        if self._waiting >= _WAITING:
            self._reduce()

    def tally(self) -> Tally:
        """All that was counted."""
        self._reduce()
        self._parts = [merged(self._parts)]
        return self._parts[0]

    def _add(self, groups: Ints | None, values: Floats) -> None:
        missing = np.isnan(values)
        if missing.any():
            values, groups = values[~missing], None if groups is None else groups[~missing]
        records = np.ascontiguousarray(values, dtype=np.float64)
        records = _within(records, self.ladder) if self.sums else records
        rungs = self.ladder.rungs(records)
        self._keys.append(_packed(self.ladder, groups, rungs))
        if self.sums:
            self._rests.append(_rest(records, rungs))
        self._waiting += len(records)

    def _reduce(self) -> None:
        keys = np.concatenate([_NONE, *self._keys])
        rest = np.concatenate([_NONE, *self._rests]) if self.sums else None
        self._parts.append(_reduced(self.ladder, keys, None, None if rest is None else np.zeros_like(rest), rest))
        self._keys, self._rests, self._waiting = [], [], 0
        if len(self._parts) > 1 and sum(len(part.rungs) for part in self._parts[1:]) > len(self._parts[0].rungs):
            self._parts = [merged(self._parts)]


def _within(records: Floats, ladder: Ladder) -> Floats:
    """The records kept within the public bounds and the range of floats."""
    return np.clip(records, *_ends(ladder))


def _ends(ladder: Ladder) -> tuple[float, float]:
    low = -MAX if ladder.lower is None else finite_float(ladder.lower)
    return low, MAX if ladder.upper is None else finite_float(ladder.upper)


def _rest(records: Floats, rungs: Ints) -> Ints:
    """The bits of the mantissa that the rung leaves out; what counts as 0 has none."""
    return np.where(rungs == 0, 0, records.view(np.int64) & _REST)


def _packed(ladder: Ladder, groups: Ints | None, rungs: Ints) -> Ints:
    """Group and rung in one number: 28 bits of a rung leave 35 for the group."""
    keys = rungs - np.int64(ladder.first)
    if groups is not None:
        keys |= groups << np.int64(int(ladder.size).bit_length())
    return keys


def _reduced(ladder: Ladder, keys: Ints, counts: Ints | None, high: Ints | None, low: Ints | None) -> Tally:
    """One entry for each group and rung, in order; without counts each key is a record."""
    if counts is None and low is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys = keys[order]
        counts, high, low = (None if part is None else part[order] for part in (counts, high, low))
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    firsts = np.flatnonzero(new)
    if counts is None:
        found = np.diff(firsts, append=len(keys))
    else:
        found = np.add.reduceat(counts, firsts) if len(firsts) else counts
    entries, width = keys[firsts], np.int64(int(ladder.size).bit_length())
    rungs = (entries & ((np.int64(1) << width) - 1)) + np.int64(ladder.first)
    tally = Tally(ladder, entries >> width, rungs, found)
    if high is None or low is None:
        return tally
    if len(firsts):
        # Up to 2**24 records of 36 bits at a time: no overflow before the carry.
        high, low = np.add.reduceat(high, firsts), np.add.reduceat(low, firsts)
    return replace(tally, high=high + (low >> _SHIFT), low=low & _REST)
