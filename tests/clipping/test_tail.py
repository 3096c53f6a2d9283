"""Octaves around a clip: what they count, what they cost, and how they move the clip."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.clipping.tail import CELLS, LOWEST, TailRule, anchored, beside_heap, biases, carried, cells
from nobounds.clipping.widths import DEVIATIONS
from nobounds.counting.histogram import Histogram

ANCHOR = int(DEVIATIONS.rungs(np.array([1.0]))[0]) - 1  # the rung that ends at 1


def around(values):
    """Deviations as the search for a clip sees them."""
    return Histogram.of([np.array(values, dtype=float)], DEVIATIONS)


def test_a_record_is_in_one_cell_of_its_side():
    """Octaves below and above the clip, the last without an end; small deviations are in none."""
    table = around([0.0, 0.001, 0.3, 0.7, 1.5, 3.0, 5.0, 9.0, 1e9, -0.7])
    above = cells(table, 1, ANCHOR).tolist()
    assert above[-LOWEST - 2 :] == [1, 1, 1, 1, 1, 1, *[0] * 8, 1]
    assert sum(above) == 7
    assert cells(table, -1, ANCHOR).tolist() == [0] * 7 + [1] + [0] * 13


def test_no_record_is_in_two_cells():
    """Records at the centre are in the last cell: one more record changes one count by 1, or none."""
    values = [0.0, 0.001, -0.001, 0.3, 1.5, 1e9, -0.7]

    def counts(values):
        return np.array(
            TailRule(F(1), "add-remove").decision(around(values), values.count(0.0), (1, -1), (ANCHOR,) * 2).numbers
        )

    assert counts(values).sum() == len(values) - 2
    assert counts(values)[-1] == 1
    for more, changed in ((0.0, 1), (0.001, 0), (0.9, 1), (-300.0, 1)):
        assert np.abs(counts([*values, more]) - counts(values)).sum() == changed


@pytest.mark.parametrize(
    ("heap", "count", "expected"), [(1000, 1010, 28), (1000, 990, 8), (1000, 1040, None), (80, 85, None)]
)
def test_at_most_so_many_records_lie_beside_a_heap(heap, count, expected):
    """For noise of scale 5, which hides 18 once in 40 times; nothing is said of a small heap or of many others."""
    noise = TailRule(F(1, 5), "add-remove").count_noise
    assert beside_heap(heap, F(count), 0.0, noise, 1 / 40) == expected


@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_octaves_cost_what_they_say(neighbors, zcdp):
    """The worst neighbour changes the counts by what the noise is for, exactly."""
    rule = TailRule(F(1, 3), neighbors, zcdp)
    one, other = around([0.7]), around([3.0] if neighbors == "swap" else [])
    moved = np.abs(cells(one, 1, ANCHOR) - cells(other, 1, ANCHOR))
    parameter = rule.noise.parameter(rule.sensitivity)
    if zcdp:
        assert F(int((moved**2).sum())) / (2 * parameter) == pytest.approx(rule.cost().rho)
    else:
        assert int(moved.sum()) * parameter == rule.cost().epsilon


def test_octaves_leave_half_for_the_number_of_missing_records():
    """Under swap a record that turns from missing to present changes one count by 1: it costs epsilon - spare."""
    rule = TailRule(F(1, 3), "swap")
    turned = np.abs(cells(around([0.7]), 1, ANCHOR) - cells(around([]), 1, ANCHOR))
    moves, turns = rule.cost().kinds
    assert int(turned.sum()) * rule.noise.parameter(rule.sensitivity) == turns.forth == turns.back
    assert (moves.forth, turns.forth) == (rule.epsilon, rule.epsilon - rule.spare)
    assert TailRule(F(1, 3), "add-remove").spare == TailRule(F(1, 3), "swap", True).spare == 0


@pytest.mark.sampled
def test_the_noise_of_counts_is_the_one_that_intervals_take():
    """The scale of the law of the excess is that of the draws."""
    for zcdp in (False, True):
        rule = TailRule(F(1, 2), "swap", zcdp)
        decision = rule.decision(around([]), 0, (1,), (ANCHOR,))
        source = random.Random(seed_of(1)).getrandbits
        drawn = np.array([decision.draw(source) for _ in range(300)])
        spread = np.sqrt((drawn**2).mean()) if zcdp else np.abs(drawn).mean()
        assert spread == pytest.approx(rule.count_noise.scale, rel=0.08)


def test_a_narrow_side_is_counted_on_the_scale_of_the_other():
    """A side of width 0 gets octaves too, unless both have width 0."""
    assert anchored((80, 0)) == (80, 32)
    assert anchored((0, 0)) == (0, 0)
    assert anchored((300,)) == (300,)


def test_biases_fall_with_the_width_and_see_what_lies_beyond():
    """A wider clip cuts off less; counts far beyond weigh more."""
    light, heavy = np.zeros((2, CELLS))
    light[-LOWEST - 1], heavy[-LOWEST - 1 :] = 200, [200, 100, 60, 40, 30, 20, 10, 5, 3, 2, 2, 1, 1, 1]
    assert np.all(np.diff(biases(heavy, 0.0)) < 0)
    assert np.all(biases(heavy, 0.0) > biases(light, 0.0))


@pytest.mark.sampled
def test_a_clip_far_beyond_all_records_is_noticed():
    """Noise alone hardly ever passes for records, and a hundred records do."""
    rule, source = TailRule(F(1, 5), "add-remove"), random.Random(seed_of(3)).getrandbits
    drawn = [
        carried(rule.decision(around([]), 0, (1, -1), (ANCHOR,) * 2).draw(source)[:-1], rule.count_noise)
        for _ in range(400)
    ]
    assert np.mean(drawn) < 0.12
    records = around([0.6] * 150)
    found = [
        carried(rule.decision(records, 0, (1, -1), (ANCHOR,) * 2).draw(source)[:-1], rule.count_noise)
        for _ in range(50)
    ]
    assert np.mean(found) > 0.9
