"""Two rungs in one choice: draws have the law on paper, and the steps sum up to it."""

import random
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.auditing.evidence.pairs import ChosenPair
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_flat
from nobounds.mechanisms.joint.pair import ChoosePair, Steps
from nobounds.ranks.many.slices import Lowered, Slice, SliceAim, runs_in

LADDER = Ladder.grid(1, 2)
RATE = F(1, 2)


def pair():
    """The runs of two targets on a few records."""
    histogram = Histogram(LADDER, np.array([-3, 0, 1, 4]), np.array([2, 1, 3, 1]))
    return tuple(
        runs_in(
            histogram,
            Slice.whole(LADDER, 1),
            SliceAim(F(1, 2), F(away), True),
            RATE,
            Lowered(0, F(0)),
            prior_flat(LADDER.map, 1),
        )
        for away in (-1, 2)
    )


def test_the_steps_weigh_as_much_as_all_pairs():
    """Summed over distances, and over pairs of runs."""
    one, two = pair()
    steps = Steps.of(one, two)
    least = float(steps.twice[0]) / 2 * float(RATE)
    by_steps = np.log(steps.weights(len(steps.twice)).sum()) - least - 2 * np.log(2.0) * one.prior.shift
    assert abs(by_steps - ChosenPair((one, two), (0, 0))._log_sum) < 1e-9


@pytest.mark.sampled
def test_draws_have_the_law():
    """The frequencies of near pairs are within five deviations of their probabilities."""
    one, two = pair()
    decision, source, many = ChoosePair(lambda: (one, two), lambda: None), random.Random(seed_of(1)).getrandbits, 1500
    seen = Counter(decision.draw(source) for _ in range(many))
    near = np.arange(-5, 8)
    masses = np.log(one.prior.masses(near, near))
    logs = ChosenPair((one, two), (0, 0)).log_density(near, near) + masses[:, None] + masses[None, :]
    for (i, j), log in np.ndenumerate(logs):
        chance = float(np.exp(log))
        expected = many * chance
        assert abs(seen[int(near[i]), int(near[j])] - expected) <= 5 * np.sqrt(expected + 1) + 1


def test_nothing_of_the_data_shows():
    """In the text of a decision."""
    one, two = pair()
    assert "hidden" in repr(ChoosePair(lambda: (one, two), lambda: None))
    assert "hidden" in repr(Steps.of(one, two))
