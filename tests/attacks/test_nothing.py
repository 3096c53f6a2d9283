"""Something from nothing: noise alone shows hardly any number of a column, or of a group, that has no records."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from support.chance import most, seed_of

import nobounds as nb
from nobounds.accounting.terms import Terms
from nobounds.ask import mean as asked_mean
from nobounds.ask import median as asked_median
from nobounds.ladders.facts import Facts
from nobounds.noise.additive import NOTHING
from nobounds.ranks.answerable import answers
from nobounds.ranks.intervals.interval import Wanted
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_extremes, plan_quantile, plan_separately, plan_together

NO_NUMBERS, TEXTS = np.full(5000, math.nan), ["x"] * 500
SPENDING = [{"epsilon": 0.1}, {"epsilon": 1}, {"epsilon": 30}, {"rho": 0.5}]
HALF = Fraction(1, 2)
KEYS = ["a", *map(str, range(20))]  # 20 groups without rows
TABLE = nb.Table({"x": np.random.default_rng(1).normal(50, 9, 5000), "g": ["a"] * 5000})
TWO = {"x": NO_NUMBERS, "y": np.arange(5000.0)}


def shown(value):
    """How many numbers an answer shows."""
    return int(np.ma.count(value)) if isinstance(value, np.ndarray) else value is not None


def of_summary(data, rng, **options):
    """How many numbers a summary shows of its first column, beside the count."""
    first = next(iter(nb.describe(data, rng=rng, **options).columns.values()))
    return any(value is not None for name, value in first.values.items() if name != "count")


def of_groups(statistic, rng, **options):
    """How many of the groups without rows have a number."""
    groups = TABLE.group_by("g", keys=KEYS)
    return shown(getattr(groups, statistic)("x", epsilon=1, rng=rng, **options).values[1:])


def of_agg(rng, neighbors, *asks, **options):
    """Whether the first statistic has a number."""
    answers = nb.Table(TWO, neighbors=neighbors).agg(*asks, rng=rng, **options)
    return shown(answers[asks[0].name].value)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("spending", SPENDING, ids=str)
def test_no_quantile_rests_on_the_noise_of_a_size(spending, neighbors):
    """By the law of that noise: with no records it passes the least size that is answered once in 1,000 calls."""
    terms = Terms.of(spending.get("epsilon"), spending.get("rho"), neighbors)
    facts = Facts(False, True, rows=5000 if neighbors == "swap" else None)
    wanted, none = Wanted.checked(0.95, "sample", True), Options.of({})
    middle, pair = (HALF,), (Fraction(1, 4), HALF)
    question, halving = plan_separately(facts, terms, none, middle), plan_together(facts, terms, none, pair)
    extremes = plan_extremes(facts, terms, none, (Fraction(0),), wanted)
    interval = plan_quantile(facts, terms, none, HALF, wanted).answer
    for rule, answered in (
        (question.size, lambda size: any(answers(question, size))),
        (halving.size, lambda size: any(answers(halving, size))),
        (extremes.question.size, extremes.answers),
        (interval.size, lambda size: interval.setting(size).answers),
    ):
        least = next(size for size in range(1, 10**6) if answered(size))
        ratio = math.exp(-float(rule.epsilon))
        assert ratio**least / (1 + ratio) <= 2 * NOTHING  # with few steps of noise its law is not smooth
        assert least <= 5000 or spending == {"epsilon": 0.1}


CALLS = {
    "median": lambda data, rng, **options: shown(nb.median(data, rng=rng, **options).value),
    "interval": lambda data, rng, **options: shown(nb.quantile(data, 0.5, interval=0.9, rng=rng, **options).value),
    "mean": lambda data, rng, **options: shown(nb.mean(data, rng=rng, **options).value),
    "sum": lambda data, rng, **options: shown(nb.sum(data, rng=rng, **options).value),
    "std": lambda data, rng, **options: shown(nb.std(data, rng=rng, **options).value),
    "describe": lambda data, rng, **options: of_summary({"x": data}, rng, **options),
}


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("data", [NO_NUMBERS, TEXTS], ids=["NaN", "texts"])
@pytest.mark.parametrize("statistic", CALLS)
@pytest.mark.sampled
def test_no_column_without_numbers_has_a_statistic(statistic, data, neighbors):
    """Hardly one of 200 answers shows a number."""
    noise = random.Random(seed_of(1))
    numbers = sum(CALLS[statistic](data, noise, epsilon=10, neighbors=neighbors) for _ in range(200))
    assert numbers <= most(200, NOTHING)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["median", "mean", "sum", "std"])
@pytest.mark.sampled
def test_no_group_without_rows_has_a_statistic(statistic):
    """Hardly one of 1,200 groups shows a number, beside one with many rows."""
    noise = random.Random(seed_of(2))
    numbers = sum(of_groups(statistic, noise) for _ in range(60))
    assert numbers <= most(60 * 20, NOTHING)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_no_column_borrows_the_size_of_another(neighbors):
    """Beside a column of 5,000 numbers, one without any is not answered, however noisy its size is."""
    noise = random.Random(seed_of(3))
    for asks in ((asked_median("x"), asked_median("y")), (asked_mean("x"), asked_mean("y"))):
        numbers = sum(of_agg(noise, neighbors, *asks, epsilon=0.1) for _ in range(100))
        assert numbers <= most(100, NOTHING)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_no_condition_on_missing_values_has_a_proportion(neighbors):
    """Hardly one of 400 answers shows a share."""
    noise, table = random.Random(seed_of(4)), nb.Table(TWO, neighbors=neighbors)
    numbers = sum(shown(table.proportion("x > 3", epsilon=0.1, rng=noise).value) for _ in range(400))
    assert numbers <= most(400, NOTHING)


def test_enough_records_are_answered():
    """Ten times as many as noise may make up."""
    for call in (nb.median, nb.mean, nb.sum, nb.std):
        assert call(TWO["y"], epsilon=1).value is not None
