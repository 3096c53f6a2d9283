"""The cut: a choice that splits the records in two, ties by tags (docs/proofs/halving.md).

The universe is (number, tag), with 64-bit tags. Each record draws a tag of its own afresh, and the rank of a pair is
the number of records of the slice below it. A pair is drawn in proportion to its prior mass times exp(-rate |its rank -
the target|), and the records below it are the lower slice. A slice is closed: both its ends stay candidates with their
whole mass, whether or not a record lies there. Ties are cut by tags alone: cut at the target rank, one record would
move another across, and both slices would change.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.cost import Cost
from nobounds.arrays import Floats, Ints
from nobounds.counting.order import Cells, Order
from nobounds.exact import ball
from nobounds.mechanisms.choice import NATS, is_above
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import DOUBLE_ERROR, pick, pick_ball
from nobounds.noise.discrete import Exponential, Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource

BITS = 64  # of a tag
Tags = NDArray[np.uint64]


class Slice(NamedTuple):
    """The records with ranks from `start` to before `stop`, all from the number `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int

    def below(self, key: int, cut: int) -> "Slice":
        """The records below a pair of this number that so many records lie below."""
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

    @property
    def public(self) -> Hashable:
        return self.q, self.rate, self.piece.first, self.piece.last, self.order.line

    def draw(self, source: RandomSource) -> tuple[int, int]:
        tagged = _Tagged(source)
        prior, pieces = self.order.line.prior, self.pieces(tagged)
        losses = self._losses(pieces.low, pieces.high)
        masses = prior.masses(pieces.first, pieces.last) * self._lengths(pieces)
        while True:
            k = self._drawn(pieces, losses, masses, Uniform(source))
            first, last = int(pieces.first[k]), int(pieces.last[k])
            key = prior.drawn(first, last, source)
            tag = pieces.low_tag[k] + uniform_below(pieces.high_tag[k] - pieces.low_tag[k], source)
            low, high = self._ranks(key)
            rank = low + (tagged.below(key, high - low, tag) if high > low else 0)
            more = int(self._losses(np.array([rank]), np.array([rank]))[0]) - int(losses[k])
            if not more or is_above(Exponential(source), self.rate * Fraction(more, self.q.denominator)):
                return key, rank

    def pieces(self, tagged: "_Tagged") -> Pieces:
        """Cells of pairs; where the target lies among ties, their tags cut the number into parts."""
        piece, reach = self.piece, int(NATS / self.rate) + 1
        target = int(self.q * (piece.stop - piece.start)) + piece.start
        window = max(target - reach, piece.start), min(target + reach + 1, piece.stop)
        cells = _within(self.order.cells(*window, int(1 / self.rate)), piece)
        whole = 1 << BITS
        tags = [0] * len(cells.first), [whole] * len(cells.first)
        (among,) = np.nonzero((cells.first == cells.last) & (cells.low < target) & (cells.high > target))
        if not len(among):
            return Pieces(cells.first, cells.last, *tags, cells.low, cells.high)
        k = int(among[0])
        key, low, high = int(cells.first[k]), int(cells.low[k]), int(cells.high[k])
        cuts = np.sort(tagged.of(key, high - low))
        begin, end = max(target - reach - low, 0), min(target + reach - low, high - low)
        edges = [0, *cuts[begin:end].tolist(), whole]
        ranks = [low, *range(low + begin + 1, low + end + 1)] if end > begin else [low]
        # Before the first listed tag and after the last one the rank differs, unless no tag is left out there.
        lows, highs = [*ranks[:1], *ranks[1:]], [low + begin, *ranks[1:-1], high] if len(ranks) > 1 else [high]
        many = len(ranks)
        spliced = (
            np.concatenate([column[:k], np.asarray(part, dtype=np.int64), column[k + 1 :]])
            for column, part in zip(cells, ([key] * many, [key] * many, lows, highs), strict=True)
        )
        first, last, least, most = spliced
        return Pieces(
            first,
            last,
            tags[0][:k] + edges[:-1] + tags[0][k + 1 :],
            tags[1][:k] + edges[1:] + tags[1][k + 1 :],
            least,
            most,
        )

    def _ranks(self, key: int) -> tuple[int, int]:
        low, high = self.order.ranks(key)
        start, stop = self.piece.start, self.piece.stop
        return min(max(low, start), stop), min(max(high, start), stop)

    def _losses(self, low: Ints, high: Ints) -> Ints:
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
        rate, nearest, prior = ball(self.rate / self.q.denominator), int(losses.min()), self.order.line.prior
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
