"""Private ranges: what they cost, and bounds, candidates and edges that other libraries can take."""

import numpy as np
import pytest

import nobounds as nb
from nobounds.interop import Range, private_ranges


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return nb.Table(
        {"income": rng.lognormal(10, 1, 20_000), "age": rng.integers(18, 90, 20_000)}, budget=nb.Budget(epsilon=1)
    )


@pytest.mark.medium
def test_ranges_cost_one_epsilon_and_hold_most_records(table):
    """Two columns for one charge; whole numbers have whole bounds."""
    ranges = private_ranges(table, ["income", "age"], epsilon="0.4")
    assert ranges.loss.epsilon == 0.4 and len(ranges) == 2
    low, high = ranges["income"].bounds
    assert 500 < low < 3000 and 150_000 < high < 600_000
    assert all(isinstance(end, int) for end in ranges["age"].bounds)
    lower, upper = ranges.arrays()
    assert lower.tolist() == [low, ranges["age"].bounds[0]] and (lower < upper).all()


@pytest.mark.medium
def test_the_budget_of_the_table_is_charged_once(table):
    """Before the data are read, and a range that does not fit is refused."""
    budget = nb.Budget(epsilon="0.5")
    private_ranges(nb.Table({"x": np.arange(20_000.0)}, budget=budget), ["x"], epsilon="0.5")
    assert budget.remaining == 0 and len(budget.history) == 1
    with pytest.raises(nb.BudgetExceeded):
        private_ranges(table, ["age"], epsilon=2)


@pytest.mark.medium
def test_too_few_rows_have_no_range_and_other_types_are_refused():
    """After the release, from what was released: the error says no more than the marks."""
    with pytest.raises(ValueError, match="too few rows"):
        private_ranges(nb.Table({"x": np.arange(5.0)}), ["x"], epsilon="0.1")
    dates = np.datetime64("2020-01-01") + np.arange(5000)
    with pytest.raises(TypeError, match="column of numbers"):
        private_ranges(nb.Table({"day": dates}), ["day"], epsilon=1)
    with pytest.raises(ValueError, match="two levels"):
        private_ranges(nb.Table({"x": np.arange(5.0)}), ["x"], epsilon=1, levels=[0.5])


def test_candidates_are_close_where_records_are():
    """As many between any two released quantiles as lie between their levels; increasing, without repeats."""
    found = Range((0.0, 0.5, 1.0), (0.0, 10.0, 1000.0)).candidates(101)
    assert len(found) == 101 and sum(value <= 10 for value in found) == 51
    assert found == sorted(set(found)) and (found[0], found[-1]) == (0.0, 1000.0)
    ties = Range((0.0, 0.5, 1.0), (18, 18, 20))
    assert ties.candidates(50) == [18, 19, 20] and all(isinstance(value, int) for value in ties.candidates(50))


def test_edges_divide_records_evenly():
    """The inner edges of four bins are the quartiles."""
    assert Range((0.0, 0.5, 1.0), (0.0, 10.0, 1000.0)).edges(4) == [5.0, 10.0, 505.0]


@pytest.mark.parametrize(
    ("values", "bounds"), [((3, 3), (2, 4)), ((0.0, 0.0), (-1e-3, 1e-3)), ((-5.0, -5.0), (-5.005, -4.995))]
)
def test_equal_ends_are_moved_apart(values, bounds):
    """An empty range is refused elsewhere."""
    assert Range((0.1, 0.9), values).bounds == pytest.approx(bounds)


@pytest.mark.parametrize("method", ["candidates", "edges"])
def test_one_is_too_few(method):
    """One candidate is no choice, one bin no histogram."""
    with pytest.raises(ValueError, match="at least 2"):
        getattr(Range((0.0, 1.0), (0.0, 1.0)), method)(1)
