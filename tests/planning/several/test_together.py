"""The plan of several statistics is the split that the library makes, and what it calls answered is answered."""

import numpy as np
import pytest

import nobounds as nb
from nobounds.ask import Ask
from nobounds.planning.several.together import plan_together

ASKS = tuple(map(Ask.parse, ("count()", "mean(x)", "median(x)", "sum(x)", "maximum(x)", "quantile(x, 0.9)")))


@pytest.mark.medium
@pytest.mark.parametrize("spending", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize(("rows", "rows_per_unit"), [(20_000, None), (20_000, 3)])
def test_the_split_is_that_of_agg(spending, rows, rows_per_unit):
    """Each statistic gets what it gets in an answer, up to the noise of the sizes."""
    planned = plan_together(ASKS, rows=rows, rows_per_unit=rows_per_unit, **spending)
    units = {"unit": "who", "rows_per_unit": rows_per_unit} if rows_per_unit else {}
    data = {"x": np.random.default_rng(1).lognormal(3, 0.7, rows), "who": np.arange(rows) // 3}
    split = nb.Table(data, **units).agg(*ASKS, **spending).parameters["split"]
    for each in planned:
        assert float(each.amount) == pytest.approx(split[each.ask.name], rel=0.1)


@pytest.mark.medium
@pytest.mark.parametrize(("rows", "epsilon"), [(200, 1), (20_000, 1), (20_000, 0.1)])
def test_what_the_plan_of_several_calls_answered_is_answered(rows, epsilon):
    """In most of ten runs; and what gets nothing is never answered."""
    planned = plan_together(ASKS, rows=rows, epsilon=epsilon)
    table = nb.Table({"x": np.random.default_rng(2).lognormal(3, 0.7, rows)})
    runs = [table.agg(*ASKS, epsilon=epsilon) for _ in range(10)]
    for each in planned:
        answered = sum(run[each.ask.name].value is not None for run in runs)
        assert answered >= 8 if each.answered else answered < 10 or each.amount > 0


@pytest.mark.medium
@pytest.mark.parametrize(("groups", "rows"), [(4, 8000), (20, 40_000), (10, 500)])
def test_groups_too(groups, rows):
    """A group of the stated size is answered where the plan says so, and in small groups hardly anything is."""
    planned = plan_together(ASKS, rows=rows, epsilon=1, groups=groups)
    data = {"x": np.random.default_rng(3).lognormal(3, 0.7, rows), "g": np.arange(rows) % groups}
    answers = nb.Table(data).group_by("g", keys=list(range(groups))).agg(*ASKS, epsilon=1)
    for each in planned:
        count = int(np.ma.count(answers[each.ask.name].values))
        assert count >= 0.8 * groups if each.answered else rows > 500 or count <= 0.2 * groups


def test_keys_that_are_chosen_cost_their_share():
    """A quarter of epsilon chooses them, so that a statistic alone gets three quarters."""
    (listed,) = plan_together((Ask("count"),), rows=1000, epsilon=1, groups=5)
    (chosen,) = plan_together((Ask("count"),), rows=1000, epsilon=1, groups=5, delta="1e-6")
    assert (listed.amount, chosen.amount) == (1, listed.amount * 3 / 4)


def test_more_rows_are_asked_for_where_privacy_is_stronger():
    """The rows that a statistic needs grow with every step to a smaller epsilon."""
    needed = [plan_together((Ask.parse("mean(x)"),), rows=10**6, epsilon=epsilon)[0].rows for epsilon in (4, 1, 0.1)]
    assert needed == sorted(needed) and needed[0] < needed[-1]
