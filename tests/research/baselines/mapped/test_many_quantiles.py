"""Recursion and JointExp over magnitudes: equal to one quantile for one, private, and near the truth far from 0."""

import math
from fractions import Fraction as F
from itertools import combinations_with_replacement

import numpy as np
import pytest

from nobounds.auditing.audit import audit
from nobounds.research.baselines.joint_exponential import JointLaw, joint_rate
from nobounds.research.baselines.mapped import (
    mapped_joint_law,
    mapped_joint_quantiles,
    mapped_law,
    mapped_quantile,
    mapped_recursive_quantiles,
)
from nobounds.research.baselines.measures import MAGNITUDES

DATA = np.random.default_rng(3).normal(850, 50, 1000)
DECILES = [f"{i}/10" for i in range(1, 10)]


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_one_quantile_is_the_exponential_mechanism(neighbors):
    """The recursion draws what it draws, and JointExp has its law."""
    terms = {"epsilon": 1, "neighbors": neighbors}
    many = mapped_recursive_quantiles(DATA, [0.3], rng=np.random.default_rng(1), **terms)
    one = mapped_quantile(DATA, 0.3, rng=np.random.default_rng(1), **terms)
    assert many.value == (one.value,) and many.loss == one.loss
    joint, law = mapped_joint_law(DATA[:5], [0.3], **terms), mapped_law(DATA[:5], [0.3], **terms)
    assert [math.exp(joint.log_chance((i,))) for i in range(6)] == pytest.approx(law.masses[0], rel=1e-12)


@pytest.mark.parametrize("method", [mapped_recursive_quantiles, mapped_joint_quantiles])
@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_nine_deciles_are_near_the_truth_and_in_order(method, neighbors):
    """Within 60 ranks of 1000 at epsilon 4, anywhere on the line, for epsilon in all."""
    for offset in (0, -1e5):
        release = method(DATA + offset, DECILES, epsilon=4, neighbors=neighbors, rng=np.random.default_rng(2))
        ranks = np.searchsorted(np.sort(DATA + offset), release.value)
        assert np.abs(ranks - 100 * np.arange(1, 10)).max() < 60
        assert (np.diff(release.value) >= 0).all()
        assert release.loss.epsilon == 4


@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_the_joint_law_costs_epsilon(relation):
    """Over all pairs of up to three records, densities with regard to the measure differ by no more than epsilon."""
    spots, qs = (-1e300, 1e300, 1.000001e300), (F(1, 4), F(3, 4))
    cells = list(combinations_with_replacement(range(4), 2))
    points = np.array([-1e305, 5.0, 1.0000005e300, 1e305])

    def law(data):
        ordered = np.array(data, dtype=float)
        joint = JointLaw.of(ordered, qs, joint_rate(qs, F(1), relation), -np.inf, np.inf, MAGNITUDES)
        ranks = np.searchsorted(ordered, points)
        places = [tuple(int(ranks[c]) for c in cell) for cell in cells]
        volumes = [
            sum(joint.log_widths[i] for i in place) - sum(math.lgamma(1 + place.count(i)) for i in set(place))
            for place in places
        ]
        return np.array([joint.log_chance(place) for place in places]) - volumes

    worst = audit(law, spots, 3, relation, least=3 if relation == "swap" else 0)
    assert 0.6 < worst.epsilon <= 1 + 1e-9
