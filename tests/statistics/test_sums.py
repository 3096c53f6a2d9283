"""Private sums, means and counts: they always answer, cost what was asked, and err as their exact laws say."""

import math
import random
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chance import fewest, most, seed_of
from support.clip_errors import settled, sum_error, sum_plan
from support.laws import adult

import nobounds as nb
from nobounds.clipping.law import clip_law
from nobounds.clipping.tail import cells
from nobounds.clipping.view import RecordsView
from nobounds.engines.memory.arrays import column
from nobounds.exact import rational
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw
from nobounds.release.release import Release
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW

RELATIONS = ["add-remove", "swap"]
BOTH = [nb.sum, nb.mean]
MAX = sys.float_info.max


def seeded(seed=1):
    return random.Random(seed)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("statistic", BOTH, ids=["sum", "mean"])
@pytest.mark.parametrize("n", [0, 1, 5, 20, 50])
def test_few_records_are_not_answered(n, statistic, neighbors):
    """With up to 50 records there is no value but a reason, an infinite interval, and the loss that was asked for.

    Without marks, the value is there all the same.
    """
    data = np.random.default_rng(n).lognormal(3, 0.8, n)
    for seed in range(3):
        found = statistic(data, epsilon=1, neighbors=neighbors, rng=seeded(seed))
        assert (found.value, found.reason) == (None, TOO_FEW)
        assert found.parameters["needed"]["rows"] > 150
        assert 1 < found.parameters["needed"].get("epsilon", 2) <= 20
        bare = statistic(data, epsilon=1, neighbors=neighbors, rng=seeded(seed), marks=False)
        assert math.isfinite(bare.value)
        assert (bare.interval, bare.reason) == (found.interval, None)
        assert found.interval == (-math.inf, math.inf)
        assert found.loss.epsilon == 1


@pytest.mark.parametrize("spending", [{"epsilon": 0.1}, {"rho": 0.0025}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("statistic", BOTH, ids=["sum", "mean"])
@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_what_next_to_no_records_would_need_is_no_nonsense(n, statistic, neighbors, spending):
    """No spending is enough for one record, so that mostly rows alone are named, and never an epsilon above 20."""
    for seed in range(3):
        found = statistic(np.arange(n) + 0.5, **spending, neighbors=neighbors, rng=seeded(seed))
        needed = found.parameters["needed"]
        assert needed.get("epsilon", 0) <= 20 and needed.get("rho", 0) <= 20
        assert "would do" in " ".join(str(found.explain()).split())


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("values", [(6.0, 7.0, 9.0), (1.0, 0.0, 1.0), (17.0, 16.0, 18.0), (30.0, 20.0, 45.0)])
@pytest.mark.sampled
def test_means_of_few_values_are_right(values, neighbors):
    """The centre is the value that most records have, so the scale is that of the others, in nearly all runs."""
    data, right = np.repeat(values, (2500, 1000, 500)), 0
    for number in range(30):
        release = nb.mean(data, epsilon=1, neighbors=neighbors, rng=seeded(seed_of(number)))
        low, high = (end - data.mean() for end in release.interval)
        near = 0.01 * np.ptp(data)
        right += abs(release.value - data.mean()) < near and low < near and -near < high < low + 30 * near
    assert right >= fewest(30, 0.95)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_heap_beside_the_centre_is_not_taken_for_all_records(neighbors):
    """A third has no few digits, so its records deviate a little: a mean is right, or it is not answered."""
    data = np.repeat([1 / 3, 2 / 3, 1.0], (1500, 500, 500))
    for seed in range(8):
        release = nb.mean(data, epsilon=2.5, neighbors=neighbors, rng=seeded(seed))
        assert release.value is None or abs(release.value - data.mean()) < 0.01


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_mean_without_spread_does_not_ask_for_more_rows(neighbors):
    """No number of rows would do for a column of zeros, so none is named."""
    for seed in range(3):
        release = nb.mean(np.zeros(1000), epsilon=1, neighbors=neighbors, rng=seeded(seed))
        assert release.value is None
        assert release.reason in (NO_SPREAD, ONE_VALUE)
        assert "needed" not in release.parameters
        assert "would do" not in str(release)


@pytest.mark.medium
@given(
    st.lists(st.one_of(st.floats(), st.sampled_from([0.0, MAX, -MAX, 5e-324, math.inf])), max_size=12),
    st.sampled_from([1, 400]),
    st.floats(),
    st.sampled_from(RELATIONS),
    st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=60)
def test_neighbours_get_releases_of_one_shape(records, copies, other, neighbors, seed):
    """Whatever the records are, there is no error and no warning, and all but the numbers is the same."""
    data = np.array(records * copies)
    neighbor = np.append(data, other) if neighbors == "add-remove" else np.append(data[1:], [other] * (len(data) > 0))
    for statistic in (*BOTH, nb.count):
        found = [statistic(x, epsilon=1, neighbors=neighbors, rng=seeded(seed), marks=False) for x in (data, neighbor)]
        assert found[0].loss == found[1].loss
        assert found[0].parameters.keys() == found[1].parameters.keys()
        for release in found:
            assert type(release.value) is (int if statistic is nb.count else float)
            assert math.isfinite(release.value)
            assert all(type(end) is float and not math.isnan(end) for end in release.interval)
            assert not {"n", "rows", "count", "size"} & release.parameters.keys()


@pytest.mark.parametrize("statistic", [*BOTH, nb.count], ids=["sum", "mean", "count"])
def test_missing_records_are_not_there_under_add_remove(statistic):
    """NaN, None and text that is no number change nothing, not even by their number."""
    data = [float(x) for x in np.random.default_rng(2).normal(40, 9, 700)]
    odd = [math.nan, *data[:300], None, "old", *data[300:], math.nan]
    plain, mixed = (statistic(x, epsilon=1, rng=seeded()) for x in (data, odd))
    assert plain == mixed


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("data", [np.arange(-200, 1800) % 70, range(2000), np.arange(2000, dtype=np.uint8)], ids=str)
def test_integers_have_integer_sums(data, neighbors):
    """The sum and the clip of integers are ints, and their mean is a float."""
    total = nb.sum(data, epsilon=1, neighbors=neighbors, rng=seeded())
    average = nb.mean(data, epsilon=1, neighbors=neighbors, rng=seeded())
    assert type(total.value) is int and all(type(end) is int for end in total.parameters["clip"])
    assert type(average.value) is float
    assert total.interval[0] <= total.value <= total.interval[1]
    assert average.parameters["clip"][0] <= average.value <= average.parameters["clip"][1]


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_bounds_of_booleans_are_known(neighbors):
    """Nothing is searched: the clip is [0, 1], all of epsilon goes to the noise, and few records are no problem."""
    data = np.arange(30) % 3 == 0
    total = nb.sum(data, epsilon=0.5, neighbors=neighbors, rng=seeded())
    assert total.parameters["clip"] == [0, 1]
    assert total.parameters["noise_scale"] == 2
    assert total.loss.epsilon == 0.5
    assert abs(total.value - 10) < 20 and math.isfinite(total.interval[0])
    found = [nb.sum(data, epsilon=0.5, neighbors=neighbors, rng=seeded(k)) for k in range(1000)]
    assert np.mean([abs(one.value - 10) for one in found]) == pytest.approx(2, rel=0.2)  # all of epsilon
    assert np.mean([one.interval[0] <= 10 <= one.interval[1] for one in found]) > 0.93
    assert 0 <= nb.mean(data, epsilon=0.5, neighbors=neighbors, rng=seeded()).value <= 1


EXTREMES = {
    "int64": np.array([-(2**63), 2**63 - 1] * 2000),
    "least int64": np.full(4000, -(2**63)),
    "uint64": np.full(4000, 2**64 - 1, dtype=np.uint64),
    "1e308": np.full(4000, 1e308),
    "both 1e308": np.array([1e308, -1e308] * 2000),
    "infinities": np.full(4000, math.inf),
    "both infinities": np.array([math.inf, -math.inf] * 2000),
    "denormals": np.full(4000, 5e-324),
    "missing": np.full(4000, math.nan),
}


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("statistic", BOTH, ids=["sum", "mean"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_have_finite_answers(name, statistic, neighbors):
    """The largest numbers that there are have an answer; where it lies beyond the floats, the interval says so."""
    for seed in range(2):
        found = statistic(EXTREMES[name], epsilon=1, neighbors=neighbors, rng=seeded(seed), marks=False)
        low, high = found.interval
        assert abs(found.value) < math.inf
        assert low <= found.value <= high
        assert abs(found.value) != MAX or max(abs(low), abs(high)) == math.inf or statistic is nb.mean
        assert Release.from_json(found.to_json()) == found


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.1", 0.3, 1, 2.5], ids=str)
def test_the_loss_is_what_was_asked_for(epsilon, neighbors):
    """Sums and means of any type cost exactly epsilon, by their plan as by their release."""
    for data in (np.arange(900.0), np.arange(900), np.arange(900) > 3, [3, None, 2.5] * 300):
        for statistic in BOTH:
            loss = statistic(data, epsilon=epsilon, neighbors=neighbors, rng=seeded()).loss
            assert (loss.epsilon, loss.neighbors, loss.delta) == (float(epsilon), neighbors, 0)
        plan = sum_plan(data, epsilon, neighbors, centered=True)
        assert plan.cost().epsilon == rational(epsilon, "epsilon")
        assert min(plan.eps_size, plan.search.epsilon) >= 0 and plan.eps_noise > 0


@pytest.mark.parametrize("n", [3, 3000])
@pytest.mark.parametrize("statistic", [*BOTH, nb.count], ids=["sum", "mean", "count"])
def test_releases_survive_json(statistic, n):
    """A release is the same after a round trip, with an infinite interval too."""
    found = statistic(np.arange(n) % 40 + 0.5, epsilon=1, rng=seeded())
    assert Release.from_json(found.to_json()) == found
    assert math.isinf(found.interval[0]) == (n == 3 and statistic is not nb.count)


def test_the_number_of_rows_is_public_under_swap():
    """Where no record can be missing the count costs nothing; where one can, it costs epsilon."""
    public = nb.count(np.arange(7), epsilon=1, neighbors="swap")
    assert (public.value, public.loss.epsilon, public.interval) == (7, 0, (7.0, 7.0))
    private = nb.count(np.arange(7.0), epsilon=1, neighbors="swap", rng=seeded())
    assert private.loss.epsilon == 1 and private.interval[0] < private.interval[1]
    added = nb.count(np.arange(7), epsilon=1, rng=seeded())
    assert added.loss.epsilon == 1 and added.parameters["noise_scale"] == 1


@pytest.mark.medium
def test_counts_have_the_stated_noise():
    """Counts err by 1 / epsilon on average, never below 0, and their intervals hold 95% of the time."""
    found = [nb.count(np.arange(50), epsilon=0.5, rng=seeded(k)) for k in range(2000)]
    assert np.mean([abs(one.value - 50) for one in found]) == pytest.approx(2, rel=0.1)
    assert 0.94 < np.mean([one.interval[0] <= 50 <= one.interval[1] for one in found]) < 0.98
    assert min(nb.count([], epsilon=0.1, rng=seeded(k)).value for k in range(50)) == 0


def expected_width(data, neighbors):
    """The expected width of the clip of a mean."""
    records = column(data)
    plan = settled(sum_plan(records, 1, neighbors, centered=True), len(data))
    law = clip_law(
        plan.search, records.chunks, plan.careful(len(data)), least_scale=0.01
    )  # the likely scales are enough
    widths = (part.chance * (part.highs @ part.high_chances - part.lows @ part.low_chances) for part in law)
    return sum(widths) / sum(part.chance for part in law)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_clips_are_as_wide_in_any_unit_and_at_any_location(neighbors):
    """The expected width that octaves are counted around is that many times as large, or the same; to 10%.

    It is a power of two, so a unit that is none changes how often the scale is one octave or the next.
    """
    data = np.random.default_rng(3).normal(0, 1, 5000)
    plain = expected_width(data, neighbors)
    for unit, offset in ((1e-9, 0.0), (1e9, 0.0), (1.0, 17.3), (1.0, -1000.0)):
        assert expected_width(data * unit + offset, neighbors) == pytest.approx(plain * unit, rel=0.1)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_negated_data_have_the_negated_law(neighbors):
    """The clip of the negated data is the negated clip, in law: either side takes the other's part."""
    data = np.random.default_rng(4).normal(3, 8, 240)
    laws = []
    for values in (data, -data):
        records = column(values)
        plan = settled(sum_plan(records, 1, neighbors, centered=True), len(data))
        law = clip_law(plan.search, records.chunks, len(data), least_scale=0.01)  # the likely scales are enough
        laws.append(sorted(law, key=lambda part: part.chance))
    assert len(laws[0]) == len(laws[1])
    for part, negated in zip(*laws, strict=True):
        assert part.chance == pytest.approx(negated.chance, rel=1e-9)
        assert part.center == -negated.center
        assert np.array_equal(part.lows, -negated.highs) and np.array_equal(part.highs, -negated.lows)
        assert np.allclose(part.low_chances, negated.high_chances, rtol=1e-6)
        assert np.allclose(part.high_chances, negated.low_chances, rtol=1e-6)


@pytest.mark.sampled
def test_known_bounds_are_kept():
    """The clip never leaves the bounds, and gets near a lower bound at which records lie."""
    data = np.random.default_rng(seed_of(6)).exponential(30, 1000)
    for neighbors in RELATIONS:
        for seed in range(10):
            found = nb.mean(data, epsilon=1, lower=0, upper=200, neighbors=neighbors, rng=seeded(seed))
            low, high = found.parameters["clip"]
            assert 0 <= low < 5 and 30 < high <= 200


# --- accuracy, by exact laws --------------------------------------------------------------------------------------


@pytest.mark.medium
@pytest.mark.sampled
def test_the_error_of_a_large_sum():
    """10^5 lognormal records at epsilon 1: 100 sums err by less than 1,500 on average, 0.05% of the sum."""
    data = np.random.default_rng(seed_of(3)).lognormal(3, 0.8, 10**5)
    errors = [abs(nb.sum(data, epsilon=1, rng=seeded(k)).value - data.sum()) for k in range(100)]
    assert np.mean(errors) < 1500


THOUSAND = {
    "uniform": lambda rng: rng.uniform(0, 100, 1000),
    "lognormal": lambda rng: rng.lognormal(3, 0.8, 1000),
    "ages": lambda rng: rng.choice(adult()["age"], 1000, replace=False).astype(float),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", THOUSAND)
def test_sums_of_a_thousand_records_under_swap_do_not_run_away(name):
    """About 2 of 10,000 clips are above ten times the data: 20 drawn frames, with 500 draws of noise on octaves."""
    data = THOUSAND[name](np.random.default_rng(3))
    records, noise = column(data), np.random.default_rng(4)
    plan, far = sum_plan(records, 1, "swap"), 0
    search, view = plan.search, RecordsView(records.chunks)
    for k in range(20):
        start = Draw(random_source(seeded(k))).run(search.start(view, plan.careful(len(data))))
        assert not search.walks_from(start)
        around = search.deviations(view, start)
        octaves = np.array([cells(around, sign, search.beginning) for sign in (1, -1)], dtype=np.float64)
        noisy = octaves + noise.laplace(0, plan.tail.count_noise.scale, (500, *octaves.shape))
        widest = plan.tailing.moves(noisy).max(axis=1)
        widths = np.array([float(search.width_at(search.beginning + int(move), start.octave)) for move in widest])
        far += int(np.sum(widths + abs(float(start.center)) > 10 * np.abs(data).max()))
    assert far <= 8


@pytest.mark.medium
@pytest.mark.parametrize("name", ["uniform", "lognormal"])
def test_sums_of_a_thousand_records_under_add_remove_do_not_run_away(name):
    """The clip is above ten times the data with less than 1e-4; 9,999 times of 10,000 the error is below 20 medians."""
    law = sum_error(THOUSAND[name](np.random.default_rng(3)))
    assert law.tenfold <= 1e-4
    assert law.point(1e-4) <= 20 * law.point(0.5)


def test_data_far_from_zero_are_summed_around_their_centre():
    """10^4 records of 1000 + normal under swap: a tenth of the error, and less, of noise for a clip at [0, max]."""
    data = np.random.default_rng(3).normal(1000, 1, 10**4)
    plan = sum_plan(data, 1, "swap")
    rival = float(data.max() / plan.eps_noise)
    law = replace(sum_error(data, neighbors="swap", least=1e-5), cap=10 * rival)
    assert law.expected < rival / 10


def chance_of_loss(data, statistic, truth, neighbors, times=12):
    """How often the answer is not within a factor of ten of the truth."""
    found = [statistic(data, epsilon=1, neighbors=neighbors, rng=seeded(k)).value for k in range(times)]
    return np.mean([not truth / 10 < value < truth * 10 for value in found])


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.unmarked
def test_sums_of_mostly_zeros(neighbors):
    """Of 1000 records 700 are 0: the sum is that of the others."""
    data = np.append(np.zeros(700), np.random.default_rng(0).lognormal(10, 1, 300))
    assert chance_of_loss(data, nb.sum, data.sum(), neighbors) < 0.1


def test_means_of_mostly_missing_records():
    """Of 5000 rows 4000 are missing: the mean is that of the others."""
    data = np.append(np.full(4000, math.nan), np.random.default_rng(0).normal(50, 10, 1000))
    assert chance_of_loss(data, nb.mean, 50, "swap") < 0.1


@pytest.mark.medium
@pytest.mark.sampled
def test_a_sum_far_from_zero_errs_as_near_zero_under_swap():
    """40 sums of 2,000 floats without missing records err by less than half as much again at 1,000 sd as at 3 sd."""
    data, errors = np.random.default_rng(seed_of(4)).normal(0, 1, 2000), {}
    for away in (3, 1000):
        found = [nb.sum(data + away, epsilon=1, neighbors="swap", rng=seeded(k)).value for k in range(40)]
        errors[away] = np.mean(np.abs(np.array(found) - (data + away).sum()))
    assert errors[1000] < 1.5 * errors[3]


@pytest.mark.parametrize("missing", [5, 30, 3000])
@pytest.mark.sampled
def test_intervals_of_sums_with_missing_records(missing):
    """The interval of a sum under swap holds the sum where records are missing as well."""
    data = np.random.default_rng(seed_of(0)).normal(1000, 10, 10_000)
    data[:missing] = math.nan
    held = 0
    for seed in range(20):
        low, high = nb.sum(data, epsilon=1, neighbors="swap", rng=seeded(seed)).interval
        held += low <= np.nansum(data) <= high
    assert held >= 15


@pytest.mark.parametrize("epsilon", [0.4, 1, 1.5, 3, 5])
def test_intervals_of_small_whole_numbers_hold(epsilon):
    """Noise on a sum of booleans is a whole number: with half an interval just below one it would hold 90% of runs."""
    late = np.arange(1000) % 3 == 0
    release = nb.sum(late, epsilon=epsilon, rng=random.Random(1))
    beyond = math.floor(release.parameters["half_interval"]) + 1
    assert 2 * math.exp(-epsilon * beyond) / (1 + math.exp(-epsilon)) <= 0.05
    assert release.interval == (release.value - beyond + 1, release.value + beyond - 1)
    average = nb.mean(late, epsilon=epsilon, rng=random.Random(1))
    assert average.interval[1] - average.interval[0] > 1.9 * (average.parameters["half_interval"])


@pytest.mark.medium
@pytest.mark.parametrize("statistic", [nb.sum, nb.mean])
@pytest.mark.sampled
def test_a_clip_that_may_have_run_away_has_an_end_of_its_interval_or_no_answer(statistic):
    """With 7% of 1,000 rows above 0 the clip often lies anywhere, and noise alone may look like records around it."""
    rng, answered, endless = np.random.default_rng(1), 0, 0
    data = np.where(rng.random(1000) < 0.93, 0, rng.lognormal(5, 1, 1000))
    for seed in range(600):
        release = statistic(data, epsilon=1, neighbors="swap", rng=seeded(seed_of(seed)))
        if release.value is None:
            assert release.reason != TOO_FEW or release.parameters["needed"]["rows"] > 1000
            continue
        answered += 1
        endless += not any(map(math.isfinite, release.interval))
    assert answered >= 10 and endless <= most(600, 0.002)


@pytest.mark.parametrize("bounds", [(-100, 7.3), (7.3, 1000)])
@pytest.mark.sampled
def test_missing_records_of_a_heap_have_its_value(bounds):
    """Wherever the clip of equal records lies, a record more or fewer changes their sum by their value."""
    data, answered = np.append(np.full(1000, 7.3), np.full(400, np.nan)), []
    for seed in range(20):
        given = {"lower": bounds[0], "upper": bounds[1], "neighbors": "swap"}
        release = nb.sum(data, epsilon=3, rng=random.Random(seed_of(seed)), **given)
        if release.value is None:
            continue
        answered.append(release.interval[0] <= 7300 + 1e-9 and release.interval[1] >= 7300 - 1e-9)
        records = release.parameters["half_interval"] / 7.3
        assert 1 <= round(records) < 20 and records == pytest.approx(round(records))
    assert len(answered) >= 15
    assert sum(answered) >= len(answered) - 2
