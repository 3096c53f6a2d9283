"""The public prior: masses are exact, places are rungs again, draws follow it, and both signs weigh the same."""

import itertools
import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.chance import seed_of
from support.laws import runs_of

from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import CENTER, SPREAD, ZERO, prior_of, prior_of_scales
from nobounds.ladders.rungs import FloatBits
from nobounds.ladders.steps import walk_ladder
from nobounds.ladders.zoned import Zoned
from nobounds.noise.discrete import uniform_below
from nobounds.noise.source import random_source


def whole(rungs):
    return Ladder(rungs, *rungs.ends)


SHORT = {
    "floats": Ladder.float_bits(1, floor=1000),
    "whole numbers": Ladder.grid(2**1017, 2),
    "halves": Ladder.grid(F(2) ** 1019, 6),
    "deviations": whole(Zoned(((1015, 2), (1019, 0), (1021, 1)), 0)),
    "mirrored deviations": whole(Zoned(((1015, 2), (1019, 0)), 1, mirrored=True)),
}
LONG = {
    "all floats": Ladder.float_bits(51, floor=-1022),
    "cents": Ladder.grid(F(1, 100), 51),
    "deviations": whole(Zoned(((-40, 2), (-8, 20), (2, 8)), 1)),
}
short = pytest.mark.parametrize("ladder", SHORT.values(), ids=SHORT.keys())
long = pytest.mark.parametrize("ladder", LONG.values(), ids=LONG.keys())
at = st.floats(0, 1)


def between(ladder, *places):
    """Rungs at these parts of the ladder, in order."""
    return sorted(min(ladder.first + int(place * (ladder.size - 1)), ladder.last) for place in places)


@short
def test_masses_are_sums_over_rungs(ladder):
    """On a short ladder, for every interval; and in doubles within 2**-50."""
    prior = prior_of(ladder)
    each = [prior.mass(rung, rung) for rung in range(ladder.first, ladder.last + 1)]
    assert min(each) > 0 and sum(each) <= prior.most
    for i in range(len(each)):
        for k in range(i, len(each)):
            first, last = ladder.first + i, ladder.first + k
            assert prior.mass(first, last) == sum(each[i : k + 1])
            in_doubles = prior.masses(np.array([first]), np.array([last]))[0]
            assert abs(F(float(in_doubles)) * 2**prior.shift - sum(each[i : k + 1])) <= F(sum(each[i : k + 1]), 2**50)
            assert prior.is_even(np.array([first]), np.array([last]))[0] <= (len(set(each[i : k + 1])) == 1)


@short
def test_the_rung_at_a_place_undoes_the_mass(ladder):
    """The first and the last unit of each rung lie on it, whatever the interval."""
    prior = prior_of(ladder)
    for first in range(ladder.first, ladder.last + 1, 3):
        for last in range(first, ladder.last + 1, 2):
            for rung in range(first, last + 1):
                end = prior.mass(first, rung)
                assert prior.rung_at(first, last, end - 1) == rung
                assert prior.rung_at(first, last, end - prior.mass(rung, rung)) == rung


@long
@given(places=st.tuples(at, at, at), unit=at)
def test_long_ladders_have_the_same_masses(ladder, places, unit):
    """Masses add up, doubles are within 2**-50, and a place lies on the rung that it is in."""
    prior = prior_of(ladder)
    first, middle, last = between(ladder, *places)
    assert prior.mass(first, middle) + (prior.mass(middle + 1, last) if middle < last else 0) == prior.mass(first, last)
    mass = prior.mass(first, last)
    in_doubles = F(float(prior.masses(np.array([first]), np.array([last]))[0])) * 2**prior.shift
    assert abs(in_doubles - mass) <= F(mass, 2**50)
    place = min(int(F(unit) * mass), mass - 1)
    rung = prior.rung_at(first, last, place)
    assert first <= rung <= last
    assert (prior.mass(first, rung - 1) if rung > first else 0) <= place < prior.mass(first, rung)


@pytest.mark.parametrize("ladder", [*SHORT.values(), *LONG.values()], ids=[*SHORT, *(f"long {name}" for name in LONG)])
def test_parts_cover_the_ladder_with_about_equal_masses(ladder):
    """They meet, and none weighs more than its share and two rungs."""
    prior, (first, last) = prior_of(ladder), (ladder.first, ladder.last)
    for many in (1, 2, 7, 100):
        parts = prior.parts(first, last, many)
        assert len(parts) <= many and parts[0][0] == first and parts[-1][1] == last
        assert all(end + 1 == start for (_, end), (start, _) in itertools.pairwise(parts))
        heaviest = max(prior._each)
        assert all(prior.mass(*part) <= prior.most // many + 2 * heaviest + 1 for part in parts)


@pytest.mark.parametrize("name", ["floats", "whole numbers", "all floats", "cents"])
def test_both_signs_weigh_the_same_and_zero_a_twentieth(name):
    """Zero weighs a twentieth of the whole, to a part in a thousand."""
    ladder = (SHORT | LONG)[name]
    prior = prior_of(ladder)
    assert prior.mass(ladder.first, -1) == prior.mass(1, ladder.last)
    for last in between(ladder, 0.5, 0.7, 0.93):
        assert prior.mass(-max(last, 1), -1) == prior.mass(1, max(last, 1))
    assert F(prior.mass(0, 0), prior.most) == pytest.approx(F(1, ZERO), rel=1e-3)


@pytest.mark.parametrize("name", ["all floats", "cents"])
def test_an_octave_weighs_what_the_law_of_magnitudes_says(name):
    """Octave k weighs 1 / (SPREAD + (k - CENTER)**2) of what octave CENTER weighs times SPREAD, from 1e-6 to 1e300."""
    ladder = LONG[name]
    prior = prior_of(ladder)

    def weight(k):
        first, after = ladder.map.of(np.array([2.0**k, 2.0 ** (k + 1)])).tolist()
        return prior.mass(first, after - 1)

    for k in (*range(-5, 40, 3), 100, 990):
        wanted = SPREAD / (SPREAD + (k - CENTER) ** 2)
        # On a grid the octaves are those of its points.
        assert weight(k) / weight(CENTER) == pytest.approx(wanted, rel=1e-5 if name == "all floats" else 0.1)


def test_the_mirror_image_of_deviations_has_the_mirror_image_of_the_prior():
    """Rung by rung, and nothing weighs more than the rungs around the centre."""
    plain = Zoned(((1010, 2), (1016, 1), (1020, 0)), 1)
    one, other = (whole(rungs) for rungs in (plain, Zoned(plain.zones, plain.other, mirrored=True)))
    for rung in range(one.first, one.last + 1):
        assert prior_of(one).mass(rung, rung) == prior_of(other).mass(-rung, -rung)
        assert prior_of(one).mass(rung, rung) <= prior_of(one).mass(0, 0)


def test_scales_near_the_one_expected_weigh_more():
    """Octaves of a scale weigh less the farther they are from octave 0, the same above and below."""
    rungs = FloatBits(0, -300)
    prior = prior_of_scales(Ladder(rungs, 1, rungs.ends[1]))
    weights = prior.masses(np.arange(1, rungs.ends[1] + 1), np.arange(1, rungs.ends[1] + 1))
    zero = 300
    assert np.argmax(weights) == zero and np.all(np.diff(weights[zero:]) <= 0)
    assert weights[zero + 50] == weights[zero - 50]
    assert weights.min() > 0 and weights.sum() < 20 * weights[zero]


def test_next_to_no_scale_weighs_most_where_that_is_asked_for():
    """Nearly all of the prior, and beside it the weights are the same."""
    rungs = FloatBits(0, -300)
    ladder = Ladder(rungs, 1, rungs.ends[1])
    every = np.arange(1, rungs.ends[1] + 1)
    plain, heaped = (prior_of_scales(ladder, which).masses(every, every) for which in (False, True))
    heap = 300 - 40
    assert heaped[heap] > 0.99 * heaped.sum()
    assert np.array_equal(np.delete(heaped, heap), np.delete(plain, heap))
    assert prior_of_scales(ladder, True).key != prior_of_scales(ladder).key


def drawn_counts(law, draws=20_000):
    """How often each rung of a run is drawn by the prior alone."""
    prior, ladder, source = *law, random_source(random.Random(4))
    mass = prior.mass(ladder.first, ladder.last)
    rungs = [prior.rung_at(ladder.first, ladder.last, uniform_below(mass, source)) for _ in range(draws)]
    return np.bincount(np.array(rungs) - ladder.first, minlength=ladder.size)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["floats", "deviations"])
def test_draws_follow_the_prior_and_reject_equal_weights(name):
    """Chi-square of 20,000 draws over all rungs of a short ladder."""
    ladder = SHORT[name]
    prior = prior_of(ladder)
    counts = drawn_counts((prior, ladder))
    rungs = np.arange(ladder.first, ladder.last + 1)
    law = prior.masses(rungs, rungs)
    assert stats.chisquare(counts, law / law.sum() * counts.sum()).pvalue > 1e-9
    assert stats.chisquare(counts).pvalue < 1e-9


@pytest.mark.medium
@pytest.mark.sampled
def test_a_rung_of_a_run_is_drawn_by_what_it_weighs():
    """`Runs.drawn` follows the prior on each run, by chi-square, also where a run crosses blocks."""
    ladder = SHORT["floats"]
    prior = prior_of(ladder)
    runs = runs_of(F(1, 2), data=[2.0**1005, 2.0**1018], ladder=ladder, prior=prior)
    source = random_source(random.Random(seed_of(6)))
    for run in range(len(runs.starts)):
        first, length = int(runs.starts[run]), int(runs.lengths[run])
        counts = np.bincount([runs.drawn(run, source) - first for _ in range(4000)], minlength=length)
        assert len(counts) == length
        if length > 1:
            rungs = first + np.arange(length)
            law = prior.masses(rungs, rungs)
            assert stats.chisquare(counts, law / law.sum() * 4000).pvalue > 1e-9


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("bits", [0, 10, 31, 40])
def test_weights_of_deviations_fit_into_64_bits(bits, mirrored):
    """With the finest steps too: all masses are positive, and the whole is the sum of the blocks."""
    ladder = walk_ladder(bits, mirrored)
    prior = prior_of(ladder)
    assert np.all(prior.units > 0) and np.all(np.diff(np.cumsum(prior.units)) > 0)
    assert prior.mass(ladder.first, ladder.last) == sum(prior.units.tolist()) << prior.shift


def test_masses_of_many_runs_in_order_are_those_of_each():
    """Runs that cover a ladder, of which the first and the last are long, are weighed together as one by one."""
    prior, drawn = prior_of(Ladder.float_bits(16)), np.random.default_rng(2)
    edges = np.unique(Ladder.float_bits(16).rungs(drawn.lognormal(3, 2, 500) * drawn.choice([-1, 1], 500)))
    first = np.concatenate([[Ladder.float_bits(16).first], edges])
    last = np.concatenate([edges - 1, [Ladder.float_bits(16).last]])
    expected = [prior.mass(*ends) / (1 << prior.shift) for ends in zip(first.tolist(), last.tolist(), strict=True)]
    assert np.allclose(prior.masses(first, last), expected, rtol=2.0**-50, atol=0)
    order = drawn.permutation(len(first))
    assert prior.masses(first[order], last[order]).tolist() == prior.masses(first, last)[order].tolist()
