"""Shifted Inverse: where it aims, its law, and its cost."""

from fractions import Fraction as F

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.auditing.audit import audit
from nobounds.research.baselines.mapped import shifted_law, shifted_maximum
from nobounds.research.baselines.mapped.shifted_inverse import shift_for
from nobounds.research.baselines.measures import MAGNITUDES


def test_it_aims_below_the_maximum():
    """Most of the mass lies between the largest record and that of twice the shift, hardly any above."""
    data, shift = np.sort(np.random.default_rng(1).lognormal(3, 0.8, 2000)), shift_for(F(1))
    law = shifted_law(data, epsilon=1)
    assert shift == 28
    assert law.masses.sum() == pytest.approx(1)
    assert law.masses[0, -1] < 0.01
    assert law.masses[0, -2 * shift : -1].sum() > 0.9


def test_a_gap_has_its_public_mass_times_its_weight():
    """The distance from the shift counts up to shift + 1, so that far gaps are alike."""
    data = np.arange(100.0, 400.0)
    law, shift = shifted_law(data, epsilon=2), shift_for(F(2))
    above = 300 - np.arange(301)
    weights = np.exp(MAGNITUDES.log_masses(law.edges) - np.minimum(np.abs(above - shift), shift + 1))
    assert law.masses[0] == pytest.approx(weights / weights.sum(), rel=1e-9)


@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_aiming_below_the_maximum_costs_epsilon(relation):
    """No pair of data sets of up to eight records shows more than a large epsilon, whose shift is small."""
    spots, points = (-1e300, 1e300, 1.000001e300), (-1e305, 5.0, 1.0000005e300, 1e305)

    def law(data):
        found = shifted_law(np.array(data, dtype=float), epsilon=10)
        return found.log_density[0, np.searchsorted(found.edges, points) - 1]

    assert shift_for(F(10)) == 3
    worst = audit(law, spots, 8, relation, least=8 if relation == "swap" else 0)
    assert 5 < worst.epsilon <= 10 + 1e-9


@pytest.mark.sampled
def test_the_release_says_what_it_is():
    """Its loss, and an answer below the maximum by tens of records."""
    release = shifted_maximum(range(1000), epsilon=1, neighbors="add-remove", rng=np.random.default_rng(seed_of(1)))
    assert release.statistic == "maximum" and release.loss.epsilon == 1
    assert 900 < release.value < 1000
