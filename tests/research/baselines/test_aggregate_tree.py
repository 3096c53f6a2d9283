"""The aggregate tree: its counts, their sensitivity, the best estimates from them, and what the slip does."""

from fractions import Fraction as F

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.auditing.audit import all_data, neighbors_of
from nobounds.research.baselines import tree_quantiles
from nobounds.research.baselines.aggregate_tree import aggregated, read_off, tree_counts, tree_sensitivity

DATA = np.random.default_rng(3).gamma(4, 8, 1000)
BOUNDS = {"lower": 0, "upper": 100}
QS = (0.05, 0.25, 0.5, 0.9, 0.99)


def design(height, branching):
    """Which leaves each node below the root has, one node a row, in the order of the levels."""
    leaves = branching**height
    return np.concatenate(
        [np.kron(np.eye(branching**k), np.ones(leaves // branching**k)) for k in range(1, height + 1)]
    )


def noisy_levels(rng, height, branching):
    """A tree of random numbers."""
    return [rng.normal(5, 3, branching**k) for k in range(1, height + 1)]


def test_a_node_counts_the_records_of_its_part():
    """The children add up to the parent, the levels to the data, and the upper bound is in the last leaf."""
    levels = tree_counts(np.array([0.0, 0.05, 0.1, 5.0, 99.95, 100.0]), 0.0, 100.0, 3, 10)
    assert [len(level) for level in levels] == [10, 100, 1000]
    assert levels[0].tolist() == [4, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert levels[2][[0, 1, 50, 999]].tolist() == [2, 1, 1, 2]


@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_neighbours_differ_by_the_sensitivity_and_no_more(relation):
    """The largest sum of differences of all counts over all pairs of small data sets is what the noise is scaled to."""
    spots = (0.0, 20.0, 30.0, 60.0, 100.0)

    def counts(data):
        return np.concatenate(tree_counts(np.array(data, dtype=float), 0.0, 100.0, 3, 4))

    differences = [
        np.abs(counts(data) - counts(other)).sum()
        for data in all_data(spots, 3, least=1)
        for other in neighbors_of(data, spots, relation)
    ]
    assert max(differences) == tree_sensitivity(3, relation)


@pytest.mark.parametrize("size", [None, 37.0])
@pytest.mark.parametrize(("height", "branching"), [(1, 3), (2, 2), (3, 3)])
def test_estimates_are_least_squares(size, height, branching):
    """They are the tree of consistent counts nearest to the noisy ones, with the root's count if it is known."""
    noisy = noisy_levels(np.random.default_rng(1), height, branching)
    nodes = design(height, branching)
    normal, wanted = nodes.T @ nodes, nodes.T @ np.concatenate(noisy)
    if size is not None:  # a Lagrange multiplier for the total
        ones = np.ones((len(normal), 1))
        normal = np.block([[normal, ones], [ones.T, np.zeros((1, 1))]])
        wanted = np.append(wanted, size)
    leaves = np.linalg.solve(normal, wanted)[: nodes.shape[1]]
    assert np.concatenate(aggregated(noisy, size, branching)) == pytest.approx(nodes @ leaves, rel=1e-9)


def test_the_slip_spoils_the_leaves_alone():
    """With height 3 the estimates above the leaves are the same; the leaves no longer add up to their parents."""
    noisy = noisy_levels(np.random.default_rng(1), 3, 10)
    right, slipped = (aggregated(noisy, 1000.0, 10, slip) for slip in (False, True))
    for level in (0, 1):
        assert right[level] == pytest.approx(slipped[level], rel=1e-12)
    assert right[2].reshape(-1, 10).sum(axis=1) == pytest.approx(right[1], rel=1e-9)
    assert np.abs(slipped[2].reshape(-1, 10).sum(axis=1) - slipped[1]).max() > 1


def test_the_slip_is_a_parents_number_for_its_count():
    """In a binary tree node 2 counts as 2 in the estimates from above of its children; by hand, for one leaf."""
    noisy = noisy_levels(np.random.default_rng(4), 3, 2)
    own, leaves = noisy[1][2:4], noisy[2][4:8]
    below = 2 / 3 * own + 1 / 3 * leaves.reshape(2, 2).sum(axis=1)  # of variance 2/3, and those of level 1 of 4/7
    first = 1 / (1 + 7 / 4)  # the variance of level 1 from above
    second = 1 / (1 + 1 / (first + 2 / 3))
    above = second * own[0] + (1 - second) * (2 - below[1])  # 2 should be the count of node 2
    weight = 1 / (1 + 1 / (second + 1))
    by_hand = weight * leaves[0] + (1 - weight) * (above - leaves[1])
    assert aggregated(noisy, 50.0, 2, slip=True)[2][4] == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_without_noise_to_speak_of_it_is_the_quantile_to_a_leaf(neighbors):
    """At a huge epsilon every answer is within the width of a leaf of the record of that rank."""
    found = tree_quantiles(DATA, QS, epsilon=10**9, neighbors=neighbors, rng=np.random.default_rng(1), **BOUNDS)
    truth = np.quantile(DATA, QS, method="inverted_cdf")
    assert np.abs(np.array(found.value) - truth).max() <= 0.1 + 1e-9


def test_the_slip_changes_the_answer():
    """On the same noise, by more than the width of a leaf for some q."""
    right, slipped = (
        tree_quantiles(DATA, QS, epsilon=1, slip=slip, rng=np.random.default_rng(1), **BOUNDS) for slip in (False, True)
    )
    assert right.loss == slipped.loss and "slip" in slipped.parameters["method"]
    assert right.value != slipped.value


@pytest.mark.sampled
def test_reading_off_stays_between_the_bounds():
    """Even where noisy counts are negative, and at both ends."""
    rng = np.random.default_rng(seed_of(7))
    for _ in range(200):
        levels = aggregated([rng.laplace(0, 5, 10**k) for k in (1, 2, 3)], 20.0, 10)
        for q in (F(0), F(1, 3), F(1)):
            assert 0.0 <= read_off(levels, q, 0.0, 100.0, 10) <= 100.0


def test_an_empty_node_answers_inside_itself():
    """With no positive count at all the answer is q of the way through the range."""
    assert read_off([np.zeros(10), np.zeros(100)], F(1, 4), 0.0, 100.0, 10) == 25.0


def test_one_tree_costs_epsilon_for_all_quantiles():
    """Pure epsilon, and all answers in the order asked."""
    found = tree_quantiles(DATA, (0.9, 0.1), epsilon=2, neighbors="add-remove", rng=np.random.default_rng(1), **BOUNDS)
    assert (found.loss.epsilon, found.loss.delta, found.loss.neighbors) == (2.0, 0.0, "add-remove")
    assert found.value[0] > found.value[1] and found.parameters["q"] == ["9/10", "1/10"]


def test_parameters_are_checked():
    """By name."""
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="height"):
        tree_quantiles(DATA, QS, epsilon=1, height=0, rng=rng, **BOUNDS)
    with pytest.raises(ValueError, match="slip must be False under add-remove"):
        tree_quantiles(DATA, QS, epsilon=1, slip=True, neighbors="add-remove", rng=rng, **BOUNDS)
