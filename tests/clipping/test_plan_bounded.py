"""Two public bounds: they are the clip where records fill what is between them, and else the clip is searched for."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.clip_errors import sum_plan

import nobounds as nb
from nobounds.accounting.cost import pure
from nobounds.clipping.view import RecordsView
from nobounds.noise.additive import Additive

FULL = np.linspace(0, 100, 4000)


def searched(release):
    """Whether a clip was paid for."""
    return "clip" in release.parameters["split"]


@pytest.mark.parametrize("statistic", [nb.sum, nb.mean])
@pytest.mark.parametrize("spent", [{"epsilon": 2}, {"rho": 1}], ids=str)
def test_bounds_that_records_fill_are_the_clip(statistic, spent):
    """All but the noisy size is for the noise then, and nothing is assumed about what lies beyond."""
    release = statistic(FULL, lower=0, upper=100, **spent, rng=random.Random(1))
    assert release.parameters["clip"] == [0, 100] and {*release.parameters["split"]} == {"size", "noise"}
    assert "assumes" not in release.parameters["interval"]
    low, high = release.interval
    truth = FULL.sum() if statistic is nb.sum else FULL.mean()
    assert low <= truth <= high


@pytest.mark.parametrize("statistic", [nb.sum, nb.mean])
@pytest.mark.parametrize("upper", [151, 1e9])
def test_loose_bounds_are_searched_within(statistic, upper):
    """A clip far below a bound that no record is near."""
    release = statistic(FULL, lower=0, upper=upper, epsilon=2, rng=random.Random(1))
    assert searched(release) and release.parameters["clip"][1] < 140


def test_of_a_sum_the_largest_magnitudes_decide_and_of_a_mean_both_ends():
    """Data in the upper half fill the bounds of a sum, and not those of a mean."""
    upper = np.linspace(50, 100, 4000)
    assert not searched(nb.sum(upper, lower=0, upper=100, epsilon=2, rng=random.Random(1)))
    assert searched(nb.mean(upper, lower=0, upper=100, epsilon=2, rng=random.Random(1)))
    assert not searched(nb.sum(-upper, lower=-100, upper=0, epsilon=2, rng=random.Random(1)))


def test_a_record_lies_in_one_of_the_three_parts():
    """A missing one in none: so all three counts cost what one does."""
    view = RecordsView(lambda: [np.array([-5.0, -1, 0, 1, 5, np.nan])])
    assert list(view.outer(-1, 1, Additive(1), None).numbers) == [2, 1, 2]


@pytest.mark.parametrize("centered", [False, True])
def test_both_ways_cost_no_more_than_is_charged(centered):
    """With the bounds as the clip, the size and the noise cost what the plan says; with a search it costs less rho."""
    split = sum_plan(FULL, centered=centered, lower=0, upper=100)
    filled = split._unsearched()
    for each in (filled, split.at(4000)):
        total = sum(each.parts().values(), start=pure(Fraction(0)))
        assert total.epsilon <= split.cost().epsilon and total.rho <= split.cost().rho
