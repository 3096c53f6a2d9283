"""Methods of the benchmark: what a function of others gets, and what becomes of its answers and its errors."""

import random

import numpy as np
import pytest

import nobounds as nb
from nobounds.research.bench import methods
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import OURS


def cell(statistic="q=0.9", part="tails"):
    return Cell(part, statistic, "normal", 17.3, 100, 0.5, "swap")


def test_a_method_gets_what_its_signature_has():
    """Data, q and epsilon; neighbours, a generator and the statistic if it has these parameters."""
    seen = []

    def plain(data, q, epsilon):
        seen.append((len(data), q, epsilon))
        return 0.0

    def full(data, q, epsilon, *, neighbors, rng, statistic):
        seen.append((neighbors, type(rng), statistic))
        return 0.0

    for name, method in (("plain", plain), ("full", full)):
        assert len(methods.joined(name, method)(cell(), 2)) == 2
    assert seen[0] == (100, 0.9, 0.5) and seen[2] == ("swap", np.random.Generator, "q=0.9")


def test_an_error_is_that_of_the_cell_and_draws_repeat():
    """A method that answers the truth has none; one that answers nothing has the largest that counts."""
    exact = methods.joined("exact", lambda data, q, epsilon: np.quantile(data, q))(cell(), 3)
    assert exact == pytest.approx([0, 0, 0])
    nothing = methods.joined("nothing", lambda data, q, epsilon: None)(cell(), 3)
    assert nothing == pytest.approx([10 * np.ptp(data) / 5 for data in cell().samples(3)])
    noisy = methods.joined("noisy", lambda data, q, epsilon, rng: rng.normal())
    assert noisy(cell(), 3) == noisy(cell(), 3) != exact


def test_a_method_cannot_change_the_data_of_others():
    """It gets a copy."""

    def careless(data, q, epsilon):
        data[:] = 0
        return 0.0

    before = methods.ours(cell(), 2)
    methods.joined("careless", careless)(cell(), 2)
    assert methods.ours(cell(), 2) == before


def test_a_method_that_fails_is_named():
    """The error is reported as its own."""
    with pytest.raises(ValueError, match=r"method broken failed: ZeroDivisionError"):
        methods.joined("broken", lambda data, q, epsilon: 1 / 0)(cell(), 2)


def test_nobounds_answers_by_its_public_functions():
    """With the seed of the repetition."""
    here = cell("maximum", "extremes")
    data, seed = here.data(0), f"{here}/0"
    again = nb.maximum(data, epsilon="0.5", neighbors="swap", marks=False, rng=random.Random(seed)).value
    assert methods.answer(here, data, random.Random(seed)) == again
    assert methods.ours(here, 1) == [here.error(again, data)]


def test_methods_are_those_of_the_statistic(tmp_path):
    """Rivals of the part; a function without a `statistic` is for single quantiles alone."""
    path = tmp_path / "mine.py"
    path.write_text(
        "def one(data, q, epsilon):\n    return q\n\n\ndef every(data, q, epsilon, *, statistic):\n    return 0.0\n"
    )
    others = methods.of_others([f"{path}:one", f"{path}:every"])
    assert list(methods.methods_for(cell(), others)) == [OURS, "mapped", "piecewise Laplace", "one", "every"]
    mean = cell("mean", "mean")
    assert list(methods.methods_for(mean, others, ["doubling"])) == [OURS, "doubling", "every"]
    with pytest.raises(ValueError, match="method must name a file that exists"):
        methods.of_others(["nowhere.py:one"])


def test_installed_packages_join_by_an_entry_point(monkeypatch):
    """Under the name of the entry point."""

    class Entry:
        name = "theirs"

        def load(self):
            return lambda data, q, epsilon: 0.0

    monkeypatch.setattr(methods, "entry_points", lambda group: [Entry()] if group == "nobounds.bench" else [])
    assert list(methods.of_others()) == ["theirs"]
