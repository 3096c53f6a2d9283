"""Quick laws of walks and choices agree with the exact ones."""

from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import SEVEN, TWENTY

from nobounds.counting.histogram import Histogram
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.quick_laws import _gauss, choice_blocks, walk_blocks
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk


@pytest.mark.parametrize(("eps1", "eps2"), [(F(1, 50), F(1, 30)), (F(1, 2), F(1, 2)), (F(8), F(3))])
@pytest.mark.parametrize("step", [F(1), F(1, 10)])
def test_a_quick_walk_halts_where_the_exact_one_does(eps1, eps2, step):
    """The mean of 64 quick laws agrees with the exact law to 1e-3, wherever a block ends."""
    starts, levels = np.array([0, 700, 1000, 1003, 1010, 1500]), np.array([0, 20, 60, 61, 75, 80])
    walk = Walk(starts, levels, 3000, F(66), step, eps1, eps2, rising=True)
    found = [walk_blocks(walk, number) for number in range(64)]
    places = np.unique(np.concatenate([blocks.last for blocks in found]))[:-1]
    passed = np.mean([[b.masses[b.last <= place].sum() for place in places] for b in found], axis=0)
    assert passed == pytest.approx(1 - Law(walk).tail(places + 1), abs=1e-3)
    assert all(blocks.masses.sum() == pytest.approx(1, abs=1e-4) for blocks in found)
    assert all(np.all(blocks.first <= blocks.last) for blocks in found)


@pytest.mark.parametrize("rate", [F(1, 100), F(1, 2), F(5)])
@pytest.mark.parametrize(("weighted", "law"), [(False, flip_law), (True, weighted_law)], ids=["flip", "exponential"])
def test_a_quick_choice_is_that_of_the_exact_law(rate, weighted, law):
    """The masses agree with the exact law to 1e-6."""
    runs = Runs.of(Histogram.of([np.repeat(SEVEN, 5)], TWENTY), F(1, 3), rate)
    first, last, masses = choice_blocks(runs, weighted)
    exact = law(runs)
    assert masses == pytest.approx(exact.tail(first) - exact.tail(last + 1), abs=1e-6)


def test_gauss_nodes_are_those_of_numpy():
    """Nodes and weights of the Legendre polynomial, between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(len(_gauss()[0]))
    assert _gauss() == (pytest.approx((nodes + 1) / 2, abs=1e-15), pytest.approx(weights / 2, rel=1e-12))
