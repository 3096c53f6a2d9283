"""The constants behind a quantile, as one value: they change how accurate it is, never what is promised.

Figures in comments come from exact laws (benchmarks/tuning). Tests and audits pass other values, so laws are
short enough to enumerate.
"""

from dataclasses import dataclass
from fractions import Fraction

from nobounds.ladders.ladder import Ladder

SCALE_FLOOR = -40
OCTAVES = Ladder.float_bits(0, SCALE_FLOOR).limited(Fraction(0), None)


@dataclass(frozen=True, slots=True)
class RankTuning:
    """How epsilon is split, how fine candidates are, and when a route is safe."""

    # Shares of eps1 in eps1 + eps2, and ranks over epsilon that the threshold is raised by, because a walk halts early.
    # Inner quantiles: 0.5 and 1 have 0.78 to 0.85 of the error of 0.4 and 0 under add-remove, and the same error under
    # swap. Near the end of the data 0.65 and 0 are within 2% of the best, and the chance to overshoot the maximum
    # tenfold is 5e-6 (0.6 and 0: 4e-5).
    inner: Fraction = Fraction(1, 2)
    outer: Fraction = Fraction(13, 20)
    rise: int = 1
    # A rank is near the end of the data when less than this over epsilon lies beyond it. There Gumbel noise, whose eps1
    # share must be one half, aims `gumbel_drop` ranks over epsilon lower: a chance below 1e-4.
    near_end: int = 8
    gumbel_drop: int = 6
    margin: float = 8.0  # the chance that far empty rungs halt a walk or win a flip is below exp(-8) in all
    size_share: Fraction = Fraction(1, 20)  # of epsilon, for the noisy size
    size_nats: int = 25  # over the rows, if only missing records are sensitive
    size_fails: int = 2000  # a noisy size that is too large leads to a catastrophe at most once in this many times
    scale_share: Fraction = Fraction(1, 20)  # of epsilon: a scale is bought where it costs no more
    sign_share: Fraction = Fraction(1, 10)  # of epsilon, for the noisy sign
    tiny: float = 2.0**-40  # walks outward from 0 treat all that is smaller as 0
    # Bits of a growing ladder beyond log2(records * rate of the noise), for flip; and beyond log2(records * epsilon)
    # for a walk, which fine steps halt early and which therefore takes fewer in the tails: 8 or 9 bits for flip at
    # n = 1000 and epsilon 1, where 7 have 1.07 to 1.27 of the error of 8, and 10 have 0.94 to 1.01.
    flip_bits: float = -1.0
    walk_bits: float = -0.5
    most_bits: int = 40
    least_bits: int = 6
    fine_bits: int = 8  # of a ladder on which a walk passes the end of the data
    flip_tail: Fraction = Fraction(3, 10)  # under add-remove a walk is better for quantiles with less in their tail
    # A walk from the side of the fewer records that is not safe by itself has its counts lowered by 2 ranks over
    # epsilon an octave, from 3 octaves above the scale on: 0.58 to 0.97 of the error from the other side on six
    # families, 10 ranks from the end.
    tilt: int = 2
    octaves: Ladder = OCTAVES  # one rung a power of two, from 2**-40 on; below that there is no scale
    # Many quantiles. Of epsilon, for the scale; and for the size under swap: a record that turns from missing to
    # present costs half as much as one that moves in all levels but the first, so the size is free; but its rho counts.
    levels_scale_share: Fraction = Fraction(1, 25)
    levels_size_share: Fraction = Fraction(1, 5)
    levels_size_share_zcdp: Fraction = Fraction(1, 20)
    levels_least_scale: float = 2.0**-40  # smaller scales are treated as this one, where there is no grid
    # The prior on magnitudes: octaves above the scale, and nats an octave; and the same near an end of the data, up to
    # twice as far from it as walks are used, where few records outweigh the rungs beyond it.
    prior_from: int = 2
    prior_nats: Fraction = Fraction(3, 2)
    tight_from: int = 1
    tight_nats: Fraction = Fraction(2)
    places: int = 1024  # on a rung


TUNING = RankTuning()
