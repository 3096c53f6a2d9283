"""What the driver knows of a column after the first pass over it."""

from fractions import Fraction

import numpy as np
import pytest
from support.pushed import same

from nobounds.counting.histogram import Counted
from nobounds.counting.lattice import Lattice, Total, Totals
from nobounds.engines.spark.known import Known
from nobounds.ladders.ladder import Ladder

FINE, COARSE = Ladder.float_bits(16), Ladder.float_bits(8)
LATTICE = Lattice.of(Fraction(-7), Fraction(1000), integral=False)


def test_what_is_known_of_many_values_is_one_of_each_class(monkeypatch: pytest.MonkeyPatch):
    """Few values are all known, with their numbers; of more, one of each class, whichever way parts are merged."""
    values = np.random.default_rng(3).normal(0, 1, 5000)
    values[:7] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, np.nan]
    whole = Known.none().grown(values[:3000]) + Known.none().grown(values[3000:])
    assert whole.is_whole and whole.tasks == 2 and int(whole.counts.sum()) == 5000
    monkeypatch.setattr("nobounds.engines.spark.known.MOST", 100)
    some = Known.none().grown(values[:3000]) + Known.none().grown(values[3000:])
    assert not some.is_whole and len(some.values) < len(whole.values) and int(some.counts.sum()) == 5000
    for part in (Counted(COARSE), Counted(Ladder.float_bits(12)), Totals(())):
        assert (
            some.serves(part) and same(part(some.chunks), part([values])) and same(part(whole.chunks), part([values]))
        )
    assert (
        not some.serves(Counted(FINE)) and not some.serves(Counted(Ladder.grid(1))) and not some.serves(Total(LATTICE))
    )
