"""What the driver knows of a column after the first pass over it."""

from fractions import Fraction

import numpy as np
import pytest
from support.pushed import same

from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Counted
from nobounds.counting.kept import Gathered
from nobounds.counting.lattice import Lattice, Outside, Total, Totals
from nobounds.counting.second_look import Within
from nobounds.counting.spans import Spans
from nobounds.engines.spark.known import Known
from nobounds.ladders.ladder import Ladder

FINE, COARSE = Ladder.float_bits(16), Ladder.float_bits(8)
DEVIATION, FROM_0 = Deviation(0.3, -np.inf, np.inf, 0), Deviation(0.0, -np.inf, np.inf, 3)
NEAR = Spans.of([(0.5, 0.75)])
LATTICE = Lattice.of(Fraction(-7), Fraction(1000), integral=False)


VALUES = np.random.default_rng(3).normal(0, 1, 5000)
VALUES[:7] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, np.nan]


def parts() -> Known:
    return Known.none().grown(VALUES[:3000]) + Known.none().grown(VALUES[3000:])


def test_what_is_known_of_few_values_is_all_of_them():
    """With their numbers, so every pass is served."""
    whole = parts()
    assert whole.is_whole and int(whole.counts.sum()) == 5000
    for part in (Counted(COARSE), Counted(FINE), Counted(FINE, DEVIATION), Total(LATTICE), Gathered(NEAR)):
        assert whole.serves(part) and same(part(whole.chunks), part([VALUES]))


@pytest.mark.parametrize("limit", ["_OF_TASK", "MOST"])
def test_what_is_known_of_many_values_serves_passes_that_tell_no_class_apart(
    limit: str, monkeypatch: pytest.MonkeyPatch
):
    """Classes that a task makes and those of merged parts: ladders that are no finer, few edges, empty intervals."""
    monkeypatch.setattr(f"nobounds.engines.spark.known.{limit}", 100)
    some = parts()
    assert not some.is_whole and int(some.counts.sum()) == 5000
    served = [Counted(COARSE), Counted(Ladder.float_bits(3, -40)), Counted(COARSE, FROM_0), Totals(())]
    served += [Totals((Outside(0.5, upwards=True),)), Gathered(Spans.of([(5.0, 9.0), (20.0, 30.0)]))]
    for part in served:
        assert some.serves(part) and same(part(some.chunks), part([VALUES]))
    others = [Counted(FINE), Counted(Ladder.grid(Fraction(1, 9))), Total(LATTICE), Counted(FINE, DEVIATION)]
    others += [Gathered(NEAR), Within(FINE, NEAR), Totals((Outside(0.3, upwards=True),)), Totals((LATTICE.steps,))]
    assert not any(map(some.serves, others))


def test_the_records_in_an_interval_are_at_most_those_of_the_classes_that_touch_it(monkeypatch: pytest.MonkeyPatch):
    """Never fewer than there are, and without the missing ones."""
    monkeypatch.setattr("nobounds.engines.spark.known.MOST", 100)
    some = parts()
    for spans in ([(-0.5, 0.25)], [(0.1, 0.2), (0.7, 0.75)], [(-np.inf, np.inf)], [(5.0, 6.0)]):
        there = sum(int(((low <= VALUES) & (high >= VALUES)).sum()) for low, high in spans)
        assert there <= some.most_inside(Spans.of(spans)) <= there + 200
    assert some.most_inside(Spans.of([(-np.inf, np.inf)])) == 4998
