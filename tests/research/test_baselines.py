"""What all baselines share: a release that says what it is, and a generator that has to be given and decides."""

from functools import partial

import numpy as np
import pytest

from nobounds.release.release import Release
from nobounds.research import baselines

DATA = np.random.default_rng(3).gamma(4, 8, 200)
BOUNDS = {"lower": 0, "upper": 100}
QS = (0.25, 0.5, 0.75)


def sum_of(data, *, epsilon, rng):
    """A clipped sum, half of epsilon on the clip."""
    clip = baselines.doubling_bound(data, 0.99, epsilon=epsilon / 2, rng=rng)
    return baselines.clipped_sum(data, clip=clip, epsilon=epsilon / 2, rng=rng)


METHODS = {
    "emq": partial(baselines.emq_quantile, q=0.5, **BOUNDS),
    "tree": partial(baselines.tree_quantiles, qs=QS, **BOUNDS),
    "joint": partial(baselines.joint_quantiles, qs=QS, **BOUNDS),
    "recursive": partial(baselines.recursive_quantiles, qs=QS, **BOUNDS),
    "smooth": partial(baselines.smooth_quantile, q=0.5, **BOUNDS),
    "interquartile": partial(baselines.interquartile_bounds, widening=0.5, **BOUNDS),
    "doubling": partial(baselines.doubling_bound, q=0.9),
    "sum": sum_of,
}


@pytest.mark.parametrize("name", METHODS)
def test_a_release_says_what_it_is(name):
    """It costs the epsilon asked, tells that its noise is floating-point, and goes to JSON and back."""
    found = METHODS[name](DATA, epsilon=0.5, rng=np.random.default_rng(1))
    assert found.loss.epsilon == 0.5 and found.loss.neighbors == "swap"
    assert found.parameters["noise"] == "floating-point noise, for comparison only"
    assert Release.from_json(found.to_json()) == found


@pytest.mark.parametrize("name", METHODS)
def test_the_generator_decides_the_answer(name):
    """The same seed gives the same answer in whatever order the records come, and other seeds give others."""
    answers = [
        METHODS[name](data, epsilon=0.1, rng=np.random.default_rng(seed)).value
        for data, seed in ((DATA, 1), (np.sort(DATA), 1), (DATA, 2), (DATA, 3), (DATA, 4), (DATA, 5), (DATA, 6))
    ]
    assert answers[0] == pytest.approx(answers[1], rel=1e-12)
    assert len(set(answers)) > 2


@pytest.mark.parametrize("name", METHODS)
def test_no_default_generator(name):
    """Floating-point noise has to be asked for, and by a numpy Generator."""
    with pytest.raises(TypeError, match="rng"):
        METHODS[name](DATA, epsilon=1)
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        METHODS[name](DATA, epsilon=1, rng=np.random)


@pytest.mark.parametrize("name", METHODS)
def test_odd_records_raise_nothing(name):
    """Missing, infinite and outlying records, or a list of whole numbers, are answered like others."""
    for data in ([np.nan, -np.inf, np.inf, 1e300, -7.0, 3.0], [1, 2, 3], [np.nan]):
        assert np.isfinite(METHODS[name](data, epsilon=1, rng=np.random.default_rng(1)).value).all()


@pytest.mark.parametrize(
    ("lower", "upper"), [(1, 1), (2, 1), ("1e400", "1e401"), (-1.7e308, 1.7e308), (1, "1.00000000000000000001")]
)
def test_bounds_must_leave_room(lower, upper):
    """Between floats, and a finite distance."""
    with pytest.raises(ValueError, match="lower must be less than upper"):
        baselines.emq_quantile(DATA, 0.5, epsilon=1, lower=lower, upper=upper, rng=np.random.default_rng(1))


def test_the_names_are_listed():
    """Everything in __all__ is there."""
    assert all(hasattr(baselines, name) for name in baselines.__all__)
