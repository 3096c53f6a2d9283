"""Public measures: masses against the distribution function, thin intervals far from 0, and points inside intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from nobounds.research.baselines.measures import FLAT, MAGNITUDES, Magnitudes

CAUCHY = stats.cauchy(1.2, 2.5)
EDGES = np.array([-np.inf, -1e300, -70.0, -2.0, -1e-9, 0.0, 0.0, 1e-200, 0.5, 15.0, 15.0, 4e8, np.inf])


def distribution(y):
    """P(number <= y) by its definition: a fair sign, and log10 of the magnitude is Cauchy."""
    if y == 0:
        return 0.5
    part = CAUCHY.cdf(math.log10(abs(y))) / 2 if math.isfinite(y) else 0.5
    return 0.5 + part if y > 0 else 0.5 - part


def masses(*edges):
    return np.exp(MAGNITUDES.log_masses(np.array(edges)))


def test_masses_are_differences_of_the_distribution_function():
    """Infinite edges, an interval around 0 and intervals of no width included; all together have mass 1."""
    expected = np.diff([distribution(y) for y in EDGES])
    assert masses(*EDGES) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert masses(*EDGES).sum() == pytest.approx(1)
    assert masses(-3.0, 40.0)[0] == pytest.approx(distribution(40) - distribution(-3), rel=1e-12)
    assert masses(-np.inf, np.inf)[0] == pytest.approx(1)


@pytest.mark.parametrize("center", [85.0, 1.7e9, -4e12, 1e-30])
def test_a_thin_interval_has_density_times_width(center):
    """A ten billionth of the magnitude wide, where a difference of distribution functions would lose its digits."""
    width = abs(center) * 2.0**-33
    density = CAUCHY.pdf(math.log10(abs(center))) / (2 * math.log(10) * abs(center))
    found = masses(center, center + width)[0]
    assert found == pytest.approx(density * width, rel=1e-8)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_matter_little(factor):
    """A factor of a billion changes the mass of an interval far from 0 by a factor below 20."""
    ratio = masses(17.0 * factor, 18.0 * factor) / masses(17.0, 18.0)
    assert 1 / 20 < ratio[0] < 1.5


def test_both_signs_are_alike():
    """The mass of the mirrored interval is the same, and so are its points."""
    assert masses(-18.0, -17.0) == pytest.approx(masses(17.0, 18.0), rel=1e-14)
    shares = np.array([0.1, 0.5, 0.9])
    mirrored = -MAGNITUDES.inside(np.array(-40.0), np.array(3.0), 1 - shares)
    assert MAGNITUDES.inside(np.array(-3.0), np.array(40.0), shares) == pytest.approx(mirrored, rel=1e-9)


@pytest.mark.parametrize("measure", [FLAT, MAGNITUDES, Magnitudes(-3.0, 1.0)], ids=str)
@pytest.mark.parametrize(("left", "right"), [(-3.0, 40.0), (2.0, 3.0), (-9.0, -1e-6), (0.0, 5.0), (-7.0, 0.0)])
def test_points_divide_the_mass_as_they_say(measure, left, right):
    """The mass below the point of share s is s times that of the interval."""
    shares = np.array([0.05, 0.3, 0.5, 0.77, 0.95])
    points = measure.inside(np.array(left), np.array(right), shares)
    whole = measure.log_masses(np.array([left, right]))[0]
    parts = [measure.log_masses(np.array([left, point]))[0] - whole for point in points]
    assert np.exp(parts) == pytest.approx(shares, rel=1e-9)
    assert ((left <= points) & (points <= right)).all()


def test_points_of_unbounded_intervals_are_finite():
    """Beyond the largest float there are none."""
    shares = np.linspace(0, 1, 101)
    for left, right in ((-np.inf, np.inf), (3.0, np.inf), (-np.inf, -3.0), (-np.inf, 3.0), (0.0, np.inf)):
        points = MAGNITUDES.inside(np.array(left), np.array(right), shares)
        assert np.isfinite(points).all() and (np.diff(points) >= 0).all()
        assert points.min() >= left and points.max() <= right


def test_points_of_a_thin_interval_lie_in_it():
    """Between neighbouring floats as well."""
    left = 1.7e9
    right = float(np.nextafter(left, np.inf))
    points = MAGNITUDES.inside(np.array(left), np.array(right), np.linspace(0, 1, 11))
    assert set(points) <= {left, right}
