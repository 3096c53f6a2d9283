"""A plan of a summary: what it calls answered is answered, and nothing is read."""

import json
import random
from itertools import pairwise

import numpy as np
import pytest

import nobounds as nb
from nobounds.planning.several.summaries import plan_describe

CASES = [
    (1, 230, {"epsilon": 1}),
    (7, 1000, {"epsilon": 1}),
    (4, 1000, {"epsilon": 1, "neighbors": "swap"}),
    (3, 1500, {"rho": 0.1}),
    (2, 600, {"epsilon": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rows", "terms"), CASES, ids=str)
def test_what_is_called_answered_is_answered(columns, rows, terms):
    """In at least 95% of columns, over 40 runs or more, within what chance does to so few of them.

    Means and standard deviations depend on the records too: they are answered in a third of columns at least.
    """
    planned = plan_describe(columns, rows=rows, **terms)
    rng, bits = np.random.default_rng(3), random.Random(3)
    runs = max(160 // columns, 40)
    shown = dict.fromkeys(planned.answered, 0)
    for _ in range(runs):
        described = nb.describe({f"c{k}": rng.normal(50, 9, rows) for k in range(columns)}, rng=bits, **terms)
        for summary in described.columns.values():
            for name in shown:
                shown[name] += summary.values[name] is not None
    total = runs * columns
    least = 0.95 * total - 2.4 * (0.95 * 0.05 * total) ** 0.5
    assert all(seen >= (total / 3 if name in ("mean", "std") else least) for name, seen in shown.items())


@pytest.mark.medium
@pytest.mark.parametrize(("columns", "rows", "terms"), CASES, ids=str)
def test_what_is_needed_is_enough(columns, rows, terms):
    """With the rows or the epsilon that a missing statistic needs, it is answered."""
    planned = plan_describe(columns, rows=rows, **terms)
    missing = next((part for part in planned.parts if not part.answered), None)
    if missing is not None:
        assert set(missing.statistics) <= set(plan_describe(columns, rows=missing.rows, **terms).answered)
        more = terms | {planned.spending: missing.spent}
        assert set(missing.statistics) <= set(plan_describe(columns, rows=rows, **more).answered)


@pytest.mark.medium
def test_more_rows_answer_no_less():
    """What is answered with some rows is answered with more."""
    answered = [set(plan_describe(3, rows=rows, epsilon=1).answered) for rows in (10, 300, 1000, 3000, 10_000)]
    assert all(few <= many for few, many in pairwise(answered))
    assert answered[0] == {"count"} and len(answered[-1]) == 10


def test_units_share_epsilon():
    """With m rows per unit, as many statistics are answered as for an m-th of epsilon."""
    with_units = plan_describe(2, rows=4000, epsilon=1, rows_per_unit=4)
    assert with_units.answered == plan_describe(2, rows=4000, epsilon=0.25).answered
    assert "at most 4 count" in str(with_units)


def test_a_plan_is_text_and_json():
    """A row for each part, a sentence on what is answered, and plain values."""
    planned = plan_describe(["age", "income"], rows=500, epsilon=1)
    assert planned.columns == 2
    assert "Answered in each column: count, 50%" in str(planned)
    assert json.loads(planned.to_json())["answered"] == list(planned.answered)


@pytest.mark.parametrize(
    ("columns", "rows", "message"), [(0, 10, "columns"), ([], 10, "columns"), (3, 0, "rows"), (3, "2.5", "rows")]
)
def test_errors_are_plain(columns, rows, message):
    """They name what is wrong."""
    with pytest.raises(ValueError, match=message):
        plan_describe(columns, rows=rows, epsilon=1)


def test_no_epsilon_above_20_is_named():
    """With rows for which 20 are not enough, rows alone are named; else an epsilon that is enough."""
    few = plan_describe(7, rows=50, epsilon=1)
    assert all(part.rows is not None for part in few.parts if not part.answered)
    assert any(not part.answered and part.spent is None for part in few.parts)
    for part in plan_describe(7, rows=150, epsilon=1).parts:
        assert part.spent is None or part.spent <= 20
        if part.spent is not None:
            assert set(part.statistics) <= set(plan_describe(7, rows=150, epsilon=part.spent).answered)


def test_columns_are_a_number_or_names():
    """A table or None is neither."""
    for columns in (nb.Table({"x": [1.0]}), None, 2.5):
        with pytest.raises(TypeError, match="columns must be a number or a list of names"):
            plan_describe(columns, rows=100, epsilon=1)
