"""Several statistics of each group: one choice of keys, one charge, counts that are bought once."""

import random

import numpy as np
import pytest
from support.purse import Purse

import nobounds as nb
from nobounds.ask import bounds, count, mean, median, quantile
from nobounds.exact import rational

RNG = np.random.default_rng(8)
N = 6000
ROWS = {
    "city": np.array(["x", "y", "z"])[RNG.choice(3, N, p=[0.6, 0.39, 0.01])],
    "who": np.arange(N) // 2,
    "fare": RNG.lognormal(2, 1, N).round(2),
    "age": RNG.integers(18, 90, N),
}
KEYS = ["x", "y", "nobody"]
ASKS = (mean("fare"), median("age"), quantile("fare", 0.9), count())


def test_all_statistics_are_right_at_a_huge_epsilon():
    """For each key, also one that no row has."""
    answers = nb.Table(ROWS).group_by("city", keys=KEYS).agg(*ASKS, epsilon=50_000, rng=random.Random(1))
    for city in ("x", "y"):
        inside = ROWS["city"] == city
        assert answers["mean(fare)"][city] == pytest.approx(ROWS["fare"][inside].mean(), rel=0.02)
        assert answers["median(age)"][city] == pytest.approx(np.median(ROWS["age"][inside]), abs=1)
        assert answers["quantile(fare, 0.9)"][city] == pytest.approx(np.quantile(ROWS["fare"][inside], 0.9), rel=0.02)
        assert answers["count()"][city] == inside.sum()
    assert answers["mean(fare)"]["nobody"] is None and answers["median(age)"]["nobody"] is None


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.2}], ids=str)
def test_there_is_one_charge_and_the_split_is_within_it(spent):
    """With public keys the loss is what was given."""
    purse = Purse()
    answers = nb.Table(ROWS, budget=purse).group_by("city", keys=KEYS).agg(*ASKS, bounds("age"), **spent)
    ((loss, purpose),) = purse.charged
    ((kind, amount),) = spent.items()
    assert rational(getattr(loss, kind), kind) == rational(amount, kind)
    parts = sum(rational(part, "part") for part in answers.parameters["split"].values())
    assert parts <= rational(amount, kind) * (1 + rational("1e-9", "rounding"))
    assert purpose == "agg mean(fare), median(age), quantile(fare, 0.9), count(), bounds(age) by city"
    assert set(answers) == {*(ask.name for ask in ASKS), "minimum(age)", "maximum(age)"}


def test_keys_are_chosen_once_for_all_statistics():
    """All releases have the same keys; the delta is charged once, and each release states it."""
    purse = Purse()
    groups = nb.Table(ROWS, unit="who", rows_per_unit=2, budget=purse).group_by("city", delta=1e-6)
    answers = groups.agg(*ASKS, epsilon=2, rng=random.Random(3))
    ((loss, _),) = purse.charged
    assert (loss.epsilon, loss.delta, loss.unit) == (2, 1e-6, "who")
    assert {tuple(release.groups) for release in answers.releases.values()} == {tuple(answers.groups)}
    for release in answers.releases.values():
        assert release.loss.delta == 1e-6 and release.loss.epsilon < 2
        assert release.parameters["keys"] == "private"


def test_a_count_is_bought_once_and_shown_beside_each_quantile():
    """The counts beside medians of whole numbers, of which none is missing, are those of the rows."""
    answers = nb.Table(ROWS).group_by("city", keys=KEYS).agg(median("age"), count(), epsilon=1)
    assert answers["median(age)"].counts.tolist() == answers["count()"].values.tolist()
    assert "counts" not in answers.parameters["split"]
    assert "counts" in nb.Table(ROWS).group_by("city", keys=KEYS).agg(median("fare"), epsilon=1).parameters["split"]


def test_a_column_with_few_values_is_not_answered_by_the_number_of_rows():
    """Counts are those of the column where records can be missing: a wrong number must not look right."""
    rows = {"city": ROWS["city"], "gap": np.where(np.arange(N) < 30, ROWS["fare"], np.nan)}
    answers = nb.Table(rows).group_by("city", keys=["x"]).agg(median("gap"), count(), epsilon=1, rng=random.Random(1))
    assert answers["median(gap)"]["x"] is None and answers["count()"]["x"] > 3000


def test_what_is_wrong_is_refused_before_the_charge():
    """A rank, a column, nothing, and something twice."""
    purse = Purse()
    groups = nb.Table(ROWS, budget=purse).group_by("city", keys=KEYS)
    for asks, says in [
        ((quantile("age", 2),), "between 0 and 1"),
        ((), "needs a statistic"),
        (("count", "count"), "twice"),
        (("bounds(age)", "maximum(age)"), "twice"),
        (("quantiles(age, 0.5, 0.9)", "quantile(age, 0.9)"), "twice"),
    ]:
        with pytest.raises(ValueError, match=says):
            groups.agg(*asks, epsilon=1)
    with pytest.raises(TypeError, match="must be numeric"):
        groups.agg("mean(city)", epsilon=1)
    assert not purse.charged
