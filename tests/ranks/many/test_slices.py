"""Slices of a histogram: no record is lost or counted twice, and choices in a slice have the law on paper."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.chance import seed_of

from nobounds.counting.histogram import Histogram
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms import exponential_mechanism
from nobounds.mechanisms.exponential_mechanism import weighted_law, weighted_rung
from nobounds.mechanisms.flip import flip_law
from nobounds.noise.discrete import Uniform, truncated_geometric
from nobounds.noise.source import random_source
from nobounds.ranks.many import slices
from nobounds.ranks.many.slices import Lowered, Slice, SliceAim, runs_in, walk_in
from nobounds.ranks.route import placed
from nobounds.ranks.tuning import TUNING

PLAIN = Frame(0.0, 0)  # deviations from 0 are the records themselves
TEN = placed(Ladder.uniform(0.5, 9.5, 9), PLAIN)  # rung k holds the number k, from 0 to 9
FLAT = Lowered(0, F(0))
RECORDS = (0, 2, 2, 2, 6, 7, 7, 9)

records = st.lists(st.integers(0, 9), max_size=12)
aims = st.builds(
    SliceAim, st.sampled_from([F(0), F(1, 3), F(1, 2), F(1)]), st.fractions(-9, 9, max_denominator=12), st.booleans()
)


on_a_rung = pytest.mark.parametrize("places", [1, 4, 1024], ids="{} places".format)


def on_ten(data):
    return Histogram.of([np.array(data, dtype=float)], TEN)


def ranks_of_places(histogram, piece):
    """For each place of a slice the weight before it and up to it: a rung's records are spread over its places."""
    counts = dict(zip(histogram.rungs.tolist(), histogram.counts.tolist(), strict=True))
    each = [counts.get(place // piece.places, 0) for place in range(piece.low, piece.high)]
    up_to = np.cumsum(each)
    return up_to - each, up_to


def ranks_of_rungs(histogram, piece):
    """The same for each rung of a slice."""
    low, high = ranks_of_places(histogram, piece)
    rungs = np.arange(piece.low, piece.high) // piece.places
    first = np.flatnonzero(np.diff(rungs, prepend=-1))
    return low[first], high[np.append(first[1:], len(rungs)) - 1]


def octaves_beyond(ladder, prior):
    """How many of its powers of two each rung lies at or beyond, above 0 or below."""
    rungs, zero = np.arange(ladder.first, ladder.last + 1), ladder.map.of(np.zeros(1))[0]
    found = np.zeros(len(rungs), dtype=int)
    for k in range(prior.octave, min(prior.octave + slices.MOST_OCTAVES, 1024)):
        minus, plus = ladder.map.of(np.array([-(2.0**k), 2.0**k]))
        assert minus < zero < plus
        found += (rungs >= plus) | (rungs <= minus)
    return found


# --- the weights of records ---------------------------------------------------------------------------------------


@pytest.mark.medium
@given(records, st.lists(st.integers(-3, 43), max_size=9))
def test_a_record_has_the_weight_one_over_all_slices(data, places):
    """However places cut a ladder and its slices, a record counts for all places of its rung in all slices together."""
    histogram, pieces = on_ten(data), [Slice.whole(TEN, 4)]
    for place in places:
        cut_one = next(piece for piece in pieces if place < piece.high or piece == pieces[-1])
        cut = cut_one.cut(place)
        at = pieces.index(cut_one)
        pieces[at : at + 1] = [Slice(cut_one.low, cut, 4), Slice(cut, cut_one.high, 4)]
    found = np.zeros(10, dtype=int)
    for piece in pieces:
        if piece.low < piece.high:
            rungs, weights = piece.weights(histogram)
            np.add.at(found, rungs, weights)
    assert pieces[0].low == 0 and pieces[-1].high == 40
    assert found.tolist() == [4 * data.count(rung) for rung in range(10)]


@on_a_rung
def test_a_cut_leaves_two_slices_that_are_not_empty(places):
    """Every place cuts a slice of two places or more into two that are not empty; a slice of one stays one."""
    for low, high in ((0, 2), (3, 9), (5, 5 + places)):
        for place in range(low - 2, high + 2):
            cut = Slice(low, high, places).cut(place)
            assert (low < cut < high) or high - low < 2
            assert cut == place or not low < place < high
    assert Slice(3, 4, places).cut(3) == 3
    assert Slice(3, 3, places).cut(3) == 3


@on_a_rung
def test_the_middle_of_a_rung_is_on_it_and_in_the_slice(places):
    """Also where the slice has only a part of the rung."""
    for low, high in ((0, 1), (0, places), (places // 2, 3 * places), (places - 1, places + 1)):
        piece = Slice(low, high, places)
        for rung in range(piece.rungs[0], piece.rungs[1] + 1):
            assert low <= piece.middle(rung) < high
            assert piece.middle(rung) // places == rung


# --- runs and walks -----------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(records, aims, st.integers(0, 38), st.integers(2, 40), st.sampled_from([1, 4]))
@settings(deadline=None)
def test_runs_are_all_places_and_their_distances(data, aim, low, length, places):
    """The distance of a place (a rung, at a leaf) is that of the target from the ranks it spans, plus its prior."""
    piece = Slice(low * places // 4, min(low * places // 4 + length, 10 * places), places)
    histogram, prior, rate = on_ten(data), Lowered(1, F(3, 2)), F(1, 3)
    runs = runs_in(histogram, piece, aim, rate, prior)
    below, up_to = (ranks_of_rungs if aim.leaf else ranks_of_places)(histogram, piece)
    first, end = (piece.rungs[0], piece.rungs[1] + 1) if aim.leaf else (piece.low, piece.high)
    assert int(runs.starts[0]) == first and int(runs.lengths.sum()) == end - first
    target = aim.slope * int(up_to[-1]) + aim.offset * places
    rungs = np.arange(first, end) // (1 if aim.leaf else places)
    lowered = prior.lowered(TEN, rungs, rate) * places
    wanted = [
        max(F(0), int(a) - target, target - int(b)) + int(c) for a, b, c in zip(below, up_to, lowered, strict=True)
    ]
    found = {}
    for run in range(len(runs.starts)):
        for k in range(int(runs.lengths[run])):
            found[runs.rung(run, k)] = runs.distance(run) + k * int(runs.growth[run])
    assert [found[first + k] + runs.least for k in range(end - first)] == wanted
    assert min(found.values()) == 0
    assert runs.distances() == pytest.approx([float(runs.distance(run)) for run in range(len(runs.starts))])


@pytest.mark.medium
@given(records, aims, st.integers(0, 38), st.integers(2, 40), st.booleans())
@settings(deadline=None)
def test_a_walk_counts_the_weight_on_its_way(data, aim, low, length, up):
    """Its queries are the weights at or below each rung of the slice (above, walking down), against the target."""
    histogram, piece = on_ten(data), Slice(low, min(low + length, 40), 4)
    walk = walk_in(histogram, piece, aim, up, F(1), F(2))
    below, up_to = ranks_of_rungs(histogram, piece)
    total = int(up_to[-1])
    wanted = up_to if up else (total - below)[::-1]
    assert np.repeat(walk.levels, walk.lengths).tolist() == wanted.tolist()
    target = aim.slope * total + 4 * aim.offset
    assert walk.threshold == (target if up else total - target)
    assert (walk.eps1, walk.eps2) == (F(1, 4), F(1, 2))  # a record has four places


@pytest.mark.parametrize("rate", [F(1, 5), F(2)], ids=str)
@pytest.mark.parametrize("leaf", [False, True], ids=["places", "rungs"])
@pytest.mark.parametrize("piece", [Slice(0, 40, 4), Slice(9, 31, 4), Slice(10, 12, 4)], ids=str)
@pytest.mark.parametrize("aim", [(F(1, 2), F(0)), (F(1, 3), F(1, 7)), (F(1, 2), F(-30)), (F(1), F(30))], ids=str)
def test_the_law_in_a_slice_is_exponential_in_the_distance(aim, piece, leaf, rate):
    """P(place) is proportional to exp(-rate * its distance in ranks), also where ties are spread over places."""
    histogram, prior = on_ten(RECORDS), Lowered(2, F(1))
    runs = runs_in(histogram, piece, SliceAim(*aim, leaf), rate, prior)
    below, up_to = (ranks_of_rungs if leaf else ranks_of_places)(histogram, piece)
    target = float(aim[0] * int(up_to[-1]) + 4 * aim[1])
    rungs = int(runs.starts[0]) + np.arange(len(below))
    lowered = prior.lowered(TEN, rungs if leaf else rungs // 4, rate)
    distances = np.maximum(0, np.maximum(below - target, target - up_to)) / 4 + lowered
    weights = np.exp(-float(rate) * (distances - distances.min()))
    assert np.exp(weighted_law(runs).log_pmf()) == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert not (leaf and runs.growth.any())


@pytest.mark.medium
@pytest.mark.sampled
def test_the_sampler_follows_the_law_and_rejects_one_30_percent_off():
    """Chi-square over all places, where most records share rungs: 5,000 draws."""
    histogram, aim = on_ten(RECORDS), SliceAim(F(1, 2), F(1, 3), False)
    runs, off = (runs_in(histogram, Slice(1, 38, 4), aim, rate, Lowered(2, F(1, 4))) for rate in (F(1), F(13, 10)))
    assert (runs.growth > 0).sum() >= 4
    source = random_source(np.random.default_rng(seed_of(3)))
    counts = np.bincount([weighted_rung(runs, source) - 1 for _ in range(5_000)], minlength=37)
    law, other = (np.exp(weighted_law(each).log_pmf()) for each in (runs, off))
    assert stats.chisquare(counts, law / law.sum() * 5_000).pvalue > 1e-9
    assert stats.chisquare(counts, other / other.sum() * 5_000).pvalue < 1e-9


@pytest.mark.medium
@pytest.mark.sampled
def test_doubles_and_balls_choose_alike_where_ties_are_spread():
    """From the same uniform number, ball arithmetic chooses the run that double precision chose."""
    from flint import ctx

    data = np.floor(np.random.default_rng(seed_of(1)).lognormal(1, 1, 300))
    histogram = Histogram.of([data], placed(Ladder.grid(1), PLAIN))
    piece = Slice.whole(histogram.ladder)
    runs = runs_in(histogram, piece, SliceAim(F(1, 2), F(1, 9), False), F(1, 3), Lowered(3, F(3, 2)))
    decided = 0
    for seed in range(50):
        u = Uniform(random_source(random.Random(seed_of(seed))))
        run = exponential_mechanism._in_doubles(runs, u)
        if run is not None:
            decided += 1
            with ctx.workprec(192):
                assert exponential_mechanism._in_balls(runs, u, 192) == run
    assert decided >= 49


def test_without_records_a_place_is_as_good_as_another():
    """All distances are that of the target from 0, however far that is; only the prior tells places apart."""
    for offset in (F(0), F(7, 3), F(10**9)):
        aim = SliceAim(F(1, 2), offset, False)
        law = np.exp(weighted_law(runs_in(on_ten([]), Slice(3, 30, 4), aim, F(1), FLAT)).log_pmf())
        assert law == pytest.approx(np.full(27, 1 / 27))
        leaf = np.exp(
            flip_law(runs_in(on_ten([]), Slice(3, 30, 4), SliceAim(F(1, 2), offset, True), F(1), FLAT)).log_pmf()
        )
        assert leaf == pytest.approx(np.full(8, 1 / 8))


@pytest.mark.medium
@pytest.mark.parametrize(("rate", "n"), [(F(1, 3), 4), (F(1, 20), 8), (F(1, 10**9), 5), (F(3), 7)], ids=str)
def test_the_truncated_geometric_follows_its_law(rate, n):
    """P(J = j) is proportional to exp(-rate j) below n, for rates that reject geometric and uniform draws alike."""
    source, draws = random_source(random.Random(9)), 20_000
    counts = np.bincount([truncated_geometric(rate, n, source) for _ in range(draws)], minlength=n)
    law, off = (np.exp(-float(each) * np.arange(n)) for each in (rate, rate * F(13, 10) + F(1, 20)))
    assert len(counts) == n
    assert stats.chisquare(counts, law / law.sum() * draws).pvalue > 1e-9
    assert stats.chisquare(counts, off / off.sum() * draws).pvalue < 1e-9
    assert truncated_geometric(rate, 1, source) == 0


def test_both_ways_to_a_truncated_geometric_are_taken():
    """From rate * n = 1 on a geometric draw is kept if it is small; below, a uniform one by a coin."""
    taken = []
    for rate in (F(1, 4), F(1, 5)):
        asked = []

        def bits(k, asked=asked):
            asked.append(k)
            return 1 << (k - 1)  # -ln U is about ln 2, or the number n // 2

        assert truncated_geometric(rate, 4, bits) == 2
        taken.append(asked[0])
    assert taken == [64, 2]


# --- the prior ----------------------------------------------------------------------------------------------------

LADDERS = {
    "integers": Ladder.grid(1, 4).limited(F(-700), F(700)),
    "floats": Ladder.float_bits(3).limited(F(-700), F(90)),
    "not negative": Ladder.grid(F(1, 4), 4).limited(F(0), None),
    "above 5": Ladder.float_bits(4).limited(F(5), F(10**6)),
}


@pytest.mark.parametrize("octave", [0, 2, 5, 9, 1020, 1024])
@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
def test_a_prior_lowers_rungs_by_octaves(ladder, octave):
    """A rung is lowered for each power of two between it and 0, but for none that lies beyond a bound."""
    prior, rate = Lowered(octave, F(3, 2)), F(1, 7)
    short = placed(Ladder(ladder.map, ladder.first, min(ladder.last, ladder.first + 3000)), PLAIN)
    rungs = np.arange(short.first, short.last + 1)
    beyond = octaves_beyond(short, prior)
    assert prior.lowered(short, rungs, rate).tolist() == (math.ceil(F(3, 2) * 7) * beyond).tolist()
    changes = rungs[1:][np.diff(beyond) != 0]
    cuts = prior.cuts(short)
    assert set(changes.tolist()) <= set(cuts.tolist())
    assert set(cuts[(short.first < cuts) & (cuts <= short.last)].tolist()) <= set(changes.tolist())


def test_a_bound_is_not_lowered_for_octaves_beyond_it():
    """The end rungs stand for the bounds, which may hold most of the data: their octaves are those of the bounds."""
    ladder = placed(Ladder.grid(1).limited(F(0), F(50)), PLAIN)
    assert not Lowered(6, F(3, 2)).lowered(ladder, np.arange(0, 51), F(1, 4)).any()
    assert Lowered(5, F(3, 2)).lowered(ladder, np.array([0, 31, 32, 50]), F(1, 4)).tolist() == [0, 0, 6, 6]


def test_lowered_distances_fit_into_64_bits():
    """At any rate, however small, the last octave is lowered the most."""
    ladder = placed(Ladder.float_bits(0), PLAIN)
    rungs = np.arange(ladder.first, ladder.last + 1)
    for rate in (F(1), F(1, 10**12), F(1, 10**30)):
        lowered = Lowered(-38, F(3, 2)).lowered(ladder, rungs, rate) * TUNING.places
        assert lowered.min() == 0
        assert lowered[-1] == lowered[0] == lowered.max() < 2**62
