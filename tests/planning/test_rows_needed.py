"""How many rows are needed: the forecast for that many has the error, and fewer have not."""

import pytest

import nobounds as nb
from nobounds.planning.rows_needed import rows_needed


@pytest.mark.medium
@pytest.mark.parametrize(
    ("statistic", "goal", "more"),
    [
        ("quantile", {"percentiles": 0.5}, {"q": 0.5}),
        ("mean", {"relative_error": 0.05}, {}),
        ("count", {"relative_error": 0.01}, {}),
    ],
)
def test_that_many_rows_are_enough_and_half_are_not(statistic, goal, more):
    """The expected error is within the goal for the number, and beyond it for half of the number."""
    rows = rows_needed(statistic, epsilon=1, data="exponential", **goal, **more)

    def error(n):
        forecast = nb.plan(statistic, n=n, data="exponential", epsilon=1, **more)
        row = forecast.rows[0]
        return 100 * row.rank_error / n if "percentiles" in goal else row.value_error / abs(forecast.typical[0])

    (most,) = goal.values()
    assert error(rows) <= 1.3 * most
    assert error(rows // 2) > most


def test_without_an_error_it_is_for_an_answer_at_all():
    """Fewer rows for a larger epsilon, fewest where any answer will do; a count needs one."""
    median = rows_needed("median", epsilon=1)
    assert rows_needed("mean", epsilon=1) < median
    assert rows_needed("median", epsilon=2) < median
    assert rows_needed("count", epsilon=1) == 1


def test_groups_and_units_need_more():
    """All groups together; those with private keys as many units as it takes to be shown; m rows of a unit share."""
    one = rows_needed("median", epsilon=1)
    grouped = rows_needed("median", epsilon=1, groups=10)
    assert grouped % 10 == 0 and grouped > 2 * one
    assert rows_needed("median", epsilon=1, groups=10, delta=1e-6) > grouped
    assert rows_needed("median", epsilon=1, rows_per_unit=4) == rows_needed("median", epsilon=0.25)
    shown = nb.plan("count", n=1000, data="uniform", groups=10, delta=1e-6, epsilon=1).rows[0].units
    assert rows_needed("count", epsilon=1, groups=10, delta=1e-6) == 10 * shown


@pytest.mark.parametrize(
    ("statistic", "options", "message"),
    [
        ("mean", {"bins": 3}, "histogram"),
        ("mean", {"groups": 3, "relative_error": 0.1, "data": "uniform"}, "groups"),
        ("sum", {"percentiles": 1, "data": "uniform"}, "relative_error"),
        ("mean", {"relative_error": 0.1}, "data"),
        ("mean", {"relative_error": 0.1, "value_error": 1, "data": "uniform"}, "one of"),
    ],
)
def test_errors_are_plain(statistic, options, message):
    """They say what to give."""
    with pytest.raises(ValueError, match=message):
        rows_needed(statistic, epsilon=1, **options)
