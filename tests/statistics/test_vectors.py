"""Vectors: integer sums of bounded norm whatever the rows, noise of the right law, and the loss that was asked for."""

import math
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.clip import Clip, Search
from nobounds.clipping.vectors import VectorPlan
from nobounds.counting.ball import Ball
from nobounds.engines.memory.arrays import column
from nobounds.engines.memory.vectors import Rows
from nobounds.exact import rational
from nobounds.ladders.stated import Stated
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw
from nobounds.release.release import Release
from nobounds.statistics.vectors import vector_mean, vector_sum

LIMIT = 1e-9
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "private_gradients.py"
relations = pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
statistics = pytest.mark.parametrize("statistic", [vector_sum, vector_mean])
floats = st.floats(allow_nan=False, allow_infinity=False)
matrices = st.tuples(st.integers(1, 12), st.integers(1, 9)).flatmap(
    lambda s: hnp.arrays(np.float64, s, elements=floats)
)
clips = st.floats(1e-300, 1e300).map(F)


def exact_norm2(row) -> int:
    return sum(int(k) ** 2 for k in row)


def cloud(n: int, d: int, seed: int = 0, shift: float = 0.0):
    """Rows in random directions, more or less in one, with lognormal norms."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((n, d)) / math.sqrt(d)
    directions[:, 0] += shift
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * np.exp(rng.standard_normal(n))[:, None]


def drawn(program, seed=1):
    """The result of a program."""
    return Draw(random_source(random.Random(seed))).run(program)


def planned(rows, rho, neighbors, mean=False) -> VectorPlan:
    """The plan for the rows of a matrix."""
    terms = Terms(Spending(rho, zcdp=True), neighbors)
    return VectorPlan.of(Rows.of(rows).public(neighbors == "swap"), terms, Stated(), mean)


# --- whole numbers ------------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(x=matrices, clip=clips, block=st.integers(1, 40), seed=st.integers(0, 99))
@settings(deadline=None)
def test_order_and_blocks_cannot_change_the_sum(x, clip, block, seed):
    """Rows in another order, in other blocks and in another layout have the same norms and the same integer sum."""
    ball, order = Ball.of(clip, x.shape[1]), np.random.default_rng(seed).permutation(len(x))
    norms, total = Rows.of(x).norms(), Rows.of(x).total(ball)
    other = replace(Rows.of(np.asfortranarray(x[order])), block=block)
    assert other.total(ball) == total
    assert other.norms().tolist() == norms[order].tolist()


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 100, 1000])
def test_a_norm_depends_on_its_row_alone(d):
    """A row has the same norm to the last bit by itself and among others, near the true one."""
    x = np.random.default_rng(d).standard_normal((300, d)) * 10.0 ** np.arange(-150, 150)[:, None]
    together = Rows.of(x).norms()
    assert together.tolist() == [Rows.of(row[None]).norms()[0] for row in x]
    assert np.allclose(together, [math.hypot(*row) for row in x.tolist()], rtol=1e-13)


def adversarial(d: int):
    """Rows that are at the ends of the range of floats, mixed in scale, or as much rounded up as can be."""
    rng = np.random.default_rng(d)
    sign = rng.choice([-1.0, 1.0], d)
    mixed = sign * 10.0 ** rng.uniform(-320, 308, d)
    one = np.zeros(d)
    one[0] = 1
    return np.array(
        [
            *(sign * size for size in (5e-324, 1e-310, 1e-200, 1.0, 1e200, 1.7976931348623157e308)),
            *(one * size for size in (5e-324, 1.0, 1e308)),
            *(sign * (2.0**-26) * (k + 0.5) for k in range(4)),
            mixed,
            np.zeros(d),
            rng.standard_normal(d) * 1e154,
            rng.standard_cauchy(d),
        ]
    )


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 10_000])
@pytest.mark.parametrize("clip", [5e-324, 1e-310, 1e-30, 1.0, 1.1, 3.0, 1e10, 1e200, 1.7976931348623157e308])
def test_no_row_leaves_the_ball(d, clip):
    """The sum of squares of a row's whole numbers is at most the square of the radius, and comes close to it."""
    ball, x = Ball.of(F(clip), d), adversarial(d)
    found = ball.steps(x)
    assert len(found) == len(x)
    assert max(map(exact_norm2, found)) <= ball.radius**2
    assert d * ball.radius**2 < 2**63
    assert ball.radius * ball.step >= F(clip)
    if clip > 1e-300:
        assert max(map(exact_norm2, found)) >= 0.99 * ball.radius**2


@given(x=matrices, clip=clips)
@settings(deadline=None)
def test_one_row_more_changes_the_sum_by_the_radius_at_most(x, clip):
    """The sums with and without a row differ by a vector of at most the radius, in whole numbers."""
    ball = Ball.of(clip, x.shape[1])
    change = [a - b for a, b in zip(Rows.of(x).total(ball), Rows.of(x[1:]).total(ball), strict=True)]
    assert exact_norm2(change) <= ball.radius**2


@given(
    whole=hnp.arrays(np.int64, (5, 4), elements=st.integers(-(10**9), 10**9)),
    radius=st.integers(1, 300),
)
@settings(max_examples=25, deadline=None)
def test_rows_outside_are_drawn_in(whole, radius):
    """Whatever comes out of the floats, no row is outside in the end; those inside stay as they are."""
    found = Ball(0, radius, float(radius)).enforced(whole)
    for before, after in zip(whole, found, strict=True):
        assert exact_norm2(after) <= radius**2
        assert (before == after).all() or exact_norm2(before) > radius**2


def test_rows_within_the_clip_are_only_rounded():
    """A row inside moves by at most half a step on each coordinate, one outside keeps its direction."""
    ball, x = Ball.of(F(5), 3), np.array([[1.0, -2.0, 0.1], [30.0, 0.0, 40.0]])
    found = ball.steps(x) * float(ball.step)
    assert np.abs(found[0] - x[0]).max() <= float(ball.step) / 2
    assert np.allclose(found[1], [3, 0, 4], atol=1e-6)


# --- odd rows -----------------------------------------------------------------------------------------------------


@statistics
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_rows_with_an_odd_entry_are_missing(statistic, odd):
    """Under add-remove the release with such rows is the release without them."""
    x = cloud(2000, 4)
    spoilt = np.insert(x, [0, 700, 2000], x[:3], axis=0)
    spoilt[[0, 701, 2002], [1, 3, 0]] = odd
    without, among = (statistic(data, rho=1, rng=random.Random(5)) for data in (x, spoilt))
    assert without == among


def test_missing_rows_are_not_averaged_under_swap():
    """With half of the rows missing, the mean is that of the others; with none, all rows count."""
    x = np.ones((4000, 2))
    whole = vector_mean(x, rho=1, neighbors="swap", rng=random.Random(1))
    x[::2, 0] = np.nan
    half = vector_mean(x, rho=1, neighbors="swap", rng=random.Random(1))
    assert np.allclose(whole.value, 1, atol=0.02)
    assert np.allclose(half.value, 1, atol=0.02)
    assert half.parameters["noise_scale"] == pytest.approx(2 * whole.parameters["noise_scale"], rel=0.01)


@relations
@statistics
@pytest.mark.parametrize("x", [np.zeros((0, 3)), np.zeros((50, 3)), np.full((9, 3), np.nan), np.full((1, 3), 1e308)])
def test_without_marks_there_is_always_a_finite_answer(statistic, neighbors, x):
    """No rows, only zeros, only missing rows and one huge row give finite numbers: no division by less than 1."""
    release = statistic(x, rho=0.1, neighbors=neighbors, marks=False, rng=random.Random(3))
    assert np.isfinite(release.value).all()
    assert len(release.value) == 3
    assert release.parameters["clip"] >= 0


@relations
@statistics
@pytest.mark.parametrize("d", [2, 100])
@pytest.mark.sampled
def test_too_few_rows_are_not_answered_and_enough_have_a_clip_near_the_norms(statistic, neighbors, d):
    """All rows have a norm of about 50; the number of rows that is named gets an answer."""
    rng, far = np.random.default_rng(1), np.append(50, np.zeros(d - 1))
    few = statistic(rng.normal(far, 0.1, (12, d)), rho=0.05, neighbors=neighbors, rng=random.Random(1))
    assert few.value is None and few.reason == "too few rows"
    noise, answered = random.Random(seed_of(1)), 0
    for _ in range(40):
        rows = rng.normal(far, 0.1, (few.parameters["needed"]["rows"], d))
        release = statistic(rows, rho=0.05, neighbors=neighbors, rng=noise)
        answered += release.value is not None and 25 < release.parameters["clip"] < 1000
    assert answered >= fewest(40, 0.9)


# --- noise --------------------------------------------------------------------------------------------------------


@pytest.mark.medium
@relations
def test_noise_has_the_variance_that_was_paid_for(neighbors):
    """The noise on 3,000 coordinates fits its standard deviation by chi-square, and one 30% off does not."""
    d, n = 3000, 2000
    release = vector_sum(np.ones((n, d)), rho=F(1, 2), neighbors=neighbors, rng=random.Random(8))
    clip, scale = release.parameters["clip"], release.parameters["noise_scale"]
    assert math.sqrt(d) <= clip <= 1.3 * math.sqrt(d)
    sensitivity = clip if neighbors == "add-remove" else 2 * clip
    assert sensitivity / math.sqrt(2 * 0.5) <= scale <= 1.1 * sensitivity / math.sqrt(2 * 0.5)
    squares = float(np.square((np.array(release.value) - n) / scale).sum())
    assert min(stats.chi2.cdf(squares, d), stats.chi2.sf(squares, d)) > LIMIT
    for off in (1.3, 1 / 1.3):
        assert min(stats.chi2.cdf(squares / off, d), stats.chi2.sf(squares / off, d)) < LIMIT


@relations
@pytest.mark.parametrize("mean", [False, True])
def test_the_variance_is_exact(neighbors, mean):
    """sensitivity**2 / (2 variance) is the rho of the noise, and all parts together are the requested rho."""
    plan = planned(np.zeros((500, 30)), F(1, 7), neighbors, mean)
    search, parts, noise = plan.split(500)
    ball = Ball.of(F(3), 30)
    sensitivity = ball.radius * (1 if neighbors == "add-remove" else 2)
    noisy = plan.total([0] * 30, ball, noise)
    assert noisy.sensitivity == sensitivity
    assert sensitivity**2 / (2 * noisy.noise.law(noisy.sensitivity).variance) == noise
    clip = parts * search.cost().rho
    if neighbors == "add-remove":
        assert clip + noise + plan.rho_size == F(1, 7)
    else:
        assert clip + noise == F(1, 7)  # a row that moves
        assert clip + noise / 4 + plan.rho_size <= F(1, 7)  # one that turns from missing to present


# --- the loss -----------------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(
    rho=st.floats(1e-11, 1e11),
    d=st.integers(1, 10**5),
    sizes=st.lists(st.integers(0, 10**12), min_size=1),
    neighbors=st.sampled_from(["add-remove", "swap"]),
    mean=st.booleans(),
    kind=st.sampled_from([np.float32, np.int16]),
)
@settings(deadline=None)
def test_the_cost_is_the_rho_that_was_asked_for_whatever_the_size(rho, d, sizes, neighbors, mean, kind):
    """All of rho is spent, none of it twice, and the noise keeps more than an eighth of it."""
    plan = planned(np.zeros((7, d), dtype=kind), rational(rho, "rho"), neighbors, mean)
    for size in sizes:
        assert plan.cost(size).rho == rational(rho, "rho")
        assert plan.split(size)[2] > plan.rho / 8
    assert plan.cost() == plan.cost(sizes[0])


@relations
@statistics
def test_the_loss_is_what_was_asked_for(statistic, neighbors):
    """rho comes back as rho without an epsilon; epsilon and delta come back as they were written."""
    x = cloud(300, 5)
    loss = statistic(x, rho=0.3, neighbors=neighbors).loss
    assert (loss.rho, loss.epsilon, loss.eta, loss.delta, loss.neighbors) == (0.3, math.inf, math.inf, 0.0, neighbors)
    for epsilon, delta in [(1, 1e-6), (0.1, 1e-5), (3, 1e-9), ("1/3", 1e-8)]:
        loss = statistic(x, epsilon=epsilon, delta=delta, neighbors=neighbors).loss
        asked = rational(epsilon, "epsilon")
        assert F(0) < asked - rational(loss.epsilon, "epsilon") + F(1, 10**12) < F(2, 10**12)
        assert loss.delta == delta
        assert rational(loss.rho, "rho") >= rho_from_approximate(asked, rational(delta, "delta"))
    assert str(statistic(x, epsilon=1, delta=1e-6).loss) == (
        "epsilon 1 at delta 1e-06 (add-remove, per row; rho 0.02436)"
    )


def test_two_searches_are_made_where_they_can_be_paid_for(monkeypatch):
    """The lower clip of two counts, and a walk inward follows; with few rows there is one search, and no walk."""
    plan, found = planned(np.zeros((1, 9)), F(1, 2), "add-remove"), [F(10**9), F(8)]

    def next_clip(*_):
        yield from ()
        return Clip(F(0), found.pop(0), F(0), True)

    monkeypatch.setattr(Search, "program", next_clip)
    norms = column(np.full(10_000, 7.5)).chunks
    assert drawn(plan.clip(norms, 10_000))[0] == 8
    found[:] = [F(10**9), F(8)]
    assert drawn(plan.clip(norms, 60))[0] == 10**9
    assert (plan.split(10_000)[1], plan.split(60)[1]) == (3, 1)


@relations
def test_a_clip_that_is_too_high_is_walked_down(neighbors):
    """From two octaves above, the walk ends near the largest norms, and never below half of them."""
    plan = planned(np.zeros((1, 9)), F(1, 2), neighbors)
    norms = column(np.linspace(5, 10, 10_000)).chunks
    search = plan.split(10_000)[0]
    ends = [drawn(plan.inward(F(40), search, norms), seed) for seed in range(40)]
    assert min(ends) >= 5
    assert np.median([float(end) for end in ends]) <= 11


# --- what comes in, and what goes out -----------------------------------------------------------------------------


@relations
@statistics
def test_the_type_does_not_change_the_answer(statistic, neighbors):
    """float64, float32, float16 and another layout of the same numbers give the same release from the same seed."""
    x = (np.random.default_rng(2).integers(-50, 50, (3000, 6)) / 8).astype(np.float16)
    first, *others = (
        statistic(data, rho=0.5, neighbors=neighbors, rng=random.Random(4))
        for data in (x, x.astype(np.float32), x.astype(np.float64), np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2])
    )
    assert all(other == first for other in others)


def test_integers_are_numbers():
    """Integers and booleans are taken for the floats they are; under add-remove that changes nothing."""
    x = np.random.default_rng(2).integers(0, 2, (3000, 6))
    first, *others = (
        vector_mean(x.astype(kind), rho=1, rng=random.Random(4)) for kind in (float, np.int64, np.uint8, bool)
    )
    assert all(other == first for other in others)


class Array:
    """An array of some other library, that speaks one protocol."""

    def __init__(self, data, way):
        self.data = data
        if way == "__array_interface__":
            self.__array_interface__ = data.__array_interface__


class Speaks(Array):
    def __array__(self, dtype=None, copy=None):
        return self.data


class SpeaksDlpack(Array):
    def __dlpack__(self, **keywords):
        return self.data.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


@pytest.mark.parametrize("kind", [Speaks, SpeaksDlpack, Array])
def test_other_libraries_speak_the_array_protocol(kind):
    """An object with __array__, __array_interface__ or __dlpack__ gives what its array gives."""
    x = cloud(500, 3)
    data = kind(x, "__array_interface__" if kind is Array else "")
    assert vector_sum(data, rho=1, rng=random.Random(1)) == vector_sum(x, rho=1, rng=random.Random(1))


class Tensor:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


BUDGET = "give rho alone, or epsilon and delta together"
REFUSED = [
    ([[1.0, 2.0]], {"rho": 1}, TypeError, "np.asarray"),
    (Tensor(), {"rho": 1}, TypeError, r"\.detach\(\)"),
    (np.ma.masked_invalid([[1.0]]), {"rho": 1}, TypeError, "filled"),
    (np.zeros(3), {"rho": 1}, ValueError, "two dimensions.*ndim=1.*reshape"),
    (np.zeros((2, 2, 2)), {"rho": 1}, ValueError, "ndim=3"),
    (np.zeros((3, 0)), {"rho": 1}, ValueError, "at least one column"),
    (np.zeros((3, 2), dtype=complex), {"rho": 1}, TypeError, "complex"),
    (np.array([["a"]]), {"rho": 1}, TypeError, "str"),
    (np.array([[None]]), {"rho": 1}, TypeError, "object"),
    (np.zeros((3, 2)), {}, ValueError, f"{BUDGET}, got none.*rho=0.02"),
    (np.zeros((3, 2)), {"epsilon": 1}, ValueError, f"{BUDGET}, got epsilon;"),
    (np.zeros((3, 2)), {"delta": 1e-6}, ValueError, f"{BUDGET}, got delta;"),
    (np.zeros((3, 2)), {"rho": 1, "epsilon": 1, "delta": 1e-6}, ValueError, "got epsilon and delta and rho"),
    (np.zeros((3, 2)), {"epsilon": 1, "delta": 0}, ValueError, "delta must be greater than 0"),
    (np.zeros((3, 2)), {"epsilon": 1, "delta": 1}, ValueError, "less than 1"),
    (np.zeros((3, 2)), {"epsilon": 1e-9, "delta": 1e-300}, ValueError, "rho of at least 1e-12"),
    (np.zeros((3, 2)), {"rho": 0}, ValueError, "rho must be greater than 0"),
    (np.zeros((3, 2)), {"rho": 1, "upper": 0}, ValueError, "upper must be greater than 0"),
    (np.zeros((3, 2)), {"rho": 1, "neighbors": "none"}, ValueError, "neighbors must be one of"),
]


@statistics
@pytest.mark.parametrize(("data", "keywords", "error", "message"), REFUSED)
def test_refusals_name_the_fix(statistic, data, keywords, error, message):
    """Data are refused by their type and number of dimensions, parameters by their values."""
    with pytest.raises(error, match=message):
        statistic(data, **keywords)


def test_frames_are_refused():
    """A frame turns to floats or not by what it holds, so it has to be converted first."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="to_numpy"):
        vector_sum(pandas.DataFrame({"a": [1.0]}), rho=1)


@pytest.mark.parametrize("null", [False, True])
def test_columns_of_lists_are_refused(null):
    """Those of polars, Arrow and pandas, by their type, with or without a null; the error says how to convert them."""
    polars, arrow, pandas = (pytest.importorskip(name) for name in ("polars", "pyarrow", "pandas"))
    rows = [[1, 2], [None if null else 3, 4]]
    pairs = arrow.array(rows, arrow.list_(arrow.int64(), 2))
    for data, way in (
        (polars.Series(rows, dtype=polars.Array(polars.Int64, 2)), "to_list"),
        (polars.Series(rows, dtype=polars.List(polars.Int64)), "to_list"),
        (pairs, "to_pylist"),
        (arrow.chunked_array([pairs]), "to_pylist"),
        (pandas.Series(rows, dtype=pandas.ArrowDtype(pairs.type)), "tolist"),
    ):
        fix = rf"got a {type(data).__name__}; convert it first, for example np\.array\(data\.{way}\(\)"
        for statistic in (vector_sum, vector_mean):
            with pytest.raises(TypeError, match=fix):
                statistic(data, rho=1)
        assert np.array(getattr(data, way)(), dtype=float).shape == (2, 2)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, object])
def test_what_another_library_makes_of_its_records_can_be_missing(dtype):
    """An `__array__` may have another type if there is a null; numpy's own arrays, and DLPack, have declared theirs."""
    x = np.ones((50, 2), dtype=dtype)
    assert Rows.of(Speaks(x, "")).nullable
    assert Rows.of(Speaks(x, "")).norms() == pytest.approx(math.sqrt(2))
    if dtype is not object:
        assert Rows.of(x).nullable == Rows.of(SpeaksDlpack(x, "")).nullable == (dtype is np.float64)


@relations
@statistics
def test_a_release_travels(statistic, neighbors):
    """The value is a tuple of floats, there is no interval, and JSON brings all of it back."""
    release = statistic(cloud(500, 3), epsilon=2, delta=1e-6, upper=9, neighbors=neighbors, rng=random.Random(1))
    assert Release.from_json(release.to_json()) == release
    assert release.interval is None
    assert all(type(x) is float for x in release.value)
    assert release.parameters["clip"] <= 9
    assert {"noise": "gaussian", "dimensions": 3, "upper": "9"}.items() <= release.parameters.items()


# --- accuracy -----------------------------------------------------------------------------------------------------


def expected_error(x, norms, clip: float, deviation: float) -> float:
    """The root mean square of the L2 error of a mean with noise of this deviation, at this clip."""
    bias = (x * np.minimum(1, clip / norms)[:, None]).mean(axis=0) - x.mean(axis=0)
    return math.hypot(deviation * math.sqrt(x.shape[1]), np.linalg.norm(bias))


@pytest.mark.medium
@relations
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_mean_is_about_as_good_as_with_a_known_clip(shift, neighbors):
    """With unknown norms the error is at most 1.3 times that at the 99.9% norm with all of rho on the noise."""
    n, d, seeds = 20_000, 100, range(5)
    x, rho = cloud(n, d, shift=shift), float(rho_from_approximate(F(1), F(1, 10**6)))
    norms = np.linalg.norm(x, axis=1)
    known = float(np.quantile(norms, 0.999))
    sensitivity = known if neighbors == "add-remove" else 2 * known
    best = expected_error(x, norms, known, sensitivity / (n * math.sqrt(2 * rho)))
    releases = [vector_mean(x, epsilon=1, delta=1e-6, neighbors=neighbors, rng=random.Random(s)) for s in seeds]
    expected = [expected_error(x, norms, r.parameters["clip"], r.parameters["noise_scale"]) for r in releases]
    actual = [float(np.linalg.norm(np.array(r.value) - x.mean(axis=0))) for r in releases]
    assert np.mean(expected) <= 1.3 * best
    assert np.mean(actual) <= 1.4 * best
    assert np.mean(actual) == pytest.approx(np.mean(expected), rel=0.2)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_the_clip_follows_the_scale(scale):
    """Rows a thousand billion times larger have a clip as much larger, with no parameter changed."""
    release = vector_mean(cloud(5000, 20) * scale, rho=0.5, rng=random.Random(2))
    assert 3 <= release.parameters["clip"] / scale <= 60


@pytest.mark.medium
@pytest.mark.skipif(not EXAMPLE.exists(), reason="the examples are not in the source distribution")
def test_the_example_runs():
    """Private training reaches the accuracy that the example asserts."""
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "epsilon 1 at delta 1e-06" in done.stdout


def test_the_functions_are_public():
    """They are names of the package."""
    assert (nb.vector_mean, nb.vector_sum) == (vector_mean, vector_sum)
