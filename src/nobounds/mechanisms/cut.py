"""The cut: a choice that splits the records in two, ties by tags (docs/proofs/halving.md).

The universe is (number, tag), with 64-bit tags. Each record draws a tag of its own afresh, and the rank of a pair is
the number of records of the slice below it. A pair is drawn in proportion to its prior mass times exp(-rate |its rank -
the target|), and the records below it are the lower slice. A slice is closed: both its ends stay candidates with their
whole mass, whether or not a record lies there. Ties are cut by tags alone: cut at the target rank, one record would
move another across, and both slices would change.
"""

from collections.abc import Callable, Hashable
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.arrays import Floats, Ints
from nobounds.core.prior import Around, Prior
from nobounds.counting.order import Cells, Order
from nobounds.exact import ball
from nobounds.mechanisms.choice import NATS, drawn, is_above
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import DOUBLE_ERROR, pick, pick_ball
from nobounds.noise.discrete import Exponential, Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

BITS = 64  # of a tag
Tags = NDArray[np.uint64]


class Slice(NamedTuple):
    """The records with ranks from `start` to before `stop`, all from the number `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int

    def below(self, key: int, cut: int) -> "Slice":
        """The records below a pair of this number, which `cut` records lie below."""
        return Slice(self.start, cut, self.first, key)

    def above(self, key: int, cut: int) -> "Slice":
        """The others."""
        return Slice(cut, self.stop, key, self.last)


class Pieces(NamedTuple):
    """Cells of pairs: numbers from `first` to `last`, tags from `low_tag` to before `high_tag`, and their ranks."""

    first: Ints
    last: Ints
    low_tag: list[int]
    high_tag: list[int]
    low: Ints
    high: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Cut(Hidden):
    """A number chosen for the rank q n of the n records of a slice, and how many of all records lie below its pair."""

    order: Order = field(repr=False)
    piece: Slice = field(repr=False)
    q: Fraction
    rate: Fraction
    cost: Callable[[], Cost]
    scale: float = 0.0  # of the half of the prior around an end of the slice, if there is one, ...
    up: bool = False  # ... and whether that is the lower end

    @property
    def public(self) -> Hashable:
        return self.q, self.rate, self.piece.first, self.piece.last, self.order.line, self.scale, self.up

    @cached_property
    def prior(self) -> Prior | Around:
        """The public prior over the numbers of the slice."""
        prior = self.order.line.prior
        if not self.scale:
            return prior
        return Around(prior, self.piece.first, self.piece.last, self.up, Fraction(self.scale))

    def draw(self, source: RandomSource) -> tuple[int, int]:
        tagged = _Tagged(source)
        prior, pieces = self.prior, self.pieces(tagged)
        losses = self.losses(pieces.low, pieces.high)
        masses = prior.masses(pieces.first, pieces.last) * self._lengths(pieces)
        while True:
            k = self._drawn(pieces, losses, masses, Uniform(source))
            first, last = int(pieces.first[k]), int(pieces.last[k])
            key = drawn(prior, first, last, source)
            tag = pieces.low_tag[k] + uniform_below(pieces.high_tag[k] - pieces.low_tag[k], source)
            low, high = self.ranks(key)
            rank = low + (tagged.below(key, high - low, tag) if high > low else 0)
            more = int(self.losses(np.array([rank]), np.array([rank]))[0]) - int(losses[k])
            if not more or is_above(Exponential(source), self.rate * Fraction(more, self.q.denominator)):
                return key, rank

    def pieces(self, tagged: "_Tagged") -> Pieces:
        """Cells of pairs; a number that many records are at is cut into parts by their tags."""
        piece, reach, each = self.piece, int(NATS / self.rate) + 1, int(1 / self.rate)
        target = int(self.q * (piece.stop - piece.start)) + piece.start
        window = max(target - reach, piece.start), min(target + reach + 1, piece.stop)
        cells = _within(self.order.cells(*window, each), piece)
        parts: list[tuple[int, int, int, int, int, int]] = []
        for first, last, low, high in zip(*(column.tolist() for column in cells), strict=True):
            if first < last or high - low <= each:
                parts.append((first, last, 0, 1 << BITS, low, high))
                continue
            tags = np.sort(tagged.of(first, high - low))
            begin, end = (min(max(rank - low, 0), high - low) for rank in window)
            cuts = sorted(
                {0, *range(begin, end + 1, max(each, 1)), end, high - low + 1}
            )  # what the ranks of parts begin with
            for cut, after in pairwise(cuts):
                above = int(tags[cut - 1]) + 1 if cut else 0
                below = int(tags[after - 1]) + 1 if after <= high - low else 1 << BITS
                parts.append((first, last, above, below, low + cut, low + after - 1))
        first_, last_, low_tag, high_tag, low_, high_ = zip(*parts, strict=True)
        ints = [np.array(column, dtype=np.int64) for column in (first_, last_, low_, high_)]
        return Pieces(ints[0], ints[1], list(low_tag), list(high_tag), ints[2], ints[3])

    def ranks(self, key: int) -> tuple[int, int]:
        """How many records lie below a number, and up to it; those of the slice, after all before it."""
        low, high = self.order.ranks(key)
        start, stop = self.piece.start, self.piece.stop
        return min(max(low, start), stop), min(max(high, start), stop)

    def losses(self, low: Ints, high: Ints) -> Ints:
        """The least loss of a pair with ranks from `low` to `high`, in parts of the denominator of q."""
        over, piece = self.q.denominator, self.piece
        target = self.q.numerator * (piece.stop - piece.start) + over * piece.start
        return np.maximum(np.maximum(target - over * high, over * low - target), 0)

    @staticmethod
    def _lengths(pieces: Pieces) -> Floats:
        lengths = (high - low for low, high in zip(pieces.low_tag, pieces.high_tag, strict=True))
        return np.array([length / (1 << BITS) for length in lengths])

    def _drawn(self, pieces: Pieces, losses: Ints, masses: Floats, u: Uniform) -> int:
        nearest = int(losses.min())
        passed = (masses * np.exp((losses - nearest) * -(float(self.rate) / self.q.denominator))).cumsum()
        k = pick(passed, passed, DOUBLE_ERROR, 0.0, u)
        return decide(lambda precision: self._in_balls(pieces, losses, u, precision)) if k is None else k

    def _in_balls(self, pieces: Pieces, losses: Ints, u: Uniform, precision: int) -> int | None:
        rate, nearest, prior = ball(self.rate / self.q.denominator), int(losses.min()), self.prior
        columns = (pieces.first.tolist(), pieces.last.tolist(), pieces.low_tag, pieces.high_tag, losses.tolist())
        weights = [
            (-ball(loss - nearest) * rate).exp() * ball(prior.mass(first, last) * (high - low))
            for first, last, low, high, loss in zip(*columns, strict=True)
        ]
        return pick_ball(weights, ball(0), u, precision)


class _Tagged:
    """The tags of the records at each number, drawn when they are needed."""

    def __init__(self, source: RandomSource) -> None:
        self._source = source
        self._tags: dict[int, Tags] = {}

    def of(self, key: int, many: int) -> Tags:
        """The tags of the records at a number."""
        if key not in self._tags:
            drawn = self._source(BITS * many).to_bytes(BITS // 8 * many, "little")
            self._tags[key] = np.frombuffer(drawn, dtype=np.uint64)
        return self._tags[key]

    def below(self, key: int, many: int, tag: int) -> int:
        """How many of them lie below a tag."""
        return int(np.count_nonzero(self.of(key, many) < np.uint64(tag)))


def _within(cells: Cells, piece: Slice) -> Cells:
    """The part of the cells in a slice, with the ranks of its records."""
    first, last = np.maximum(cells.first, piece.first), np.minimum(cells.last, piece.last)
    keep = first <= last
    low, high = (np.clip(ranks[keep], piece.start, piece.stop) for ranks in (cells.low, cells.high))
    return Cells(first[keep], last[keep], low, high)
