"""quantile, maximum, minimum and bounds as a user calls them: right answers, odd input, errors that tell nothing."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from support import unmarked

import nobounds as nb


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_with_a_huge_epsilon_answers_are_right_to_the_ladder_s_step(noise, neighbors):
    """At epsilon 10,000 every statistic is the order statistic at its rank or next to it, to one step of 0.4%."""
    data = np.sort(np.random.default_rng(1).lognormal(1, 2, 5000))
    options = {"epsilon": 10_000, "neighbors": neighbors, "noise": noise}
    for q in (0.01, 0.3, 0.5, 0.9, 0.999):
        rank = round(q * 5000)
        assert data[rank - 2] * 0.995 < unmarked.quantile(data, q, **options).value < data[rank + 1] * 1.005
    if noise != "gumbel":  # whose ties at the threshold are fair coins, however small the noise
        assert unmarked.maximum(data, **options).value == pytest.approx(data.max(), rel=0.01)
        assert unmarked.minimum(data, **options).value == pytest.approx(data.min(), abs=0.03 * float(np.median(data)))
        low, high = unmarked.bounds(-data, **options).value  # by longer steps, and a record or two lie outside
        assert -1.1 * data.max() < low < -0.9 * data[-3] and abs(high) < 0.1 * float(np.median(data))


@pytest.mark.medium
def test_grids_return_grid_values():
    """Integer types answer with Python ints, cents with cents, booleans with 0 or 1."""
    rng = np.random.default_rng(2)
    ages = rng.integers(18, 90, 3000)
    assert isinstance(unmarked.quantile(ages, 0.5, epsilon=1).value, int)
    cents = rng.integers(100, 400, 3000) / 100
    value = unmarked.quantile(cents, 0.5, epsilon=1, resolution=0.01).value
    assert value == round(value, 2)
    assert unmarked.maximum(np.array([True, False] * 500), epsilon=1).value in (0, 1)
    assert unmarked.quantile(np.arange(1000) * 5, 0.5, epsilon=50, resolution=5).value % 5 == 0
    assert unmarked.quantile(ages, 0.5, epsilon=1, resolution=0.5).value * 2 % 1 == 0


def test_a_type_states_its_bounds():
    """Unsigned integers are not below 0 and booleans 0 or 1, so nothing is spent to learn it."""
    counts = np.random.default_rng(3).poisson(3, 2000).astype(np.uint16)
    release = unmarked.maximum(counts, epsilon=1)
    assert release.parameters["lower"] == "0"
    assert "lower" not in unmarked.maximum(counts.astype(np.int16), epsilon=1).parameters
    assert unmarked.maximum(np.ones(100, dtype=bool), epsilon=1).parameters["upper"] == "1"


def test_a_finer_beta_gives_finer_answers():
    """beta bounds the ratio of neighbouring candidates."""
    data = np.random.default_rng(4).lognormal(0, 1, 200_000)
    truth = np.quantile(data, 0.5)
    coarse = unmarked.quantile(data, 0.5, epsilon=1000, beta=1.5).value
    fine = unmarked.quantile(data, 0.5, epsilon=1000, beta=1.00001).value
    assert abs(fine - truth) < 1e-4 < abs(coarse - truth)


@pytest.mark.medium
def test_a_ladder_of_one_s_own():
    """Only the given candidates can come out."""
    ladder = nb.Ladder.uniform(0, 10, 10)
    value = unmarked.quantile(np.linspace(0, 10, 1000), 0.5, epsilon=100, ladder=ladder).value
    assert value == pytest.approx(4.5, abs=1)
    geometric = nb.Ladder.geometric(1.01)
    assert unmarked.quantile(np.linspace(0, 10, 1000), 0.5, epsilon=100, ladder=geometric).value == pytest.approx(
        5, rel=0.02
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"epsilon": 0}, ValueError, "epsilon must be greater than 0, got epsilon=0"),
        ({"epsilon": -1}, ValueError, "epsilon"),
        ({"epsilon": math.nan}, ValueError, "epsilon must be a finite number"),
        ({"epsilon": math.inf}, ValueError, "epsilon must be a finite number"),
        ({"epsilon": "1e400"}, ValueError, "epsilon must be between"),
        ({"epsilon": 1e-310}, ValueError, "epsilon must be between"),
        ({"epsilon": "much"}, ValueError, "epsilon"),
        ({"epsilon": None}, ValueError, "give epsilon .* or rho .*, got neither"),
        ({"epsilon": True}, TypeError, "epsilon must be a number"),
        ({"epsilon": 1, "q": 1.5}, ValueError, "q must be between 0 and 1, got q=1.5"),
        ({"epsilon": 1, "q": -0.1}, ValueError, "q must be between 0 and 1"),
        ({"epsilon": 1, "q": math.nan}, ValueError, "q must be a finite number"),
        ({"epsilon": 1, "beta": 1}, ValueError, "beta must be greater than 1, got beta=1"),
        ({"epsilon": 1, "resolution": 0}, ValueError, "resolution must be greater than 0"),
        ({"epsilon": 1, "resolution": 1e-320}, ValueError, "resolution"),
        ({"epsilon": 1, "lower": 2, "upper": 1}, ValueError, "upper must be greater than lower"),
        ({"epsilon": 1, "lower": math.inf}, ValueError, "lower must be a finite number"),
        ({"epsilon": 1, "neighbors": "bounded"}, ValueError, "neighbors must be one of add-remove, swap"),
        ({"epsilon": 1, "noise": "gaussian"}, ValueError, "noise must be one of exponential, laplace, gumbel"),
        ({"epsilon": "1e999999999"}, ValueError, "epsilon must have at most 1000 digits"),
        ({"epsilon": 10**5000}, ValueError, "epsilon must have at most 1000 digits"),
        ({"epsilon": 1, "lower": "1e5000"}, ValueError, "lower must have at most 1000 digits"),
        ({"epsilon": 1, "upper": "1e400"}, ValueError, "upper must be within the range of floats"),
        ({"epsilon": 1, "resolution": "1e400"}, ValueError, "resolution must be within the range"),
        ({"epsilon": 1, "ladder": "grid"}, TypeError, "ladder must be a nobounds.Ladder"),
        ({"epsilon": 1, "noise": np.array([1, 2])}, ValueError, "noise must be one of"),
        ({"epsilon": 1, "method": "guess"}, ValueError, "method must be one of auto, walk, flip, exponential"),
        ({"epsilon": 1, "rng": 7}, TypeError, "rng must be None"),
        ({"epsilon": 1, "beta": 1.1, "ladder": nb.Ladder.float_bits()}, ValueError, "ladder cannot be combined"),
    ],
)
def test_wrong_parameters_are_named(options, error, words):
    """The message has the parameter, the rule and the value."""
    q = options.pop("q", 0.5)
    with pytest.raises(error, match=words):
        unmarked.quantile([1.0, 2.0], q, **options)


@pytest.mark.parametrize(
    "data",
    [
        np.array([1, "a"], dtype=object),
        np.array(["a", "b"]),
        np.zeros((3, 3)),
        np.array(3.0),
        np.array([1j]),
        "words",
        3.0,
        None,
        {1.0, 2.0},
        {"a": 1},
        iter([1.0]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_not_a_column_of_numbers_is_refused(data):
    """By its type or dimensions alone."""
    with pytest.raises((TypeError, ValueError), match="data must"):
        unmarked.quantile(data, 0.5, epsilon=1)


@pytest.mark.medium
def test_extreme_ranks_are_served():
    """A q with hundreds of digits is an exact rational like any other."""
    data = np.arange(1000.0)
    for q in (5e-324, "1e-400", 1e-300, F(1, 3**200), 1 - F(1, 10**30), 0.123456789012345):
        assert math.isfinite(unmarked.quantile(data, q, epsilon=1).value)


def test_a_release_travels_as_json_and_prints_safely():
    """What was written comes back equal; the number of rows is not in it."""
    release = unmarked.bounds(np.arange(4321.0), epsilon=0.3)
    assert nb.Release.from_json(release.to_json()) == release
    assert "4321" not in str(release) + repr(release)
    assert release.loss.epsilon == 0.3
    assert str(release).startswith("bounds: (")


def test_the_same_seed_gives_the_same_answer_and_none_gives_fresh_ones():
    """A seeded generator is for tests; without one answers differ."""
    data = np.random.default_rng(0).lognormal(0, 2, 500)
    first, second = (unmarked.maximum(data, epsilon=0.1, rng=np.random.default_rng(9)).value for _ in range(2))
    assert first == second
    assert len({unmarked.maximum(data, epsilon=0.1).value for _ in range(20)}) > 5


def test_every_kind_of_container_gives_the_same_law():
    """The same seed gives the same answer from a list, arrays, pandas, polars and Arrow."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = np.random.default_rng(6).normal(10, 3, 800)
    kinds = [
        data,
        list(data),
        tuple(data),
        np.repeat(data, 2)[::2],
        pd.Series(data),
        pd.Series(data, dtype="Float64"),
        pl.Series(data),
        pa.array(data),
        pa.chunked_array([data[:300], data[300:]]),
    ]
    answers = {unmarked.quantile(kind, 0.75, epsilon=1, rng=np.random.default_rng(3)).value for kind in kinds}
    assert len(answers) == 1


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.02, 0.98])
def test_the_largest_floats_are_served_near_the_ends(q):
    """A private scale at the end of the range of floats is no error, and the answer is finite."""
    data = np.clip(np.random.default_rng(0).normal(size=1000), -3, 3) * 5e307
    for seed in range(20):
        assert np.isfinite(unmarked.quantile(data, q, epsilon=1, rng=random.Random(seed)).value)
    endless = np.concatenate([np.full(700, np.inf), np.arange(300.0)])
    for seed in range(60):
        assert np.isfinite(unmarked.quantile(endless, q, epsilon=1, rng=random.Random(seed)).value)


@pytest.mark.parametrize("rows", [0, 1, 10**9, 10**400], ids=["0", "1", "1e9", "1e400"])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_any_stated_number_of_rows_is_served_and_costs_no_more(rows, neighbors):
    """A wrong statement may cost accuracy, but neither an error nor privacy."""
    release = unmarked.quantile([1.0, 2.0, 3.0], 0.5, epsilon=1, neighbors=neighbors, rows=rows, rng=random.Random(1))
    assert (release.value is None) == (rows == 0)
    assert release.loss.epsilon <= 1
    with pytest.raises(ValueError, match="rows must be a whole number"):
        unmarked.quantile([1.0], 0.5, epsilon=1, rows=-1)


@pytest.mark.medium
@pytest.mark.parametrize("resolution", ["0.1", "0.01", "0.3", "1", "7"])
@pytest.mark.parametrize("points", [3, 7, 37, 337, 2929, 100_003])
def test_an_extreme_on_a_grid_is_the_point_itself(resolution, points):
    """Copies of one grid point have it as their maximum and minimum, on whichever side of a rung's middle it lies."""
    value = float(F(resolution) * points)
    data = np.full(1000, value)
    for sign in (1, -1):
        for statistic in (nb.maximum, nb.minimum):
            found = statistic(sign * data, epsilon=50, resolution=resolution, rng=random.Random(1)).value
            assert found == pytest.approx(sign * value, rel=1 / 200 if points > 256 else 1e-12)
