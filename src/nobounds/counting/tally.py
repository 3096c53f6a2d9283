"""The tally: the number of records of each group on each rung, and their exact sum; small, and equal in all engines.

Every engine runs this kernel on batches of (group, value). The effect of a record depends on the bits of its float64
alone, and whole numbers add up in any order. So tallies of parts can be added, and the tally is the same to the last
bit for any order, batching and place of the records.

Rungs have 16 mantissa bits. In quantiles a record counts as the middle of its rung (to 1 in 130,000; multiples of a
resolution are exact up to 65,536 of them). Sums keep the rest of its mantissa, so they are exact.
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

_SHIFT = 52 - BITS  # mantissa bits that a rung drops
_REST = np.int64((1 << _SHIFT) - 1)
_WAITING = 1 << 24  # records to wait for before they are sorted
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Entries in the order of groups and rungs, each with a number of records. Sensitive: its repr hides them.

    With sums, the dropped mantissa bits of the records of an entry add up to `high` * 2**36 + `low`.
    """

    ladder: Ladder
    groups: Ints
    rungs: Ints
    counts: Ints
    high: Ints | None = None
    low: Ints | None = None

    @classmethod
    def of(cls, groups: Ints | None, values: Floats, ladder: Ladder, sums: bool = False) -> "Tally":
        """The tally of an array of records without the missing ones. `groups` are whole numbers; None is one group.

        With `sums` the ladder must be `Ladder.float_bits`.
        """
        growing = Tallying(ladder, sums)
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

    def chunks(self) -> Iterable[Chunk]:
        """The records of all groups as values with counts."""
        return [(self.ladder.map.floats(self.rungs), self.counts)]

    def only(self, kept: Ints) -> "Tally":
        """The tally of the groups `kept`, renumbered from 0 in that order."""
        starts = self.starts(int(kept.max(initial=-1)) + 1)
        sizes = np.diff(starts)[kept]
        groups = np.repeat(np.arange(len(kept)), sizes)
        entries = np.arange(len(groups)) + np.repeat(starts[kept] - (np.cumsum(sizes) - sizes), sizes)
        parts = (None if part is None else part[entries] for part in (self.high, self.low))
        return Tally(self.ladder, groups, self.rungs[entries], self.counts[entries], *parts)

    def totals(self, lattice: Lattice, number: int) -> tuple[Ints, Ints]:
        """The number of records of each group, and the sum of their whole numbers from 0 to the width of a lattice.

        A rung inside the clip contributes the exact sum of its records, rounded once; on a rung that crosses an end of
        the clip, every record counts as the value of the rung. Either way one record changes the sum of its group by a
        whole number from 0 to the width: rounding is monotone and keeps whole numbers.
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
        # No record lies beyond the public bounds, so a rung that crosses a bound is inside if the bounds are.
        least, most = _ends(self.ladder)
        inside = (size > 0) & (np.maximum(np.minimum(sign * first, sign * last), least) >= bottom)
        inside &= np.minimum(np.maximum(sign * first, sign * last), most) <= top
        wide = int(self.counts.max(initial=0)) * (lattice.width + abs(lattice.low)) >= 1 << 62

        def whole_numbers(numbers: Ints) -> Ints:
            return numbers.astype(object) if wide else numbers

        counts = whole_numbers(self.counts)
        outside = counts * whole_numbers(lattice.steps(self.ladder.map.floats(self.rungs)))
        # A record is (leading * 2**36 + rest) * 2**(exponent - 52); the shift to steps drops at least one bit.
        leading = (pattern >> _SHIFT & ((1 << BITS) - 1)) + (1 << BITS)
        shift = lattice.exponent - ((pattern >> 52) - 1023 - 52)
        whole = whole_numbers(sign * (self.counts * leading + self.high))
        rest = whole_numbers(sign * self.low)
        near = whole_numbers(np.clip(shift, 1, _SHIFT))
        low = (whole << (_SHIFT - near)) + ((rest + (1 << (near - 1))) >> near)
        # Far below a step: only the sign of the rest matters.
        far = whole_numbers(np.clip(shift - _SHIFT, 1, 62))
        high = (whole - (rest < 0) + (1 << (far - 1))) >> far
        exact = np.where(shift <= _SHIFT, low, high) - counts * lattice.low
        return np.where(inside, exact, outside)

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
    high, low = _joined([each.high for each in tallies]), _joined([each.low for each in tallies])
    return _reduced(ladder, keys, counts, high, low)


def _joined(arrays: list[Ints | None]) -> Ints | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None


@dataclass(slots=True)
class Tallying:
    """A tally that grows batch by batch; memory grows with the number of entries only."""

    ladder: Ladder
    sums: bool = False
    _parts: list[Tally] = field(default_factory=list)
    _keys: list[Ints] = field(default_factory=list)
    _rests: list[Ints] = field(default_factory=list)
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
    """The records clipped to the public bounds and the range of floats."""
    return np.clip(records, *_ends(ladder))


def _ends(ladder: Ladder) -> tuple[float, float]:
    low = -MAX if ladder.lower is None else finite_float(ladder.lower)
    return low, MAX if ladder.upper is None else finite_float(ladder.upper)


def _rest(records: Floats, rungs: Ints) -> Ints:
    """The mantissa bits that the rung drops; none on rung 0."""
    return np.where(rungs == 0, 0, records.view(np.int64) & _REST)


def _packed(ladder: Ladder, groups: Ints | None, rungs: Ints) -> Ints:
    """Group and rung in one number: a rung takes up to 28 bits, which leaves 35 for the group."""
    keys = rungs - np.int64(ladder.first)
    if groups is not None:
        keys |= groups << np.int64(int(ladder.size).bit_length())
    return keys


def _reduced(ladder: Ladder, keys: Ints, counts: Ints | None, high: Ints | None, low: Ints | None) -> Tally:
    """The tally of the keys, one entry per group and rung, in order; without counts each key is one record."""
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
        records = np.diff(firsts, append=len(keys))
    else:
        records = np.add.reduceat(counts, firsts) if len(firsts) else counts
    entries, width = keys[firsts], np.int64(int(ladder.size).bit_length())
    rungs = (entries & ((np.int64(1) << width) - 1)) + np.int64(ladder.first)
    tally = Tally(ladder, entries >> width, rungs, records)
    if high is None or low is None:
        return tally
    if len(firsts):
        # Up to 2**24 records of 36 bits at a time: no overflow before the carry.
        high, low = np.add.reduceat(high, firsts), np.add.reduceat(low, firsts)
    return replace(tally, high=high + (low >> _SHIFT), low=low & _REST)
