"""The constants behind a quantile, as one value: they change how accurate it is, never what is promised.

`make accuracy` compares them with rivals. Tests and audits pass other values, so laws are short enough to enumerate.
"""

import math
from fractions import Fraction

from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class RankTuning:
    """How epsilon is split, how fine candidates are, and when a frame is bought."""

    size_share: Fraction = Fraction(1, 40)  # of epsilon, for the noisy size
    group_count: Fraction = Fraction(1, 10)  # of epsilon, for the noisy count of each group, which is released
    size_nats: int = 80  # over the rows, if only missing records are sensitive: a tenth of them present is seen
    # Nats are records times epsilon; under swap, where a rank costs twice as much, half of that.
    # How seldom a centre and a scale of 40 nats fail, by exact laws: tests/ranks/test_framing.py.
    center_nats: int = 40
    scale_nats: int = 40
    # With many records a centre gets more: each nat makes it fail less often by a factor of 1.6, and far from 0 one
    # failure in a thousand would be most of the mean error. So does a scale: records on the centre itself tell nothing
    # of it, so if nine tenths lie there, a tenth of its nats is left.
    more_center: int = 30
    more_scale: int = 160
    sure_share: Fraction = Fraction(1, 50)  # of epsilon, at most, for each of these
    # A frame for inner quantiles is cheaper: a scale that is too low does them no harm. It has fewer nats for the scale
    # and at most this many more for each part, for at most this part of epsilon.
    inner_scale: int = 30
    more_inner: int = 30
    inner_share: Fraction = Fraction(1, 100)
    framed_inner: int = 700  # nats from which a frame is bought for inner quantiles, ...
    framed_interval: int = 400  # ... for an interval around one, ...
    framed_ends: int = 400  # ... and for both ends; one in a tail needs a scale where a walk goes inward
    most_center: Fraction = Fraction(19, 50)  # of epsilon, for a centre alone, and under swap
    most_center_swap: Fraction = Fraction(1, 2)
    # Under swap a tail is chosen without a centre if records times epsilon are fewer than `centered_from` (in
    # proportion more for tails above a tenth), or if `alone_from` or more lie in the tail and fewer than `alone_to` in
    # all (in proportion fewer for tails below a tenth). Nats beyond the rank: at least `outer_nats`, `beyond_nats` if
    # there are enough; and on its inner side.
    centered_from: float = 130.0
    alone_from: float = 28.0
    alone_to: float = 600.0
    outer_nats: float = 17.0
    beyond_nats: float = 21.0
    inner_nats: float = 21.0
    inner_tail: Fraction = Fraction(1, 4)  # quantiles with less in their tail are no inner ones
    end_nats: int = 30  # without a frame halving aims at no rank with less than this beyond it
    # Without a frame an inner rank with fewer than `answered_nats` beyond it is aimed at so much nearer the middle.
    nudge: Fraction = Fraction(1, 100)
    # Bits of the numbers under the prior: for a centre, and beyond log2 of the nats for an answer. More bits serve data
    # farther from 0 for their spread; fewer make heaps heavier, which 16 bits hit for 11 nats.
    center_bits: int = 16
    few_center_bits: int = 12  # for a centre with too few nats: wider rungs are easier to hit
    choice_bits: int = 14
    fewer_tail_bits: int = 5  # in a tail, where ranks are farther apart
    most_choice_bits: int = 48
    prior_floor: int = -1022
    # Bits of the ladder for flip beyond log2(records * rate of the noise).
    flip_bits: float = -1.0
    most_bits: int = 40
    least_bits: int = 6
    # Shares of eps1 in eps1 + eps2 of a walk.
    inner: Fraction = Fraction(1, 2)
    outer: Fraction = Fraction(7, 10)
    rise: int = 1  # ranks over epsilon that the threshold of a walk inward is raised by, because it halts early
    # Octaves of a step around the scale, over the nats: the larger of the two, the second over the tail as well; and at
    # most.
    step: float = 5.0
    tail_step: float = 0.15
    longest: float = 0.25
    # Of a walk outward: over that; and at the very end, and longer with more nats in the tail.
    outward_longer: float = 1.5
    outward_step: float = 1 / 48
    least_in_tail: float = 3.0  # nats in the tail with which a walk goes inward if there is a scale already
    # Walks to both ends: log2 of the rungs an octave, and the records beyond that halt them, over eps2.
    end_bits: int = 4
    end_records: int = 6
    end_tilt: int = 2  # nats of a step of their tilt
    end_share: Fraction = Fraction(7, 20)  # of eps1, under swap
    most_frame: Fraction = Fraction(1, 2)  # of epsilon for the frame, where they give an interval
    least_threshold: int = 7  # over epsilon, of a walk inward
    inward_from: float = 8.0  # nats in the tail from which a walk goes inward under add-remove ...
    chosen_from: float = 40.0  # ... and a choice is better than a walk outward under swap
    tilted_below: float = 20.0  # nats in the tail below which walks are tilted
    near_end: int = 8  # nats beyond a rank with which it is near the end of the data
    # Many quantiles: nats from which a frame is bought; and of epsilon for the size under swap: a record that turns
    # from missing to present costs half as much as one that moves in all levels but the first, so it is free; but its
    # rho counts.
    many_bits: int = 24  # of the numbers under the prior
    framed_many: int = 2500
    levels_size_share: Fraction = Fraction(1, 5)
    levels_size_share_zcdp: Fraction = Fraction(1, 20)
    # By how much rungs far from the centre are lowered: octaves above the scale, and nats an octave; and the same near
    # an end of the data, where few records outweigh the rungs beyond it.
    prior_from: int = 2
    prior_nats: Fraction = Fraction(3, 2)
    tight_from: int = 1
    tight_nats: Fraction = Fraction(2)
    places: int = 1024  # on a rung
    # One by one: at most this many quantiles, with at most this part of the records beyond an outer one, and with fewer
    # nats of a level there than this, without a frame and in one.
    apart_most: int = 4
    apart_tail: Fraction = Fraction(1, 20)
    apart_nats: int = 32
    apart_framed: int = 12
    # All quantiles in one choice: at most this many, under swap and under add-remove; the nats of the choice beyond the
    # outer ones; the bits of the numbers beyond log2 of its nats; and of epsilon for the size under swap, at least.
    joint_most: int = 39
    joint_most_added: int = 19
    joint_tail: float = 16.0
    joint_bits: int = 10
    joint_nats: int = 1 << 32  # at most: places of finer rungs would not fit into 64 bits
    joint_size_share: Fraction = Fraction(1, 20)
    # From this many nats on it is made in a frame, with this many bits beyond log2 of its nats.
    joint_framed: int = 10_000
    joint_framed_bits: int = 3
    # Intervals: nats of a rank beyond an end for which it is answered; scales of its noise that a size may be too large
    # by; nats of a scale around 0, and of epsilon at most; bits of the ladder beyond log2 of the records over the ranks
    # aimed away, more without a centre, and at most; octaves above the scale up to which the prior is flat; and bits of
    # all numbers for a guaranteed interval.
    answered_nats: int = 20
    answered_walk: int = 250  # nats in all, for a walk in a tail or to an extreme
    margin: float = 0.25  # nats of a choice beyond its law on smooth data; and for a sample, or with few records
    wide_margin: float = 4.5
    sample_nats: float = 3.0  # of the deviation of a sample, below which the margin is the wide one
    interval_size: Fraction = Fraction(1, 20)  # of epsilon for the size, at least
    careful: int = 2
    room: int = 3  # scales more that it may be too low by in 5% of runs, for how many rows would do
    scale_alone: int = 40
    most_scale: Fraction = Fraction(1, 5)
    end_choice_bits: int = 5
    fewer_bits: int = 2  # where the margin is the wide one: heavier rungs hit heaps
    off_center_bits: int = 5
    most_end_bits: int = 28
    flat_octaves: int = 1
    guaranteed_bits: int = 16
    gumbel_drop: int = 6  # ranks over epsilon that it is lowered by with Gumbel noise, whose shares must be equal

    def __hash__(self) -> int:
        """Of a few constants: tunings are parts of the keys of many plans."""
        return hash((self.center_nats, self.framed_inner, self.flip_bits, self.most_bits))

    def frame_nats(self, nats: Fraction, part: Fraction | None = None) -> tuple[int, int]:
        """The nats of a centre and of a scale, where there are this many in all; `part` of them make each surer."""
        more = math.floor(nats * (self.sure_share if part is None else part))
        return self.center_nats + min(self.more_center, more), self.scale_nats + min(self.more_scale, more)

    def inner_frame_nats(self, nats: Fraction) -> tuple[int, int]:
        """The same where the frame is for inner quantiles alone."""
        more = min(self.more_inner, math.floor(nats * self.inner_share))
        return self.center_nats + more, self.inner_scale + more


TUNING = RankTuning()
