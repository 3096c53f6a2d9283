"""The tests repeat themselves, and `make explore` draws fresh examples and fresh noise, and keeps what fails."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from support.chance import FRESH
from support.thinning import EVERY

import nobounds as nb
from nobounds.noise.source import random_source

TESTS = Path(__file__).parents[1]
DRAWING = """
from hypothesis import given, strategies as st
from support.chance import seed_of
import nobounds as nb
seen = []

def test_seed():
    print("drawn from seed", seed_of(1))

def test_noise():
    print("noise", nb.count(range(10**5), epsilon=1e-3).value)

@given(st.integers())
def test_numbers(x):
    seen.append(x)

def test_drawn():
    print("drawn", seen)

@given(st.integers())
def test_failing(x):
    assert x < 1000
"""


def test_noise_without_a_generator_is_that_of_the_name_of_the_test(request):
    """An answer without an rng has the noise of a generator that is seeded by the name of this test."""
    repeated = nb.count(range(10**5), epsilon=1e-3, rng=random.Random(request.node.nodeid)).value
    assert nb.count(range(10**5), epsilon=1e-3).value == repeated


@pytest.mark.entropy
def test_a_test_may_ask_for_the_operating_system():
    """Where a test is marked so, two requests of 128 bits are not those of its name."""
    assert random_source()(128) != random_source()(128)
    assert random_source().__module__ == "nobounds.noise.source"


def test_examples_are_not_random_and_no_clock_decides():
    """In the gate examples follow from the tests alone, and a slow machine is no failure."""
    assert settings.default.derandomize and settings.default.deadline is None


def _gate():
    """The environment without a seed to mix others with."""
    return {name: value for name, value in os.environ.items() if name != FRESH}


def drawn(folder, *options):
    """What a small file of tests draws, and whether a falsifying example was kept."""
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-qs", "-p", "no:cacheprovider", "test_drawing.py"]
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        [*command, *options], cwd=folder, env=_gate() | {"PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert "@reproduce_failure" in done.stdout and "1 failed, 4 passed" in done.stdout, done.stdout
    lines = [line.lstrip(".") for line in done.stdout.splitlines()]
    return [line for line in lines if line.startswith(("noise", "drawn"))], any(folder.glob(".hypothesis/examples/*"))


@pytest.mark.slow
def test_the_gate_repeats_itself_and_exploring_does_not(tmp_path):
    """Two runs of the gate draw the same, from seed 1; two that explore do not, and keep the example that fails."""
    (tmp_path / "test_drawing.py").write_text(DRAWING)
    first, kept = drawn(tmp_path)
    assert len(first) == 3 and "drawn from seed 1" in first and (first, kept) == drawn(tmp_path) and not kept
    fresh, kept = drawn(tmp_path, "--hypothesis-profile=explore")
    assert kept and not set(fresh) & set(drawn(tmp_path, "--hypothesis-profile=explore")[0])


@pytest.mark.medium
def test_each_test_that_is_thinned_is_there_once():
    """The list of expensive tests names tests, each in one file."""
    text = {path: path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py")}
    for name in EVERY:
        assert len([path for path in text if re.search(rf"^ *def {name}\(", text[path], re.M)]) == 1, name


@pytest.mark.medium
def test_the_gate_takes_every_kth_case_and_the_first(tmp_path):
    """Of seven cases every third runs: the first, the fourth and the seventh; with --all-cases all of them."""
    name = next(name for name, k in EVERY.items() if k == 3)
    source = f"import pytest\n\n@pytest.mark.parametrize('k', range(7))\ndef {name}(k):\n    pass\n"
    (tmp_path / "test_many.py").write_text(source)
    for options, ran in (((), "3 passed, 4 deselected"), (("--all-cases",), "7 passed")):
        command = [sys.executable, "-m", "pytest", "-p", "support.thinning", "-q", "-p", "no:cacheprovider", *options]
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run([*command, "."], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert ran in done.stdout
