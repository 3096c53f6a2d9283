"""How many rows a plan says that an answer needs: with them it is answered nearly always, and with half of them not."""

from fractions import Fraction

import numpy as np
import pytest

import nobounds as nb
from nobounds.accounting.spending import Spending
from nobounds.planning.answerable import Answerable
from nobounds.planning.groups import PlannedGroups

ONE = Spending(Fraction(1), False)
ASKED = {
    "quantile": lambda x, **options: nb.quantile(x, 0.5, **options),
    "maximum": nb.maximum,
    "sum": nb.sum,
    "mean": nb.mean,
}


def answered(statistic, rows, neighbors, runs):
    """The share of releases of this many rows that are answered."""
    found = [
        ASKED[statistic](np.random.default_rng(seed).normal(50, 10, rows), epsilon=1, neighbors=neighbors).value
        for seed in range(runs)
    ]
    return np.mean([value is not None for value in found])


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("statistic", ASKED)
def test_what_a_plan_calls_answerable_is_answered(statistic, neighbors):
    """In 95% of runs and more; with a fifth of the rows it is not."""
    qs = (Fraction(1, 2),) if statistic == "quantile" else ()
    rows = Answerable(statistic, qs, neighbors).rows(ONE)
    assert answered(statistic, rows, neighbors, 40) >= 0.9  # 36 of 40 have a chance of 0.05 at 95%
    assert answered(statistic, rows // 5, neighbors, 20) < 0.5


@pytest.mark.parametrize("statistic", ASKED)
def test_a_release_and_a_plan_say_the_same_of_rows(statistic):
    """What a release says would do is what the plan needs, within its two digits."""
    few = ASKED[statistic](np.random.default_rng(1).normal(50, 10, 30), epsilon=1)
    qs = (Fraction(1, 2),) if statistic == "quantile" else ()
    assert few.parameters["needed"]["rows"] == pytest.approx(Answerable(statistic, qs).rows(ONE), rel=0.05)


def test_a_tail_needs_more_rows_than_the_middle():
    """So does a smaller epsilon."""
    middle, tail = (Answerable("quantile", (q,)).rows(ONE) for q in (Fraction(1, 2), Fraction(99, 100)))
    assert middle < tail < Answerable("quantile", (Fraction(99, 100),), "swap").rows(Spending(Fraction(1, 2), False))
    assert Answerable("count").rows(ONE) == 1


def test_a_heap_of_equal_records_does_not_count_around_a_clip():
    """A mean of which half the records are 0 needs twice as many, and a median no more."""
    mean, heaped = (Answerable("mean", heap=heap).rows(ONE) for heap in (0.0, 0.5))
    assert heaped == pytest.approx(2 * mean, rel=0.05)
    assert Answerable("median", heap=0.5).rows(ONE) == Answerable("median").rows(ONE)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["median", "maximum", "sum", "mean"])
def test_groups_of_the_rows_that_a_plan_needs_are_answered(statistic):
    """In 95% of groups and more; with a fifth of the rows most are not."""
    grouping = PlannedGroups(groups=8)
    rows = Answerable(statistic, grouping=grouping).rows(ONE)

    def share(size):
        rng, missing = np.random.default_rng(3), []
        for _ in range(10):
            table = nb.Table({"g": np.arange(8 * size) % 8, "x": rng.normal(50, 10, 8 * size)})
            by = table.group_by("g", keys=list(range(8)))
            missing += np.ma.getmaskarray(getattr(by, statistic)("x", epsilon=1).values).tolist()
        return 1 - np.mean(missing)

    assert share(rows) >= 0.9  # of 80 groups, 72 have a chance of 0.05 at 95%
    assert share(rows // 5) < 0.5
