"""The constants behind clips, sums and means, as one value: they never change what is promised.

They were chosen on synthetic families.
"""

from fractions import Fraction

from nobounds.accounting.loss import Neighbors
from nobounds.ranks.tuning import TUNING, RankTuning
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class ClipTuning:
    """How epsilon is split, and when walks go inward or outward."""

    # Walks outward: the share of eps1 in eps1 + eps2, with a tilt and without; and the ranks over eps1 that counts are
    # raised by for each octave from 2 above the scale on.
    share: Fraction = Fraction(3, 4)
    untilted: Fraction = Fraction(39, 50)
    raised: int = 4
    raised_from: int = 2
    # Walks inward: the number of records outside, over eps2, that halts the walk, under add-remove and under swap; the
    # ranks over eps2 that counts are lowered by for each octave from 2 above the scale on, where they are octaves.
    outside: int = 6
    outside_swap: int = 5
    outside_few: int = 10  # the same for a walk over octaves, without a scale
    lowered: int = 2
    lowered_from: int = 2
    # Tilts end after this many octaves: that outweighs all candidates beyond, and a scale that is too low does less
    # harm.
    most_raised: int = 4
    most_lowered: int = 6
    # A walk inward for little epsilon halts well before the largest record: the clip is wider than where it halts by
    # this many candidates. That is better than to pay more for the walk.
    widened: int = 2
    inward_share_swap: Fraction = Fraction(7, 20)
    inward_share_add_remove: Fraction = Fraction(1, 2)
    many: int = 150  # records times epsilon of the clip from which the walk goes inward under swap as well
    most_outside: int = 10  # of one clip for several sums, at most a tenth lies outside: a guard, not measured
    # A frame is bought where it costs no more than this part of epsilon, with a centre and without; and of what the
    # clip may cost.
    most_two_sided: Fraction = Fraction(2, 5)
    most_one_sided: Fraction = Fraction(2, 25)
    frame_share: Fraction = Fraction(3, 4)
    frame_share_swap: Fraction = Fraction(5, 6)
    origin: int = 1  # octaves above the median deviation from which tilts are counted
    nats: float = 10.0  # records times eps2 from which a walk outward does not halt on the empty rungs before the data
    # Of epsilon, for the walks of a clip after the frame is paid; and for a clip without a frame, under swap and
    # add-remove.
    walks: Fraction = Fraction(1, 10)
    walks_swap: Fraction = Fraction(3, 20)
    few: Fraction = Fraction(9, 20)
    # Where a frame has a centre, nothing is paid for walks: octaves are counted around this many octaves above the
    # scale. A sum around 0 needs them: all records may lie within one octave far from 0.
    unwalked: int = 2
    # Under swap the split is made for all rows. Where a type has missing records, a frame is enough for one record in
    # this many rows, and gets at least and for that at most these parts.
    rows_for_one: int = 7
    least_frame: Fraction = Fraction(1, 32)
    most_frame: Fraction = Fraction(1, 5)
    fewer_nats: Fraction = Fraction(3, 4)  # of those of a frame are enough, where a noisy number of records is smaller
    octaves: Fraction = Fraction(2, 5)
    # Of what is left after the size, for the counts of octaves around a clip; under swap they have twice the noise.
    tail: Fraction = Fraction(1, 5)
    tail_swap: Fraction = Fraction(1, 5)
    counted_from: int = (
        300  # nats from which octaves are counted, where rows are public: with fewer nothing is answered
    )
    # A clip is moved where less lies beyond than this part of the noise that it adds; and of each count beyond, this
    # many scales are taken as noise.
    moved: float = 1.5
    shrunk: float = 2.0
    shrunk_swap: float = 1.0
    weight: float = 1.0  # of the noise, where a side is moved within octaves
    size_share: Fraction = Fraction(1, 50)  # for the number of records, where it is sensitive
    size_nats: int = 40  # under swap this much over the rows is enough
    # Where both bounds are stated, records in the outer third between them are counted apart, for this part of epsilon.
    # From this many nats on the bounds are the clip: a search would cost more than it could gain.
    bounded_share: Fraction = Fraction(1, 25)
    outer: Fraction = Fraction(1, 3)
    outer_nats: int = 20
    hidden: int = 7  # over its epsilon: rows that a noisy number may miss
    slack: int = 4  # over its epsilon: a noisy number of records is too large by more in less than 1% of cases
    # Part of epsilon for the common clip of G groups: that of one group over the root of G, and at least this. The more
    # groups there are, the fewer records a clip has to be accurate to.
    counted: Fraction = Fraction(1, 10)  # for the numbers of rows of groups, beside their sums
    least_clip: Fraction = Fraction(1, 40)
    # Of what is left after the size, where groups share a clip: for the octaves of all of them around it, and for the
    # number of records of each beyond half its width.
    group_tail: Fraction = Fraction(1, 20)
    near: Fraction = Fraction(1, 20)
    sure_part: Fraction = Fraction(1, 15)  # of the epsilon for the clip, at most, for a surer centre
    sure_from: int = 300  # nats of the clip beyond which a fiftieth makes the scale surer: the walks need the others
    ranks: RankTuning = TUNING  # of the frame

    def __hash__(self) -> int:
        """Of a few constants: tunings are parts of the keys of many plans."""
        return hash((self.raised, self.many, self.nats, self.size_nats))

    def inward_share(self, neighbors: Neighbors) -> Fraction:
        """The share of eps1 in a walk inward."""
        return self.inward_share_swap if neighbors == "swap" else self.inward_share_add_remove

    def halting(self, neighbors: Neighbors, framed: bool) -> tuple[int, int]:
        """The records outside, over eps2, that halt a walk inward, and the candidates that the clip is wider by."""
        if not framed:
            return self.outside_few, 0
        return self.outside_swap if neighbors == "swap" else self.outside, self.widened

    def frame_nats(
        self, neighbors: Neighbors, two_sided: bool, nats: Fraction = Fraction(0), part: Fraction | None = None
    ) -> tuple[int, int]:
        """Epsilon of a centre and of a scale, times the number of records: at least, or with `nats` for the clip."""
        times = 2 if neighbors == "swap" else 1
        center, _ = self.ranks.frame_nats(nats / times, self.sure_part if part is None else part)
        _, scale = self.ranks.frame_nats(max(nats / times - self.sure_from, Fraction(0)))
        return (center * times if two_sided else 0), scale * times

    def moves(self, neighbors: Neighbors) -> tuple[float, float]:
        """The weight of the noise and what is taken from counts, where a clip is moved."""
        return self.moved, self.shrunk_swap if neighbors == "swap" else self.shrunk

    def tail_part(self, neighbors: Neighbors) -> Fraction:
        """The part for the counts of octaves."""
        return self.tail_swap if neighbors == "swap" else self.tail

    def frame_part(self, neighbors: Neighbors, two_sided: bool) -> Fraction:
        """The part of what the clip may cost that the frame may cost."""
        return self.frame_share_swap if neighbors == "swap" and two_sided else self.frame_share

    def clip_part(
        self, total: Fraction, size: int, neighbors: Neighbors, two_sided: bool, walked: bool = True
    ) -> Fraction:
        """What of a total epsilon the clip may cost, for about `size` records."""
        frame = self._frame_part(total, size, neighbors, two_sided)
        if frame is None:
            return total * (self.few if neighbors == "swap" else self.octaves)
        if not walked:
            return Fraction(
                sum(self.frame_nats(neighbors, two_sided, total * size, self.ranks.sure_share)), max(size, 1)
            )
        return frame + (total - frame) * self.walks_part(neighbors)

    def sparse_part(self, total: Fraction, rows: int) -> Fraction:
        """What a frame gets at least where many of the rows may have no record, and no walk follows."""
        nats = self.rows_for_one * self.fewer_nats * sum(self.frame_nats("swap", True))
        return max(min(nats / max(rows, 1), total * self.most_frame), total * self.least_frame)

    def walks_part(self, neighbors: Neighbors) -> Fraction:
        """The part of what a frame leaves that walks get."""
        return self.walks_swap if neighbors == "swap" else self.walks

    def walks_for(self, total: Fraction, size: int, neighbors: Neighbors, two_sided: bool) -> bool:
        """Whether walks search for the clip of about `size` records; see `unwalked`."""
        return not two_sided or self._frame_part(total, size, neighbors, two_sided) is None

    def _frame_part(self, total: Fraction, size: int, neighbors: Neighbors, two_sided: bool) -> Fraction | None:
        """What a frame costs at least; None if that is too much."""
        frame = Fraction(sum(self.frame_nats(neighbors, two_sided)), max(size, 1))
        return None if frame > total * (self.most_two_sided if two_sided else self.most_one_sided) else frame

    def clip_parts(self, total: Fraction, neighbors: Neighbors, two_sided: bool) -> tuple[Fraction, ...]:
        """The ends of what `clip_part` returns for any size: no frame, the cheapest, and the most expensive.

        Where no walk follows a frame, it costs next to nothing with very many records.
        """
        alone = self.few if neighbors == "swap" else self.octaves
        most = self.most_two_sided if two_sided else self.most_one_sided
        walks = self.walks_part(neighbors)
        cheapest = Fraction(0) if two_sided else walks
        return total * alone, total * cheapest, total * (most + (1 - most) * walks)


CLIP_TUNING = ClipTuning()
