"""The chain sums the weights of all quantiles: as enumeration does, and in all windows that a reach needs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support.chance import seed_of
from support.joint import CASES, enumerated, stretches

from nobounds.mechanisms.joint.chain import Chain, passed_on, whole_weights


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_sum_of_all_weights_is_that_of_enumeration(case):
    """Without a reach, all of it."""
    made = stretches(case)
    _, logs = enumerated(made)
    assert Chain.of(made).log_sum == pytest.approx(np.logaddexp.reduce(logs), abs=1e-11)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("reach", [0.5, 2.0, 5.0])
def test_quantiles_within_the_reach_are_in_the_windows(case, reach):
    """And the sum over the windows is no less than theirs."""
    made, chain = stretches(case), Chain.of(stretches(case), reach)
    places, logs = enumerated(made)
    near = []
    for row, log in zip(places, logs, strict=True):
        taken = made.stretch(np.array(row))
        if made.distance(taken) <= reach:
            near.append(log)
            assert all(window.first <= i < window.end for i, window in zip(taken, chain.windows, strict=True))
    assert chain.log_sum >= np.logaddexp.reduce(np.array([-np.inf, *near])) - 1e-9
    assert chain.log_sum <= np.logaddexp.reduce(logs) + 1e-9


@pytest.mark.sampled
def test_running_sums_are_the_sums_of_all_pairs():
    """For windows that overlap or not, and gaps with and without a fraction."""
    rng = np.random.default_rng(seed_of(1))
    for trial in range(200):
        ranks, earlier = (np.unique(rng.integers(0, 60, rng.integers(1, 30))) for _ in range(2))
        earlier -= trial % 3 * 20
        logs, rate, gap = (
            rng.normal(0, 5, len(ranks)),
            float(rng.uniform(0.05, 3)),
            float(rng.choice([0, 1, 2.5, 7, 40.25])),
        )
        whole = math.ceil(gap)
        pairs = logs - rate * np.abs(ranks - earlier[:, None] - gap)
        slow = np.logaddexp.reduce(np.where(ranks > earlier[:, None], pairs, -np.inf), axis=1)
        assert passed_on(logs, ranks, earlier, rate, whole, whole - gap) == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_chances_of_all_proposals_are_within_the_slack_of_their_weights(case):
    """A stretch at a time: the sums of a quantile are what follows it adds up to."""
    made = stretches(case)
    chain = Chain.of(made)
    for j in range(made.many):
        for stretch in range(len(made.starts)):
            assert np.logaddexp.reduce(chain.next_number(j, stretch)) == pytest.approx(
                chain.entered[j][stretch], abs=chain.slack
            )


def test_whole_weights_are_never_too_small():
    """Rounded up, and none vanishes but those without any weight."""
    logs = np.array([0.0, -1.0, -50.0, -2000.0, -np.inf])
    weights = whole_weights(logs)
    assert weights[3] == 1
    assert weights[4] == 0
    assert all(
        Fraction(int(w), int(weights[0])) >= Fraction(math.exp(log)) for w, log in zip(weights, logs, strict=True)
    )
    assert int(whole_weights(np.zeros(1000)).sum()) < 2**62
