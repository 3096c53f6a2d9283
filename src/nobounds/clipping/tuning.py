"""The constants behind clips, sums and means, as one value: they never change what is promised.

They were chosen by exact laws on synthetic families (benchmarks/tuning/clipping.py; docs/clipping.md has its table).
"""

from dataclasses import dataclass
from fractions import Fraction

from nobounds.accounting.loss import Neighbors
from nobounds.ranks.tuning import TUNING, RankTuning


@dataclass(frozen=True, slots=True)
class ClipTuning:
    """How epsilon is split, and when walks go inward or outward."""

    # Walks outward: the share of eps1 in eps1 + eps2, with a tilt and without; and the ranks over eps1 that counts are
    # raised by for each octave from 2 above the scale on.
    share: Fraction = Fraction(3, 4)
    untilted: Fraction = Fraction(39, 50)
    raised: int = 4
    raised_from: int = 2
    # Walks inward: the number of records outside, over eps2, that halts the walk; the ranks over eps2 that counts are
    # lowered by for each octave from 2 above the scale on, where candidates are whole octaves.
    outside: int = 5
    lowered: int = 2
    lowered_from: int = 2
    # Tilts end after this many octaves: that outweighs all candidates beyond, and a scale that is too low does less
    # harm.
    most_raised: int = 4
    most_lowered: int = 6
    inward_share_swap: Fraction = Fraction(7, 20)
    inward_share_add_remove: Fraction = Fraction(1, 2)
    many: int = 10_000  # records times epsilon from which the walk goes inward under swap as well
    most_outside: int = 10  # of one clip for several sums, at most a tenth lies outside: a guard, not measured
    scale_rank: Fraction = Fraction(3, 4)
    scale_nats: tuple[int, int] = (18, 12)  # over the number of records: eps1 and eps2 of the scale
    inward_nats: tuple[int, int] = (28, 12)
    # A scale is bought where it costs at most a quarter of epsilon; where it costs less than a twentieth, a twentieth
    # is spent: data may be 0 for the most part, and then fewer records have to outweigh the empty octaves before them.
    scale_share: Fraction = Fraction(1, 4)
    scale_least: Fraction = Fraction(1, 20)
    center_nats_swap: int = 120  # over the number of records: epsilon of a centre
    center_nats_add_remove: int = 60
    center_share: Fraction = Fraction(1, 8)  # a centre is bought where it costs no more than this part of epsilon ...
    offset: int = 32  # ... and kept if it is this many times the scale of the deviations from it; else it is 0
    nats: float = 10.0  # records times eps2 from which a walk outward does not halt on the empty rungs before the data
    # Parts of epsilon: for the clip of a sum under add-remove; for the interval of all others; and with few rows under
    # swap, which have no scale, `few` if there are fewer than `few_rows` rows over epsilon.
    one_sided: Fraction = Fraction(1, 3)
    two_sided: Fraction = Fraction(1, 3)
    few: Fraction = Fraction(9, 20)
    few_rows: int = 400
    size_share: Fraction = Fraction(1, 50)  # for the number of records, where it is sensitive
    size_nats: int = 40  # under swap this much over the rows is enough
    slack: int = 4  # over its epsilon: a noisy number of records is too large by more in less than 1% of cases
    # Part of epsilon for the common clip of G groups: that of one group over the root of G, and at least this. The more
    # groups there are, the fewer records a clip has to be accurate to (benchmarks/tuning/groups.py).
    least_clip: Fraction = Fraction(1, 40)
    ranks: RankTuning = TUNING  # of the centre

    def inward_share(self, neighbors: Neighbors) -> Fraction:
        """The share of eps1 in a walk inward."""
        return self.inward_share_swap if neighbors == "swap" else self.inward_share_add_remove

    def center_nats(self, neighbors: Neighbors) -> int:
        """Epsilon of a centre times the number of records."""
        return self.center_nats_swap if neighbors == "swap" else self.center_nats_add_remove


CLIP_TUNING = ClipTuning()
