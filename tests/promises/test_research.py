"""The public module for researchers: all of its names exist, and importing it loads no optional library."""

import subprocess
import sys
from fractions import Fraction as F
from types import ModuleType

import numpy as np
import pytest
from support.chance import seed_of

import nobounds
from nobounds import research
from nobounds.research import baselines

BASELINES = [
    "clipped_sum",
    "doubling_bound",
    "emq_quantile",
    "interquartile_bounds",
    "joint_quantiles",
    "recursive_quantiles",
    "smooth_quantile",
    "tree_quantiles",
]


@pytest.mark.parametrize("name", research.__all__)
def test_every_name_exists_and_says_what_it_is(name):
    """It is a class or a function with a docstring, not a module."""
    public = getattr(research, name)
    assert callable(public) and not isinstance(public, ModuleType)
    assert public.__doc__


def test_only_public_names_are_listed():
    """`dir` shows `__all__` and no modules, in one order without duplicates."""
    assert dir(research) == research.__all__ == sorted(set(research.__all__))


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_is_public_by_name(name):
    """It is the function of `nobounds.research.baselines`."""
    assert getattr(research, name) is getattr(baselines, name)


def test_all_of_the_baselines_is_public():
    """No name of the baselines is left out."""
    assert set(BASELINES) <= set(baselines.__all__) <= set(research.__all__)


def test_names_of_the_main_module_are_the_same_objects():
    """What both modules have is one object."""
    common = set(nobounds.__all__) & set(research.__all__)
    assert common == {"AboveThreshold", "Histogram", "IterativeExponential", "Ladder", "Law", "SparseVector"}
    assert all(getattr(nobounds, name) is getattr(research, name) for name in common)


def test_the_docstring_names_what_it_points_to():
    """Each name in backticks is public here or in nobounds."""
    words = [word.removeprefix("nobounds.").split(".")[0] for word in research.__doc__.split("`")[1::2]]
    known = {*research.__all__, *nobounds.__all__, "nobounds paper"}
    assert len(words) > 20 and set(words) <= known


@pytest.mark.medium
@pytest.mark.parametrize("module", ["research", "research.paper", "research.baselines.emq", "research.reference"])
def test_importing_it_loads_no_optional_library(module):
    """A fresh interpreter imports each module first, without a cycle and without plots, frames or the command line."""
    code = f"import sys, nobounds.{module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert f"nobounds.{module}" in loaded
    assert {"duckdb", "matplotlib", "numba", "pandas", "polars", "pyarrow", "scipy", "typer"}.isdisjoint(loaded)


def test_a_walk_is_drawn_and_its_law_audited_by_public_names():
    """The names work together: a walk, its draws, its law, and the loss between two neighbours."""
    half = F(1, 2)
    low, high = (research.Walk.of([k, k, 3 + k], F(2), eps1=half, eps2=half) for k in (0, 1))
    assert research.halt_position(low, research.random_source()) in (0, 1, 2, None)
    epsilon, _ = research.pair_loss(research.Law(low).log_pmf(), research.Law(high).log_pmf())
    bound = max(
        research.one_sided_loss(*pair, eps1=half, eps2=half)
        for pair in (((0, 0, 3), (1, 1, 4)), ((1, 1, 4), (0, 0, 3)))
    )
    assert 0 < epsilon <= float(bound) + 1e-9


def test_choices_have_the_laws_that_are_public():
    """Permute-and-flip and the exponential mechanism choose among the rungs of a histogram by laws that sum to 1."""
    ladder = research.Ladder.uniform(0, 20, 20)
    runs = research.Runs.of(research.Histogram.of([np.arange(10.0)], ladder), F(1, 2), F(1))
    for law, draw in ((research.flip_law, research.flip_rung), (research.weighted_law, research.weighted_rung)):
        assert np.exp(law(runs).log_pmf()).sum() == pytest.approx(1)
        assert ladder.first <= draw(runs, research.random_source()) <= ladder.last


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.5, 1])
@pytest.mark.unmarked
@pytest.mark.sampled
def test_the_law_of_a_quantile_is_that_of_its_answers(q):
    """Answers are above the median of the law as often as the law says; the budget is no option of a law."""
    data = np.random.default_rng(seed_of(1)).normal(100, 20, 400)
    law = research.answer_law(data, q, epsilon=1, resolution=1, method="walk")
    values, chances = law.pmf(-1e6, 1e6)
    assert chances.sum() == pytest.approx(1, abs=1e-3)  # rare frames are left out
    middle = values[np.searchsorted(np.cumsum(chances), 0.5)]
    answers = np.array([nobounds.quantile(data, q, epsilon=1, resolution=1, method="walk").value for _ in range(300)])
    assert np.mean(answers > middle) == pytest.approx(law.above(middle), abs=0.2)  # seven standard deviations
    with pytest.raises(TypeError):
        research.answer_law(data, q, epsilon=1, budget=None)
