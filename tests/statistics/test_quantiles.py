"""Quantiles, extremes and their intervals, as a user relies on them."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chance import fewest, most, seed_of
from support.everyday import DATA, drawn

import nobounds as nb
from nobounds.accounting.budget import Budget, BudgetExceeded
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import MAX
from nobounds.ladders.facts import Facts
from nobounds.release.words import TOO_FEW

FIVE = [0.05, 0.25, 0.5, 0.75, 0.95]
RELATIONS = ["add-remove", "swap"]
SPENT = [{"epsilon": 1}, {"rho": 0.1}]
relations = pytest.mark.parametrize("neighbors", RELATIONS)
spent = pytest.mark.parametrize("spent", SPENT, ids=str)


def rank_error(data, value, q):
    """The distance of q n from [records below the value, records below or at it]."""
    low, high = ((np.asarray(data) < value).sum(), (np.asarray(data) <= value).sum())
    return max(low - q * len(data), q * len(data) - high, 0)


# --- one quantile -------------------------------------------------------------------------------------------------


@pytest.mark.medium
@relations
@spent
@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.sampled
def test_a_quantile_is_near_the_truth_and_its_interval_holds(q, spent, neighbors):
    """Of 1,000 rows: hardly an answer is off by 60 ranks, and intervals hold for what the rows are drawn from."""
    near = held = 0
    for name in DATA:
        truth = np.quantile(drawn(name, 200_000, 0), q)
        for k in range(15):
            data = drawn(name, 1000, seed_of(k))
            release = nb.quantile(data, q, neighbors=neighbors, rng=random.Random(seed_of(k)), **spent)
            near += rank_error(data, release.value, q) <= 60
            low, high = release.interval
            held += low <= truth <= high
            assert low <= release.value <= high
    assert near >= fewest(60, 0.99)
    assert held >= fewest(60, 0.94)


@pytest.mark.medium
@relations
@pytest.mark.sampled
def test_intervals_of_quantiles_are_not_much_wider_than_those_of_the_rows_alone(neighbors):
    """A median's of 3,000 rows is less than twice as wide as one without privacy, and neither of its ends is open."""
    widths = []
    for k in range(30):
        data = drawn("incomes", 3000, seed_of(k))
        low, high = nb.median(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(k))).interval
        plain = np.quantile(data, 0.5 + np.array([-0.5, 0.5]) * 1.96 / math.sqrt(3000))
        widths.append((high - low) / np.ptp(plain))
    assert np.median(widths) < 2


@relations
@pytest.mark.sampled
def test_without_an_interval_all_is_for_the_number(neighbors):
    """The error is smaller, and there is no interval."""
    errors = {0.95: [], None: []}
    for interval, found in errors.items():
        for k in range(60):
            data = drawn("prices", 1000, seed_of(k))
            options = {"interval": interval, "neighbors": neighbors, "rng": random.Random(seed_of(k))}
            release = nb.quantile(data, 0.9, epsilon=0.5, **options)
            found.append(rank_error(data, release.value, 0.9))
            assert (release.intervals == ()) == (interval is None)
    assert np.mean(errors[None]) < np.mean(errors[0.95])


@pytest.mark.medium
@relations
@spent
@pytest.mark.sampled
def test_an_extreme_is_near_and_its_inner_end_holds(spent, neighbors):
    """A maximum of 1,000 rows is not far beyond them or within; it is at least its inner end, and the other is open."""
    held = near = 0
    for name in DATA:
        for k in range(15):
            data = drawn(name, 1000, seed_of(k))
            low, high = nb.bounds(data, neighbors=neighbors, rng=random.Random(seed_of(k)), **spent).intervals
            top = nb.maximum(data, neighbors=neighbors, rng=random.Random(seed_of(k)), **spent)
            held += low[1] >= data.min() and high[0] <= data.max()
            near += np.quantile(data, 0.9) <= top.value <= 2 * data.max()
            assert (low[0], high[1], top.interval[1]) == (-math.inf, math.inf, math.inf)
            assert top.interval[0] <= top.value
    assert held >= fewest(60, 0.95)
    assert near >= fewest(60, 0.97)


@pytest.mark.medium
@relations
@pytest.mark.sampled
def test_an_end_that_fails_does_not_move_the_extreme(neighbors):
    """The inner end lies anywhere in 1 of 20 calls; the number hardly ever does."""
    far = 0
    for k in range(300):
        data = drawn("ages", 1000, seed_of(k))
        far += nb.maximum(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(k))).value > 3 * data.max()
    assert far <= most(300, 1 / 200)


@relations
def test_extremes_of_whole_numbers_are_hit(neighbors):
    """Ages from 18 to 89 have these as their extremes; stored as floats, they are off by one at most."""
    ages = np.concatenate([np.full(50, 18), np.random.default_rng(1).integers(18, 90, 4000), np.full(50, 89)])
    for data, off in ((ages, 0), (ages.astype(float), 1)):
        found = [nb.bounds(data, epsilon=2, neighbors=neighbors, rng=random.Random(k)).value for k in range(40)]
        assert sum(abs(low - 18) <= off and abs(high - 89) <= off for low, high in found) >= 30


@relations
@pytest.mark.parametrize("name", ["ages", "zeros"])
@pytest.mark.parametrize("q", [0.25, 0.5])
def test_whole_numbers_stored_as_floats_are_hit(q, name, neighbors):
    """Nine of ten answers of 20,000 rows are numbers that occur, as if they had been declared."""
    data = np.round(drawn(name, 20_000, 3).astype(float))
    found = [nb.quantile(data, q, epsilon=1, neighbors=neighbors, rng=random.Random(k)).value for k in range(40)]
    assert sum(value in data for value in found) >= 36


def test_a_heap_of_a_number_of_many_digits_is_hit():
    """Most records are 39.817264: its mass is tiny beside the gaps around it, and an answer comes in no time."""
    rng, value = np.random.default_rng(0), 39.817264
    data = np.concatenate([rng.normal(value - 5, 1, 2000), np.full(3000, value), value + rng.exponential(1, 2001)])
    for epsilon in (0.1, 1):
        for seed in range(5):
            assert nb.median(data, epsilon=epsilon, rng=random.Random(seed)).value == value


@pytest.mark.parametrize("value", [2013.0, 7.25, -3.7e9, 42, 0.0])
@relations
@spent
def test_quantiles_of_equal_records_are_their_value(value, neighbors, spent):
    """With an interval and without one, in the tails too, and so are their extremes."""
    data = np.full(5000, value)
    for seed in range(5):
        options = {"neighbors": neighbors, "rng": random.Random(seed), **spent}
        for q in (0.1, 0.5, 0.9):
            assert (
                nb.quantile(data, q, **options).value == nb.quantile(data, q, interval=None, **options).value == value
            )
        low, high = nb.bounds(data, **options).value
        assert max(value - low, high - value) <= max(1e-3 * abs(value), 1e-200)


@pytest.mark.medium
@relations
@spent
@pytest.mark.sampled
def test_a_column_of_missing_values_is_hardly_ever_answered(spent, neighbors):
    """At most 1 of 400 calls mistakes the noise of 5,000 missing values for records."""
    data, answered = np.full(5000, np.nan), 0
    for k in range(400):
        release = nb.median(data, neighbors=neighbors, rng=random.Random(seed_of(k)), **spent)
        answered += release.value is not None
        assert release.value is not None or (release.reason, release.interval) == (TOO_FEW, (-math.inf, math.inf))
    assert answered <= most(400, 1 / 400)


@pytest.mark.medium
@relations
@pytest.mark.sampled
def test_medians_of_a_hundred_rows_are_answered(neighbors):
    """Nine of ten at epsilon 1, none of them far off."""
    answered = 0
    for k in range(60):
        data = drawn("prices", 100, seed_of(k))
        value = nb.median(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(k))).value
        answered += value is not None and rank_error(data, value, 0.5) < 40
    assert answered >= fewest(60, 0.95)


@relations
@spent
@pytest.mark.parametrize(
    "data", [[], [math.nan] * 50, [3.5], [7.0] * 500, [5e-324, -1e-310] * 90, [MAX, -MAX] * 90, [math.inf] * 90]
)
def test_odd_data_are_no_error(data, spent, neighbors):
    """Nor a warning: an answer is a finite number within its interval, or none with a reason; JSON keeps it."""
    for epsilon in (spent, {"epsilon": 1e-6}, {"epsilon": 1e6}):
        for q in (0, 0.02, 0.5, 1):
            release = nb.quantile(data, q, neighbors=neighbors, rng=random.Random(1), **epsilon)
            low, high = release.interval
            assert (release.value is None) == (release.reason == TOO_FEW)
            assert release.value is None or (math.isfinite(release.value) and low <= release.value <= high)
            assert nb.Release.from_json(release.to_json()) == release


@relations
def test_stated_bounds_close_the_ends_and_are_never_left(neighbors):
    """Of the answer and of its interval; a median of records beyond them is the bound."""
    data, closed = np.linspace(-100, 100, 4000), 0
    for seed in range(20):
        options = {"neighbors": neighbors, "lower": -1, "upper": 30, "rng": random.Random(seed)}
        for q in (0, 0.02, 0.5, 0.9, 1):
            release = nb.quantile(data, q, epsilon=0.1, **options)
            if release.value is not None:
                low, high = release.interval
                assert -1 <= low <= release.value <= high <= 30
                closed += low == -1 or high == 30
    assert closed > 20
    assert nb.quantile(data, 0.5, epsilon=10_000, lower=30, upper=50).value == 30
    assert nb.maximum(data, epsilon=1, upper=200, neighbors=neighbors).interval[1] == 200


@relations
def test_missing_records_do_not_count(neighbors):
    """Half of the rows are missing, and the quantiles are those of the others."""
    rng = np.random.default_rng(9)
    data = np.where(rng.random(6000) < 0.5, np.nan, rng.normal(10, 1, 6000))
    present = data[~np.isnan(data)]
    for q in (0.1, 0.5):
        assert rank_error(present, nb.quantile(data, q, epsilon=1, neighbors=neighbors, rng=rng).value, q) < 100
    found = nb.quantiles(data, FIVE, epsilon=1, neighbors=neighbors, rng=rng).value
    assert max(rank_error(present, value, q) for value, q in zip(found, FIVE, strict=True)) < 150


@relations
@spent
@pytest.mark.parametrize("rows", [None, 500])
@pytest.mark.parametrize("q", [0, 0.01, 0.3, 0.5, 1])
def test_the_loss_is_what_was_asked_for(q, rows, spent, neighbors):
    """Exactly epsilon, or at most rho; the parts of the split add up to it, with an interval and without."""
    for interval in (0.95, None):
        release = nb.quantile(np.arange(500.0), q, rows=rows, interval=interval, neighbors=neighbors, **spent)
        ((name, amount),) = spent.items()
        assert getattr(release.loss, name) == amount and release.loss.delta == 0
        assert math.fsum(release.parameters["split"].values()) == pytest.approx(amount)
        assert "size" not in release.parameters["split"] or rows is None


def test_a_release_says_what_was_asked():
    """The rank, the interval and what it assumes, and what is public about the numbers."""
    release = nb.quantile(np.arange(4000), 0.3, epsilon=1, lower=0, interval=0.9, of="sample", rng=random.Random(1))
    split = release.parameters["split"]
    asked = {"q": "3/10", "resolution": "1", "lower": "0", "interval": {"level": 0.9, "of": "sample"}}
    assert release.parameters == asked | {"spending": "epsilon", "split": split}
    assert list(split) == ["size", "number", "interval"]
    assumed = nb.median(np.arange(4000.0), epsilon=1).parameters["interval"]
    assert (assumed["level"], assumed["of"]) == (0.95, "population") and "independent draws" in assumed["assumes"]


# --- many quantiles -----------------------------------------------------------------------------------------------


@relations
@spent
def test_answers_come_in_the_order_asked(neighbors, spent):
    """In any order and with repetitions, the answers are those of the same quantiles sorted."""
    data = np.random.default_rng(2).lognormal(3, 1, 2000)
    asked = [0.9, 0.1, F(1, 2), "0.1", 0.25, 0.9]
    found = nb.quantiles(data, asked, neighbors=neighbors, rng=random.Random(3), **spent).value
    ordered = nb.quantiles(data, [0.1, 0.25, 0.5, 0.9], neighbors=neighbors, rng=random.Random(3), **spent).value
    assert found == tuple(ordered[k] for k in (3, 0, 2, 0, 1, 3))
    assert ordered == tuple(sorted(ordered))
    assert all(type(value) is float for value in found)


@relations
@spent
@pytest.mark.parametrize("scale", [1e-9, 1, 1e12])
def test_many_quantiles_are_found(neighbors, spent, scale):
    """Nineteen of 3000 records at any scale: none is off by 5% of the records."""
    data = np.random.default_rng(4).normal(1, 3, 3000) * scale
    qs = [F(k, 20) for k in range(1, 20)]
    found = nb.quantiles(data, qs, neighbors=neighbors, rng=random.Random(5), **spent).value
    assert max(rank_error(data, value, q) for value, q in zip(found, qs, strict=True)) < 150


@relations
def test_ties_are_split_between_their_quantiles(neighbors):
    """Quantiles that fall on one number are that number, also where it ends the data at a public bound."""
    data = np.repeat([0, 3, 4, 50], [380, 430, 790, 400])
    qs = [F(k, 40) for k in range(2, 40, 4)]
    for bounds in ({}, {"lower": 0}, {"upper": 50}, {"lower": 0, "upper": 50}):
        found = nb.quantiles(data, qs, epsilon=2, neighbors=neighbors, rng=random.Random(6), **bounds).value
        assert found == tuple(np.sort(data)[int(q * 2000)] for q in qs)


@pytest.mark.medium
@relations
@pytest.mark.sampled
def test_extremes_among_quantiles_are_not_far_beyond_the_data(neighbors):
    """Hardly ever is the minimum or the maximum of 1000 records twice as far out."""
    near = 0
    for k in range(60):
        data = drawn("prices", 1000, seed_of(k))
        low, middle, high = nb.quantiles(
            data, [0, 0.5, 1], epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(k))
        ).value
        assert low <= middle <= high
        near += (
            -data.max() < low and np.quantile(data, 0.8) < high < 2 * data.max() and rank_error(data, middle, 0.5) < 60
        )
    assert near >= fewest(60, 0.97)


@pytest.mark.parametrize("value", [1e308, -1.7e308, 1e-300, 5e-324])
@relations
def test_numbers_at_the_ends_of_floats_are_answered(value, neighbors):
    """There is an answer, a finite one; it is right, but that magnitudes below 2**-1022 are 0."""
    found = nb.quantiles(np.full(9000, value), FIVE, epsilon=1, neighbors=neighbors, rng=random.Random(1)).value
    assert found == ((value if abs(value) >= 2.0**-1022 else 0.0),) * 5


@pytest.mark.parametrize("sign", [1, -1])
@relations
def test_numbers_beyond_a_fine_grid_are_answered_as_infinite_ones(sign, neighbors):
    """A grid ends at 1.8e308 steps: numbers beyond are answered by the largest float."""
    options = {"epsilon": 4, "resolution": 1e-3, "neighbors": neighbors, "rng": random.Random(1)}
    far, near = np.full(3000, sign * 1e307), np.full(3000, sign * 1e304)
    assert nb.median(far, **options).value == sign * MAX
    assert nb.quantiles(far, [0.25, 0.5, 0.75], **options).value == pytest.approx((sign * MAX,) * 3)
    assert nb.median(near, **options).value == pytest.approx(sign * 1e304)


@relations
def test_infinite_records_lie_at_the_ends(neighbors):
    """Infinities and what is beyond the bounds count as the bounds."""
    data = np.repeat([-math.inf, 5.0, math.inf], [700, 700, 700])
    found = nb.quantiles(data, [0.1, 0.5, 0.9], epsilon=2, lower=0, upper=8, neighbors=neighbors, rng=random.Random(1))
    assert found.value == (0, 5, 8)


@pytest.mark.medium
@given(
    st.lists(st.floats(width=32) | st.integers(-5, 5).map(float), max_size=30),
    st.lists(st.fractions(0, 1, max_denominator=20), min_size=1, max_size=9),
    st.sampled_from(RELATIONS),
    st.sampled_from(SPENT),
    st.sampled_from([(None, None), (-3, None), (None, 2.5), (-3, 2.5)]),
    st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=60)
def test_answers_are_ordered_and_within_the_bounds(records, qs, neighbors, spent, bounds, seed):
    """Whatever the records are, infinite or missing too: a larger q has no smaller answer, and bounds are kept."""
    data, (lower, upper) = np.array(records, dtype=float), bounds
    options = {"lower": lower, "upper": upper, "neighbors": neighbors, "rng": random.Random(seed)}
    found = nb.quantiles(data, qs, rows=30, **options, **spent).value
    assert len(found) == len(qs)
    assert [value for _, value in sorted(zip(qs, found, strict=True))] == sorted(found)
    assert all(math.isfinite(value) for value in found)
    assert lower is None or min(found) >= lower
    assert upper is None or max(found) <= upper


@relations
@spent
def test_whole_numbers_have_whole_answers(neighbors, spent):
    """Integers answer ints, booleans 0 and 1, and a grid of a half multiples of it."""
    rng = np.random.default_rng(1)
    ints = nb.quantiles(rng.poisson(100, 999), FIVE, neighbors=neighbors, rng=rng, **spent).value
    bools = nb.quantiles(rng.random(999) < 0.5, FIVE, neighbors=neighbors, rng=rng, **spent).value
    halves = nb.quantiles(rng.poisson(9, 999) / 2, FIVE, resolution=0.5, neighbors=neighbors, rng=rng, **spent).value
    assert all(type(value) is int for value in ints + bools)
    assert set(bools) == {0, 1}
    assert all(2 * value == round(2 * value) for value in halves)


@relations
@spent
def test_equal_numbers_are_all_quantiles(neighbors, spent):
    """Inner quantiles of one number many times are that number, zeros too."""
    for value in (37, 0.0):
        for seed in range(5):
            found = nb.quantiles(
                np.full(6000, value), FIVE, neighbors=neighbors, rng=random.Random(seed), **spent
            ).value
            assert found == (value,) * 5


def test_every_kind_of_data_is_taken():
    """Lists, tuples, numpy, pandas, polars and Arrow give the same answers."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    ages = [18 + i % 60 for i in range(3000)]
    kinds = [ages, tuple(ages), np.array(ages), pd.Series(ages), pl.Series(ages), pa.array(ages), column(ages)]
    found = {nb.quantiles(kind, FIVE, epsilon=1, resolution=1, rng=random.Random(1)).value for kind in kinds}
    assert len(found) == 1
    assert nb.quantiles(ages, iter(FIVE), epsilon=1, resolution=1, rng=random.Random(1)).value in found


@pytest.mark.medium
@relations
@pytest.mark.parametrize("nullable", [False, True], ids=["", "nullable"])
@pytest.mark.parametrize("rows", [None, 500])
def test_the_loss_of_many_is_what_was_asked_for(neighbors, nullable, rows):
    """Exactly epsilon, to the last digit; or at most rho, and within a thousandth of it."""
    data = np.arange(500.0) if nullable else np.arange(500)
    for m in (2, 3, 9, 30):
        qs = [F(k, m + 1) for k in range(1, m + 1)]
        for amount in (0.1, 1, 3):
            loss = nb.quantiles(data, qs, epsilon=amount, neighbors=neighbors, rows=rows).loss
            assert (loss.epsilon, loss.delta, loss.neighbors) == (amount, 0, neighbors)
            loss = nb.quantiles(data, [0, *qs, 1], rho=amount, neighbors=neighbors, rows=rows).loss
            assert 0.999 * amount < loss.rho <= amount


# --- what is charged ----------------------------------------------------------------------------------------------


class Recording:
    """A budget that remembers what it was asked for, and refuses if it should."""

    def __init__(self, refuses=False):
        self.charges, self.refuses = [], refuses

    def charge(self, loss, what):
        self.charges.append((loss, what))
        if self.refuses:
            raise BudgetExceeded("no more")


def unreadable():
    raise AssertionError("the data were read")
    yield


CALLS = {
    "quantile 1/2": lambda data, **options: nb.quantile(data, 0.5, **options),
    "median": nb.median,
    "quantiles 1/20, 1/4": lambda data, **options: nb.quantiles(data, FIVE, **options),
    "maximum": nb.maximum,
    "minimum": nb.minimum,
    "bounds": nb.bounds,
}


@pytest.mark.parametrize("name", CALLS)
@relations
@spent
def test_a_budget_is_charged_once_and_before_the_data_are_read(name, neighbors, spent):
    """A budget that refuses keeps the data unread; one that does not is charged the loss of the release."""
    call, hidden = CALLS[name], Column(Facts(integral=True, nullable=False), unreadable, rows=lambda: 100)
    budget = Recording(refuses=True)
    with pytest.raises(BudgetExceeded):
        call(hidden, neighbors=neighbors, budget=budget, **spent)
    assert len(budget.charges) == 1
    with pytest.raises(AssertionError, match="were read"):
        call(hidden, neighbors=neighbors, **spent)
    budget = Recording()
    release = call(range(100), neighbors=neighbors, budget=budget, **spent)
    assert [loss for loss, _ in budget.charges] == [release.loss]
    assert budget.charges[0][1].startswith(name)


def test_a_budget_of_three_takes_three():
    """Three calls at epsilon 1 fit in a budget of 3, and a fourth is refused."""
    budget = Budget(epsilon=3)
    for _ in range(3):
        nb.quantiles(range(100), FIVE, epsilon=1, budget=budget)
    with pytest.raises(BudgetExceeded):
        nb.quantiles(range(100), FIVE, epsilon=1, budget=budget)


def test_releases_survive_json_and_say_what_was_asked():
    """With its name, the quantiles in order, what is public about the numbers, and the loss."""
    release = nb.quantiles(np.arange(400), [0.5, 0.25], epsilon=1, lower=0, rng=random.Random(1))
    asked = {"q": ["1/2", "1/4"], "resolution": "1", "lower": "0", "spending": "epsilon"}
    assert release.statistic == "quantiles"
    assert release.parameters == asked | {"split": {"size": 0.025, "quantiles": 0.975}}
    again = nb.Release.from_json(release.to_json())
    assert tuple(again.value) == release.value and again.loss == release.loss


VALUES = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, 1.0, MAX, -MAX, 5e-324, math.nan, math.inf]))


@pytest.mark.medium
@given(
    st.lists(VALUES, max_size=12),
    st.sampled_from([1, 300]),
    VALUES,
    st.sampled_from(RELATIONS),
    st.sampled_from([None, 1, 0.01]),
    st.sampled_from([(None, None), (0, None), (-1, 5)]),
    st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=60)
def test_neighbours_get_releases_of_one_shape(records, copies, other, neighbors, resolution, bounds, seed):
    """No error and no warning, whatever the records are: only the numbers differ, and whether there is one."""
    data = np.array(records * copies, dtype=float)
    neighbor = np.append(data, other) if neighbors == "add-remove" else np.append(data[1:], [other] * (len(data) > 0))
    for name, call in CALLS.items():
        options = {"resolution": resolution, "lower": bounds[0], "upper": bounds[1], "neighbors": neighbors}
        found = [call(x, epsilon=1, rng=random.Random(seed), **options) for x in (data, neighbor)]
        assert found[0].loss == found[1].loss
        assert found[0].parameters.keys() == found[1].parameters.keys()
        for release in found:
            assert (release.value is None) == (release.reason == TOO_FEW) or name == "bounds"
            assert not any(math.isnan(end) for each in release.intervals for end in each)


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"q": []}, ValueError, "q must have at least one number"),
        ({"q": [0.5, 1.5]}, ValueError, "q must be between 0 and 1, got q=1.5"),
        ({"q": 0.5}, TypeError, "q must be a list of numbers between 0 and 1, got float"),
        ({"q": "0.5"}, TypeError, "q must be a list of numbers between 0 and 1, got str"),
        ({"q": [0.5, None]}, TypeError, "q must be"),
        ({"q": [0.5, math.nan]}, ValueError, "q must be"),
        ({"epsilon": None}, ValueError, "give epsilon .* or rho .*, got neither"),
        ({"rho": 1}, ValueError, "give epsilon .* or rho .*, got both"),
        ({"epsilon": 0}, ValueError, "epsilon must be"),
        ({"epsilon": None, "rho": -1}, ValueError, "rho must be"),
        ({"neighbors": "replace"}, ValueError, "neighbors must be one of add-remove, swap"),
        ({"rows": 2.5}, ValueError, "rows must be a whole number"),
        ({"lower": 3, "upper": 2}, ValueError, "upper must be greater than lower"),
        ({"resolution": 0}, ValueError, "resolution must be"),
        ({"rng": 7}, TypeError, "rng must be"),
        ({"data": "text"}, TypeError, "data must be"),
    ],
    ids=str,
)
def test_errors_name_what_is_wrong(given, error, words):
    """Name, rule and value; and no record in them."""
    options = {"data": [1.0, 2.0], "q": [0.25, 0.75], "epsilon": 1} | given
    with pytest.raises(error, match=words):
        nb.quantiles(options.pop("data"), options.pop("q"), **options)
