"""Sums, means and counts, and their intervals, as a user relies on them."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chance import fewest, most, seed_of
from support.everyday import DATA, drawn
from support.purse import Purse

import nobounds as nb
from nobounds.engines.column import Column
from nobounds.exact import MAX
from nobounds.ladders.facts import Facts
from nobounds.release.words import TOO_FEW

RELATIONS = ["add-remove", "swap"]
BOTH = {"sum": nb.sum, "mean": nb.mean}
relations = pytest.mark.parametrize("neighbors", RELATIONS)
spent = pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
statistics = pytest.mark.parametrize("name", BOTH)


def seeded(seed=1):
    return random.Random(seed)


@pytest.mark.medium
@statistics
@relations
@spent
@pytest.mark.sampled
def test_an_answer_is_near_the_truth_and_its_interval_holds(name, spent, neighbors):
    """Of 1,000 rows: a sum's for the rows, and a mean's for what the rows are drawn from."""
    near = held = 0
    for column in DATA:
        whole = drawn(column, 200_000, 0).mean()
        for k in range(15):
            data = drawn(column, 1000, seed_of(k))
            release = BOTH[name](data, neighbors=neighbors, rng=seeded(seed_of(k)), **spent)
            true = getattr(data, name)()
            near += abs(release.value - true) < 0.35 * true
            low, high = release.interval
            held += low <= (true if name == "sum" else whole) <= high
            assert low <= release.value <= high
    assert near >= fewest(60, 0.97)
    assert held >= fewest(60, 0.95)


@pytest.mark.medium
@statistics
@relations
@spent
@pytest.mark.sampled
def test_intervals_for_the_rows_hold_and_say_something(name, spent, neighbors):
    """Of ages, most have two ends; of 20,000 of them these are within a hundredth of the answer."""
    held = closed = 0
    for k in range(60):
        data = drawn("ages", 20_000, seed_of(k))
        options = {"of": "sample"} if name == "mean" else {}
        release = BOTH[name](data, neighbors=neighbors, rng=seeded(seed_of(k)), **spent, **options)
        low, high = release.interval
        held += low <= getattr(data, name)() <= high
        closed += high - low < 0.02 * release.value
    assert held >= fewest(60, 0.95)
    assert closed >= 30


@pytest.mark.medium
def test_the_error_of_a_large_sum():
    """10^5 lognormal records at epsilon 1: 100 sums err by less than 1,500 on average, 0.05% of the sum."""
    data = np.random.default_rng(3).lognormal(3, 0.8, 10**5)
    errors = [abs(nb.sum(data, epsilon=1, rng=seeded(k)).value - data.sum()) for k in range(100)]
    assert np.mean(errors) < 1500


def test_data_far_from_zero_are_averaged_around_their_centre():
    """The mean of 10,000 records of 10^6 + normal is right to a thousandth of one, and so is their sum under swap."""
    data = np.random.default_rng(3).normal(1e6, 1, 10_000)
    for neighbors in RELATIONS:
        assert nb.mean(data, epsilon=1, neighbors=neighbors, rng=seeded()).value == pytest.approx(data.mean(), abs=0.01)
    total = nb.sum(data.astype(int), epsilon=1, neighbors="swap", rng=seeded())
    assert total.value == pytest.approx(data.astype(int).sum(), abs=0.01 * 10_000)


@statistics
@relations
@spent
@pytest.mark.parametrize("value", [0.0, 7.25, -3e9, 1e-300])
def test_equal_records_have_their_value_for_a_mean(value, name, spent, neighbors):
    """Zeros and constants are no special case; a sum is right to a tenth."""
    for seed in range(5):
        release = BOTH[name](np.full(5000, value), neighbors=neighbors, rng=seeded(seed), **spent)
        true = value * (5000 if name == "sum" else 1)
        assert release.value == pytest.approx(true, rel=0.1 if name == "sum" else 1e-3)
        low, high = release.interval
        assert low <= release.value <= high


@pytest.mark.medium
@statistics
@relations
@spent
@pytest.mark.sampled
def test_a_column_of_missing_values_is_hardly_ever_answered(name, spent, neighbors):
    """At most 1 of 400 calls mistakes the noise of 5,000 missing values for records."""
    data, answered = np.full(5000, np.nan), 0
    for k in range(400):
        release = BOTH[name](data, neighbors=neighbors, rng=seeded(seed_of(k)), **spent)
        answered += release.value is not None
        assert release.value is not None or (release.reason, release.interval) == (TOO_FEW, (-math.inf, math.inf))
    assert answered <= most(400, 1 / 400)


@pytest.mark.parametrize("statistic", [*BOTH.values(), nb.count], ids=[*BOTH, "count"])
def test_missing_records_are_not_there_under_add_remove(statistic):
    """NaN, None and text that is no number change nothing."""
    data = [float(x) for x in np.random.default_rng(2).normal(40, 9, 700)]
    odd = [math.nan, *data[:300], None, "old", *data[300:], math.nan]
    plain, mixed = (statistic(x, epsilon=1, rng=seeded()) for x in (data, odd))
    assert plain.value == pytest.approx(mixed.value, rel=0.05) and plain.parameters.keys() == mixed.parameters.keys()


@pytest.mark.medium
@statistics
@pytest.mark.parametrize("missing", [30, 3000])
@pytest.mark.sampled
def test_intervals_hold_where_records_are_missing_under_swap(missing, name):
    """Then the number of records is not public, and its noise is in the interval."""
    held = 0
    for k in range(60):
        data = np.append(drawn("ages", 3000, seed_of(k)), np.full(missing, np.nan))
        options = {"of": "sample"} if name == "mean" else {}
        low, high = BOTH[name](data, epsilon=1, neighbors="swap", rng=seeded(seed_of(k)), **options).interval
        held += low <= getattr(np, f"nan{name}")(data) <= high
    assert held >= fewest(60, 0.95)


@relations
@pytest.mark.parametrize("data", [np.arange(-200, 1800) % 70, range(2000), np.arange(2000, dtype=np.uint8)], ids=str)
def test_integers_have_integer_sums(data, neighbors):
    """The sum and the clip of integers are ints, and their mean is a float."""
    total = nb.sum(data, epsilon=1, neighbors=neighbors, rng=seeded())
    average = nb.mean(data, epsilon=1, neighbors=neighbors, rng=seeded())
    assert type(total.value) is int and all(type(end) is int for end in total.parameters["clip"])
    assert type(average.value) is float
    assert total.interval[0] <= total.value <= total.interval[1]
    assert average.parameters["clip"][0] <= average.value <= average.parameters["clip"][1]


@statistics
@relations
@pytest.mark.sampled
def test_stated_bounds_close_the_ends(name, neighbors):
    """Of ages from 0 to 120 no interval is open; a mean and the clip never leave the bounds."""
    held = 0
    for k in range(60):
        data = drawn("ages", 1000, seed_of(k))
        options = {"of": "sample"} if name == "mean" else {}
        release = BOTH[name](
            data, epsilon=1, lower=0, upper=120, neighbors=neighbors, rng=seeded(seed_of(k)), **options
        )
        low, high = release.interval
        held += low <= getattr(data, name)() <= high
        assert math.isfinite(low) and math.isfinite(high)
        assert 0 <= release.parameters["clip"][0] <= release.parameters["clip"][1] <= 120
        assert name == "sum" or 0 <= low <= release.value <= high <= 120
    assert held >= fewest(60, 0.95)


@statistics
@pytest.mark.sampled
def test_a_clip_that_may_have_run_away_leaves_an_end_open_or_its_interval_holds(name):
    """With 7% of 1,000 rows above 0 hardly anything is known of them, and intervals say so."""
    held = 0
    for k in range(60):
        rng = np.random.default_rng(seed_of(k))
        data = np.where(rng.random(1000) < 0.93, 0, rng.lognormal(5, 1, 1000))
        options = {"of": "sample"} if name == "mean" else {}
        release = BOTH[name](data, epsilon=1, neighbors="swap", rng=seeded(seed_of(k)), **options)
        held += release.interval[0] <= getattr(data, name)() <= release.interval[1]
    assert held >= fewest(60, 0.95)


@statistics
@relations
@pytest.mark.parametrize("epsilon", ["0.1", 0.3, 1, 2.5], ids=str)
def test_the_loss_is_what_was_asked_for(epsilon, name, neighbors):
    """Of any type, with an interval and without: it changes nothing, because it costs nothing."""
    for data in (np.arange(900.0), np.arange(900), np.arange(900) > 3, [3, None, 2.5] * 300):
        release = BOTH[name](data, epsilon=epsilon, neighbors=neighbors, rng=seeded())
        assert (release.loss.epsilon, release.loss.neighbors, release.loss.delta) == (float(epsilon), neighbors, 0)
        assert math.fsum(release.parameters["split"].values()) == pytest.approx(float(epsilon))
        bare = BOTH[name](data, epsilon=epsilon, neighbors=neighbors, rng=seeded(), interval=None)
        assert (bare.value, bare.intervals, bare.loss) == (release.value, (), release.loss)


@statistics
@relations
@spent
def test_a_budget_is_charged_before_the_data_are_read(name, spent, neighbors):
    """One that refuses keeps the data unread; one that does not is charged the loss of the release, once."""

    def unreadable():
        raise AssertionError("the data were read")
        yield

    hidden = Column(Facts(integral=True, nullable=False), unreadable, rows=lambda: 100)
    with pytest.raises(RuntimeError, match="spent"):
        BOTH[name](hidden, neighbors=neighbors, budget=Purse(refuses=True), **spent)
    with pytest.raises(AssertionError, match="were read"):
        BOTH[name](hidden, neighbors=neighbors, **spent)
    purse = Purse()
    release = BOTH[name](range(100), neighbors=neighbors, budget=purse, **spent)
    assert purse.charged == [(release.loss, name)]


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
    """Whatever the records are, there is no error and no warning: only numbers differ, and whether there are any."""
    data = np.array(records * copies)
    neighbor = np.append(data, other) if neighbors == "add-remove" else np.append(data[1:], [other] * (len(data) > 0))
    for statistic in (*BOTH.values(), nb.std, nb.variance, nb.count):
        found = [statistic(x, epsilon=1, neighbors=neighbors, rng=seeded(seed)) for x in (data, neighbor)]
        assert found[0].loss == found[1].loss
        if (found[0].value is None) == (found[1].value is None):
            assert found[0].parameters.keys() == found[1].parameters.keys()
        for release in found:
            assert (release.value is None) == (release.reason == TOO_FEW)
            assert release.value is None or type(release.value) is (int if statistic is nb.count else float)
            assert all(type(end) is float and not math.isnan(end) for end in release.interval)
            assert not {"n", "rows", "count", "size"} & release.parameters.keys()


@statistics
@pytest.mark.parametrize("n", [3, 3000])
def test_releases_survive_json(name, n):
    """A release is the same after a round trip, with an infinite interval too."""
    found = BOTH[name](np.arange(n) % 40 + 0.5, epsilon=1, rng=seeded())
    assert nb.Release.from_json(found.to_json()) == found


def test_a_release_says_what_it_did():
    """The clip, the noise and the interval with what it assumes; a population is assumed for means alone."""
    total, average = (statistic(drawn("ages", 3000, 1), epsilon=1, rng=seeded()) for statistic in BOTH.values())
    for release, of in ((total, "sample"), (average, "population")):
        low, high = release.parameters["clip"]
        assert low < high and release.parameters["noise"] == "laplace" and release.parameters["noise_scale"] > 0
        assert (release.parameters["interval"]["level"], release.parameters["interval"]["of"]) == (0.95, of)
        assert "beyond the clip, values thin out" in release.parameters["interval"]["assumes"]
    assert "independent draws" in average.parameters["interval"]["assumes"]
    assert list(average.parameters["split"]) == ["size", "center", "start", "shells", "noise"]


# --- counts -------------------------------------------------------------------------------------------------------


def test_the_number_of_rows_is_public_under_swap():
    """Where no record can be missing the count costs nothing; where one can, it costs epsilon."""
    public = nb.count(np.arange(7), epsilon=1, neighbors="swap")
    assert (public.value, public.loss.epsilon, public.interval) == (7, 0, (7.0, 7.0))
    private = nb.count(np.arange(7.0), epsilon=1, neighbors="swap", rng=seeded())
    assert private.loss.epsilon == 1 and private.interval[0] < private.interval[1]
    added = nb.count(np.arange(7), epsilon=1, rng=seeded())
    assert added.loss.epsilon == 1 and added.parameters["noise_scale"] == 1


@pytest.mark.medium
@pytest.mark.sampled
def test_counts_have_the_stated_noise():
    """Counts err by 1 / epsilon on average, never below 0, and their intervals hold 95% of the time."""
    found = [nb.count(np.arange(50), epsilon=0.5, rng=seeded(seed_of(k))) for k in range(2000)]
    assert np.mean([abs(one.value - 50) for one in found]) == pytest.approx(2, rel=0.3)
    assert sum(one.interval[0] <= 50 <= one.interval[1] for one in found) >= fewest(2000, 0.95)
    assert min(nb.count([], epsilon=0.1, rng=seeded(k)).value for k in range(50)) == 0
