"""Several statistics for one epsilon: one charge, one split by need, and the answers that each statistic has alone."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.purse import Purse

import nobounds as nb
from nobounds.ask import bounds, count, mean, median, quantile, quantiles, sum
from nobounds.exact import rational

RNG = np.random.default_rng(4)
N = 4000
ROWS = {
    "income": RNG.lognormal(10, 1, N),
    "age": RNG.integers(18, 90, N),
    "gap": np.where(RNG.random(N) < 0.5, 1, np.nan),
}
ALL = (mean("income"), sum("age"), median("age"), quantile("age", 0.9), quantiles("age", [0.25, 0.75]), bounds("age"))


def test_answers_are_right_at_a_huge_epsilon():
    """Each as the statistic alone has it."""
    answers = nb.Table(ROWS).agg(*ALL, count(), count("gap"), epsilon=10_000, rng=random.Random(1))
    ages = np.sort(ROWS["age"])
    assert answers["mean(income)"].value == pytest.approx(ROWS["income"].mean(), rel=1e-2)
    assert answers["sum(age)"].value == pytest.approx(ages.sum(), rel=1e-3)
    assert answers["median(age)"].value == ages[N // 2]
    assert answers["quantile(age, 0.9)"].value == ages[int(0.9 * N)]
    assert answers["quantiles(age, 0.25, 0.75)"].value == (ages[N // 4], ages[3 * N // 4])
    assert answers["bounds(age)"].value == pytest.approx((18, 89), abs=1)
    assert answers["count()"].value == N
    assert answers["count(gap)"].value == np.isfinite(ROWS["gap"]).sum()


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=str)
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_there_is_one_charge_for_all_and_the_split_is_within_it(spent, neighbors):
    """The loss is what the user gave; its parts add up to no more, and the purpose lists the statistics."""
    purse = Purse()
    table = nb.Table(ROWS, budget=purse, neighbors=neighbors)
    answers = table.agg(*ALL, count("gap"), **spent)
    ((loss, purpose),) = purse.charged
    assert loss == answers.loss
    ((kind, amount),) = spent.items()
    assert rational(getattr(loss, kind), kind) == rational(amount, kind)
    parts = [rational(part, "part") for part in answers.parameters["split"].values()]
    assert (
        Fraction(9, 10) * rational(amount, kind) <= np.sum(parts) <= rational(amount, kind) * (1 + Fraction(1, 10**9))
    )
    assert purpose.startswith("agg mean(income), sum(age), median(age)")


def test_a_request_that_is_wrong_is_refused_before_the_charge():
    """A column, a rank, a keyword or a statistic that is not there, and nothing at all."""
    purse = Purse()
    table = nb.Table({**ROWS, "name": np.array(["x"] * N)}, budget=purse)
    for asks, says in [
        ((), "needs a statistic"),
        ((mean("age"), mean("age")), "got mean\\(age\\) twice"),
        ((quantile("age", 2),), "q must be between 0 and 1"),
        ((mean("age", lower=5, upper=1),), "lower"),
    ]:
        with pytest.raises(ValueError, match=says):
            table.agg(*asks, epsilon=1)
    with pytest.raises(TypeError, match="must be numeric"):
        table.agg(mean("name"), epsilon=1)
    with pytest.raises(ValueError, match="not in the table"):
        table.agg("mean(nothing)", epsilon=1)
    assert not purse.charged


def test_a_size_is_bought_once():
    """The median knows the size of its column; a mean, which divides by it, buys a better one."""
    answers = nb.Table(ROWS).agg(mean("income"), median("income"), epsilon=1)
    assert "size" in answers["mean(income)"].parameters["split"]
    assert "size" not in answers["median(income)"].parameters["split"]


def test_answers_are_explained_together():
    """What each says, and the total once."""
    said = nb.explain(nb.Table(ROWS).agg(count(), count("gap"), epsilon=1)).text()
    assert "count(gap): What was asked and answered" in said
    assert said.count("The privacy loss is epsilon 1") == 1


@pytest.mark.medium
def test_units_are_bounded_for_all_statistics_together():
    """With two rows a unit the loss is for the unit, and each row pays half."""
    rows = {**ROWS, "who": np.arange(N) // 4}
    answers = nb.Table(rows, unit="who", rows_per_unit=2).agg(mean("age"), count(), epsilon=1, rng=random.Random(1))
    assert answers.loss.unit == "who"
    assert answers.parameters["rows_per_unit"] == 2
    assert answers["count()"].value == pytest.approx(N / 2, abs=60)


def test_conditions_and_computed_columns_are_in_all_releases():
    """Each release says which rows count."""
    table = nb.Table(ROWS).with_columns(double="age * 2").where("age > 30")
    answers = table.agg(mean("double"), count(), epsilon=1)
    assert answers.parameters["where"] == "age > 30"
    assert answers["mean(double)"].parameters["formulas"] == {"double": "age * 2"}
    assert "where age > 30" in str(answers) or "Rows where age > 30" in str(answers)


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=str)
def test_public_numbers_of_records_cost_nothing(spent):
    """Under swap the number of rows is public, and so is that of a column in which none can be missing."""
    purse = Purse()
    table = nb.Table(ROWS, neighbors="swap", budget=purse)
    answers = table.agg(count(), count("age"), rng=random.Random(1), **spent)
    assert [answers["count()"].value, answers["count(age)"].value] == [N, N]
    assert (
        answers.loss.rho == 0 and answers.parameters["split"] == {} and [loss.rho for loss, _ in purse.charged] == [0]
    )
    for asks in ((count(), count("gap")), (count(), median("age"))):  # these need noise, and get all of it
        assert table.agg(*asks, rng=random.Random(1), **spent).loss.rho > 0
    assert nb.Table(ROWS).agg(count(), rng=random.Random(1), **spent).loss.rho > 0
