"""Compiled loops: to the last bit what numpy does, and no sooner than it pays."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from nobounds.counting import kernels
from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Histogram
from nobounds.counting.lattice import Lattice, Squares, steps_total
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder

pytest.importorskip("llvmlite")

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 5e-324, 2.0**-1022, 1.7e308, -1.7e308, 0.5, 2.5, -1.5]


def records(seed: int = 0, many: int = 30_011) -> np.ndarray:
    """Records of many sizes, some of them missing, infinite or half-way between whole numbers."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(many) * 10.0 ** rng.uniform(-6, 6, many)
    places = rng.integers(0, many, 2000)
    values[places] = rng.choice(SPECIAL, 2000)
    halves = rng.integers(0, many, 2000)
    values[halves] = rng.integers(-50, 50, 2000) / 2
    return values


def both(result):
    """The result of numpy and that of compiled loops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "WORTH", 1 << 60)
        slow = result()
        patch.setattr(kernels, "WORTH", 0)
        patch.setattr("nobounds.counting.compiled._MANY", 0)
        used = []
        loops = kernels.compiled()
        patch.setattr(kernels, "compiled", lambda: used.append(1) or loops)
        fast = result()
    assert used, "compiled loops were not used"
    return slow, fast


@pytest.mark.parametrize(
    "steps",
    [
        Lattice.of(Fraction(-20), Fraction(1, 3), False),
        Lattice.of(Fraction(0), Fraction(10**6), True),
        Lattice.of(Fraction(10**9), Fraction(10**9 + 1), False),
        Lattice(-3, -(2**51), 2**41),
        Squares(Lattice.of(Fraction(-7), Fraction(30), False), 12345),
        Squares(Lattice.of(Fraction(0), Fraction(2), True), 0),
    ],
)
def test_sums_are_those_of_whole_numbers(steps):
    """Of numpy, of compiled loops, and of records one by one in Python's own numbers."""
    values = records()
    slow, fast = both(lambda: steps_total([values], steps))
    present = values[~np.isnan(values)]
    assert slow == fast == (len(present), sum(steps.steps(present).tolist()))


def test_a_step_is_the_nearest_whole_number_and_ties_go_to_even():
    """Also at the ends of what floats hold."""
    lattice = Lattice(0, -(2**51), 2**52)
    values = np.array([-(2.0**51), -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.0**51 - 0.5, 2.0**51, math.inf, -math.inf])
    nearest = np.clip(np.rint(values), -(2.0**51), 2.0**51)
    assert (lattice.steps(values) + lattice.low).tolist() == [int(each) for each in nearest]


@pytest.mark.parametrize("all_present", [False, True])
@pytest.mark.parametrize(("center", "low", "high", "octave"), [(0.3, -5, math.inf, -2), (-1e5, -math.inf, 7.0, 12)])
def test_deviations_are_counted_on_the_same_rungs(center, low, high, octave, all_present):
    """Missing records at the centre, or nowhere."""
    values, deviation = records(1), Deviation(center, low, high, octave, all_present)
    slow, fast = both(lambda: Histogram.of_deviations([values], deviation, Ladder.float_bits(3, -40)))
    assert np.array_equal(slow.rungs, fast.rungs) and np.array_equal(slow.counts, fast.counts)
    assert slow.total == (len(values) if all_present else np.count_nonzero(~np.isnan(values)))


def test_deviations_are_differences_over_the_scale():
    """A product with a power of two is a change of exponents, also where results are too small for normal floats."""
    values = np.append(records(2)[:500], [5e-324, 2.0**-1022])
    with np.errstate(all="ignore"):
        for octave in (-1070, -1022, -3, 0, 5, 1022, 1050):
            expected = np.ldexp(values - 0.25, -octave)
            assert np.array_equal(Deviation(0.25, -math.inf, math.inf, octave)(values), expected, equal_nan=True)


@pytest.mark.parametrize("ranks", [(1000, 1200), (-5, 3), (29_000, 40_000)])
def test_second_looks_see_the_same_records(ranks):
    """One window, and several."""
    values, fine = records(3), Ladder.float_bits(20, -1022)
    coarse = Counts.of(lambda: [values], Ladder.float_bits()).coarse

    def counts() -> Counts:
        return Counts(coarse, lambda: [values])  # nothing is kept yet

    for look in (lambda: counts().around(fine, *ranks), lambda: counts().near(fine, [ranks, (15_000, 15_010)])[0]):
        slow, fast = both(look)
        assert np.array_equal(slow.rungs, fast.rungs) and np.array_equal(slow.counts, fast.counts)


@pytest.mark.medium
@pytest.mark.parametrize("installed", [True, False])
def test_loops_are_compiled_once_it_pays(installed):
    """After as many records as numpy counts in that time; without llvmlite never."""
    code = (
        "import sys, numpy as np, nobounds as nb, nobounds.counting.kernels as k, nobounds.counting.compiled as c\n"
        "class Refusing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.startswith('llvmlite'): raise ImportError('not for this machine')\n"
        f"{'' if installed else 'sys.meta_path.insert(0, Refusing())'}\n"
        "k.WORTH, k.LEAST, c._MANY = 400_000, 1, 500\n"
        "for _ in range(4):\n"
        "    assert nb.Histogram.of([np.zeros(200_000)], nb.Ladder.float_bits()).total == 200_000\n"
        "    print('llvmlite' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False", str(installed), str(installed)]
