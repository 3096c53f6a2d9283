"""docs/proofs/slices.md, the paper's way: thresholds fixed beforehand, and walks in slices of one level under swap."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from nobounds.accounting.cost import fixed_threshold, mirrored, monotonic, one_sided_loss
from nobounds.auditing.audit import pair_loss
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

SPLITS = [(F(1, 2), F(1, 2)), (F(7, 10), F(3, 10)), (F(1, 4), F(3, 4))]
PLACES = 5


def counts(places):
    return [sum(place <= i for place in places) for i in range(PLACES)]


@pytest.mark.parametrize(("eps1", "eps2"), SPLITS, ids=str)
def test_a_record_that_crosses_a_cut_costs_eps1_plus_eps2(eps1, eps2):
    """It leaves one slice and enters another: one-sided losses add to eps1 + eps2 both ways, and that is reached."""
    left, entered = fixed_threshold(eps1, eps2), mirrored(fixed_threshold(eps1, eps2))
    both = left + entered
    assert both.epsilon == monotonic(eps1, eps2).epsilon == eps1 + eps2
    assert both.epsilon <= 2 * max(eps1, eps2)
    zero, forth = [0] * PLACES, []
    for here, there in product(range(PLACES), repeat=2):
        one = one_sided_loss(counts([here]), zero, eps1=eps1, eps2=eps2)
        other = one_sided_loss(zero, counts([there]), eps1=eps1, eps2=eps2)
        forth.append(one + other)
    assert max(forth) == eps1 + eps2


@pytest.mark.parametrize(("eps1", "eps2"), SPLITS, ids=str)
def test_the_joint_law_of_two_slices_stays_within_it(eps1, eps2):
    """Exact laws of two walks, one for each slice, on 10^8 rungs: within eps1 + eps2, and 97% of it is seen."""

    def law(levels):
        starts = np.array([0, 10**8, 10**8 + 1])
        walk = Walk(starts, np.array(levels), 2 * 10**8, F(1), F(1), eps1, eps2)
        return Law(walk).log_pmf([0, 10**8 - 1, 10**8, 2 * 10**8 - 1])

    with_record, without = [law(levels) for levels in ([0, 1, 1], [1, 1, 1])], law([0, 0, 0])
    forth = max(pair_loss_side(law_, without) for law_ in with_record)
    back = max(pair_loss_side(without, law_) for law_ in with_record)
    assert forth <= float(eps2) + 1e-9 and back <= float(eps1) + 1e-9
    assert forth + back > 0.97 * float(eps1 + eps2)


def pair_loss_side(one, other):
    """The largest log-ratio one way."""
    assert pair_loss(one, other)[0] >= (one - other).max()
    return float((one - other).max())
