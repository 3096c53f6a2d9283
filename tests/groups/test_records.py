"""The records of many groups: on other ladders, in parts, and alone."""

from fractions import Fraction as F

import numpy as np
import pytest
from support.grouped import groups_of

from nobounds.groups import records
from nobounds.ladders.ladder import Ladder

LADDERS = [
    Ladder.float_bits(8),
    Ladder.float_bits(0, -40).limited(F(0), None),
    Ladder.grid(1),
    Ladder.grid(F(1, 100)).limited(F(-5), F(7)),
    Ladder.uniform(0, 10, 7),
]


@pytest.fixture
def groups():
    rng = np.random.default_rng(1)
    return groups_of([rng.normal(0, 10.0 ** rng.integers(-3, 4), n) for n in [0, 0, 5, 1, 0, 400, 3, 0]])


@pytest.mark.parametrize("ladder", LADDERS, ids=str)
def test_on_another_ladder_each_group_is_its_histogram_there(groups, ladder):
    """`on` for all groups at once is `Histogram.on` for each."""
    on = groups.on(ladder)
    for g in range(len(groups)):
        expected = groups.histogram(g).on(ladder)
        assert np.array_equal(on.histogram(g).rungs, expected.rungs)
        assert np.array_equal(on.histogram(g).counts, expected.counts)
    assert np.array_equal(on.totals, groups.totals)
    assert groups.on(groups.ladder) is groups


@pytest.mark.parametrize("which", [[], [2], [0, 1, 2, 3, 4, 5, 6, 7], [7, 5, 5, 2], [4, 5, 6], [1, 3]], ids=str)
def test_some_of_the_groups(groups, which):
    """`take` gives the groups in the order asked."""
    taken = groups.take(np.array(which, dtype=np.int64))
    assert len(taken) == len(which)
    for k, g in enumerate(which):
        assert np.array_equal(taken.histogram(k).rungs, groups.histogram(g).rungs)
        assert np.array_equal(taken.histogram(k).counts, groups.histogram(g).counts)
    assert np.array_equal(taken.totals, groups.totals[which])


def test_blocks_hold_each_group_once(groups, monkeypatch):
    """A group that is larger than a block is one of its own."""
    monkeypatch.setattr(records, "BLOCK", 7)
    some = np.array([7, 5, 6, 0, 1, 2, 3])
    parts = list(groups.blocks(some))
    assert np.array_equal(np.concatenate(parts), some)
    assert [5] in [part.tolist() for part in parts] and len(parts) > 2


def test_totals_of_groups_and_of_none(groups):
    """Empty groups have no records."""
    assert groups.totals.tolist() == [0, 0, 5, 1, 0, 400, 3, 0]
    assert groups_of([]).totals.tolist() == []


def test_the_repr_hides_the_counts(groups):
    """It says how many groups there are, and on which ladder."""
    assert repr(groups) == "Groups(8 groups, {'ladder': 'float-bits', 'bits': 16, 'floor': -100}, counts hidden)"
