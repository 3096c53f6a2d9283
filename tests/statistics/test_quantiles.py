"""Many quantiles by one call: what is answered, what it costs, and that it is charged before the data are read."""

import math
import random
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chance import fewest, seed_of
from support.unmarked import quantiles

import nobounds as nb
from nobounds.accounting.budget import Budget, BudgetExceeded
from nobounds.accounting.cost import gaussian, pure, range_bounded
from nobounds.accounting.spending import Spending
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import MAX
from nobounds.ladders.facts import Facts
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.problem import Problem

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
@pytest.mark.parametrize("q", [0, 0.3, 0.5, 1])
@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.unmarked
def test_one_quantile_is_that_of_quantile(kind, q, spent, neighbors):
    """From the same random bits, also if it is asked for twice; and the loss is the same."""
    data = np.random.default_rng(1).normal(50, 20, 500).astype(kind)
    for lower in (None, 0):
        options = {"neighbors": neighbors, "lower": lower, **spent}
        one = nb.quantile(data, q, rng=random.Random(7), **options)
        many = quantiles(data, [q, q], rng=random.Random(7), **options)
        assert many.value == (one.value, one.value)
        assert many.loss == one.loss
        assert many.parameters["q"] == [str(F(str(q)))] * 2


# --- what is answered ---------------------------------------------------------------------------------------------


@relations
@spent
def test_answers_come_in_the_order_asked(neighbors, spent):
    """In any order and with repetitions, the answers are those of the same quantiles sorted."""
    data = np.random.default_rng(2).lognormal(3, 1, 2000)
    asked = [0.9, 0.1, F(1, 2), "0.1", 0.25, 0.9]
    found = quantiles(data, asked, neighbors=neighbors, rng=random.Random(3), **spent).value
    ordered = quantiles(data, [0.1, 0.25, 0.5, 0.9], neighbors=neighbors, rng=random.Random(3), **spent).value
    assert found == tuple(ordered[k] for k in (3, 0, 2, 0, 1, 3))
    assert ordered == tuple(sorted(ordered))
    assert all(type(value) is float for value in found)


@relations
@spent
@pytest.mark.parametrize("scale", [1e-9, 1, 1e12])
@pytest.mark.sampled
def test_many_quantiles_are_found(neighbors, spent, scale):
    """Nineteen of 3000 records at any scale: none is off by 5% of the records."""
    data = np.random.default_rng(seed_of(4)).normal(1, 3, 3000) * scale
    qs = [F(k, 20) for k in range(1, 20)]
    found = quantiles(data, qs, neighbors=neighbors, rng=random.Random(seed_of(5)), **spent).value
    assert max(rank_error(data, value, q) for value, q in zip(found, qs, strict=True)) < 150


@relations
def test_ties_are_split_between_their_quantiles(neighbors):
    """Quantiles that fall on one number are that number, also where it ends the data at a public bound."""
    data = np.repeat([0, 3, 4, 50], [380, 430, 790, 400])
    qs = [F(k, 40) for k in range(2, 40, 4)]
    for bounds in ({}, {"lower": 0}, {"upper": 50}, {"lower": 0, "upper": 50}):
        found = quantiles(data, qs, epsilon=2, neighbors=neighbors, rng=random.Random(6), **bounds).value
        assert found == tuple(np.sort(data)[int(q * 2000)] for q in qs)


@pytest.mark.parametrize("value", [1e308, -1.7e308, 1e-300, 5e-324, 2.0**-1022])
@relations
def test_numbers_at_the_ends_of_floats_are_answered(value, neighbors):
    """There is an answer, a finite one; it is right if the numbers are large, and near 0 if they are tiny."""
    found = quantiles(np.full(3000, value), FIVE, epsilon=1, neighbors=neighbors, rng=random.Random(1)).value
    if abs(value) > 1:
        assert np.array(found) / value == pytest.approx(np.ones(5), rel=0.01)
    else:
        assert max(map(abs, found)) < 1e-9


@pytest.mark.parametrize("heap", [1.0, 0.9])
@relations
@pytest.mark.sampled
def test_a_heap_of_whole_numbers_is_its_quantile(heap, neighbors):
    """Nearly no record deviates from the centre, so the scale may be anything; the answer is the centre even then."""
    data = np.where(np.arange(2000) < heap * 2000, 7, np.arange(2000))
    for q in (0.25, 0.5, 0.75):
        answers = {
            nb.quantile(data, q, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(k))).value for k in range(20)
        }
        assert answers == {7}


@pytest.mark.parametrize("sign", [1, -1])
@relations
def test_numbers_beyond_a_fine_grid_are_answered_as_infinite_ones(sign, neighbors):
    """A grid ends at 1.8e308 steps: the answer for numbers beyond is the largest float, and their interval is open."""
    data, rng = np.full(3000, sign * 1e307), random.Random(1)
    for q in (0.1, 0.5, 0.99):
        release = nb.quantile(data, q, epsilon=4, resolution=1e-3, interval=0.95, neighbors=neighbors, rng=rng)
        assert q != 0.5 or release.value == sign * MAX
        low, high = release.interval
        assert low <= data[0] <= high and math.inf in (-low, high)
    answers = quantiles(data, [0.1, 0.5, 0.9], epsilon=4, resolution=1e-3, neighbors=neighbors, rng=rng).value
    assert answers == (sign * MAX,) * 3
    near = nb.quantile(np.full(3000, sign * 1e305), 0.5, epsilon=4, resolution=1e-3, neighbors=neighbors, rng=rng)
    assert near.value == pytest.approx(sign * 1e305, rel=0.01)


@relations
def test_infinite_records_lie_at_the_ends(neighbors):
    """Infinities and what is beyond the bounds count as the ends of the ladder."""
    data = np.repeat([-math.inf, 5.0, math.inf], [700, 700, 700])
    found = quantiles(data, [0.1, 0.5, 0.9], epsilon=2, lower=0, upper=8, neighbors=neighbors, rng=random.Random(1))
    assert found.value == pytest.approx((0, 5, 8), abs=0.05)


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
    found = quantiles(data, qs, **options, **spent).value
    assert len(found) == len(qs)
    by_rank = sorted(zip(qs, found, strict=True))
    assert [value for _, value in by_rank] == sorted(found)
    assert all(math.isfinite(value) for value in found)
    assert lower is None or min(found) >= lower
    assert upper is None or max(found) <= upper


@relations
@spent
def test_whole_numbers_have_whole_answers(neighbors, spent):
    """Integers answer ints, booleans 0 and 1, and a grid of a half multiples of it."""
    rng = np.random.default_rng(1)
    ints = quantiles(rng.poisson(100, 999), FIVE, neighbors=neighbors, rng=rng, **spent).value
    bools = quantiles(rng.random(999) < 0.5, FIVE, neighbors=neighbors, rng=rng, **spent).value
    halves = quantiles(rng.poisson(9, 999) / 2, FIVE, resolution=0.5, neighbors=neighbors, rng=rng, **spent).value
    assert all(type(value) is int for value in ints + bools)
    assert set(bools) == {0, 1}
    assert all(2 * value == round(2 * value) for value in halves)


@pytest.mark.medium
@pytest.mark.parametrize("n", [1000, 20_000])
@relations
@spent
def test_quantiles_of_zeros_are_zeros(n, neighbors, spent):
    """However many zeros there are; nothing is said of the ends, since zeros have no scale."""
    for seed in range(10):
        found = quantiles(np.zeros(n), FIVE, neighbors=neighbors, rng=random.Random(seed), **spent).value
        assert found == (0,) * 5


@relations
@spent
def test_equal_numbers_are_all_quantiles(neighbors, spent):
    """Inner quantiles of one number many times are that number."""
    found = quantiles(np.full(5000, 37), FIVE, neighbors=neighbors, rng=random.Random(1), **spent).value
    assert found == (37,) * 5


@pytest.mark.medium
@relations
@pytest.mark.sampled
def test_extremes_are_not_far_beyond_the_data(neighbors):
    """In 60 runs neither the minimum nor the maximum of 1000 records is more than ten times too large."""
    data = np.random.default_rng(seed_of(8)).lognormal(3, 1, 1000)
    for seed in range(60):
        low, middle, high = quantiles(
            data, [0, 0.5, 1], epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(seed))
        ).value
        assert -data.max() < low <= middle <= high < 10 * data.max()
        assert rank_error(data, middle, 0.5) < 60
        assert high > np.quantile(data, 0.8)


@relations
def test_missing_records_do_not_count(neighbors):
    """Half of the rows are missing, and the quantiles are those of the others."""
    rng = np.random.default_rng(9)
    data = np.where(rng.random(6000) < 0.5, np.nan, rng.normal(10, 1, 6000))
    found = quantiles(data, FIVE, epsilon=1, neighbors=neighbors, rng=rng).value
    present = data[~np.isnan(data)]
    assert max(rank_error(present, value, q) for value, q in zip(found, FIVE, strict=True)) < 150


def test_every_kind_of_data_is_taken():
    """Lists, tuples, numpy, pandas, polars and Arrow give the same answers."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    ages = [18 + i % 60 for i in range(3000)]
    kinds = [ages, tuple(ages), np.array(ages), pd.Series(ages), pl.Series(ages), pa.array(ages), column(ages)]
    found = {quantiles(kind, FIVE, epsilon=1, resolution=1, rng=random.Random(1)).value for kind in kinds}
    assert len(found) == 1
    assert quantiles(ages, iter(FIVE), epsilon=1, resolution=1, rng=random.Random(1)).value in found


# --- what it costs ------------------------------------------------------------------------------------------------


@pytest.mark.medium
@relations
@pytest.mark.parametrize("nullable", [False, True], ids=["", "nullable"])
@pytest.mark.parametrize("rows", [None, 500])
def test_the_loss_is_what_was_asked_for(neighbors, nullable, rows):
    """Exactly epsilon, to the last digit; or at most rho, and within a thousandth of it."""
    data = np.arange(500.0) if nullable else np.arange(500)
    for m in (2, 3, 9, 30):
        qs = [F(k, m + 1) for k in range(1, m + 1)]
        for amount in (0.1, 1, 3):
            loss = quantiles(data, qs, epsilon=amount, neighbors=neighbors, rows=rows).loss
            assert (loss.epsilon, loss.delta, loss.neighbors) == (amount, 0, neighbors)
            loss = quantiles(data, qs, rho=amount, neighbors=neighbors, rows=rows).loss
            assert 0.999 * amount < loss.rho <= amount


def test_rho_buys_more_than_epsilon():
    """The nominal epsilon of a level is larger under zCDP, and so is its rate of noise."""
    problem = Problem(tuple(F(k, 10) for k in range(1, 10)), nb.Ladder.grid(1), "add-remove", grows=True)
    rates = []
    for spending in (Spending(F(1), False), Spending(F(1, 2), True)):
        made = spending.plan(partial(Halving.of, problem))
        rates.append(made.rate(F(1, 2), made.setting(100, None, None).each))
    assert rates[1] > 2 * rates[0]


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


@pytest.mark.parametrize("asked", [[0.5], FIVE], ids=len)
@relations
@spent
def test_a_budget_is_charged_once_and_before_the_data_are_read(asked, neighbors, spent):
    """A budget that refuses keeps the data unread; one that does not is charged the loss of the release."""
    hidden = Column(Facts(integral=True, nullable=False), unreadable, rows=lambda: 100)
    budget = Recording(refuses=True)
    with pytest.raises(BudgetExceeded):
        quantiles(hidden, asked, neighbors=neighbors, budget=budget, **spent)
    assert len(budget.charges) == 1
    budget = Recording()
    with pytest.raises(AssertionError, match="were read"):
        quantiles(hidden, asked, neighbors=neighbors, budget=budget, **spent)
    assert len(budget.charges) == 1
    budget = Recording()
    release = quantiles(range(100), asked, neighbors=neighbors, budget=budget, **spent)
    assert [loss for loss, _ in budget.charges] == [release.loss]
    assert budget.charges[0][1].startswith("quantiles ")


def test_a_budget_of_three_takes_three():
    """Three calls at epsilon 1 fit in a budget of 3, and a fourth is refused."""
    budget = Budget(epsilon=3)
    for _ in range(3):
        quantiles(range(100), FIVE, epsilon=1, budget=budget)
    with pytest.raises(BudgetExceeded):
        quantiles(range(100), FIVE, epsilon=1, budget=budget)


def test_a_release_says_what_was_asked():
    """Its name, the quantiles in order, the ladder and the loss; it survives JSON."""
    release = quantiles(np.array([1, 2, 3]), [0.5, 0.25], epsilon=1, lower=0, rng=random.Random(1))
    assert release.statistic == "quantiles"
    asked = {"q": ["1/2", "1/4"], "ladder": "grid", "resolution": "1", "bits": 8, "lower": "0"}
    split = release.parameters["split"]
    assert release.parameters == asked | {"spending": "epsilon", "split": split}
    assert list(split) == ["size", "answer"] and sum(split.values()) == pytest.approx(1)
    again = nb.Release.from_json(release.to_json())
    assert tuple(again.value) == release.value and again.loss == release.loss


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
        quantiles(options.pop("data"), options.pop("q"), **options)


# --- plans for a rho ----------------------------------------------------------------------------------------------


class Priced:
    """A plan whose rho is a function of its nominal epsilon."""

    def __init__(self, epsilon, rho):
        self.epsilon, self._rho = epsilon, rho

    def cost(self):
        return gaussian(self._rho(self.epsilon))


COSTS = {
    "square": lambda epsilon: epsilon**2 / 2,
    "linear": lambda epsilon: epsilon / 4,
    "pure": lambda epsilon: pure(epsilon).rho,
    "range": lambda epsilon: range_bounded(epsilon).rho,
}


@pytest.mark.medium
@given(st.fractions(F(1, 10**6), 50, max_denominator=10**7).filter(lambda rho: rho > 0), st.sampled_from(list(COSTS)))
@settings(deadline=None, max_examples=80)
def test_the_largest_plan_within_a_rho_is_found(rho, name):
    """It costs at most rho, and within a thousandth of it, if costs grow without jumps."""
    plan = Spending(rho, True).plan(lambda epsilon, zcdp: Priced(epsilon, COSTS[name]))
    assert rho * (1 - F(1, 1000)) <= plan.cost().rho <= rho


def test_spending_is_an_epsilon_or_a_rho():
    """Exactly one of them, exact; a pure plan is made once, for all of epsilon."""
    made = []
    assert Spending.of(0.1, None) == Spending(F(1, 10), False)
    assert Spending.of(None, "1/3") == Spending(F(1, 3), True)
    Spending.of(0.1, None).plan(lambda *given: made.append(given) or Priced(F(1), COSTS["square"]))
    assert made == [(F(1, 10), False)]


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("value", [2013.0, 7.25, -3.7e9])
def test_quantiles_of_equal_records_are_their_value(value, neighbors):
    """No deviation from the centre tells the scale, so its rung may reach from below 0 to far above."""
    for seed in range(20):
        for q in (0.1, 0.5, 0.75):
            release = nb.quantile(np.full(5000, value), q, epsilon=1, neighbors=neighbors, rng=random.Random(seed))
            assert release.value == value


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("value", [0.0, 42.7, -3e9])
@pytest.mark.sampled
def test_bounds_of_equal_records_are_their_value(value, neighbors):
    """No deviation tells the scale: a walk to an end that halts early hardly ever ends far from all records."""
    noise, near = random.Random(seed_of(1)), 0
    for _ in range(60):
        low, high = nb.bounds(np.full(2000, value), epsilon=1, neighbors=neighbors, rng=noise).value
        near += max(value - low, high - value) <= 1e-6 * max(abs(value), 1)
    assert near >= fewest(60, 0.99)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_bounds_of_few_records_beside_a_heap_are_not_far_beyond_them(neighbors):
    """One record in a hundred says too little of the scale; hardly any answer lies farther."""
    near = 0
    for seed in range(60):
        away = np.random.default_rng(seed_of(seed)).random(20)
        data = np.append(np.full(1980, 5.0), 5 + away)
        low, high = nb.bounds(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(seed))).value
        near += 4 <= low <= 5 <= high <= 7
    assert near >= fewest(60, 0.99)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("value", [42, 42.5, 1e6])
@pytest.mark.sampled
def test_a_quantile_of_equal_records_with_an_interval_is_their_value(value, neighbors):
    """Even where the interval is a rung that is far too wide, or one of few digits."""
    for seed in range(20):
        rng = random.Random(seed_of(seed))
        release = nb.quantile(np.full(2000, value), 0.5, epsilon=1, interval=0.95, neighbors=neighbors, rng=rng)
        assert release.value == value
        assert release.interval[0] <= value <= release.interval[1]


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("value", [10**7, 1_700_000_000, 7 * 10**12])
def test_several_quantiles_of_equal_whole_numbers_are_their_round_value(value, neighbors):
    """A rung of large whole numbers holds many of them, and the roundest is released, as of floats."""
    for seed in range(5):
        rng = random.Random(seed)
        release = nb.quantiles(np.full(150, value), [0.25, 0.5, 0.75], epsilon=5, neighbors=neighbors, rng=rng)
        assert release.value == (value, value, value)
